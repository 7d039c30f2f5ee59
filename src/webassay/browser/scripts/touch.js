// Uses the functions of the scripts before it: finding where to click, filling, choosing,
// typing, focusing, scrolling, and drawing the marks. Fields get their values through the browser's own setters, followed by the events
// that a person's input would cause.
({ ids, find, squeeze, deepHit, deepFocus, insideFolded, reaches, surfaces, within, frameNumber, nextFrame, controlAt, topModal, bodyScrolls, pageView, pulse }) => {
  const describe = (element) => {
    const tag = element.tagName.toLowerCase();
    const known = ids.get(element);
    const words = squeeze(element.innerText ?? '').slice(0, 40);
    return (known ? `[${known}] ` : '') + `<${tag}${element.id ? ' id="' + element.id.slice(0, 40) + '"' : ''}>` + (words ? ` "${words}"` : '');
  };
  const fail = (error) => JSON.stringify({ error });
  // Why nobody can use an element now, although it is there: it is inert. Empty if it is not.
  const blocked = (element) => {
    const modal = topModal();
    if (modal && !within(element, modal)) return `It is covered by the dialog ${describe(modal)}: close that first.`;
    for (let node = element; node; node = node.assignedSlot ?? node.parentNode ?? node.host) {
      if (node.inert) return 'It is inert: the page has switched this part of itself off. Look for what it shows instead, such as a dialog, and finish or close that first.';
      if (node === modal) return '';
    }
    return '';
  };
  // Where the document in a frame begins, in this one; how large it is there, and how many pixels one of its own takes here
  // (across and down): border and padding lie around it, and a transform makes it larger or smaller.
  const frameOf = (element) => {
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    // Sizes in layout are rounded: less than a pixel is no transform.
    const scale = (drawn, laid) => (drawn > 0 && laid > 0 && Math.abs(drawn - laid) >= 1 ? drawn / laid : 1);
    const across = scale(box.width, element.offsetWidth), down = scale(box.height, element.offsetHeight);
    const [left, top, right, bottom] = [style.paddingLeft, style.paddingTop, style.paddingRight, style.paddingBottom].map((size) => parseFloat(size) || 0);
    return {
      left: box.left + (element.clientLeft + left) * across, top: box.top + (element.clientTop + top) * down, across, down,
      width: element.clientWidth - left - right, height: element.clientHeight - top - bottom,
    };
  };
  const scrollTo = (element) => {
    const box = element.getBoundingClientRect();
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    const seen = x >= 0 && y >= 0 && x < innerWidth && y < innerHeight && reaches(deepHit(x, y), element);
    if (!seen) element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  };
  // The middle first; the others are for elements that are covered in part, or that hold other controls.
  const SPOTS = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.2], [0.5, 0.8], [0.1, 0.1], [0.9, 0.9], [0.9, 0.1], [0.1, 0.9], [0.1, 0.5], [0.9, 0.5],
    [0.03, 0.5], [0.97, 0.5], [0.5, 0.05], [0.5, 0.95], [0.35, 0.35], [0.65, 0.65], [0.35, 0.65], [0.65, 0.35], [0.02, 0.05], [0.98, 0.95]];
  // Where every spot is on a control inside, there may still be a part that holds none, like a narrow cell of a row.
  const MAX_PARTS = 100;
  const placeBetween = (element, free) => {
    for (const part of [...element.querySelectorAll('*')].slice(0, MAX_PARTS)) {
      const { left, top, width, height } = part.getBoundingClientRect();
      const x = left + width / 2, y = top + height / 2;
      const hit = width > 0 && height > 0 ? deepHit(x, y) : null;
      if (hit && reaches(hit, element) && free(x, y)) return { x, y };
    }
    return null;
  };
  // Where to move the mouse to reach an element, or why it cannot be reached.
  const locate = (id, anything, scrolling) => {
    const element = find(id);
    if (!element) return fail('gone');
    let target = element;
    // Without a box of its own, it is reached through its content.
    if (getComputedStyle(element).display === 'contents' && element.firstElementChild) target = element.firstElementChild;
    if (surfaces(target)) {
      if (scrolling !== 'never') target.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
      const { left, top, width, height } = target.getBoundingClientRect();
      return JSON.stringify({ x: left + width / 2, y: top + height / 2 });
    }
    if (!target.checkVisibility({ visibilityProperty: true }) || target.getClientRects().length === 0) {
      const label = element.labels?.[0];
      if (!label || !label.checkVisibility({ visibilityProperty: true })) {
        if (element.closest('canvas')) return fail('It is what a canvas says of its drawing: click the drawing by coordinates, or focus the canvas and use the keyboard.');
        if (element.tagName === 'OPTION') return fail('It is an option in a list: use select_option on the list.');
        return fail('It is not visible.');
      }
      target = label;
    }
    if (!anything && element.matches(':disabled')) return fail('It is disabled.');
    if (scrolling === 'always') target.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    if (scrolling === 'if needed') scrollTo(target);
    const rects = [...target.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
    if (rects.length === 0) {
      const label = element.labels?.[0];
      const box = label?.getBoundingClientRect();
      if (!box || box.width === 0) return fail('It has no visible size.');
      rects.push(box); target = label;
    }
    let cover = null, inside = null;
    // A row or a card may hold controls of its own: a click on it should not be a click on one of them.
    const owned = (hit) => { const control = controlAt(hit); return !control || control === element || !within(control, element); };
    // The mouse stands on whole pixels: a place just beside a control may turn out to be on it.
    const free = (x, y) => owned(deepHit(x, y)) && owned(deepHit(Math.floor(x), Math.floor(y)));
    // A control hidden under its own drawing is clicked through its label, as people do.
    for (const label of target === element ? element.labels ?? [] : []) rects.push(...label.getClientRects());
    for (const box of rects) {
      const left = Math.max(0, box.left), top = Math.max(0, box.top), right = Math.min(innerWidth, box.right), bottom = Math.min(innerHeight, box.bottom);
      if (right <= left || bottom <= top) continue;
      for (const [fx, fy] of SPOTS) {
        const x = left + (right - left) * fx, y = top + (bottom - top) * fy;
        const hit = deepHit(x, y);
        if (!reaches(hit, target) && !reaches(hit, element) && !anything) { cover ??= hit; continue; }
        if (anything || free(x, y)) return JSON.stringify({ x, y });
        inside ??= { x, y };
      }
    }
    if (inside) return JSON.stringify(placeBetween(element, free) ?? inside);
    const why = blocked(element);
    if (why) return fail(why);
    if (insideFolded(element)) return fail('It is inside something that is folded away: look for what opens it.');
    if (cover) return fail(`It is covered by ${describe(cover)}.`);
    return fail('It cannot be scrolled into view.');
  };
  // Where an element stands, for the record: what is hidden stands where its label does.
  const place = (id) => {
    const element = find(id);
    const shown = element && [element, ...element.labels ?? [], ...element.children].find((one) => one.getClientRects().length > 0);
    if (!shown) return null;
    const { x, y, width, height } = shown.getBoundingClientRect();
    return [x, y, width, height].every(Number.isFinite) ? JSON.stringify({ x, y, width, height }) : null;
  };
  const owner = (element) => JSON.stringify({ place: frameNumber(element), id: ids.get(element) ?? 0, ...frameOf(element) });
  const showFrame = (id) => {
    const element = find(id);
    const why = element ? blocked(element) : '';
    if (why) return fail(why);
    element?.scrollIntoViewIfNeeded?.();
    return JSON.stringify({});
  };
  const TYPED = new Set(['text', 'search', 'email', 'tel', 'url', 'password', 'number']);
  const send = (element, ...types) => {
    for (const type of types) element.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
  };
  // Prepares for typing: focuses and selects everything. Fields that cannot be typed into get their value right away.
  // Starts right after a frame, so that the text arrives before the next one and the selection alone is never painted.
  const prepareFill = async (id, value) => {
    await nextFrame();
    const element = find(id);
    if (!element) return fail('gone');
    if (!element.checkVisibility({ visibilityProperty: true })) return fail('It is not visible.');
    if (element.matches(':disabled')) return fail('It is disabled.');
    if (element.readOnly) return fail('It is read-only.');
    const why = blocked(element);
    if (why) return fail(why);
    const tag = element.tagName;
    scrollTo(element);
    // The text goes to whatever has the focus. A page may move it on, but if it stays where it was, the text is not for there.
    const before = deepFocus();
    const refused = () => deepFocus() === before && !within(before, element) && !(before?.isContentEditable && within(element, before));
    const unfocused = () => (before && before !== document.body
      ? `The focus stays in ${describe(before)}, so nothing was written. Fill that one if it is meant, or close what holds the focus.`
      : 'It cannot be focused, so nothing was written: look for what is in its way.');
    if (tag === 'INPUT' && !TYPED.has(element.type)) {
      if (['checkbox', 'radio', 'button', 'submit', 'reset', 'image', 'file', 'hidden'].includes(element.type)) return fail(`An input of type ${element.type} does not take text.`);
      element.focus();
      element.value = value.trim();
      if (value && element.value === '') return fail(`${JSON.stringify(value)} is not a valid value for an input of type ${element.type}.`);
      if (element.type === 'color' || element.type === 'range') { if (element.value.toLowerCase() !== value.trim().toLowerCase() && Number(element.value) !== Number(value)) return fail(`${JSON.stringify(value)} is not a valid value for an input of type ${element.type}.`); }
      send(element, 'input', 'change');
      return JSON.stringify({ done: true });
    }
    if (tag === 'INPUT' && element.type === 'number' && value.trim() !== '' && Number.isNaN(Number(value))) return fail(`${JSON.stringify(value)} is not a number.`);
    if (tag === 'INPUT' || tag === 'TEXTAREA') {
      element.focus();
      if (refused()) return fail(unfocused());
      element.select();
      return JSON.stringify({ done: false, empty: element.value === '' });
    }
    if (element.isContentEditable) {
      element.focus();
      getSelection().selectAllChildren(element);
      if (refused()) return fail(unfocused());
      return JSON.stringify({ done: false, empty: element.textContent === '' });
    }
    return fail(tag === 'SELECT' ? 'It is a list: use select_option.' : 'It is not a text field.');
  };
  const select = (id, wanted) => {
    let element = find(id);
    if (!element) return fail('gone');
    if (element.tagName === 'OPTION' || element.tagName === 'OPTGROUP') element = element.closest('select');
    if (element?.tagName !== 'SELECT') return fail('It is not a list of options: click it to open it, then click the option.');
    if (element.matches(':disabled')) return fail('It is disabled.');
    const why = blocked(element);
    if (why) return fail(why);
    if (wanted.length > 1 && !element.multiple) return fail('Only one of its options can be chosen.');
    const options = [...element.options];
    const chosen = new Set();
    for (const name of wanted) {
      const match = options.find((option) => option.label === name) ?? options.find((option) => squeeze(option.label) === squeeze(name)) ?? options.find((option) => option.value === name);
      if (!match) return fail(`It has no option ${JSON.stringify(name)}; it has ${options.slice(0, 30).map((option) => JSON.stringify(squeeze(option.label))).join(', ')}${options.length > 30 ? ', ...' : ''}.`);
      if (match.matches(':disabled')) return fail(`The option ${JSON.stringify(name)} is disabled.`);
      chosen.add(match);
    }
    element.focus();
    if (element.multiple) for (const option of options) option.selected = chosen.has(option);
    else for (const option of chosen) option.selected = true;
    send(element, 'input', 'change');
    return JSON.stringify({});
  };
  const focus = (id) => {
    const element = find(id);
    if (!element) return fail('gone');
    if (element.matches(':disabled')) return fail('It is disabled.');
    scrollTo(element);
    element.focus();
    if (deepFocus() !== element && !within(deepFocus(), element)) return fail(blocked(element) || 'It cannot be focused.');
    return JSON.stringify({});
  };
  const fileField = (id) => {
    const element = find(id);
    if (!element || blocked(element)) return null;
    if (element.tagName === 'INPUT' && element.type === 'file') return element;
    const control = element.closest('label')?.control;
    return control && control.type === 'file' ? control : null;
  };

  // --- scrolling ----------------------------------------------------------------------------------------
  const scrolls = (element) => {
    if (element === document.scrollingElement) return true;
    if (element === document.body) return bodyScrolls();
    if (element.scrollHeight <= element.clientHeight && element.scrollWidth <= element.clientWidth) return false;
    const { overflowX, overflowY } = getComputedStyle(element);
    const open = (overflow) => overflow === 'auto' || overflow === 'scroll';
    return (open(overflowY) && element.scrollHeight > element.clientHeight) || (open(overflowX) && element.scrollWidth > element.clientWidth);
  };
  // From the inside out; the page itself is the last.
  const regionsAround = (element) => {
    const regions = [];
    for (let node = element; node; node = node.assignedSlot ?? node.parentNode ?? node.host) if (node.nodeType === 1 && scrolls(node)) regions.push(node);
    return regions;
  };
  const area = (element) => { const box = element.getBoundingClientRect(); return box.width * box.height; };
  // An element that holds a region which fills it, such as a dialog with a long body, stands for that region.
  const regionOf = (element) => {
    const inner = scrolls(element) ? element : [...element.querySelectorAll('*')].find((one) => scrolls(one) && area(one) >= area(element) / 2);
    return inner ?? regionsAround(element)[0];
  };
  const position = (region) => ({ region, left: region.scrollLeft, top: region.scrollTop });
  let positions = [];
  const beforeScroll = (x, y) => {
    const hit = deepHit(x, y);
    positions = regionsAround(hit).map(position);
    if (hit?.tagName !== 'IFRAME' && hit?.tagName !== 'FRAME') return JSON.stringify({ frame: -1 });
    return JSON.stringify({ frame: frameNumber(hit), ...frameOf(hit) });
  };
  const report = ({ region, left, top }) => JSON.stringify({
    moved: region.scrollLeft !== left || region.scrollTop !== top, page: region === pageView() || region === document.scrollingElement, id: ids.get(region) ?? 0, what: describe(region),
    at: [region.scrollLeft, region.scrollTop].map(Math.round), most: [region.scrollWidth - region.clientWidth, region.scrollHeight - region.clientHeight],
  });
  // What the wheel moved of what lay under the mouse, or else the innermost region there.
  const afterScroll = async () => {
    await nextFrame();
    const connected = positions.filter(({ region }) => region.isConnected);
    const moved = connected.find(({ region, left, top }) => region.scrollLeft !== left || region.scrollTop !== top) ?? connected[0];
    return moved ? report(moved) : JSON.stringify({ moved: false });
  };
  const moveBy = async (region, right, down) => {
    const before = position(region);
    region.scrollBy({ left: right, top: down, behavior: 'instant' });
    await nextFrame();
    return report(before);
  };
  const scrollRegion = async (id, right, down) => {
    const element = find(id);
    if (!element) return fail('gone');
    // It stands for its document, which only the frame itself can scroll.
    if (element.tagName === 'IFRAME' || element.tagName === 'FRAME') return JSON.stringify({ frame: frameNumber(element) });
    const region = regionOf(element);
    return region ? moveBy(region, right, down) : fail('Nothing around it can be scrolled.');
  };
  // Scrolls this whole document, or the region that fills a document which does not scroll itself.
  const scrollDocument = async (right, down) => {
    const view = pageView();
    if (!view) return JSON.stringify({ moved: false });
    const goesOn = (one) => (right !== 0 && one.scrollWidth > one.clientWidth) || (down !== 0 && one.scrollHeight > one.clientHeight);
    // A script can scroll what is hidden, and nobody could scroll it back.
    const locked = () => {
      const axis = down !== 0 ? 'overflowY' : 'overflowX';
      const own = getComputedStyle(document.documentElement)[axis];
      return view === document.scrollingElement && ['hidden', 'clip'].includes(own === 'visible' && document.body ? getComputedStyle(document.body)[axis] : own);
    };
    if (goesOn(view) && !locked()) return moveBy(view, right, down);
    const fills = (one) => scrolls(one) && goesOn(one) && area(one) >= innerWidth * innerHeight / 2;
    const region = [...document.querySelectorAll('body *')].find(fills);
    return region ? moveBy(region, right, down) : moveBy(view, 0, 0);
  };

  // --- typing -------------------------------------------------------------------------------------------
  // Between two keys a page may render, replace the field and move the focus. The field is followed as a person would:
  // wait until the focus is back, and if it does not come back, go on in the field that took the old one's place.
  const editable = (element) => Boolean(element) && (element.isContentEditable
    || ((element.tagName === 'TEXTAREA' || (element.tagName === 'INPUT' && TYPED.has(element.type))) && !element.readOnly && !element.matches(':disabled')));
  const CHANGES = { subtree: true, childList: true, characterData: true, attributes: true };
  const NO_KEY = { inputs: 0, key: null, astray: false, arrived: false };
  let typing = null;
  const stir = new MutationObserver((records) => { typing.stirred += records.length; });
  const hear = (event) => {
    if (typing === null || !event.isTrusted) return;
    if (event.type === 'input') typing.inputs += 1;
    if (event.type === 'keydown') { typing.key = event; typing.astray = !editable(event.composedPath()[0]); }
    else typing.arrived = true;
  };
  for (const type of ['keydown', 'beforeinput', 'input']) addEventListener(type, hear, true);
  // A key that came while the page was exchanging the field: it went to no field, and nobody took it.
  const missed = () => typing.field !== null && !typing.arrived
    && (typing.key === null ? deepFocus() !== typing.field : typing.astray && !typing.key.defaultPrevented);
  const traits = (field) => [field.tagName, field.type, field.id, field.name, field.placeholder, field.getAttribute('aria-label'), field.className].join('\n');
  const follow = (field) => {
    const root = field.getRootNode();
    const place = [];
    for (let node = field; node?.parentNode; node = node.parentNode) place.unshift([...node.parentNode.childNodes].indexOf(node));
    typing.field = field; typing.root = root; typing.place = place; typing.traits = traits(field);
  };
  const beginTyping = () => {
    const field = deepFocus();
    if (field?.tagName === 'IFRAME' || field?.tagName === 'FRAME') return JSON.stringify({ frame: frameNumber(field) });
    stir.disconnect();
    stir.observe(document, CHANGES);
    typing = { field: null, stirred: 0, ...NO_KEY, anything: Boolean(field) && field !== document.body && field !== document.documentElement };
    if (editable(field)) {
      if (field.getRootNode() !== document) stir.observe(field.getRootNode(), CHANGES);
      follow(field);
    }
    return JSON.stringify({ frame: -1, field: typing.field !== null });
  };
  // The field that took the old one's place: the only one like it, or the one that stands where it stood.
  const successor = () => {
    if (typing.field.isConnected) return typing.field;
    const root = typing.root.isConnected === false ? document : typing.root;
    const alike = [...root.querySelectorAll('input, textarea, [contenteditable]')].filter((field) => editable(field) && traits(field) === typing.traits);
    if (alike.length === 1) return alike[0];
    const there = typing.place.reduce((node, at) => node?.childNodes[at], root);
    return alike.includes(there) ? there : null;
  };
  const CALM = 2, PATIENCE = 2000;
  const regain = async () => {
    const until = performance.now() + PATIENCE;
    for (let calm = 0; calm < CALM && performance.now() < until;) {
      const seen = JSON.parse(await pulse(600, 300, 1200));
      if (editable(deepFocus())) return deepFocus();
      calm = seen.mutated || seen.timers || seen.fetches || seen.frames ? 0 : calm + 1;
    }
    const field = successor();
    field?.focus();
    return field !== null && deepFocus() === field ? field : null;
  };
  // After a key: `inFrame` gives the page a frame and the time to become idle, otherwise a turn of the event loop must do.
  const afterKey = async (inFrame) => {
    if (inFrame) await nextFrame(); else await new Promise((resolve) => setTimeout(resolve, 0));
    const took = typing.inputs > 0 || typing.stirred > 0 || typing.key?.defaultPrevented === true;
    const stirred = typing.stirred > 0, again = missed();
    const old = typing.field;
    let moved = false;
    if (old !== null && deepFocus() !== old) {
      const field = editable(deepFocus()) ? deepFocus() : await regain();
      if (field === null) return JSON.stringify({ lost: true });
      moved = old.isConnected && field !== old;
      if (field !== old && !old.isConnected && !field.isContentEditable && field.value === old.value) {
        // The caret of a field that was made anew stands at its beginning.
        try { field.setSelectionRange(old.selectionStart, old.selectionEnd); } catch { field.select?.(); getSelection().collapseToEnd?.(); }
      }
      follow(field);
    }
    Object.assign(typing, NO_KEY, { stirred: 0 });
    const value = typing.field === null || typing.field.isContentEditable ? null : typing.field.value;
    return JSON.stringify({ lost: false, again, took, stirred: stirred || moved, moved, value, nowhere: old === null && !typing.anything });
  };
  const endTyping = () => { stir.disconnect(); typing = null; };

  // --- set of marks -------------------------------------------------------------------------------------
  const COLOURS = ['#c2185b', '#1565c0', '#2e7d32', '#6a1b9a', '#ad5a00', '#00796b', '#b71c1c', '#283593'];
  const mark = async (picture, type, boxes, scale) => {
    const bytes = Uint8Array.from(atob(picture), (char) => char.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const pen = canvas.getContext('2d');
    pen.drawImage(bitmap, 0, 0);
    pen.font = 'bold 12px sans-serif';
    pen.textBaseline = 'top';
    boxes.forEach(([id, x, y, width, height], index) => {
      const colour = COLOURS[index % COLOURS.length];
      pen.strokeStyle = colour; pen.lineWidth = 2;
      pen.strokeRect(x * scale, y * scale, width * scale, height * scale);
      const labelWidth = pen.measureText(id).width + 6;
      const left = Math.max(0, Math.min(x * scale, canvas.width - labelWidth)), top = Math.max(0, y * scale - 14);
      pen.fillStyle = colour; pen.fillRect(left, top, labelWidth, 14);
      pen.fillStyle = '#ffffff'; pen.fillText(id, left + 3, top + 1);
    });
    const blob = await canvas.convertToBlob({ type, quality: 0.8 });
    const data = new Uint8Array(await blob.arrayBuffer());
    let binary = '';
    for (let at = 0; at < data.length; at += 32768) binary += String.fromCharCode(...data.subarray(at, at + 32768));
    return btoa(binary);
  };

  return { locate, place, owner, showFrame, prepareFill, select, focus, fileField, beforeScroll, afterScroll, scrollRegion, scrollDocument, beginTyping, afterKey, endTyping, mark };
}
