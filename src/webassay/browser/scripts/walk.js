// The walk through a document that makes the tree: one line for what has a role or can be clicked, one for each text.
({
  ask, changed, dropListeners, meet, noteLook, elementOf, identify, ids, looked, lost, neighbours, record, countAnew,
  generatedLines, markerOf, pictureCame, rulesOf, sheets, squeeze, transformed, focusable, forgetTables, givenRole,
  implicitRole, redundantLabel, givenName, nameOf, propertiesOf, remarksOn, valueOf, GRIPS, POINTER_ROLES, deepHit, dropPlaces, findStandouts, holds,
  folded, inSeenOrder, isList, isNoPlace, listens, pageScroll, pageView, scrollState, share, showsHand, stoodOut, surfaces, vanished,
}) => {
  const frameLetters = new WeakMap();  // iframe element -> place among the frames of this document
  let lastFrame = 0;
  let lookAgain = null;
  // The element with this id, now: if the page changed since the last look, what it shows is looked at again.
  const find = (id) => {
    if (looked() && changed()) lookAgain();
    return elementOf(id);
  };
  const missing = (id) => { find(id); return JSON.stringify(lost(id)); };
  const frameNumber = (element) => {
    let place = frameLetters.get(element);
    if (place === undefined) { place = lastFrame++; frameLetters.set(element, place); }
    return place;
  };

  const MAX_NODES = 60000, MAX_DEPTH = 1500;
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'TEMPLATE', 'NOSCRIPT', 'HEAD', 'META', 'LINK', 'TITLE', 'DATALIST', 'PARAM', 'SOURCE', 'TRACK', 'COL', 'COLGROUP', 'WBR', 'BR', 'MAP', 'RT', 'RP',
    'title', 'desc', 'style', 'script', 'defs', 'metadata', 'symbol', 'clipPath', 'mask']);
  // The content of these belongs to the browser or to another frame.
  const CLOSED = new Set(['IFRAME', 'FRAME', 'AUDIO', 'VIDEO', 'PROGRESS', 'METER', 'TEXTAREA', 'OPTION', 'INPUT']);
  const UNDECORATED = new Set(['IMG', 'svg', 'SELECT', 'CANVAS', 'HR']);
  const UNPAINTED = new Set(['OPTION', 'OPTGROUP', 'AREA']);
  const OVERLAID = new Set(['INPUT', 'SELECT', 'TEXTAREA']);
  const FRAMES = new Set(['IFRAME', 'FRAME', 'OBJECT', 'EMBED']);
  // A control that holds this many others only passes their clicks on.
  const CROWD = 3;
  const ROWS = /^(TR|LI)$/;
  const MAX_CONTENT_NAME = 200;
  const NAMED_BY_CONTENT = new Set(['generic', 'listitem', 'LabelText', 'paragraph', 'strong', 'emphasis', 'time', 'mark', 'code', 'definition', 'image']);
  const HARDLY = 0.5;
  const EVERYWHERE = [-Infinity, -Infinity, Infinity, Infinity];
  let controls = new WeakSet();  // clickable elements of the last look
  const controlAt = (hit) => {
    for (let node = hit; node; node = node.assignedSlot ?? node.parentNode ?? node.host) {
      if (controls.has(node)) return node;
      // A click on a label is one on its field.
      if (node.tagName === 'LABEL' && controls.has(node.control)) return node.control;
    }
    return null;
  };
  // The modal dialog on top: everything outside it is inert, other modal dialogs too. No function tells which one that
  // is, but the mouse can hit only what is not inert, and it hits a dialog wherever its backdrop is.
  const modalsAround = (inner) => {
    const found = [];
    for (let node = inner; node; node = node.assignedSlot ?? node.parentNode ?? node.host) if (node.tagName === 'DIALOG' && node.matches(':modal')) found.push(node);
    return found;
  };
  const VIEW_SPOTS = [[0.5, 0.5], [0.01, 0.01], [0.99, 0.01], [0.01, 0.99], [0.99, 0.99]];
  const middleOf = (element) => { const box = element.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; };
  const topModal = () => {
    const open = [...document.querySelectorAll('dialog:modal')];
    let around = [];
    for (const [x, y] of [...VIEW_SPOTS.map(([fx, fy]) => [innerWidth * fx, innerHeight * fy]), ...open.map(middleOf)]) {
      const found = modalsAround(deepHit(x, y));
      // A dialog inside the one on top is not inert either: where the fewest are hit, the innermost is the one on top.
      if (found.length > 0 && (around.length === 0 || found.length < around.length)) around = found;
    }
    return around[0] ?? modalsAround(deepFocus())[0] ?? open.pop() ?? null;
  };
  const RENDERED = { visibilityProperty: true };
  const observe = ({ boxes, clip, inFrame }) => {
    const out = [];
    forgetTables();
    countAnew();
    controls = new WeakSet();
    const focused = deepFocus();
    const isChanged = changed();
    const known = new Map();  // document or shadow root -> its rules, for this look
    const rulesIn = (root) => {
      if (!known.has(root)) { const found = rulesOf(root); known.set(root, { ...found, hovered: found.hover ? new Set(root.querySelectorAll(found.hover)) : null }); }
      return known.get(root);
    };
    sheets.now = rulesIn(document);
    ask({ about: 'listeners', changed: isChanged });
    const drops = dropPlaces();
    let truncated = false;
    const modal = topModal();
    const emit = (depth, role, text) => { const line = [depth, role, text, 0, '', []]; out.push(line); return line; };
    const emitGenerated = (element, which, depth, around) => {
      if (around.muted) return;
      for (const [role, text] of generatedLines(element, which)) emit(depth, role, text);
    };
    const boxOf = (line, box, visible, clickable) => { line.push([box.x, box.y, box.width, box.height], Math.round(visible * 1000) / 1000, clickable); };

    const range = document.createRange();
    const visitText = (node, depth, around) => {
      const data = node.data;
      if (!/[^ \t\n\r\f]/.test(data)) return;
      const parent = node.parentElement ?? node.getRootNode().host;
      // Text in a slot belongs to another element than the one that is walked through.
      const style = parent === around.rec.element ? around.style : getComputedStyle(parent);
      if (style.visibility !== 'visible' || style.contentVisibility === 'hidden') return;
      const said = transformed(data, style);
      const text = style.whiteSpaceCollapse === 'collapse' ? squeeze(said) : said.replace(/^\n+|\s+$/g, '');
      if (!text) return;
      if (!around.muted) around.rec.parts.push(text);
      if (around.control) around.control.texts.push(text);
      if (around.muted) { around.control?.whispers.push(text); return; }
      const line = emit(depth, 'StaticText', text);
      tellUnseen(line, around, '');
      if (!boxes) return;
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      line.push('', -1);
      boxOf(line, box, share(parent, box, around.clip, false), false);
    };
    const visitChildren = (element, depth, state, around) => {
      const root = element.shadowRoot, assigned = element.tagName === 'SLOT' ? element.assignedNodes() : [];
      const outside = sheets.now;
      if (root) { meet(root); sheets.now = rulesIn(root); } else if (assigned.length) sheets.now = rulesIn(assigned[0].getRootNode());
      const chosen = assigned.length ? assigned : chosenChildren(element);
      if (chosen) for (const child of chosen) visitNode(child, depth, state, around);
      // From one to the next: going through the list of all children takes twice as long.
      else for (let child = (root ?? element).firstChild; child; child = child.nextSibling) visitNode(child, depth, state, around);
      sheets.now = outside;
    };
    const visitNode = (node, depth, state, around) => {
      if (out.length >= MAX_NODES) truncated = true;
      else if (node.nodeType === 1) visit(node, depth, state, around);
      else if (node.nodeType === 3 && (modal === null || holds(modal, node))) visitText(node, depth, around);
    };
    // Where not all children are shown, or in another order; the button of a customizable select is the select itself.
    const chosenChildren = (element) => {
      if (element.tagName === 'DETAILS' && !element.open) return [...element.children].filter((child) => child.tagName === 'SUMMARY').slice(0, 1);
      if (element.tagName === 'SELECT') return [...element.childNodes].filter((child) => child.tagName !== 'BUTTON');
      return element.shadowRoot ? null : inSeenOrder(element);
    };
    const state = { deep: 0 };
    const rendered = (element) => {
      if (element.checkVisibility(RENDERED) || UNPAINTED.has(element.tagName)) return 'shown';
      const style = getComputedStyle(element);
      if (style.display === 'none') return '';
      if (style.display !== 'contents' && style.visibility === 'visible') return '';
      if (style.visibility === 'hidden' && surfaces(element)) return 'shown';
      return style.display === 'contents' && style.visibility === 'visible' ? 'shown' : 'passed through';
    };
    // What a canvas holds has no boxes: it is there for those who cannot see the drawing, and says what that shows.
    const inWords = (element) => {
      const { display, visibility } = getComputedStyle(element);
      return display === 'none' ? '' : visibility === 'visible' ? 'shown' : 'passed through';
    };
    const enabled = (element, style, cursor) => (style.pointerEvents !== 'none' || element.labels?.length > 0) && cursor !== 'not-allowed' && !element.matches(':disabled')
      && element.getAttribute('aria-disabled') !== 'true';
    // Whether a click does something here, as far as can be told, and what says so.
    const clicking = (element, style, around, signs) => {
      const found = reaction(element, around, signs);
      return found && enabled(element, style, signs.cursor) && (found === 'native' || !isNoPlace(element)) ? found : '';
    };
    const reaction = (element, around, { native, cursor, hears, list }) => {
      const tag = element.tagName;
      if (FRAMES.has(tag)) return '';
      if (native) return tag === 'OPTION' && element.closest('select')?.size <= 1 && !element.closest('select').multiple ? '' : 'native';
      // A click on a label goes to its control, which has a line of its own.
      if (tag === 'LABEL' && element.control) return rendered(element.control) ? '' : 'hand';
      if ((focusable(element) && element.tabIndex >= 0) || editable(element)) return 'focus';
      if (list) return '';
      if (showsHand(element, cursor, around)) return 'hand';
      if (hears && element !== document.body && element !== document.documentElement) return 'listener';
      return around.list === 'listener' && !/^(THEAD|TFOOT|CAPTION)$/.test(tag) ? 'list' : '';
    };
    const editable = (element) => element.hasAttribute('contenteditable') && element.isContentEditable && !element.parentElement?.isContentEditable;
    // What else a person could do here. Each makes for a line.
    const abilities = (element, role, { style, cursor, overflow }, around) => {
      const found = [];
      if (editable(element) && !role) found.push(['editable', '']);
      if (element.getAttribute('draggable') === 'true' || (cursor !== around.cursor && GRIPS.test(cursor))) found.push(['draggable', '']);
      if (dropListeners.has(element) || drops.has(element)) found.push(['droppable', '']);
      if (element === document.body || element === document.documentElement) return found;
      const scroll = scrollState(element, overflow);
      if (scroll) found.push(['scroll', scroll]);
      if (!role && element.firstElementChild && style.position === 'fixed') found.push(['overlay', '']);
      return found;
    };
    const visit = (element, depth, state, around) => {
      const tag = element.tagName;
      if (SKIPPED.has(tag) || (tag === 'INPUT' && element.type === 'hidden')) return;
      // A modal dialog is not inert, even inside something that is.
      if (element.inert && (modal === null || element === modal || !holds(element, modal))) return;
      // A modal dialog makes everything except itself inert; its ancestors are only passed through.
      const behind = modal !== null && !holds(modal, element);
      if (behind && !holds(element, modal)) return;
      const rendering = around.drawn ? inWords(element) : rendered(element);
      if (!rendering) return;
      if (state.deep >= MAX_DEPTH) { truncated = true; return; }
      state.deep += 1;
      const shown = rendering === 'shown';
      const muted = around.muted || (element.getAttribute('aria-hidden') === 'true' && element !== focused);
      let role = muted ? '' : givenRole(element) || implicitRole(element);
      if (role === 'none') role = '';
      if (role === 'LabelText' && redundantLabel(element)) {
        if (element.firstElementChild) visit(element.firstElementChild, depth, state, around);
        state.deep -= 1;
        return;
      }
      const style = getComputedStyle(element);
      const present = shown && !behind;
      const cursor = style.cursor, overflow = style.overflow;
      const hears = listens(element), list = isList(element, hears);
      const click = present ? clicking(element, style, around, { native: POINTER_ROLES.has(role), cursor, hears, list }) : '';
      const able = present && !muted ? abilities(element, role, { style, cursor, overflow }, around) : [];
      const unseen = isUnseen(element, style, overflow, around);
      // Hidden from the tree by its author, but not from the mouse: what can be clicked there is told, and nothing else.
      if (muted) role = click && click !== 'focus' && (!unseen || OVERLAID.has(tag)) ? 'generic' : '';
      else if (!role && (click || able.length || focusable(element) || givenName(element))) role = 'generic';
      if (!present) role = '';
      const rec = record(element, around.rec);
      const scrolls = able.some(([key]) => key === 'scroll');
      const box = (boxes || around.pane || scrolls) && (role || element.firstElementChild || (around.pane && element.firstChild)) ? element.getBoundingClientRect() : null;
      const inner = insideOf(element, box, around, { style, cursor, overflow, muted, click, scrolls, rec, unseen, list: list && (hears ? 'listener' : 'hand') });
      const line = role ? lineOf(element, role, depth, click, able) : null;
      const before = out.length;
      rec.line = line;
      if (line) {
        inner.told = tellUnseen(line, inner, tag);
        out.push(line);
        if (role === 'image' && line[2]) around.control?.texts.push(line[2]);
      }
      // Options and areas have no boxes of their own: they are as visible as what they belong to.
      if (!CLOSED.has(tag) && (shown || (tag !== 'SELECT' && tag !== 'IMG'))) visitInside(element, line ? depth + 1 : depth, state, inner, role, shown);
      const clickable = line && click && settleControl(line, inner.control, around.control);
      // The words around a link in an editor are a sentence only together with the link.
      const written = inner.control?.inside > 0 && element.isContentEditable;
      if (line && !line[2] && !written && NAMED_BY_CONTENT.has(role) && line[5].some(([key]) => key === 'clickable' || key === 'draggable')) line[2] = contentOf(before) || (muted && inner.control ? inner.control.whispers.join(' ').slice(0, MAX_CONTENT_NAME) : '');
      if (clickable) controls.add(element);
      if (line && boxes) pushBox(line, element, around.clip, box, Boolean(clickable));
      state.deep -= 1;
    };
    const lineOf = (element, role, depth, click, able) => {
      const name = nameOf(element, role), value = valueOf(element, role);
      const properties = [...propertiesOf(element, role, focused), ...remarksOn(element, name, value)];
      if (click && click !== 'native') properties.push(['clickable', '']);
      const href = role === 'link' ? element.href : '';
      const frame = role === 'Iframe' || element.tagName === 'EMBED' || element.tagName === 'OBJECT' ? frameNumber(element) : -1;
      return [depth, role, name, 0, value, [...properties, ...able], typeof href === 'string' ? href.slice(0, 4000) : '', frame];
    };
    // What the children need to know: where they are clipped, whose hand they show, which control they belong to, whether
    // they are out of sight and a line above says so.
    const insideOf = (element, box, around, { style, cursor, overflow, muted, click, scrolls, rec, unseen, list }) => {
      const control = click ? { element, click, texts: [], whispers: [], inside: 0, only: null } : around.control;
      const clipped = box && element.firstElementChild ? clipOf(element, around.clip, box, overflow) : around.clip;
      const pane = scrolls ? clipOf(element, around.pane ?? EVERYWHERE, box, overflow) : around.pane;
      const far = around.far || Boolean(around.pane && box && box.width > 0 && box.height > 0 && outside(box, around.pane));
      const holder = list === 'hand' ? around.list || (showsHand(element, cursor, around) ? 'hand' : '') : list && (around.list || list);
      return { style, clip: clipped, cursor, list: holder, muted, control, pane, far, unseen, told: around.told, rec, drawn: around.drawn || element.tagName === 'CANVAS' };
    };
    // What nobody can see, wherever it is scrolled: transparent, or folded away. A field may be, which lies over its drawing.
    const isUnseen = (element, style, overflow, around) => around.unseen || (around.drawn ? '' : folded(element, style, overflow) ? 'folded' : vanished(element, style) ? 'transparent' : '');
    // Says once that something is out of sight; whether it has been said.
    const tellUnseen = (line, { unseen, far, told }, tag) => {
      if (told) return true;
      const word = unseen === 'folded' || (unseen && !OVERLAID.has(tag)) ? 'hidden' : far ? 'offscreen' : '';
      if (word) line[5].push([word, '']);
      return word !== '';
    };
    const outside = (box, [left, top, right, bottom]) => box.right <= left || box.left >= right || box.bottom <= top || box.top >= bottom;
    // Once its content is known: is it a control, or only something around controls? Names it by what it says.
    const settleControl = (line, control, above) => {
      const { click, texts, inside, only } = control;
      const text = texts.join(' ');
      if (above) { above.inside += inside + 1; above.only = control; }
      control.line = line;
      const certain = click === 'native' || click === 'focus';
      if (certain && !text && inside === 1 && (only.click === 'hand' || only.click === 'listener') && fills(only.element, control.element)) withdraw(only);
      const wrapper = !text && (inside === 1 ? fills(only.element, control.element) : inside > 1 && click !== 'hand');
      // A row with words of its own that listens itself is a control all the same.
      const crowd = inside >= CROWD && (click === 'list' || (click === 'listener' && !(text && ROWS.test(control.element.tagName))));
      if (!certain && (wrapper || crowd)) {
        line[5] = line[5].filter(([key]) => key !== 'clickable');
        if (above) { above.inside -= 1; above.only = only; }
        return false;
      }
      return true;
    };
    // Two elements, one control: the inner one takes up most of the outer.
    const fills = (inner, outer) => {
      const one = inner.getBoundingClientRect(), other = outer.getBoundingClientRect();
      return one.width * one.height >= 0.4 * other.width * other.height;
    };
    const withdraw = ({ element, line }) => {
      line[5] = line[5].filter(([key]) => key !== 'clickable');
      if (line[1] === 'generic' && !givenName(element)) line[2] = '';
      if (line.length > 10) line[10] = false;
      controls.delete(element);
    };
    // A control that nobody named is called what it says, unless that is long; what other controls in it say is theirs.
    const contentOf = (before) => {
      const words = [];
      let length = 0, theirs = Infinity;
      for (let at = before + 1; at < out.length; at += 1) {
        const [depth, role, name, , , properties] = out[at];
        if (depth > theirs) continue;
        theirs = POINTER_ROLES.has(role) || properties.some(([key]) => key === 'clickable') ? depth : Infinity;
        if (theirs < Infinity || !name || (role !== 'StaticText' && role !== 'image')) continue;
        length += name.length + 1;
        if (length > MAX_CONTENT_NAME) return '';
        words.push(name);
      }
      return words.join(' ');
    };
    const pushBox = (line, element, clip, box, clickable) => {
      let visible = share(element, box, clip, clickable);
      const label = visible < HARDLY && clickable && element.tagName === 'INPUT' ? element.labels?.[0] : null;
      if (label) {
        // Drawn by its label: that is what people see and click. The field itself may be a dot at its edge.
        const drawn = label.getBoundingClientRect(), seen = share(label, drawn, clip, true);
        if (seen > visible) { box = drawn; visible = seen; }
      }
      boxOf(line, box, visible, clickable);
    };
    const visitInside = (element, depth, state, around, role, shown) => {
      const tag = element.tagName;
      if (tag === 'IMG') visitAreas(element, depth, state, around);
      if (tag === 'Q' && shown && !around.muted) emit(depth, 'StaticText', '“');
      if (tag === 'SELECT' && role === 'combobox') {
        if (element.options.length === 0) return;
        emit(depth, 'MenuListPopup', '');
        depth += 1;
      }
      const decorated = sheets.now.generated && shown && !UNDECORATED.has(tag) && element.matches(sheets.now.generated);
      if (tag === 'LI' && shown && !around.muted) {
        const style = around.style;
        if (style.display === 'list-item' && pictureCame(style.listStyleImage)) { emit(depth, 'ListMarker', ''); emit(depth + 1, 'image', ''); }
        else if (style.display === 'list-item') {
          const marker = markerOf(element, style);
          if (marker) emit(depth, 'ListMarker', marker);
        }
      }
      if (decorated) emitGenerated(element, '::before', depth, around);
      visitChildren(element, depth, state, around);
      if (decorated) emitGenerated(element, '::after', depth, around);
      if (tag === 'Q' && shown && !around.muted) emit(depth, 'StaticText', '”');
    };
    const visitAreas = (image, depth, state, around) => {
      const map = image.useMap && document.querySelector(`map[name="${CSS.escape(image.useMap.slice(1))}"]`);
      for (const area of map ? map.querySelectorAll('area') : []) visit(area, depth, state, around);
    };
    const clipOf = (element, clipping, box, overflow) => {
      if (overflow === 'visible' || element === document.body || element === document.documentElement) return clipping;
      return [Math.max(clipping[0], box.left), Math.max(clipping[1], box.top), Math.min(clipping[2], box.right), Math.min(clipping[3], box.bottom)];
    };

    const rootFocused = !focused || focused === document.body || focused === document.documentElement;
    const hasFocus = inFrame ? document.hasFocus() && rootFocused : rootFocused;
    const scroll = pageScroll();
    emit(0, 'RootWebArea', squeeze(document.title))[5].push(...(hasFocus ? [['focused', '']] : []), ...(scroll ? [['scroll', scroll]] : []));
    const start = { style: null, clip, cursor: 'auto', list: '', muted: false, control: null, pane: null, far: false, unseen: '', told: false, rec: null, drawn: false };
    noteLook();
    lookAgain = () => observe({ boxes: false, clip, inFrame });
    if (document.documentElement) {
      start.rec = record(document.documentElement, null);
      visit(document.documentElement, 1, state, start);
      const same = identify(start.rec, isChanged);
      if (same) for (const rec of same) { if (stoodOut(rec.element)) rec.line[5].push(['stands out', '']); }
      else findStandouts(neighbours(start.rec));
    }
    return JSON.stringify({ ...facts(), nodes: out, focused: focused && !rootFocused ? ids.get(focused) ?? 0 : 0, truncated });
  };
  const deepFocus = () => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element;
  };

  const facts = () => { const view = pageView(); return { title: document.title, scroll: [view?.scrollLeft ?? scrollX, view?.scrollTop ?? scrollY] }; };
  const page = () => JSON.stringify(facts());

  return { find, missing, frameNumber, SKIPPED, CLOSED, controlAt, topModal, observe, deepFocus, page };
}
