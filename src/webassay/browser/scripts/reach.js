// Where an element is, how much of it can be seen, what a person can do with it, and whether it stands out.
({ clickListeners, sheets }) => {
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
  // Nothing to click: a place for a mark that is not there now.
  const isNoPlace = (element) => {
    if (element.firstChild || element.shadowRoot || !(element instanceof HTMLElement)) return false;
    // What is drawn before or after it may be larger than itself.
    if (sheets.now.generated && element.matches(sheets.now.generated)) return false;
    const { width, height } = element.getBoundingClientRect();
    return width === 0 || height === 0;
  };
  // The visible share of a box. Only clickable elements are tested for something on top: hit tests are expensive.
  const seeThrough = (element) => !element.checkVisibility({ opacityProperty: true }) && element.checkVisibility();
  // Transparent until the mouse is there, like the cross that clears a field: people find it where it appears.
  const vanished = (element, style) => style.opacity === '0' && !(sheets.now.appears && element.matches(sheets.now.appears));
  const appears = (element) => {
    for (let node = element; node; node = node.parentElement) if (vanished(node, getComputedStyle(node))) return false;
    return true;
  };
  // Invisible until the mouse is over what it lies on: moving the mouse there is enough.
  const surfaces = (element) => {
    if (!sheets.now.surfaces || !element.matches(sheets.now.surfaces)) return false;
    const { left, top, width, height } = element.getBoundingClientRect();
    const hit = width > 0 && height > 0 ? deepHit(left + width / 2, top + height / 2) : null;
    return hit !== null && hit !== document.body && hit !== document.documentElement && within(element, hit);
  };
  // Folded to a box of no size which cuts off what it holds. Where it does not hold the place of its content, as that of
  // something absolute, it cuts off nothing.
  const CUTS = /^(block|inline-block|flex|inline-flex|grid|inline-grid|flow-root|list-item)$/;
  const MAX_INSIDE = 500;
  const firstInside = (element, count) => Array.prototype.slice.call(element.getElementsByTagName('*'), 0, count);
  const folded = (element, style, overflow = style.overflow) => {
    if (overflow === 'visible' || !element.firstChild || (element.clientHeight > 0 && element.clientWidth > 0)) return false;
    if (!(element instanceof HTMLElement) || element === document.body || element === document.documentElement || !CUTS.test(style.display)) return false;
    return !firstInside(element, MAX_INSIDE).some((inner) => /absolute|fixed/.test(getComputedStyle(inner).position) && !element.contains(inner.offsetParent));
  };
  const insideFolded = (element) => {
    for (let node = element.parentElement; node; node = node.parentElement) if (folded(node, getComputedStyle(node))) return true;
    return false;
  };
  const share = (element, box, clip, pointer) => {
    const left = Math.max(box.left, clip[0]), top = Math.max(box.top, clip[1]);
    const width = Math.min(box.right, clip[2]) - left, height = Math.min(box.bottom, clip[3]) - top;
    if (width <= 0 || height <= 0 || box.width === 0 || box.height === 0) return 0;
    const inside = (width * height) / (box.width * box.height);
    // A transparent field lies over the drawing that people take for it; anything else that stays transparent is not to be seen.
    if (seeThrough(element) && !(pointer && (element.tagName === 'INPUT' || appears(element)))) return 0;
    if (!pointer) return inside;
    const hits = ([fx, fy]) => {
      const hit = deepHit(left + width * fx, top + height * fy);
      return hit !== null && (reaches(hit, element) || within(element, hit));
    };
    if (hits([0.5, 0.5])) return inside;
    return (inside * [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]].filter(hits).length) / 5;
  };

  // Grids that draw only what is in view leave their rows in the document in any order, and say where each of them belongs.
  // They are read in that order if they are seen in it; null if they stand in it anyway.
  const inSeenOrder = (element) => {
    const first = element.firstElementChild;
    if (first === null) return null;
    if (first.hasAttribute('aria-rowindex')) return orderedBy(element, 'aria-rowindex', 'top');
    return first.hasAttribute('aria-colindex') ? orderedBy(element, 'aria-colindex', 'left') : null;
  };
  const orderedBy = (element, attribute, side) => {
    const rising = (numbers) => numbers.every((number, at) => at === 0 || number > numbers[at - 1]);
    const placed = [...element.children].map((child) => [Number(child.getAttribute(attribute)), child]);
    if (placed.some(([place]) => !(place > 0)) || rising(placed.map(([place]) => place))) return null;
    if ([...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) return null;
    const ordered = placed.sort(([one], [other]) => one - other).map(([, child]) => child);
    return rising(ordered.map((child) => child.getBoundingClientRect()[side])) ? ordered : null;
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
  const isList = (element, hears) => LISTS.test(element.tagName) || (hears && element.childElementCount > 1 && element.tabIndex < 0 && holdsAlike(element)
    && (element.childElementCount > 2 || isShortMenu(element)));
  // Two of a kind may as well be the two lines of one control, so they have to look like the entries of a menu.
  const isShortMenu = ({ firstElementChild: one, lastElementChild: other, childNodes }) => {
    if ([one, other].some((entry) => entry.firstElementChild || !entry.textContent.trim())) return false;
    if ([...childNodes].some((node) => node.nodeType === 3 && node.data.trim())) return false;
    const upper = one.getBoundingClientRect(), lower = other.getBoundingClientRect();
    return upper.width > 0 && upper.width === lower.width && upper.height === lower.height && upper.bottom <= lower.top + 1;
  };
  const holdsAlike = (element) => {
    const like = (one, other) => other && likeness(one) === likeness(other);
    if (like(element, element.previousElementSibling) || like(element, element.nextElementSibling)) return false;
    return [...element.children].every((child) => like(child, element.firstElementChild)) && !HANDS.test(getComputedStyle(element).cursor);
  };
  // The hand is inherited: whose is it? That of the outermost element, or of one inside that asks for it again and is
  // more than a wrapper around all that its control says.
  const HANDS = /^(pointer|crosshair|zoom-in|zoom-out|cell)$/;
  const showsHand = (element, cursor, around) => {
    if (sheets.now.hovered?.has(element)) return true;
    if (cursor === 'auto' || !HANDS.test(cursor)) return false;
    if (around.cursor !== cursor || around.list) return true;
    if (around.control?.click === 'native' && !listens(element)) return false;
    if (!(element.style?.cursor === 'pointer' || (sheets.now.hand && element.matches(sheets.now.hand)))) return false;
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
  // The overflow of the body is that of the window, unless the root has one of its own: then the body is a pane.
  const bodyScrolls = () => {
    const { body, documentElement, scrollingElement } = document;
    if (!body || body === scrollingElement || getComputedStyle(documentElement).overflow === 'visible') return false;
    return scrollState(body, getComputedStyle(body).overflow) !== '';
  };
  // What a person takes for the page when it scrolls: the document, or the body inside a document that stands still.
  const pageView = () => {
    const view = document.scrollingElement;
    const still = !view || view.scrollHeight <= view.clientHeight + 1 || getComputedStyle(view).overflowY === 'hidden';
    return still && bodyScrolls() ? document.body : view;
  };
  const pageScroll = () => {
    const view = pageView();
    if (!view) return '';
    const parts = [];
    if (view.scrollHeight > view.clientHeight + 1) parts.push(`down ${Math.round(view.scrollTop)} of ${view.scrollHeight - view.clientHeight}`);
    if (view.scrollWidth > view.clientWidth + 1) parts.push(`right ${Math.round(view.scrollLeft)} of ${view.scrollWidth - view.clientWidth}`);
    return parts.join(', ');
  };
  // Where something can be dropped: an element that listens for it, or one like the element around a draggable.
  const likeness = (element) => `${element.tagName}.${element.className}`;
  const dropPlaces = () => {
    const around = [...document.querySelectorAll('[draggable=true]')].map((element) => element.parentElement).filter((parent) => parent && parent !== document.body);
    // Without a class, an element is like all others of its tag.
    const kinds = new Set(around.filter((parent) => parent.hasAttribute('class')).map(likeness));
    if (document.body) kinds.delete(likeness(document.body));  // A picture that is opened by itself has none.
    const parents = new Set(around);
    return { has: (element) => parents.has(element) || (kinds.size > 0 && kinds.has(likeness(element))) };
  };

  // --- what stands out ----------------------------------------------------------------------------------
  // Where neighbours that can be clicked differ by their style alone, a few of them are the chosen, unread, starred...
  // Only what a class or style attribute sets counts: so neither the mouse nor stripes make anything stand out.
  const SHADES = ['color', 'backgroundColor', 'fontWeight', 'borderTopColor', 'borderBottomColor', 'borderLeftColor', 'borderBottomWidth', 'textDecorationLine', 'boxShadow', 'fill'];
  const MAX_DRAWN = 4, MAX_GROUP = 200;
  const partsOf = (element) => firstInside(element, MAX_DRAWN);
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
  const stoodOut = (element) => standing.has(element);

  return {
    POINTER_ROLES, deepHit, within, holds, reaches, inSeenOrder, share, vanished, surfaces, folded, insideFolded, listens, GRIPS, isList, isNoPlace, showsHand, scrollState, bodyScrolls, pageView, pageScroll,
    dropPlaces, findStandouts, stoodOut,
  };
}
