// The name, value and properties of an element, and what else a person is told about it.
({ sheets, squeeze, transformed }) => {
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
    if (sheets.now.generated && element.matches(sheets.now.generated)) return null;
    return squeeze(transformed(element.textContent, getComputedStyle(element)));
  };
  // The browser gives no name to what is invisible until the mouse is there.
  const unseenName = (element) => (element.checkVisibility({ visibilityProperty: true }) ? '' : element.getAttribute('aria-label') || element.title || element.textContent);
  const nameOf = (element, role) => {
    if (UNNAMED.has(role) && !givenName(element) && !(role === 'listbox' && element.labels?.length) && role !== 'row') return '';
    // A row takes its name from its cells only in a grid.
    if (role === 'row' && element.tagName === 'TR' && !givenName(element) && !element.closest('[role=grid],[role=treegrid]')) return '';
    const plain = plainName(element, role);
    if (plain !== null) return plain;
    const name = squeeze(element.computedName || unseenName(element));
    // The computed name of a file field includes its value.
    return element.type === 'file' ? name.replace(/: [^:]*$/, '') : name;
  };

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
  const WRITABLE = new Set(['textbox', 'searchbox', 'combobox', 'spinbutton', 'Date', 'InputTime', 'DateTime', 'checkbox', 'radiogroup', 'switch', 'slider', 'listbox']);
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
    const invalid = aria('aria-invalid');
    if (invalid && invalid !== 'false') found.push(['invalid', invalid]);
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
    if (WRITABLE.has(role) && (element.readOnly || yes(aria('aria-readonly')))) found.push(['readonly', '']);
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
    const sorted = aria('aria-sort');
    if (sorted && sorted !== 'none') found.push(['sort', sorted]);
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

  return { givenName, nameOf, valueOf, propertiesOf, remarksOn };
}
