// The page as running text and as HTML.
({ countAnew, generatedLines, markerOf, rulesOf, sheets, squeeze, transformed, INPUT_ROLES, givenName, valueOf, inSeenOrder, CLOSED, SKIPPED }) => {
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
      const decorated = visible && sheets.now.generated && element.matches(sheets.now.generated);
      if (visible && element.tagName === 'LI' && style.display === 'list-item') { const marker = markerOf(element, style); if (/[\p{L}\d]/u.test(marker)) say(marker + ' '); }
      if (decorated) generated(element, '::before');
      const outside = sheets.now, root = element.shadowRoot;
      if (root) sheets.now = rulesOf(root);
      const slotted = element.tagName === 'SLOT' ? element.assignedNodes() : [];
      const closed = element.tagName === 'DETAILS' && !element.open;
      for (const child of root?.childNodes ?? (slotted.length ? slotted : inSeenOrder(element) ?? element.childNodes)) {
        if (closed && child.tagName !== 'SUMMARY') continue;
        if (child.nodeType === 1) visit(child);
        else if (child.nodeType === 3 && visible) sayText(child, style);
      }
      sheets.now = outside;
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
    sheets.now = rulesOf(document);
    countAnew();
    if (document.body) visit(document.body);
    return lines.map((line) => line.replace(/ {2,}/g, ' ').trimEnd()).join('\n').trim();
  };

  return { html, text };
}
