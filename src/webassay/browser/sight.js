// Runs in an isolated world of every frame: same document, separate JavaScript. The page can neither see nor change
// anything here, and nothing here writes to the document. Python calls the functions that are returned.
(secret, { ids, record, identify, neighbours, elementOf, lost, looked }) => {
  const frameLetters = new WeakMap();  // iframe element -> place among the frames of this document
  let lastFrame = 0;
  const clickListeners = new WeakSet();
  const dropListeners = new WeakSet();
  let mutations = 0;

  // --- talking to watch.js in the page's world ----------------------------------------------------------
  let told = null;
  document.addEventListener(secret + '-tell', (event) => {
    event.stopImmediatePropagation();
    if (event.detail === 'click') clickListeners.add(event.composedPath()[0]);
    else if (event.detail === 'drop') dropListeners.add(event.composedPath()[0]);
    else told = event.detail;
  }, true);
  const ask = (question) => {
    told = null;
    document.dispatchEvent(new CustomEvent(secret + '-ask', { detail: JSON.stringify(question) }));
    return told;
  };
  // The page could lie here. Only numbers are accepted, so a lie can only make us wait longer or shorter.
  const number = (value) => (typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0);

  // --- what is pending ----------------------------------------------------------------------------------
  const EVERYTHING = { subtree: true, childList: true, characterData: true, attributes: true };
  const changes = new MutationObserver((records) => { mutations += records.length; });
  changes.observe(document, EVERYTHING);
  // The document is not told about changes and animations inside shadow roots: each root is observed once it is found.
  const knownRoots = new WeakSet();
  let roots = [];
  const meet = (root) => {
    if (knownRoots.has(root)) return;
    knownRoots.add(root);
    roots.push(new WeakRef(root));
    changes.observe(root, EVERYTHING);
  };
  const allAnimations = () => {
    if (roots.length === 0) return document.getAnimations();
    roots = roots.filter((reference) => reference.deref() !== undefined);
    const inside = roots.map((reference) => reference.deref()).filter((root) => root?.isConnected);
    return [document, ...inside].flatMap((scope) => scope.getAnimations());
  };
  let ignoredAnimations = new WeakSet();
  const runningAnimations = (bound) => {
    let left = 0;
    for (const animation of allAnimations()) {
      if (animation.playState !== 'running' || animation.timeline !== document.timeline || ignoredAnimations.has(animation)) continue;
      const end = animation.effect?.getComputedTiming().endTime;
      if (typeof end !== 'number' || !Number.isFinite(end)) continue;
      const remaining = (end - (animation.currentTime ?? 0)) / Math.abs(animation.playbackRate || 1);
      if (remaining > 0 && remaining <= bound) left = Math.max(left, remaining);
    }
    return left;
  };
  // After the next frame, once the page is idle: work split into pieces (messages to itself, idle callbacks) is neither a
  // timer nor a request, but it is pending.
  const BUSY_TIME = 200;
  const nextFrame = () => new Promise((resolve) => {
    // A tab that is not painted has no frames; a turn of the event loop must do.
    const fallback = setTimeout(resolve, 60);
    requestAnimationFrame(() => { clearTimeout(fallback); requestIdleCallback(resolve, { timeout: BUSY_TIME }); });
  });
  const pulse = async (timerBound, animationBound, patience) => {
    const before = mutations;
    await nextFrame();
    let seen = {};
    try { seen = JSON.parse(ask({ about: 'pending', bound: timerBound, patience })) ?? {}; } catch { seen = {}; }
    return JSON.stringify({
      mutated: mutations !== before,
      timers: number(seen.timers), next: number(seen.next), delay: number(seen.delay), fetches: number(seen.fetches), frames: number(seen.frames),
      animation: runningAnimations(animationBound),
      loading: document.readyState !== 'complete',
    });
  };
  const newEpoch = () => { ask({ about: 'epoch' }); };
  const giveUp = () => {
    ask({ about: 'ignore' });
    for (const animation of allAnimations()) ignoredAnimations.add(animation);
  };

  // --- identity -----------------------------------------------------------------------------------------
  let mutationsSeen = -1, lookAgain = null;
  const changed = () => {
    mutations += changes.takeRecords().length;
    return mutations !== mutationsSeen;
  };
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

  // --- roles --------------------------------------------------------------------------------------------
  const TAG_ROLES = {
    ABBR: 'Abbr', ADDRESS: 'group', ARTICLE: 'article', ASIDE: 'complementary', AUDIO: 'Audio', VIDEO: 'Video',
    BLOCKQUOTE: 'blockquote', BUTTON: 'button', CANVAS: 'Canvas', CAPTION: 'caption', CODE: 'code', DD: 'definition',
    DEL: 'deletion', S: 'deletion', DETAILS: 'group', DFN: 'term', DIALOG: 'dialog', DL: 'DescriptionList', DT: 'term',
    EM: 'emphasis', EMBED: 'EmbeddedObject', FIELDSET: 'group', FIGCAPTION: 'Figcaption', FIGURE: 'figure', FORM: 'form',
    H1: 'heading', H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading', H6: 'heading', HGROUP: 'group',
    HR: 'separator', IFRAME: 'Iframe', FRAME: 'Iframe', INS: 'insertion', LEGEND: 'Legend', LI: 'listitem', MAIN: 'main',
    MARK: 'mark', MENU: 'list', METER: 'meter', NAV: 'navigation', OBJECT: 'PluginObject', OL: 'list', OPTGROUP: 'group',
    OPTION: 'option', OUTPUT: 'status', P: 'paragraph', PROGRESS: 'progressbar', RUBY: 'Ruby', SEARCH: 'search',
    STRONG: 'strong', SUB: 'subscript', SUP: 'superscript', TEXTAREA: 'textbox', TIME: 'time', UL: 'list',
  };
  const MATH_ROLES = {
    math: 'MathMLMath', mi: 'MathMLIdentifier', mo: 'MathMLOperator', mn: 'MathMLNumber', mfrac: 'MathMLFraction', mrow: 'MathMLRow',
    msup: 'MathMLSup', msub: 'MathMLSub', msubsup: 'MathMLSubSup', msqrt: 'MathMLSquareRoot', mroot: 'MathMLRoot', mtext: 'MathMLText',
    mover: 'MathMLOver', munder: 'MathMLUnder', munderover: 'MathMLUnderOver', mtable: 'MathMLTable', mtr: 'MathMLTableRow', mtd: 'MathMLTableCell',
  };
  const INPUT_ROLES = {
    button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', checkbox: 'checkbox', radio: 'radio',
    range: 'slider', number: 'spinbutton', search: 'searchbox', color: 'ColorWell', date: 'Date', time: 'InputTime',
    'datetime-local': 'DateTime', month: 'DateTime', week: 'DateTime',
  };
  const TABLE_TAGS = new Set(['TABLE', 'THEAD', 'TBODY', 'TFOOT', 'TR', 'TD', 'TH']);
  const FOCUS_TAGS = new Set(['BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'SUMMARY', 'IFRAME', 'AUDIO', 'VIDEO']);
  const LANDMARK_SCOPES = 'article,aside,main,nav,section,[role=article],[role=complementary],[role=main],[role=navigation],[role=region]';

  const focusable = (element) => {
    if (element.disabled) return false;
    if (element.hasAttribute('tabindex')) return Number.isInteger(Number.parseInt(element.getAttribute('tabindex'), 10));
    const tag = element.tagName;
    if ((tag === 'A' || tag === 'AREA') && element.hasAttribute('href')) return true;
    if (FOCUS_TAGS.has(tag)) return !(tag === 'INPUT' && element.type === 'hidden');
    return element.isContentEditable && !element.parentElement?.isContentEditable;
  };
  // An explicit role is only a request: it may be unknown, misplaced, or not allowed.
  const givenRole = (element) => {
    if (!element.hasAttribute('role')) return '';
    const role = element.computedRole;
    if (role === 'img') return 'image';
    return role === 'generic' || role === '' ? '' : role;
  };
  const LAYOUT_ROLES = { TABLE: 'LayoutTable', TR: 'LayoutTableRow', TD: 'LayoutTableCell', TH: 'LayoutTableCell' };
  let tableRoles = new Map();  // for one observation: asking for every cell's table is what makes long tables slow
  const roleOfTable = (table) => {
    let role = tableRoles.get(table);
    if (role === undefined) { role = table.computedRole; tableRoles.set(table, role); }
    return role;
  };
  const tableRole = (element) => {
    const table = element.closest('table');
    if (table) {
      const outer = roleOfTable(table);
      if (outer === 'none') return '';
      const row = element.parentElement;
      const plain = element === table || !(row.hasAttribute('role') || row.parentElement.hasAttribute('role'));
      if (outer !== 'table' && outer !== 'grid' && outer !== 'treegrid') return plain ? LAYOUT_ROLES[element.tagName] ?? '' : '';
      if (outer === 'table' && element.tagName === 'TD' && row.tagName === 'TR' && plain) return 'cell';
    }
    switch (element.tagName) {
      case 'TABLE': return 'table';
      case 'THEAD': case 'TFOOT': return 'rowgroup';
      case 'TBODY': return element.computedRole === 'rowgroup' && element.parentElement?.tBodies?.length > 1 ? 'rowgroup' : '';
      case 'TR': return 'row';
      default: {
        const role = element.computedRole;
        return role === 'generic' || !role ? 'cell' : role;
      }
    }
  };
  // Chromium calls it a paragraph only if it holds running text: no blocks, no inline boxes, and not empty.
  const OTHER_FLOWS = /^(inline|table|flex|grid|contents)$/;
  const holdsInline = (element) => {
    const own = getComputedStyle(element);
    if (OTHER_FLOWS.test(own.display) || own.columnCount !== 'auto' || own.columnWidth !== 'auto') return false;
    if (!element.firstElementChild) return /[^ \t\n\r\f]/.test(element.textContent);
    let found = false;
    for (const child of element.childNodes) {
      if (child.nodeType === 3) { found ||= /[^ \t\n\r\f]/.test(child.data); continue; }
      if (child.nodeType !== 1) continue;
      const style = getComputedStyle(child);
      if (style.display === 'none' || style.position === 'absolute' || style.position === 'fixed' || style.float !== 'none') continue;
      if (!style.display.startsWith('inline') && style.display !== 'contents' && !style.display.startsWith('ruby')) return child.tagName === 'BR' || child.tagName === 'WBR';
      found = true;
    }
    return found;
  };
  // Keeps an otherwise empty element in the tree: a link may point to it, or it reacts to input.
  const isTarget = (element) => element.id !== '' && element.getRootNode() === document;
  const interesting = (element) => focusable(element) || element.title !== '' || element.isContentEditable || element.hasAttribute('onclick')
    || clickListeners.has(element) || element.getAttributeNames().some((name) => name.startsWith('aria-'));
  const implicitRole = (element) => {
    const tag = element.tagName;
    const known = TAG_ROLES[tag];
    if (known !== undefined) {
      if ((tag === 'P' || tag === 'ADDRESS') && !holdsInline(element) && !isTarget(element) && !interesting(element)) return '';
      if (tag === 'LI' && /^(UL|OL|MENU)$/.test(element.parentElement?.tagName) && !element.parentElement.hasAttribute('role')) return known;
      if (tag === 'LI' || tag === 'ASIDE') return element.computedRole === known ? known : '';
      if (tag === 'CANVAS' && !element.hasChildNodes() && !isTarget(element) && !element.computedName) return '';
      return known;
    }
    switch (tag) {
      case 'A': case 'AREA':
        // An anchor without a target that listens for the mouse is a link too.
        return element.hasAttribute('href') || (tag === 'A' && (clickListeners.has(element) || ['onclick', 'onmousedown', 'onmouseup'].some((name) => element.hasAttribute(name)))) ? 'link' : '';
      case 'INPUT': {
        const role = INPUT_ROLES[element.type];
        if (role) return role;
        return element.list ? 'combobox' : 'textbox';
      }
      case 'SELECT': return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
      case 'IMG': return element.getAttribute('alt') === '' && !interesting(element) ? '' : 'image';
      case 'HEADER': return element.closest(LANDMARK_SCOPES) ? 'sectionheader' : 'banner';
      case 'FOOTER': return element.closest(LANDMARK_SCOPES) ? 'sectionfooter' : 'contentinfo';
      case 'SECTION': return element.computedName ? 'region' : 'generic';
      case 'SUMMARY': return element.parentElement?.tagName === 'DETAILS' ? 'DisclosureTriangle' : '';
      case 'LABEL': return 'LabelText';
      default: break;
    }
    if (TABLE_TAGS.has(tag)) return tableRole(element);
    if (tag === 'svg') return element.computedRole || (element.clientHeight === 0 ? '' : 'SvgRoot');
    if (tag === 'a') return element.computedRole === 'link' ? 'link' : '';
    // Parts of a drawing get a line if the author gave them a title, as charts do.
    if (element.ownerSVGElement && element.firstElementChild?.tagName === 'title') return { g: 'group', text: 'generic' }[tag] ?? 'graphics-symbol';
    return MATH_ROLES[tag] ?? '';
  };
  // A label that only repeats the name of its checkbox or radio button.
  const redundantLabel = (element) => {
    const control = element.control;
    if (!control || control.tagName !== 'INPUT' || (control.type !== 'checkbox' && control.type !== 'radio')) return false;
    if (!control.checkVisibility({ visibilityProperty: true }) || control.hasAttribute('aria-label') || control.hasAttribute('aria-labelledby')) return false;
    const first = element.firstElementChild;
    return !first || (first === control && !first.nextElementSibling);
  };

  // --- names, values, properties ------------------------------------------------------------------------
  // Roles that have a name only if the author gave one. Asking the browser for names is the expensive part.
  const UNNAMED = new Set(['', 'generic', 'paragraph', 'list', 'listitem', 'LabelText', 'banner', 'contentinfo', 'main', 'navigation',
    'complementary', 'article', 'form', 'search', 'rowgroup', 'strong', 'emphasis', 'code', 'blockquote', 'deletion', 'insertion',
    'mark', 'subscript', 'superscript', 'time', 'DescriptionList', 'definition', 'Legend', 'Figcaption', 'caption', 'sectionheader',
    'sectionfooter', 'status', 'alert', 'log', 'LayoutTable', 'LayoutTableRow', 'Canvas', 'separator', 'menu', 'menubar', 'tablist',
    'toolbar', 'Ruby', 'feed', 'note', 'row', 'grid', 'tree', 'listbox', 'radiogroup', 'tabpanel']);
  const givenName = (element) => element.hasAttribute('aria-label') || element.hasAttribute('aria-labelledby') || element.hasAttribute('title');
  const NAMED_BY_TEXT = new Set(['link', 'button', 'heading', 'cell', 'columnheader', 'rowheader', 'gridcell', 'tab', 'menuitem', 'term',
    'DisclosureTriangle', 'LayoutTableCell', 'option']);
  // Only text inside and no other name given: the text is the name, without asking the browser.
  const plainName = (element, role) => {
    if (!NAMED_BY_TEXT.has(role) || element.firstElementChild || !element.firstChild || element.shadowRoot || element.isContentEditable) return null;
    if (element.tagName === 'INPUT' || element.tagName === 'OPTION' || givenName(element) || element.labels?.length) return null;
    if (rules.generated && element.matches(rules.generated)) return null;
    return squeeze(transformed(element.textContent, getComputedStyle(element)));
  };
  const nameOf = (element, role) => {
    if (UNNAMED.has(role) && !givenName(element) && !(role === 'listbox' && element.labels?.length) && role !== 'row') return '';
    // A row takes its name from its cells only in a grid.
    if (role === 'row' && element.tagName === 'TR' && !givenName(element) && !element.closest('[role=grid],[role=treegrid]')) return '';
    const plain = plainName(element, role);
    if (plain !== null) return plain;
    const name = squeeze(element.computedName);
    // The computed name of a file field includes its value.
    return element.type === 'file' ? name.replace(/: [^:]*$/, '') : name;
  };
  const squeeze = (text) => text.replace(/[ \t\n\r\f]+/g, ' ').trim();

  const TEXT_INPUTS = new Set(['text', 'search', 'email', 'tel', 'url', 'number', 'range', 'date', 'time', 'datetime-local', 'month', 'week', 'color']);
  const valueOf = (element, role) => {
    switch (element.tagName) {
      case 'INPUT':
        if (TEXT_INPUTS.has(element.type)) return element.value;
        if (element.type === 'password') return '•'.repeat(element.value.length);
        if (element.type === 'file') return [...element.files].map((file) => file.name).join(', ') || 'No file chosen';
        return '';
      case 'TEXTAREA': return element.value;
      case 'SELECT': return role === 'combobox' ? squeeze(element.selectedOptions[0]?.label ?? '') : '';
      case 'PROGRESS': return element.hasAttribute('value') ? String(element.value) : '';
      case 'METER': return String(element.value);
      default: break;
    }
    if (NUMERIC.has(role)) return element.getAttribute('aria-valuenow') ?? '';
    if (role === 'textbox' || role === 'searchbox') return (element.innerText ?? element.textContent).trim().slice(0, 2000);
    return '';
  };

  const CHECKABLE = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio']);
  const SELECTABLE = new Set(['tab', 'treeitem', 'option']);
  const ORIENTED = { slider: 'horizontal', tablist: 'horizontal', separator: 'horizontal', menu: 'vertical', menubar: 'horizontal', tree: 'vertical', listbox: 'vertical', toolbar: 'horizontal' };
  const REQUIRABLE = new Set(['textbox', 'searchbox', 'combobox', 'listbox', 'spinbutton', 'checkbox', 'radiogroup', 'gridcell', 'tree']);
  const LIVE = { alert: 'assertive', status: 'polite', log: 'polite' };
  const IDREFS = [['aria-controls', 'controls'], ['aria-describedby', 'describedby'], ['aria-owns', 'owns'], ['aria-activedescendant', 'activedescendant']];
  const NUMERIC = new Set(['slider', 'spinbutton', 'progressbar', 'meter', 'scrollbar']);
  const RANGES = { PROGRESS: [0, 1], METER: [0, 1] };
  const yes = (text) => text === 'true';
  // In the order the text format prints them.
  const propertiesOf = (element, role, focused) => {
    const found = [];
    const aria = (name) => element.getAttribute(name);
    if (element.matches(':disabled') || yes(aria('aria-disabled'))) found.push(['disabled', 'true']);
    if (element === focused) found.push(['focused', '']);
    const live = aria('aria-live') ?? LIVE[role];
    if (live && live !== 'off') {
      found.push(['live', live]);
      if (yes(aria('aria-atomic')) || (aria('aria-atomic') === null && (role === 'alert' || role === 'status'))) found.push(['atomic', '']);
      found.push(['relevant', aria('aria-relevant') ?? 'additions text']);
    }
    if (yes(aria('aria-busy'))) found.push(['busy', 'true']);
    const autocomplete = aria('aria-autocomplete') ?? (element.tagName === 'INPUT' && role === 'combobox' ? 'list' : null);
    if (autocomplete && autocomplete !== 'none') found.push(['autocomplete', autocomplete]);
    const popup = aria('aria-haspopup') ?? (role !== 'combobox' ? null : element.tagName === 'SELECT' ? 'menu' : 'listbox');
    if (popup && popup !== 'false') found.push(['hasPopup', popup === 'true' ? 'menu' : popup]);
    if (role === 'listbox' || role === 'tablist' || role === 'tree' || role === 'grid') {
      found.push(['multiselectable', String(element.multiple === true || yes(aria('aria-multiselectable')))]);
    }
    const orientation = aria('aria-orientation') ?? ORIENTED[role];
    if (orientation) found.push(['orientation', orientation]);
    if ((REQUIRABLE.has(role) && element.required) || yes(aria('aria-required'))) found.push(['required', '']);
    if (NUMERIC.has(role)) {
      const [least, most] = role === 'spinbutton' ? [] : RANGES[element.tagName] ?? [0, 100];
      const low = element.min || (aria('aria-valuemin') ?? least), high = element.max || (aria('aria-valuemax') ?? most), spoken = aria('aria-valuetext');
      if (low !== null && low !== undefined && low !== '') found.push(['valuemin', String(low)]);
      if (high !== null && high !== undefined && high !== '') found.push(['valuemax', String(high)]);
      if (spoken) found.push(['valuetext', spoken]);
    }
    const drawn = element.tagName === 'LABEL' && (element.control?.type === 'checkbox' || element.control?.type === 'radio') && !element.control.checkVisibility();
    if (drawn) found.push(['checked', String(element.control.checked)]);
    if (CHECKABLE.has(role)) {
      const state = element.tagName === 'INPUT' ? (element.indeterminate ? 'mixed' : String(element.checked)) : aria('aria-checked') ?? 'false';
      found.push(['checked', state]);
    }
    let expanded = aria('aria-expanded');
    if (expanded === null && role === 'DisclosureTriangle') expanded = String(element.parentElement.open);
    if (expanded === null && role === 'combobox' && element.tagName === 'SELECT') expanded = 'false';
    if (expanded === 'true' || expanded === 'false') found.push(['expanded', expanded]);
    if (aria('aria-pressed') !== null && role === 'button') found.push(['pressed', aria('aria-pressed')]);
    if (element.tagName === 'OPTION') found.push(['selected', String(element.selected)]);
    else if (SELECTABLE.has(role) || aria('aria-selected') !== null) found.push(['selected', String(yes(aria('aria-selected')))]);
    if (role === 'dialog' || role === 'alertdialog') found.push(['modal', String(element.tagName === 'DIALOG' ? element.matches(':modal') : yes(aria('aria-modal')))]);
    const current = aria('aria-current');
    if (current && current !== 'false') found.push(['current', current]);
    for (const [attribute, name] of IDREFS) {
      const value = aria(attribute);
      if (value) found.push([name, value]);
    }
    return found;
  };
  // What else a person is told about an element, unless its name says so already.
  const MAX_REMARK = 300;
  const remarksOn = (element, name, value) => {
    const found = [];
    if (!element.hasAttributes()) return found;
    const add = (key, text) => { const said = squeeze(text ?? '').slice(0, MAX_REMARK); if (said && !name.includes(said)) found.push([key, said]); };
    if (!value) add('placeholder', element.placeholder || element.getAttribute('aria-placeholder'));
    if (element.title !== name) add('title', typeof element.title === 'string' ? element.title : '');
    add('description', element.getAttribute('aria-description') ?? describedBy(element));
    return found;
  };
  const describedBy = (element) => {
    const names = element.getAttribute('aria-describedby');
    if (!names) return '';
    const root = element.getRootNode();
    return names.split(/\s+/).map((name) => (name && root.getElementById?.(name)?.textContent) || '').join(' ');
  };

  // --- generated text -----------------------------------------------------------------------------------
  // What the style sheets of a document or shadow root say that cannot be read off an element: which selectors have text
  // in ::before or ::after, which set the hand as pointer, and which do so once the mouse is over the element.
  const sheetRules = new WeakMap();  // document or shadow root -> {key, generated, hand, hover}
  let rules = { generated: '', hand: '', hover: '' };  // of the root that is being walked through
  const EMPTY_CONTENT = /^(|none|normal|""|'')$/, PSEUDO_TEXT = /::?(before|after)/, UNDER_MOUSE = /:(hover|active|focus|focus-visible|focus-within)(?![\w-])/g;
  const rulesOf = (root) => {
    const sheets = [...root.styleSheets, ...root.adoptedStyleSheets];
    const key = sheets.map((sheet) => { try { return sheet.cssRules.length; } catch { return 'x'; } }).join();
    const known = sheetRules.get(root);
    if (known?.key === key) return known;
    const generated = [], hand = [], hover = [];
    const scan = (rules) => {
      for (const rule of rules) {
        const selectors = rule.selectorText;
        if (selectors && PSEUDO_TEXT.test(selectors)) {
          if (EMPTY_CONTENT.test(rule.style.content)) continue;
          for (const part of selectors.split(',')) if (PSEUDO_TEXT.test(part)) generated.push(part.replace(/::?(before|after)/g, '') || '*');
        } else if (selectors && rule.style.cursor === 'pointer') {
          // Whatever ends in * styles the inside of a control, and is no control of its own.
          if (!/\*\s*$/.test(selectors)) (UNDER_MOUSE.test(selectors) ? hover : hand).push(selectors.replace(UNDER_MOUSE, ''));
        }
        if (rule.cssRules?.length) scan(rule.cssRules);
      }
    };
    for (const sheet of sheets) { try { scan(sheet.cssRules); } catch { /* a sheet of another origin cannot be read */ } }
    const joined = (selectors) => selectors.filter((selector) => { try { root.querySelector(selector); return true; } catch { return false; } }).join(',');
    const found = { key, generated: joined(generated), hand: joined(hand), hover: joined(hover) };
    sheetRules.set(root, found);
    return found;
  };
  // What ::before or ::after shows: text, or an unnamed image. Counters cannot be read from here.
  const generatedLines = (element, which) => {
    const content = getComputedStyle(element, which).content;
    if (!content || content === 'none' || content === 'normal') return [];
    const lines = [];
    const [shown, ...instead] = content.split(/ \/ (?=")/);
    // The alternative text after the slash replaces what is shown.
    for (const [, text] of (instead.at(-1) ?? shown).matchAll(/(?:url|image-set|linear-gradient)\((?:"(?:[^"\\]|\\.)*"|[^"()]|\([^)]*\))*\)|"((?:[^"\\]|\\.)*)"/g)) {
      if (text === undefined) { lines.push(['image', '']); continue; }
      const said = squeeze(text.replace(/\\(["\\])/g, '$1'));
      if (said && lines.at(-1)?.[0] === 'StaticText') lines.at(-1)[1] += said;
      else if (said) lines.push(['StaticText', said]);
    }
    return lines;
  };
  const MARKERS = { disc: '•', circle: '◦', square: '■' };
  const ROMAN = [[1000, 'm'], [900, 'cm'], [500, 'd'], [400, 'cd'], [100, 'c'], [90, 'xc'], [50, 'l'], [40, 'xl'], [10, 'x'], [9, 'ix'], [5, 'v'], [4, 'iv'], [1, 'i']];
  const inRoman = (place) => {
    if (place < 1 || place > 3999) return String(place);
    let text = '';
    for (const [value, letter] of ROMAN) for (; place >= value; place -= value) text += letter;
    return text;
  };
  const inLetters = (place, alphabet) => {
    let text = '';
    for (; place > 0; place = Math.floor((place - 1) / alphabet.length)) text = alphabet[(place - 1) % alphabet.length] + text;
    return text;
  };
  const COUNTED = {
    decimal: String,
    'decimal-leading-zero': (place) => String(place).padStart(2, '0'),
    'lower-roman': inRoman,
    'upper-roman': (place) => inRoman(place).toUpperCase(),
    'lower-greek': (place) => inLetters(place, 'αβγδεζηθικλμνξοπρστυφχψω') || String(place),
  };
  for (const name of ['alpha', 'latin']) {
    COUNTED[`lower-${name}`] = (place) => inLetters(place, 'abcdefghijklmnopqrstuvwxyz') || String(place);
    COUNTED[`upper-${name}`] = (place) => COUNTED[`lower-${name}`](place).toUpperCase();
  }
  let places = new Map();  // item of a list -> its number, for one observation
  const placeInList = (element) => {
    const list = element.parentElement;
    if (!list) return 1;
    if (!places.has(element)) {
      const items = [...list.children].filter((item) => item.tagName === 'LI');
      const step = list.reversed ? -1 : 1;
      let place = list.hasAttribute('start') ? list.start : list.reversed ? items.length : 1;
      for (const item of items) {
        if (item.hasAttribute('value')) place = item.value;
        places.set(item, place);
        place += step;
      }
    }
    return places.get(element);
  };
  // If a marker image fails to load, the ordinary marker is shown in its place.
  const pictureCame = (image) => {
    if (image === 'none') return false;
    const url = /^url\("(.*)"\)$/.exec(image)?.[1] ?? '';
    return !(performance.getEntriesByName(url)[0]?.responseStatus >= 400);
  };
  const markerOf = (element, style) => {
    const type = style.listStyleType;
    if (type in MARKERS) return MARKERS[type];
    if (type.startsWith('"')) return squeeze(type.slice(1, -1).replace(/\\(["\\])/g, '$1'));
    return type in COUNTED && element.tagName === 'LI' ? COUNTED[type](placeInList(element)) + '.' : '';
  };
  const transformed = (text, style) => {
    switch (style.textTransform) {
      case 'uppercase': return text.toUpperCase();
      case 'lowercase': return text.toLowerCase();
      case 'capitalize': return text.replace(/(^|[\s\-(])(\p{L})/gu, (whole, before, letter) => before + letter.toUpperCase());
      default: return text;
    }
  };

  // --- where and how visible ----------------------------------------------------------------------------
  const POINTER_ROLES = new Set(['button', 'link', 'checkbox', 'radio', 'combobox', 'listbox', 'option', 'menuitem', 'menuitemcheckbox',
    'menuitemradio', 'tab', 'switch', 'textbox', 'searchbox', 'spinbutton', 'slider', 'treeitem', 'DisclosureTriangle', 'Date', 'InputTime', 'DateTime', 'ColorWell']);
  const deepHit = (x, y) => {
    let hit = document.elementFromPoint(x, y);
    while (hit?.shadowRoot) {
      // Over slotted text the singular call answers with the host.
      const [inner] = hit.shadowRoot.elementsFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  };
  const within = (inner, outer) => {
    for (let node = inner; node; node = node.assignedSlot ?? node.parentNode ?? node.host) if (node === outer) return true;
    return false;
  };
  const holds = (outer, inner) => within(inner, outer);
  // Looks through shadow roots: the visible checkbox may be a component inside the label.
  const reaches = (hit, element) => {
    for (let node = hit; node; node = node.assignedSlot ?? node.parentNode ?? node.host) {
      if (node === element || (node.tagName === 'LABEL' && node.control === element)) return true;
    }
    return false;
  };
  // The visible share of a box. Only clickable elements are tested for something on top: hit tests are expensive.
  const seeThrough = (element) => !element.checkVisibility({ opacityProperty: true }) && element.checkVisibility();
  const share = (element, box, clip, pointer) => {
    const left = Math.max(box.left, clip[0]), top = Math.max(box.top, clip[1]);
    const width = Math.min(box.right, clip[2]) - left, height = Math.min(box.bottom, clip[3]) - top;
    if (width <= 0 || height <= 0 || box.width === 0 || box.height === 0) return 0;
    const inside = (width * height) / (box.width * box.height);
    // A transparent field lies over the drawing that people take for it; anything else transparent is not to be seen.
    if (!(pointer && element.tagName === 'INPUT') && seeThrough(element)) return 0;
    if (!pointer) return inside;
    const hits = ([fx, fy]) => {
      const hit = deepHit(left + width * fx, top + height * fy);
      return hit !== null && (reaches(hit, element) || within(element, hit));
    };
    if (hits([0.5, 0.5])) return inside;
    return (inside * [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]].filter(hits).length) / 5;
  };

  // --- what a person can do with an element -------------------------------------------------------------
  // Attributes by which pages name what a click does, for a listener further up to read.
  const ACTIONS = new Set(['onclick', 'jsaction', 'data-action', 'data-click', 'data-command', 'data-toggle', 'data-bs-toggle', 'data-dismiss', 'data-bs-dismiss',
    'data-href', 'data-url', 'ng-click', '@click', 'x-on:click', 'v-on:click', 'hx-get', 'hx-post', 'hx-put', 'hx-patch', 'hx-delete']);
  const OTHER_EVENT = /^(?!.*\bclick\b).*->/;  // "input->search#find" is about another event
  const namesAction = (element) => element.hasAttributes() && element.getAttributeNames().some((name) => ACTIONS.has(name) && !OTHER_EVENT.test(element.getAttribute(name)));
  const listens = (element) => clickListeners.has(element) || namesAction(element);
  const GRIPS = /^(grab|grabbing|move|all-scroll|[a-z]+-resize)$/;
  // Lists whose items are the controls, wherever the hand was set.
  const LISTS = /^(UL|OL|MENU|DL|TABLE|TBODY)$/;
  // So are the parts of anything that listens and holds nothing but several of a kind, such as stars.
  const isList = (element, hears) => LISTS.test(element.tagName) || (hears && element.childElementCount > 2 && element.tabIndex < 0 && holdsAlike(element));
  const holdsAlike = (element) => {
    const like = (one, other) => other && likeness(one) === likeness(other);
    if (like(element, element.previousElementSibling) || like(element, element.nextElementSibling)) return false;
    return [...element.children].every((child) => like(child, element.firstElementChild)) && !HANDS.test(getComputedStyle(element).cursor);
  };
  // The hand is inherited: whose is it? That of the outermost element, or of one inside that asks for it again and is
  // more than a wrapper around all that its control says.
  const HANDS = /^(pointer|crosshair|zoom-in|zoom-out|cell)$/;
  const showsHand = (element, cursor, around) => {
    if (rules.hovered?.has(element)) return true;
    if (cursor === 'auto' || !HANDS.test(cursor)) return false;
    if (around.cursor !== cursor || around.list) return true;
    if (around.control?.click === 'native' && !listens(element)) return false;
    if (!(element.style?.cursor === 'pointer' || (rules.hand && element.matches(rules.hand)))) return false;
    const words = element.textContent.trim();
    return !words || !around.control || words !== around.control.element.textContent.trim();
  };
  // `overflow` is 'auto', or first that of x and then that of y: 'hidden auto'. Asking for sizes is what takes time.
  const SCROLLS = /auto|scroll/;
  const scrollState = (element, overflow) => {
    if (overflow === 'visible' || !SCROLLS.test(overflow) || element.clientHeight === 0) return '';
    const [x, y = x] = overflow.split(' ');
    const parts = [];
    if (SCROLLS.test(y) && element.scrollHeight > element.clientHeight + 1) parts.push(`down ${Math.round(element.scrollTop)} of ${element.scrollHeight - element.clientHeight}`);
    if (SCROLLS.test(x) && element.scrollWidth > element.clientWidth + 1) parts.push(`right ${Math.round(element.scrollLeft)} of ${element.scrollWidth - element.clientWidth}`);
    return parts.join(', ');
  };
  const pageScroll = () => {
    const view = document.scrollingElement;
    if (!view) return '';
    const parts = [];
    if (view.scrollHeight > view.clientHeight + 1) parts.push(`down ${Math.round(scrollY)} of ${view.scrollHeight - view.clientHeight}`);
    if (view.scrollWidth > view.clientWidth + 1) parts.push(`right ${Math.round(scrollX)} of ${view.scrollWidth - view.clientWidth}`);
    return parts.join(', ');
  };
  // Where something can be dropped: an element that listens for it, or one like the element around a draggable.
  const likeness = (element) => `${element.tagName}.${element.className}`;
  const dropPlaces = () => {
    const kinds = new Set([...document.querySelectorAll('[draggable=true]')].map((element) => element.parentElement && likeness(element.parentElement)));
    kinds.delete(likeness(document.body));
    return kinds;
  };

  // --- what stands out ----------------------------------------------------------------------------------
  // Where neighbours that can be clicked differ by their style alone, a few of them are the chosen, unread, starred...
  // Only what a class or style attribute sets counts: so neither the mouse nor stripes make anything stand out.
  const SHADES = ['color', 'backgroundColor', 'fontWeight', 'borderTopColor', 'borderBottomColor', 'borderLeftColor', 'borderBottomWidth', 'textDecorationLine', 'boxShadow', 'fill'];
  const MAX_DRAWN = 4, MAX_GROUP = 200;
  const partsOf = (element) => Array.prototype.slice.call(element.getElementsByTagName('*'), 0, MAX_DRAWN);
  const writtenOn = (part) => `${part.getAttribute('class') ?? ''}|${part.getAttribute('style') ?? ''}`;
  const styleOf = (part) => { const style = getComputedStyle(part); return SHADES.map((name) => style[name]).join(); };
  const tellApart = (recs) => {
    if (recs.length < 3 || recs.length > MAX_GROUP) return;
    const inside = recs.map(({ element }) => partsOf(element));
    // Of what they hold, only what they all hold can be compared.
    const alike = new Set(inside.map((parts) => parts.map((part) => part.tagName).join())).size === 1;
    const drawn = recs.map(({ element }, at) => (alike ? [element, ...inside[at]] : [element]));
    if (new Set(drawn.map((parts) => parts.map(writtenOn).join())).size < 2) return;
    const styles = drawn.map((parts) => parts.map(styleOf).join());
    const times = new Map();
    for (const style of styles) times.set(style, (times.get(style) ?? 0) + 1);
    const [usual, count] = [...times].reduce((most, one) => (one[1] > most[1] ? one : most));
    if (count * 2 <= recs.length || count === recs.length || striped(styles, usual)) return;
    recs.forEach(({ element, line }, at) => { if (styles[at] !== usual) { line[5].push(['stands out', '']); standing.add(element); } });
  };
  const striped = (styles, usual) => styles.length > 4 && styles.every((style, at) => (style === usual) === (at % 2 === 0));
  const STATES = new Set(['selected', 'checked', 'pressed', 'current', 'expanded', 'stands out']);
  let standing = new WeakSet();  // what stood out at the last look
  const findStandouts = (groups) => {
    standing = new WeakSet();
    for (const recs of groups) if (!recs.some(({ line }) => line[5].some(([key]) => STATES.has(key)))) tellApart(recs);
  };

  // --- the walk -----------------------------------------------------------------------------------------
  const MAX_NODES = 60000, MAX_DEPTH = 1500;
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'TEMPLATE', 'NOSCRIPT', 'HEAD', 'META', 'LINK', 'TITLE', 'DATALIST', 'PARAM', 'SOURCE', 'TRACK', 'COL', 'COLGROUP', 'WBR', 'BR', 'MAP', 'RT', 'RP',
    'title', 'desc', 'style', 'script', 'defs', 'metadata', 'symbol', 'clipPath', 'mask']);
  // The content of these belongs to the browser or to another frame.
  const CLOSED = new Set(['IFRAME', 'FRAME', 'AUDIO', 'VIDEO', 'PROGRESS', 'METER', 'TEXTAREA', 'OPTION', 'INPUT']);
  const UNDECORATED = new Set(['IMG', 'svg', 'SELECT', 'CANVAS', 'HR']);
  const UNPAINTED = new Set(['OPTION', 'OPTGROUP', 'AREA']);
  const FRAMES = new Set(['IFRAME', 'FRAME', 'OBJECT', 'EMBED']);
  // A control that holds this many others only passes their clicks on.
  const CROWD = 3;
  const MAX_CONTENT_NAME = 200;
  const NAMED_BY_CONTENT = new Set(['generic', 'listitem', 'LabelText', 'paragraph', 'strong', 'emphasis', 'time', 'mark', 'code', 'definition', 'image']);
  const EVERYWHERE = [-Infinity, -Infinity, Infinity, Infinity];
  let controls = new WeakSet();  // clickable elements of the last look
  const controlAt = (hit) => {
    for (let node = hit; node; node = node.assignedSlot ?? node.parentNode ?? node.host) if (controls.has(node)) return node;
    return null;
  };
  const RENDERED = { visibilityProperty: true };
  const observe = ({ boxes, clip, inFrame }) => {
    const out = [];
    tableRoles = new Map();
    places = new Map();
    controls = new WeakSet();
    const focused = deepFocus();
    const isChanged = changed();
    const known = new Map();  // document or shadow root -> its rules, for this look
    const rulesIn = (root) => {
      if (!known.has(root)) { const found = rulesOf(root); known.set(root, { ...found, hovered: found.hover ? new Set(root.querySelectorAll(found.hover)) : null }); }
      return known.get(root);
    };
    rules = rulesIn(document);
    ask({ about: 'listeners', changed: isChanged });
    const drops = dropPlaces();
    let truncated = false;
    const modal = [...document.querySelectorAll('dialog:modal')].pop() ?? null;
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
      if (!boxes) return;
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      line.push('', -1);
      boxOf(line, box, share(parent, box, around.clip, false), false);
    };
    const visitChildren = (element, depth, state, around) => {
      const root = element.shadowRoot, assigned = element.tagName === 'SLOT' ? element.assignedNodes() : [];
      const outside = rules;
      if (root) { meet(root); rules = rulesIn(root); } else if (assigned.length) rules = rulesIn(assigned[0].getRootNode());
      const chosen = assigned.length ? assigned : chosenChildren(element);
      if (chosen) for (const child of chosen) visitNode(child, depth, state, around);
      // From one to the next: going through the list of all children takes twice as long.
      else for (let child = (root ?? element).firstChild; child; child = child.nextSibling) visitNode(child, depth, state, around);
      rules = outside;
    };
    const visitNode = (node, depth, state, around) => {
      if (out.length >= MAX_NODES) truncated = true;
      else if (node.nodeType === 1) visit(node, depth, state, around);
      else if (node.nodeType === 3 && (modal === null || holds(modal, node))) visitText(node, depth, around);
    };
    // Where not all children are shown; the button of a customizable select is the select itself.
    const chosenChildren = (element) => {
      if (element.tagName === 'DETAILS' && !element.open) return [...element.children].filter((child) => child.tagName === 'SUMMARY').slice(0, 1);
      if (element.tagName === 'SELECT') return [...element.childNodes].filter((child) => child.tagName !== 'BUTTON');
      return null;
    };
    const state = { deep: 0 };
    const rendered = (element) => {
      if (element.checkVisibility(RENDERED) || UNPAINTED.has(element.tagName)) return 'shown';
      const style = getComputedStyle(element);
      if (style.display === 'none') return '';
      if (style.display !== 'contents' && style.visibility === 'visible') return '';
      return style.display === 'contents' && style.visibility === 'visible' ? 'shown' : 'passed through';
    };
    const enabled = (element, style, cursor) => (style.pointerEvents !== 'none' || element.labels?.length > 0) && cursor !== 'not-allowed' && !element.matches(':disabled')
      && element.getAttribute('aria-disabled') !== 'true';
    // Whether a click does something here, as far as can be told, and what says so.
    const clicking = (element, style, around, signs) => {
      const found = reaction(element, around, signs);
      return found && enabled(element, style, signs.cursor) ? found : '';
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
      if (dropListeners.has(element) || (drops.size > 0 && drops.has(likeness(element)))) found.push(['droppable', '']);
      if (element === document.body || element === document.documentElement) return found;
      const scroll = scrollState(element, overflow);
      if (scroll) found.push(['scroll', scroll]);
      if (!role && element.firstElementChild && style.position === 'fixed') found.push(['overlay', '']);
      return found;
    };
    const visit = (element, depth, state, around) => {
      const tag = element.tagName;
      if (SKIPPED.has(tag) || (tag === 'INPUT' && element.type === 'hidden')) return;
      if (element.inert) return;
      // A modal dialog makes everything except itself inert; its ancestors are only passed through.
      const behind = modal !== null && !holds(modal, element);
      if (behind && !holds(element, modal)) return;
      const rendering = rendered(element);
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
      // Hidden from the tree by its author, but not from the mouse: what can be clicked there is told, and nothing else.
      if (muted) role = click && click !== 'focus' ? 'generic' : '';
      else if (!role && (click || able.length || focusable(element) || givenName(element))) role = 'generic';
      if (!present) role = '';
      const rec = record(element, around.rec);
      const scrolls = able.some(([key]) => key === 'scroll');
      const box = (boxes || around.pane || scrolls) && (role || element.firstElementChild) ? element.getBoundingClientRect() : null;
      const inner = insideOf(element, box, around, { style, cursor, overflow, muted, click, scrolls, rec, list: list && (hears ? 'listener' : 'hand') });
      const line = role ? lineOf(element, role, depth, click, able) : null;
      const before = out.length;
      rec.line = line;
      if (line) {
        if (inner.hidden && !around.hidden) line[5].push(['offscreen', '']);
        out.push(line);
        if (role === 'image' && line[2]) around.control?.texts.push(line[2]);
      }
      if (!CLOSED.has(tag)) visitInside(element, line ? depth + 1 : depth, state, inner, role, shown);
      const clickable = line && click && settleControl(line, inner.control, around.control);
      if (line && !line[2] && NAMED_BY_CONTENT.has(role) && line[5].some(([key]) => key === 'clickable' || key === 'draggable')) line[2] = contentOf(before) || (muted && inner.control ? inner.control.whispers.join(' ').slice(0, MAX_CONTENT_NAME) : '');
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
    // What the children need to know: where they are clipped, whose hand they show, which control they belong to.
    const insideOf = (element, box, around, { style, cursor, overflow, muted, click, scrolls, rec, list }) => {
      const control = click ? { element, click, texts: [], whispers: [], inside: 0, only: null } : around.control;
      const clipped = box && element.firstElementChild ? clipOf(element, around.clip, box, overflow) : around.clip;
      const pane = scrolls ? clipOf(element, around.pane ?? EVERYWHERE, box, overflow) : around.pane;
      const hidden = around.hidden || Boolean(around.pane && box && box.width > 0 && box.height > 0 && outside(box, around.pane));
      const holder = list === 'hand' ? around.list || (showsHand(element, cursor, around) ? 'hand' : '') : list && (around.list || list);
      return { style, clip: clipped, cursor, list: holder, muted, control, pane, hidden, rec };
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
      const crowd = (click === 'listener' || click === 'list') && inside >= CROWD;
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
      const label = visible === 0 && clickable && element.tagName === 'INPUT' ? element.labels?.[0] : null;
      if (label) {
        // Drawn by its label: that is what people see and click.
        const drawn = label.getBoundingClientRect(), seen = share(label, drawn, clip, true);
        if (seen > 0) { box = drawn; visible = seen; }
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
      const decorated = rules.generated && shown && !UNDECORATED.has(tag) && element.matches(rules.generated);
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
    const start = { style: null, clip, cursor: 'auto', list: '', muted: false, control: null, pane: null, hidden: false, rec: null };
    mutationsSeen = mutations;
    lookAgain = () => observe({ boxes: false, clip, inFrame });
    if (document.documentElement) {
      start.rec = record(document.documentElement, null);
      visit(document.documentElement, 1, state, start);
      const same = identify(start.rec, isChanged);
      if (same) for (const rec of same) { if (standing.has(rec.element)) rec.line[5].push(['stands out', '']); }
      else findStandouts(neighbours(start.rec));
    }
    return JSON.stringify({ ...facts(), nodes: out, focused: focused && !rootFocused ? ids.get(focused) ?? 0 : 0, truncated });
  };
  const deepFocus = () => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element;
  };

  const facts = () => ({ title: document.title, scroll: [scrollX, scrollY] });
  const page = () => JSON.stringify(facts());
  const openRoots = () => {
    const roots = [];
    const search = (node) => {
      for (const element of node.querySelectorAll('*')) if (element.shadowRoot) { roots.push(element.shadowRoot); search(element.shadowRoot); }
    };
    search(document);
    return roots;
  };
  const html = () => (document.documentElement ? ('<!DOCTYPE html>\n' + document.documentElement.outerHTML.replace(/^(<html[^>]*>)[\s\S]*$/, '$1')
    + document.documentElement.getHTML({ shadowRoots: openRoots() }) + '</html>') : '');

  // --- as running text ----------------------------------------------------------------------------------
  // As innerText, with what it leaves out and a person sees: open shadow roots, generated text, the numbers of lists,
  // what stands in fields, and the names of pictures and of controls that show no text.
  const INLINE = /^(inline|contents|ruby)/;
  const fieldText = (element) => {
    if (element.tagName === 'SELECT') return [...element.options].map((option) => squeeze(option.label)).join('\n');
    if (element.type === 'checkbox' || element.type === 'radio' || element.type === 'image') return element.labels?.length ? '' : element.computedName;
    if (INPUT_ROLES[element.type] === 'button') return element.type === 'file' ? valueOf(element, 'button') : element.computedName;
    return valueOf(element, 'textbox') || element.placeholder || element.computedName;
  };
  const text = () => {
    const lines = [''];
    let gap = 0;  // line breaks to come, once something follows
    const breakLine = (count) => { gap = Math.max(gap, count); };
    const say = (words) => {
      if (!words || (/^ +$/.test(words) && (gap > 0 || lines[lines.length - 1] === ''))) return;
      if (gap > 0 && lines.some(Boolean)) lines.push(...Array(gap).fill(''));
      gap = 0;
      const [first, ...more] = words.split('\n');
      const last = lines.length - 1, blank = lines[last] === '' || /[ \t]$/.test(lines[last]);
      lines[last] += blank ? first.replace(/^ +/, '') : first;
      lines.push(...more);
    };
    const sayText = (node, style) => {
      const said = transformed(node.data, style);
      say(style.whiteSpaceCollapse === 'collapse' ? said.replace(/[ \t\n\r\f]+/g, ' ') : said);
    };
    const generated = (element, which) => { for (const [role, words] of generatedLines(element, which)) if (role === 'StaticText') say(words + ' '); };
    const length = () => lines.length * 1e6 + lines[lines.length - 1].length;
    const visitInside = (element, style, visible) => {
      const decorated = visible && rules.generated && element.matches(rules.generated);
      if (visible && element.tagName === 'LI' && style.display === 'list-item') { const marker = markerOf(element, style); if (/[\p{L}\d]/u.test(marker)) say(marker + ' '); }
      if (decorated) generated(element, '::before');
      const outside = rules, root = element.shadowRoot;
      if (root) rules = rulesOf(root);
      const slotted = element.tagName === 'SLOT' ? element.assignedNodes() : [];
      const closed = element.tagName === 'DETAILS' && !element.open;
      for (const child of root?.childNodes ?? (slotted.length ? slotted : element.childNodes)) {
        if (closed && child.tagName !== 'SUMMARY') continue;
        if (child.nodeType === 1) visit(child);
        else if (child.nodeType === 3 && visible) sayText(child, style);
      }
      rules = outside;
      if (decorated) generated(element, '::after');
    };
    // Of something that shows no text, and of a control or picture that shows another.
    const SPOKEN = 'a, button, summary, [role=img], [role=button], [role=link], [role=tab], [role=menuitem], [role=option]';
    const sayName = (element, silent) => {
      const name = squeeze(element.computedName || element.title || '');
      if (silent || (element.matches(SPOKEN) && !squeeze(element.textContent).includes(name))) say(` ${name} `);
    };
    const visit = (element) => {
      const tag = element.tagName;
      if (tag === 'BR') { say('\n'); return; }
      if (SKIPPED.has(tag) && tag !== 'RT' || (tag === 'INPUT' && element.type === 'hidden')) return;
      const style = getComputedStyle(element);
      if (style.display === 'none') return;
      const visible = style.visibility === 'visible' && style.contentVisibility !== 'hidden';
      const block = !INLINE.test(style.display) && style.display !== 'table-cell';
      if (block) breakLine(tag === 'P' ? 2 : 1);
      const before = length();
      if (tag === 'INPUT' || tag === 'TEXTAREA' || tag === 'SELECT') { if (visible) say(` ${fieldText(element)} `); }
      else if (!CLOSED.has(tag) && tag !== 'svg') visitInside(element, style, visible);
      if (visible && (tag === 'IMG' || tag === 'svg' || givenName(element))) sayName(element, length() === before);
      if (style.display === 'table-cell' && element.nextElementSibling) say('\t');
      if (block) breakLine(tag === 'P' ? 2 : 1);
    };
    rules = rulesOf(document);
    places = new Map();
    if (document.body) visit(document.body);
    return lines.map((line) => line.replace(/ {2,}/g, ' ').trimEnd()).join('\n').trim();
  };

  return {
    observe, page, html, text, pulse, newEpoch, giveUp, find, missing,
    // For touch.js:
    ids, squeeze, deepHit, deepFocus, reaches, within, frameNumber, nextFrame, controlAt,
  };
}
