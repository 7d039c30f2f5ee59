// The role of an element, as Chromium has it.
({ clickListeners }) => {
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
  const forgetTables = () => { tableRoles = new Map(); };

  return { INPUT_ROLES, focusable, givenRole, implicitRole, redundantLabel, forgetTables };
}
