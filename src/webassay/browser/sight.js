// Runs in an isolated world of every frame: same document, separate JavaScript. The page can neither see nor change
// anything here, and nothing here writes to the document. Python calls the functions that are returned.
(secret) => {
  const ids = new WeakMap();        // element -> number
  const elements = new Map();       // number -> WeakRef(element)
  const forgotten = new FinalizationRegistry((id) => elements.delete(id));
  let lastId = 0;
  const frameLetters = new WeakMap();  // iframe element -> place among the frames of this document
  let lastFrame = 0;
  const clickListeners = new WeakSet();
  let mutations = 0;

  // --- talking to watch.js in the page's world ----------------------------------------------------------
  let told = null;
  document.addEventListener(secret + '-tell', (event) => {
    event.stopImmediatePropagation();
    if (event.detail === 'click') clickListeners.add(event.composedPath()[0]);
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
  const idOf = (element) => {
    let id = ids.get(element);
    if (id === undefined) {
      id = ++lastId;
      ids.set(element, id);
      elements.set(id, new WeakRef(element));
      forgotten.register(element, id);
    }
    return id;
  };
  const find = (id) => {
    const element = elements.get(id)?.deref();
    return element && element.isConnected ? element : null;
  };
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
    if (generatedSelector && element.matches(generatedSelector)) return null;
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

  // --- generated text -----------------------------------------------------------------------------------
  let generatedKey = '', generatedSelector = '';
  const generatedRules = () => {
    // Selectors with text in ::before or ::after. Most pages have none, and then elements need not be checked.
    const key = [...document.styleSheets].map((sheet) => { try { return sheet.cssRules.length; } catch { return 'x'; } }).join();
    if (key === generatedKey) return generatedSelector;
    const selectors = [];
    const scan = (rules) => {
      for (const rule of rules) {
        if (rule.selectorText && /::?(before|after)/.test(rule.selectorText) && !/^(|none|normal|""|'')$/.test(rule.style.content)) {
          for (const part of rule.selectorText.split(',')) if (/::?(before|after)/.test(part)) selectors.push(part.replace(/::?(before|after)/g, '') || '*');
        } else if (rule.cssRules) scan(rule.cssRules);
      }
    };
    for (const sheet of document.styleSheets) { try { scan(sheet.cssRules); } catch { /* a sheet of another origin cannot be read */ } }
    generatedKey = key;
    const usable = selectors.filter((selector) => { try { document.querySelector(selector); return true; } catch { return false; } });
    generatedSelector = usable.join(',');
    return generatedSelector;
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
      const inner = hit.shadowRoot.elementFromPoint(x, y);
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
  const share = (element, box, clip, pointer) => {
    const left = Math.max(box.left, clip[0]), top = Math.max(box.top, clip[1]);
    const width = Math.min(box.right, clip[2]) - left, height = Math.min(box.bottom, clip[3]) - top;
    if (width <= 0 || height <= 0 || box.width === 0 || box.height === 0) return 0;
    const inside = (width * height) / (box.width * box.height);
    if (!pointer) return element.checkVisibility({ opacityProperty: true }) || !element.checkVisibility() ? inside : 0;
    const hits = ([fx, fy]) => {
      const hit = deepHit(left + width * fx, top + height * fy);
      return hit !== null && (reaches(hit, element) || within(element, hit));
    };
    if (hits([0.5, 0.5])) return inside;
    return (inside * [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]].filter(hits).length) / 5;
  };

  // --- the walk -----------------------------------------------------------------------------------------
  const MAX_NODES = 60000, MAX_DEPTH = 1500;
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'TEMPLATE', 'NOSCRIPT', 'HEAD', 'META', 'LINK', 'TITLE', 'DATALIST', 'PARAM', 'SOURCE', 'TRACK', 'COL', 'COLGROUP', 'WBR', 'BR', 'MAP', 'RT', 'RP',
    'title', 'desc', 'style', 'script', 'defs', 'metadata', 'symbol', 'clipPath', 'mask']);
  // The content of these belongs to the browser or to another frame.
  const CLOSED = new Set(['IFRAME', 'FRAME', 'AUDIO', 'VIDEO', 'PROGRESS', 'METER', 'TEXTAREA', 'OPTION', 'INPUT']);
  const UNDECORATED = new Set(['IMG', 'svg', 'SELECT', 'CANVAS', 'HR']);
  const UNPAINTED = new Set(['OPTION', 'OPTGROUP', 'AREA']);
  const observe = ({ boxes, clip, inFrame }) => {
    const out = [];
    tableRoles = new Map();
    places = new Map();
    const focused = deepFocus();
    const generated = generatedRules();
    ask({ about: 'clicks' });
    let truncated = false;
    const modal = [...document.querySelectorAll('dialog:modal')].pop() ?? null;
    const emitText = (text, depth) => { if (text) out.push([depth, 'StaticText', text, 0, '', []]); };
    const emitGenerated = (element, which, depth) => {
      for (const [role, text] of generatedLines(element, which)) out.push([depth, role, text, 0, '', []]);
    };

    const visitText = (node, depth, state) => {
      const data = node.data;
      if (!/[^ \t\n\r\f]/.test(data)) return;
      const parent = node.parentElement ?? node.getRootNode().host;
      if (state.textStyleOf !== parent) { state.textStyleOf = parent; state.textStyle = getComputedStyle(parent); }
      const style = state.textStyle;
      if (style.visibility !== 'visible' || style.contentVisibility === 'hidden') return;
      const said = transformed(data, style);
      emitText(style.whiteSpaceCollapse === 'collapse' ? squeeze(said) : said.replace(/^\n+|\s+$/g, ''), depth);
    };
    const visitChildren = (element, depth, state, clipping) => {
      const root = element.shadowRoot;
      let children;
      if (root) {
        meet(root);
        children = root.childNodes;
      } else if (element.tagName === 'SLOT') {
        const assigned = element.assignedNodes();
        children = assigned.length ? assigned : element.childNodes;
      } else children = element.childNodes;
      if (element.tagName === 'DETAILS' && !element.open) {
        children = [...children].filter((child) => child.tagName === 'SUMMARY').slice(0, 1);
      }
      // The button of a customizable select is the select itself.
      if (element.tagName === 'SELECT') children = [...children].filter((child) => child.tagName !== 'BUTTON');
      for (const child of children) {
        if (out.length >= MAX_NODES) { truncated = true; return; }
        if (child.nodeType === 1) visit(child, depth, state, clipping);
        else if (child.nodeType === 3 && (modal === null || holds(modal, child))) visitText(child, depth, state);
      }
    };
    const state = { textStyleOf: null, textStyle: null, deep: 0 };
    const visit = (element, depth, state, clipping) => {
      const tag = element.tagName;
      if (SKIPPED.has(tag) || (tag === 'INPUT' && element.type === 'hidden')) return;
      if (element.getAttribute('aria-hidden') === 'true' && element !== focused) return;
      if (element.inert) return;
      // A modal dialog makes everything except itself inert; its ancestors are only passed through.
      const behind = modal !== null && !holds(modal, element);
      if (behind && !holds(element, modal)) return;
      let shown = true;
      if (!element.checkVisibility({ visibilityProperty: true }) && !UNPAINTED.has(tag)) {
        const style = getComputedStyle(element);
        if (style.display === 'none') return;
        if (style.display !== 'contents' && style.visibility === 'visible') return;
        shown = style.display === 'contents' && style.visibility === 'visible';
      }
      if (state.deep >= MAX_DEPTH) { truncated = true; return; }
      state.deep += 1;
      let role = givenRole(element) || implicitRole(element);
      if (role === 'none') role = '';
      if (role === 'LabelText' && redundantLabel(element)) {
        if (element.firstElementChild) visit(element.firstElementChild, depth, state, clipping);
        state.deep -= 1;
        return;
      }
      if (!role && (focusable(element) || givenName(element) || reactsToClicks(element))) role = 'generic';
      if (!shown || behind) role = '';
      let childDepth = depth, childClip = clipping;
      const box = boxes && (role || element.firstElementChild) ? element.getBoundingClientRect() : null;
      const style = boxes && (role || element.firstElementChild) ? getComputedStyle(element) : null;
      if (role) {
        const name = nameOf(element, role);
        const properties = propertiesOf(element, role, focused);
        if (role === 'generic' && reactsToClicks(element)) properties.push(['clickable', '']);
        const line = [depth, role, name, idOf(element), valueOf(element, role), properties];
        const href = role === 'link' ? element.href : '';
        line.push(typeof href === 'string' ? href.slice(0, 4000) : '');
        line.push(role === 'Iframe' || tag === 'EMBED' || tag === 'OBJECT' ? frameNumber(element) : -1);
        if (boxes) pushBox(line, element, role, clipping, box, style);
        out.push(line);
        childDepth = depth + 1;
      }
      if (boxes && element.firstElementChild) childClip = clipOf(element, clipping, box, style);
      if (!CLOSED.has(tag)) visitInside(element, childDepth, state, childClip, role, shown);
      state.deep -= 1;
    };
    const visitInside = (element, depth, state, clipping, role, shown) => {
      const tag = element.tagName;
      if (tag === 'IMG') visitAreas(element, depth, state, clipping);
      if (tag === 'Q' && shown) emitText('“', depth);
      if (tag === 'SELECT' && role === 'combobox') {
        if (element.options.length === 0) return;
        out.push([depth, 'MenuListPopup', '', 0, '', []]);
        depth += 1;
      }
      const decorated = generated && shown && !UNDECORATED.has(tag) && element.matches(generated);
      if (tag === 'LI' && shown) {
        const style = getComputedStyle(element);
        if (style.display === 'list-item' && pictureCame(style.listStyleImage)) out.push([depth, 'ListMarker', '', 0, '', []], [depth + 1, 'image', '', 0, '', []]);
        else if (style.display === 'list-item') {
          const marker = markerOf(element, style);
          if (marker) out.push([depth, 'ListMarker', marker, 0, '', []]);
        }
      }
      if (decorated) emitGenerated(element, '::before', depth);
      visitChildren(element, depth, state, clipping);
      if (decorated) emitGenerated(element, '::after', depth);
      if (tag === 'Q' && shown) emitText('”', depth);
    };
    const visitAreas = (image, depth, state, clipping) => {
      const map = image.useMap && document.querySelector(`map[name="${CSS.escape(image.useMap.slice(1))}"]`);
      for (const area of map ? map.querySelectorAll('area') : []) visit(area, depth, state, clipping);
    };
    const reactsToClicks = (element) => clickListeners.has(element) || element.hasAttribute('onclick') || element.tabIndex >= 0;
    const pushBox = (line, element, role, clipping, box, style) => {
      const pointer = POINTER_ROLES.has(role) || reactsToClicks(element)
        || (style.cursor === 'pointer' && !(element.parentElement && getComputedStyle(element.parentElement).cursor === 'pointer'));
      const visible = share(element, box, clipping, pointer);
      line.push([box.x, box.y, box.width, box.height], Math.round(visible * 1000) / 1000, pointer && !element.disabled);
    };
    const clipOf = (element, clipping, box, style) => {
      if ((style.overflowX === 'visible' && style.overflowY === 'visible') || element === document.body || element === document.documentElement) return clipping;
      return [Math.max(clipping[0], box.left), Math.max(clipping[1], box.top), Math.min(clipping[2], box.right), Math.min(clipping[3], box.bottom)];
    };

    const rootFocused = !focused || focused === document.body || focused === document.documentElement;
    const hasFocus = inFrame ? document.hasFocus() && rootFocused : rootFocused;
    out.push([0, 'RootWebArea', squeeze(document.title), 0, '', hasFocus ? [['focused', '']] : []]);
    if (document.documentElement) visit(document.documentElement, 1, state, clip);
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
  const text = () => document.body?.innerText ?? '';

  return {
    observe, page, html, text, pulse, newEpoch, giveUp, find,
    // For touch.js:
    ids, squeeze, deepHit, deepFocus, reaches, within, frameNumber, nextFrame,
  };
}
