// What only style sheets say: text in ::before and ::after, the markers of lists, and where the pointer turns into a hand.
() => {
  const squeeze = (text) => text.replace(/[ \t\n\r\f]+/g, ' ').trim();
  // What the style sheets of a document or shadow root say that cannot be read off an element: which selectors have text
  // in ::before or ::after, which set the hand as pointer, which do so once the mouse is over the element, and which make
  // an element appear then.
  const sheetRules = new WeakMap();  // document or shadow root -> {key, generated, hand, hover, appears, surfaces}
  const sheets = { now: { generated: '', hand: '', hover: '', appears: '', surfaces: '' } };  // of the root that is being walked through
  const EMPTY_CONTENT = /^(|none|normal|""|'')$/, PSEUDO_TEXT = /::?(before|after)/, UNDER_MOUSE = /:(hover|active|focus|focus-visible|focus-within)(?![\w-])/g;
  // At commas, except those inside of brackets and strings: `:is(a, b)` is one selector.
  const BRACKETS_OR_COMMAS = /\\.|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[(),[\]]/g;
  const selectorsIn = (list) => {
    if (!list.includes('(') && !list.includes('[')) return list.split(',');
    const found = [];
    let start = 0, depth = 0;
    for (const { 0: sign, index } of list.matchAll(BRACKETS_OR_COMMAS)) {
      if (sign === '(' || sign === '[') depth += 1;
      else if (sign === ')' || sign === ']') depth -= 1;
      else if (sign === ',' && depth === 0) { found.push(list.slice(start, index)); start = index + 1; }
    }
    return [...found, list.slice(start)];
  };
  // A rule inside another is about what that one selects.
  const nestedIn = (outer, list) => selectorsIn(list).map((one) => (one.includes('&') ? one.replaceAll('&', `:is(${outer})`) : `:is(${outer}) ${one}`)).join();
  const MAX_SELECTORS = 20000;  // as of rules nested deeply, where each level repeats those around it
  const imported = (rule) => { try { return rule.styleSheet?.cssRules ?? []; } catch { return []; } };  // as of another origin
  const sizeOf = (rules) => {
    let size = rules.length;
    // Imports stand at the beginning, behind the names of layers at most.
    for (let at = 0; at < rules.length && /^CSS(Import|LayerStatement)Rule$/.test(rules[at].constructor.name); at += 1) size += sizeOf(imported(rules[at]));
    return size;
  };
  const rulesOf = (root) => {
    const sheets = [...root.styleSheets, ...root.adoptedStyleSheets];
    const key = sheets.map((sheet) => { try { return sizeOf(sheet.cssRules); } catch { return 'x'; } }).join();
    const known = sheetRules.get(root);
    if (known?.key === key) return known;
    const generated = [], hand = [], hover = [], appears = [], surfaces = [];
    const read = (selectors, style) => {
      if (PSEUDO_TEXT.test(selectors)) {
        if (EMPTY_CONTENT.test(style.content)) return;
        for (const part of selectorsIn(selectors)) if (PSEUDO_TEXT.test(part)) generated.push(part.replace(/::?(before|after)/g, '') || '*');
      } else if (style.cursor === 'pointer') {
        // Whatever ends in * styles the inside of a control, and is no control of its own.
        if (!/\*\s*$/.test(selectors)) (UNDER_MOUSE.test(selectors) ? hover : hand).push(selectors.replace(UNDER_MOUSE, ''));
      }
      const shows = style.opacity > 0 ? appears : style.visibility === 'visible' ? surfaces : null;
      if (shows && selectors.includes(':hover')) {
        for (const part of selectorsIn(selectors)) if (part.includes(':hover')) shows.push(part.replace(UNDER_MOUSE, ''));
      }
    };
    const scan = (rules, outer) => {
      for (const rule of rules) {
        const own = rule.selectorText, selectors = own && (outer ? nestedIn(outer, own) : own);
        if (selectors?.length > MAX_SELECTORS) continue;
        if (selectors) read(selectors, rule.style);
        // Declarations behind a nested rule, or in a condition, belong to the rule around them.
        else if (outer && rule.style) read(outer, rule.style);
        if (rule.cssRules?.length) scan(rule.cssRules, selectors || outer);
        else if (rule.styleSheet !== undefined) scan(imported(rule), '');
      }
    };
    for (const sheet of sheets) { try { scan(sheet.cssRules, ''); } catch { /* a sheet of another origin cannot be read */ } }
    const joined = (selectors) => selectors.filter((selector) => { try { root.querySelector(selector); return true; } catch { return false; } }).join(',');
    const found = { key, generated: joined(generated), hand: joined(hand), hover: joined(hover), appears: joined(appears), surfaces: joined(surfaces) };
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
  const countAnew = () => { places = new Map(); };

  return { squeeze, sheets, rulesOf, generatedLines, pictureCame, markerOf, transformed, countAnew };
}
