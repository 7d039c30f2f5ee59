// Which element keeps which id when a page renders itself again. Runs in the same isolated world as walk.js, which
// hands over the elements it walked through, as a tree of records; this gives ids to those that have a line.
//
// An id belongs to what a person sees, not to a node: pages throw nodes away and build the same content anew, and they
// use the nodes of one item of a list for another. So items of lists are recognized by what they say and where their
// links lead, those that changed by what they go on saying and no other says, and what is inside an item by its role and
// name there. Outside lists, an element that stays keeps its
// id, and one that is replaced by its like hands it on. Where it cannot be told which is which, the id ends.
() => {
  const ids = new WeakMap();  // element -> number
  const elements = new Map(); // number -> WeakRef(element)
  const forgotten = new FinalizationRegistry((id) => { if (elements.get(id)?.deref() === undefined) elements.delete(id); });
  const resting = new Map();  // number -> what it was, for elements that are there but were not in the last tree
  const ended = new Map();    // number -> what it was
  const MAX_ENDED = 5000;
  let lastId = 0;
  let last = null;            // the records of the look before
  const itemKinds = new Set();      // kinds of elements that were items of lists
  const lists = new WeakMap();      // element that held items -> their tags
  const listPlaces = new Set();     // where lists without classes stood

  const NONE = Object.freeze([]);
  // Everything that is needed later is noted now: the page may change the element, or use it for something else.
  const record = (element, up) => {
    const name = element.id;
    const made = { element, tag: element.tagName, anchor: name && !/\d/.test(name) ? '#' + name : '', up, parts: [], kids: NONE, line: null, lines: 0, acts: false, item: false, known: null };
    if (!up) return made;
    up.parts.push(made);
    if (up.kids === NONE) up.kids = [made]; else up.kids.push(made);
    return made;
  };

  // --- items ---------------------------------------------------------------------------------------------
  const ITEM_TAGS = new Set(['LI', 'TR', 'OPTION']);
  const ITEM_ROLES = new Set(['listitem', 'row', 'option', 'treeitem', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'article']);
  // The parts of an item or of the page, told apart by their place.
  const FIXTURES = new Set(['TD', 'TH', 'DT', 'DD', 'HTML', 'BODY', 'MAIN', 'NAV', 'HEADER', 'FOOTER', 'ASIDE', 'FORM', 'TABLE', 'THEAD', 'TBODY', 'TFOOT', 'UL', 'OL', 'DL', 'MENU',
    'FIELDSET', 'DIALOG', 'SELECT', 'SLOT']);
  const CELLS = new Set(['cell', 'gridcell', 'columnheader', 'rowheader', 'dialog', 'alertdialog', 'tabpanel', 'tablist', 'list', 'listbox', 'menu', 'menubar', 'tree', 'grid', 'toolbar']);
  const roleOf = (rec) => (rec.line ? rec.line[1] : '');
  const classesOf = (element) => (typeof element.className === 'string' ? element.className : element.getAttribute('class') ?? '').split(/\s+/).filter(Boolean);
  const kindOf = (rec) => `${rec.up?.tag}>${rec.tag}.${rec.classes[0] ?? ''}`;
  // What stands on these may change without the item becoming another.
  const LABELS = new Set(['button', 'switch', 'checkbox', 'radio', 'combobox', 'textbox', 'searchbox', 'spinbutton', 'slider']);
  const acts = (line) => line[5].some(([key]) => key === 'clickable') || LABELS.has(line[1]) || line[1] === 'link';
  // What makes neighbours alike: a class that they share, or, without classes, how they begin. A class that two share,
  // and that stands behind another one on both, is more likely a matter of style ("grid wide", "pager wide").
  const traitsOf = (rec) => (rec.classes.length ? rec.classes : [`<${rec.element.firstElementChild?.tagName ?? ''}`]);
  const placeOf = (rec) => (rec.place ??= `${rec.up ? placeOf(rec.up) : ''}/${rec.tag}${rec.anchor}`);
  const survey = (rec, found) => {
    const kids = rec.kids;
    rec.lines = rec.line ? 1 : 0;
    rec.acts = rec.line !== null && acts(rec.line);
    if (kids.length === 0) return found;
    const groups = new Map();
    for (const kid of kids) {
      survey(kid, found);
      rec.lines += kid.lines;
      rec.acts ||= kid.acts;
      if (kid.lines === 0 || FIXTURES.has(kid.tag) || CELLS.has(roleOf(kid))) continue;
      kid.classes = classesOf(kid.element);
      if (groups.has(kid.tag)) groups.get(kid.tag).push(kid); else groups.set(kid.tag, [kid]);
    }
    for (const [tag, group] of groups) findItems(rec, tag, group);
    const items = kids.filter((kid) => kid.item);
    items.forEach((kid, index) => { kid.index = index; kid.siblings = items.length; found.push(kid); });
    return found;
  };
  // Which of these neighbours of one tag are items of a list.
  const findItems = (rec, tag, group) => {
    const known = lists.get(rec.element), place = `${placeOf(rec)}>${tag}`;
    const shared = new Map(), leading = new Set();
    if (group.length > 1) for (const kid of group) traitsOf(kid).forEach((trait, at) => { shared.set(trait, (shared.get(trait) ?? 0) + 1); if (at === 0) leading.add(trait); });
    for (const kid of group) {
      const alike = group.length > 1 && traitsOf(kid).some((trait) => shared.get(trait) > (leading.has(trait) ? 1 : 2));
      const classed = kid.classes.length > 0;
      kid.item = alike || ITEM_TAGS.has(tag) || ITEM_ROLES.has(roleOf(kid)) || Boolean(known?.has(tag)) || keysOf(kid.element).length > 0
        || (classed ? itemKinds.has(kindOf(kid)) : listPlaces.has(place));
      if (!alike) continue;
      if (classed && itemKinds.size < 5000) itemKinds.add(kindOf(kid));
      if (!classed && listPlaces.size < 5000) listPlaces.add(place);
      if (!known) lists.set(rec.element, new Set([tag])); else known.add(tag);
    }
  };

  // --- what an item says -----------------------------------------------------------------------------------
  const DATA_KEY = /^data-(.*-)?(id|key|uid|uuid|guid|slug|sku|ref|pk|value|name|number|code)$/;
  const keysOf = (element) => {
    const keys = [];
    for (const name of element.getAttributeNames()) {
      if (DATA_KEY.test(name) || (name === 'value' && element.tagName === 'OPTION')) keys.push([name, element.getAttribute(name)]);
    }
    return keys;
  };
  const WRITABLE = new Set(['combobox', 'textbox', 'searchbox', 'spinbutton', 'slider']);
  const isField = (rec) => WRITABLE.has(roleOf(rec));
  // What is written in an editor is its value, like the content of a field.
  const isEditor = (rec) => rec.line !== null && !FIELDS.has(rec.tag) && (rec.line[1] === 'textbox' || rec.line[1] === 'searchbox' || rec.line[5].some(([key]) => key === 'editable'));
  const spokenValue = (rec) => (rec.line ? rec.line[5].filter(([key]) => key === 'valuetext').map(([, text]) => text) : NONE);
  const writtenIn = (rec) => rec.parts.map((part) => (typeof part === 'string' ? part : writtenIn(part))).join(' ');
  // `all`: everything it says. `core`: its own words, without those of items in it and of buttons. `words`: those of
  // items in it too. `fields` and `values`: what the fields in it are called, and what stands in them.
  const collect = (rec, said, top) => {
    const before = said.all.length, editor = isEditor(rec);
    const href = rec.line?.[6];
    if (href) said.links.push(href);
    for (const part of editor ? NONE : rec.parts) {
      if (typeof part === 'string') {
        said.all.push(part);
        if (said.own) said.core.push(part);
        if (said.free) said.words.push(part);
        continue;
      }
      const { own, free } = said;
      if (LABELS.has(roleOf(part))) said.own = said.free = false;
      else if (part.item && (part.acts || ITEM_TAGS.has(part.tag))) said.own = false;
      collect(part, said, false);
      Object.assign(said, { own, free });
    }
    const name = rec.line?.[2];
    if (said.all.length === before && name && !(editor && rec.line[1] === 'generic')) {
      said.all.push(name);
      if (said.own || top) said.core.push(name);
      if (said.free || top) said.words.push(name);
    }
    if (isField(rec) && name) { said.fields.push(name); said.words.push(name); }
    if (editor) said.values.push(rec.line[4] || writtenIn(rec));
    else if (FIELDS.has(rec.tag) || isField(rec)) said.values.push(rec.line?.[4] ?? '', ...spokenValue(rec));
  };
  const FIELDS = new Set(['INPUT', 'TEXTAREA', 'SELECT']);
  const heard = (rec) => {
    const said = { all: [], core: [], words: [], links: [], fields: [], values: [], own: true, free: true };
    collect(rec, said, true);
    return said;
  };
  const LETTER = /\p{L}/u, COUNT = /[([]\d[\d.,]*[)\]]/g;
  const pieces = (said) => said.map((piece) => piece.replace(COUNT, '').trim()).filter(Boolean);
  // "3 left" and "1-5 of 37" beside a name are counts too; a number by itself may be the name.
  const COUNTED = /^\d.*\p{L}/u;
  const uncounted = (words, beside = words) => {
    if (!beside.some((word) => LETTER.test(word) && !COUNTED.test(word))) return words;
    return words.map((word) => (COUNTED.test(word) ? word.replace(/\d[\d.,]*/g, '#') : word));
  };
  const pathOf = (rec) => {
    rec.path ??= `${rec.up ? pathOf(rec.up) : ''}/${rec.tag}${rec.anchor}${rec.item ? '*' : ''}`;
    return rec.path;
  };
  const describe = (rec) => {
    const said = heard(rec), core = uncounted(pieces(said.core).filter((piece) => LETTER.test(piece)));
    rec.text = `${rec.tag}\u0001${said.all.join('\u0001')}`;
    rec.core = core.length ? `${rec.tag}\u0001${core.join('\u0001')}` : '';
    rec.links = said.links.join('\u0001');
    rec.values = said.values.join('\u0001');
    rec.keys = keysOf(rec.element);
    pathOf(rec);
    rec.full = `${rec.text}\u0002${rec.links}\u0002${rec.keys.length ? JSON.stringify(rec.keys) : ''}`;
  };
  // The keys of items may only count them: data-id="0", "1", "2".
  const counts = (rec, value) => new RegExp(`^\\D*(${rec.index}|${rec.index + 1})\\D*$`).test(value);
  const otherKeys = (one, other) => {
    const before = new Map(one.keys);
    return other.keys.some(([name, value]) => before.has(name) && before.get(name) !== value && !(counts(one, before.get(name)) && counts(other, value)));
  };
  const contradict = (one, other) => one.links !== other.links || otherKeys(one, other);

  // --- which item is which ---------------------------------------------------------------------------------
  const itemsOf = (rec, found = []) => {
    for (const kid of rec.kids) if (kid.item) found.push(kid); else if (kid.lines > 0) itemsOf(kid, found);
    return found;
  };
  const grouped = (recs, key) => {
    const found = new Map();
    for (const rec of recs) {
      const name = key(rec);
      if (name && found.has(name)) found.get(name).push(rec); else if (name) found.set(name, [rec]);
    }
    return found;
  };
  // Pairs what is the only one of its key before and after.
  const pairByKey = (before, after, pairs, key, fits = () => true) => {
    const old = grouped(before, key);
    for (const [name, recs] of grouped(after, key)) {
      const were = old.get(name);
      if (recs.length === 1 && were?.length === 1 && pairs.free(recs[0], were[0]) && fits(recs[0], were[0])) pairs.add(recs[0], were[0]);
    }
  };
  const makePairs = () => {
    const found = new Map(), taken = new Set();
    return { found, taken, free: (now, then) => !found.has(now) && !taken.has(then), add: (now, then) => { found.set(now, then); taken.add(then); } };
  };
  const pairItems = (before, after, pairs) => {
    const agree = (now, then) => !contradict(now, then);
    const inPlace = (now, then) => agree(now, then) && now.siblings === then.siblings && (now.element === then.element || now.index === then.index);
    pairByKey(before, after, pairs, (rec) => `${rec.full}\u0003${rec.path}`);
    pairByKey(before, after, pairs, (rec) => `${rec.text}\u0003${rec.path}`, agree);
    pairTwins(before, after, pairs);
    pairByKey(before, after, pairs, (rec) => rec.core && `${rec.core}\u0003${rec.path}`, inPlace);
    pairByKey(before, after, pairs, (rec) => rec.anchor, (now, then) => now.tag === then.tag);
    pairChanged(before, after, pairs);
  };
  // Items that say the same: by what stands in their fields; else by their nodes, if no node of the list was used for
  // another item and none of the twins came or went; else by their place, if nothing changed in the list.
  const pairTwins = (before, after, pairs) => {
    const settled = () => after.every((now) => pairs.found.has(now));
    if (settled()) return;
    pairByKey(before, after, pairs, (rec) => rec.values.replaceAll('\u0001', '') && `${rec.full}\u0003${rec.path}\u0003${rec.values}`);
    if (settled()) return;
    const oldByElement = new Map(before.map((rec) => [rec.element, rec]));
    const sequence = (list) => `${list.map((rec) => rec.full).join('\u0004')}\u0003${list[0].path}`;
    const oldLists = grouped(before, (rec) => rec.up), newLists = [...grouped(after, (rec) => rec.up).values()];
    const oldSequences = grouped(oldLists.values(), sequence), newSequences = grouped(newLists, sequence);
    for (const list of newLists) {
      const open = list.filter((now) => !pairs.found.has(now));
      if (open.length === 0) continue;
      const stayed = list.map((now) => oldByElement.get(now.element)).filter(Boolean);
      const reused = list.some((now) => oldByElement.has(now.element) && oldByElement.get(now.element).full !== now.full);
      const times = timesSaid(list), timesBefore = timesSaid(stayed.length ? oldLists.get(stayed[0].up) : []);
      for (const now of reused ? [] : open) {
        const then = oldByElement.get(now.element);
        if (then && pairs.free(now, then) && times.get(now.full) === timesBefore.get(now.full)) pairs.add(now, then);
      }
      const key = sequence(list);
      const same = newSequences.get(key).length === 1 && oldSequences.get(key)?.length === 1 ? oldSequences.get(key)[0] : null;
      if (same && stayed.length === 0) list.forEach((now, at) => { if (pairs.free(now, same[at])) pairs.add(now, same[at]); });
    }
  };
  const timesSaid = (recs) => {
    const times = new Map();
    for (const { full } of recs) times.set(full, (times.get(full) ?? 0) + 1);
    return times;
  };

  // --- an item that says something else now ----------------------------------------------------------------
  // The element stayed, or another stands where it stood: is it the same item, or was the place given to another? The
  // same one goes on saying something that no item beside it says, and
  // - words only came or only went: it was opened, closed, edited, or got a remark; or
  // - it begins as before, and has the same key; or it is a part of a form, told from the parts beside it by the names
  //   of its fields; or it is large, and most of its words stayed, or all of them in another order.
  // A node that is used for another item says other words in the place of the old ones.
  const pairChanged = (before, after, pairs) => {
    const open = after.filter((now) => !pairs.found.has(now)), left = before.filter((then) => !pairs.taken.has(then));
    if (open.length === 0 || left.length === 0) return;
    const byElement = new Map(left.map((rec) => [rec.element, rec])), places = new Map(left.map((rec) => [`${rec.path}\u0003${rec.index}`, rec]));
    const stoodThere = (now) => byElement.get(now.element) ?? places.get(`${now.path}\u0003${now.index}`);
    const likely = open.map((now) => [now, stoodThere(now)]).filter(([now, then]) => then && then.tag === now.tag && !otherKeys(now, then));
    const lists = new Set(likely.flat().map((rec) => rec.path)), concerned = (rec) => lists.has(rec.path);
    const saidBefore = wordsOf(before.filter(concerned)), saidAfter = wordsOf(after.filter(concerned));
    for (const [now, then] of likely) {
      if (!pairs.free(now, then)) continue;
      const was = saidBefore(then), is = saidAfter(now);
      const large = now.lines >= MANY_LINES && then.lines >= MANY_LINES;
      if (grew(was, is) || grew(is, was) || sameKey(was, is) || sameFields(was, is) || (large && (saysTheSame(was, is) || mostly(was, is, 'core') || mostly(was, is, 'words')))) pairs.add(now, then);
    }
  };
  // What each of these items says, and which of it no other item in such a place says.
  const wordsOf = (recs) => {
    const known = new Map(), holders = new Map(), naming = new Map();
    const placed = (rec, piece) => `${rec.path}\u0003${piece}`;
    const count = (times, rec, said) => { for (const piece of said) times.set(placed(rec, piece), (times.get(placed(rec, piece)) ?? 0) + 1); };
    for (const rec of recs) {
      const said = heard(rec), values = new Set(said.values.map((value) => value.trim())), fields = new Set(said.fields);
      // Words that repeat what stands in a field are as little the item's own as that.
      const own = (words) => new Set(uncounted(pieces(words), said.all).filter((piece) => !values.has(piece)));
      const all = own([...said.all, ...said.fields]), words = own(said.words), [first] = words;
      const key = JSON.stringify(rec.keys.filter(([, value]) => /\d/.test(value) && !counts(rec, value)));
      const everything = [...all, ...said.links].sort().join('\u0001');
      known.set(rec, { all, fields, values, key, links: new Set(said.links), core: own(said.core), words, first, everything });
      count(holders, rec, new Set([...all, ...values, key, everything]));
      count(naming, rec, fields);
    }
    const beside = grouped(recs, (rec) => rec.path), fielded = grouped(recs.filter((rec) => known.get(rec).fields.size > 0), (rec) => rec.path);
    return (rec) => {
      const said = known.get(rec);
      const alone = (piece) => LETTER.test(piece) && holders.get(placed(rec, piece)) === 1;
      const told = (said.fields.size > 1 || fielded.get(rec.path)?.length > 1) && [...said.fields].every((name) => naming.get(placed(rec, name)) === 1);
      const keyed = said.key !== '[]' && holders.get(placed(rec, said.key)) === 1;
      return { ...said, alone, told, keyed, lone: beside.get(rec.path).length === 1, unlike: holders.get(placed(rec, said.everything)) === 1 };
    };
  };
  const within = (some, all) => [...some].every((piece) => all.has(piece));
  // A word may also become the content of a field, when the item is edited in its place. The label of a button tells which
  // item it is only if the item begins with it, like a menu that is opened by that button.
  const grew = (less, more) => {
    const there = new Set([...more.all, ...more.values]);
    if (!within(less.all, there) || !within(less.links, more.links)) return false;
    const [first] = less.all, opened = less.words.size === 0 && first === [...more.all][0];
    const telling = opened ? [first] : begins(less, more) ? [...less.words] : NONE;
    return telling.some((piece) => less.alone(piece) && more.alone(piece));
  };
  const shares = (was, is, kind) => {
    const were = [...was[kind]].filter(was.alone), are = [...is[kind]].filter(is.alone);
    const shared = are.filter((piece) => was[kind].has(piece) && was.alone(piece)).length;
    return { shared, were: were.length, are: are.length };
  };
  // An item is named where it begins, unless a remark was put before that. Of one that has no neighbours, it cannot be
  // told which of its words are its own.
  const begins = (was, is) => {
    const said = (one, other) => one.values.has(other.first) || (!(was.lone && is.lone) && one.words.has(other.first));
    return was.first === is.first || said(was, is) || said(is, was);
  };
  const sameKey = (was, is) => was.keyed && is.keyed && was.key === is.key && begins(was, is);
  const sameFields = (was, is) => {
    const same = was.fields.size > 0 && was.fields.size === is.fields.size && within(was.fields, is.fields);
    const { shared, were, are } = shares(was, is, 'words');
    return same && was.told && is.told && begins(was, is) && shared >= HALF * Math.min(were, are);
  };
  // In another order, or some of it more often: a list, and beside it what readers of screens hear of that list.
  const saysTheSame = (was, is) => was.everything === is.everything && was.unlike && is.unlike && was.all.size >= ENOUGH;
  const HALF = 0.5, MOST = 0.6, ENOUGH = 4, MANY_LINES = 8;
  const mostly = (was, is, kind) => {
    const { shared, were, are } = shares(was, is, kind);
    return shared >= ENOUGH && shared >= MOST * Math.max(were, are) && begins(was, is);
  };

  // --- which line is which -----------------------------------------------------------------------------------
  const linesOf = (rec, found = []) => {
    if (rec.line) found.push(rec);
    for (const kid of rec.kids) if (!kid.item) linesOf(kid, found);
    return found;
  };
  const relative = (rec, scope) => {
    let path = '';
    for (let at = rec; at && at !== scope; at = at.up) path = `/${at.tag}${at.anchor}${path}`;
    return path;
  };
  const sortOf = (rec) => `${rec.line[1]}\u0001${rec.tag}\u0001${rec.element.type ?? ''}`;
  const labelOf = (rec) => `${sortOf(rec)}\u0001${rec.line[2]}`;
  const looseOf = (rec) => `${sortOf(rec)}\u0001${rec.line[2].replace(/\d+/g, '0')}`;
  // What is said around an element: by the smallest part of the page that says more than it does. Counts may change.
  const SHORT = 300;
  const surroundings = (rec, scope) => {
    const own = textOf(rec).length;
    for (let at = rec.up; at && at !== scope && !FIXTURES.has(at.tag); at = at.up) {
      const said = textOf(at);
      if (said.length > SHORT) return '';
      if (said.length > own) return said;
    }
    return '';
  };
  const textOf = (rec) => {
    if (rec.says === undefined) {
      const parts = rec.parts.map((part) => (typeof part !== 'string' ? (part.item ? '' : textOf(part)) : part.replace(/^\d[\d.,]*/, '#').replace(COUNT, '')));
      rec.says = parts.filter(Boolean).join('\u0001');
    }
    return rec.says;
  };
  // Inside one item, or outside all of them: an element that stayed is the same; others by their role, name and place.
  const matchLines = (now, then, keep) => {
    const old = linesOf(then);
    const byElement = new Map(old.map((rec) => [rec.element, rec]));
    const used = new Set();
    const pass = (rec, was) => { keep(rec, was); used.add(was); };
    let open = [];
    for (const rec of linesOf(now)) {
      const stayed = byElement.get(rec.element);
      if (stayed) pass(rec, stayed); else open.push(rec);
    }
    const near = (rec, scope) => (scope.item ? '' : surroundings(rec, scope));
    for (const key of [
      (rec, scope) => `${labelOf(rec)}\u0003${near(rec, scope)}\u0003${relative(rec, scope)}`,
      (rec, scope) => `${labelOf(rec)}\u0003${near(rec, scope)}`,
      (rec, scope) => `${looseOf(rec)}\u0003${near(rec, scope)}\u0003${relative(rec, scope)}`,
    ]) {
      if (open.length === 0) return;
      const were = grouped(old.filter((rec) => !used.has(rec)), (rec) => key(rec, then));
      const still = [];
      for (const [name, recs] of grouped(open, (rec) => key(rec, now))) {
        const olds = were.get(name);
        if (olds?.length === recs.length) recs.forEach((rec, at) => pass(rec, olds[at]));
        else still.push(...recs);
      }
      open = still;
    }
  };
  const matchScope = (now, then, keep, pairs) => {
    matchLines(now, then, keep);
    const inside = makePairs();
    const before = itemsOf(then).filter((rec) => !pairs.taken.has(rec)), after = itemsOf(now).filter((rec) => !pairs.found.has(rec));
    if (before.length === 0 || after.length === 0) return;
    pairItems(before, after, inside);
    for (const [item, was] of inside.found) { pairs.add(item, was); }
    for (const [item, was] of inside.found) matchScope(item, was, keep, pairs);
  };
  // What was alone in its place before, and is one of several now, was an item already; not so a neighbour of items that
  // is none now either.
  const recognize = (items) => {
    const parents = new Map();  // element that holds items now -> their tags, and the neighbours that are none
    for (const { up, tag } of items) {
      if (!parents.has(up.element)) parents.set(up.element, { tags: new Set(), plain: up.kids.filter((kid) => !kid.item && kid.lines > 0) });
      parents.get(up.element).tags.add(tag);
    }
    const alike = (kid, other) => other.element === kid.element || (other.tag === kid.tag && other.classes?.join() === kid.classes?.join());
    const search = (rec) => {
      const holder = parents.get(rec.element), kids = rec.kids;
      for (const kid of kids) {
        search(kid);
        if (!holder?.tags.has(kid.tag) || kid.item || kid.lines === 0 || FIXTURES.has(kid.tag) || CELLS.has(roleOf(kid))) continue;
        if (holder.plain.some((other) => alike(kid, other))) continue;
        Object.assign(kid, { item: true, index: 0, siblings: 1 });
        describe(kid);
        last.items.push(kid);
      }
    };
    search(last.root);
  };
  const matchAll = (root, items, keep) => {
    recognize(items);
    const pairs = makePairs();
    matchScope(root, last.root, keep, pairs);
    // Items that moved to another list; what is inside one that came or went belongs to that one.
    const moved = makePairs();
    const whole = (rec) => (rec.acts && LETTER.test(rec.text.slice(rec.tag.length)) ? rec.full : '');
    const settled = (rec, known) => { const outer = itemAround(rec.up); return !outer || known.has(outer); };
    pairByKey(last.items, items, moved, whole, (now, then) => pairs.free(now, then) && settled(now, pairs.found) && settled(then, pairs.taken));
    for (const [item, was] of moved.found) if (pairs.free(item, was)) { pairs.add(item, was); matchScope(item, was, keep, pairs); }
    return pairs.found;
  };

  // --- all together ------------------------------------------------------------------------------------------
  const assign = (element, id) => {
    ids.set(element, id);
    elements.set(id, new WeakRef(element));
    forgotten.register(element, id);
    return id;
  };
  const inOrder = (rec, found = []) => {
    if (rec.line) found.push(rec);
    for (const kid of rec.kids) inOrder(kid, found);
    return found;
  };
  const itemAround = (rec) => {
    let at = rec;
    while (at && !at.item) at = at.up;
    return at;
  };
  // `changed`: whether the document changed since the look before. If not, every element is what it was; the lines are
  // returned if they are the same ones too.
  const identify = (root, changed) => {
    const lines = inOrder(root);
    const kept = new Map();
    if (last && !changed) {
      for (const rec of lines) rec.line[3] = ids.get(rec.element) ?? 0;
      if (lines.length === last.lines.length && lines.every((rec) => rec.line[3] > 0)) { noteValues(lines); return lines; }
      for (const rec of lines) if (rec.line[3] > 0) kept.set(rec, rec.line[3]);
    }
    const items = survey(root, []);
    for (const rec of items) describe(rec);
    const found = last && changed ? matchAll(root, items, (rec, was) => { kept.set(rec, was.line[3]); }) : sameElements(items);
    for (const rec of items) rec.known = found.get(rec)?.known ?? {};
    const given = new Set(kept.values());
    for (const rec of lines) {
      // Back in the tree, in the item where it was, or in one that says the same.
      const id = kept.has(rec) ? undefined : ids.get(rec.element), was = resting.get(id), around = was && itemAround(rec);
      if (was && !given.has(id) && (was.item === (around?.full ?? '') || (around && was.known === around.known))) { kept.set(rec, id); given.add(id); }
    }
    for (const rec of lines) rec.line[3] = kept.get(rec) ?? 0;
    for (const rec of lines) assign(rec.element, rec.line[3] || (rec.line[3] = ++lastId));
    const shown = new Set(lines.map((rec) => rec.element));
    (last?.lines ?? []).forEach((rec, place) => { if (!given.has(rec.line[3])) retire(rec, place, shown); });
    for (const [id, was] of resting) if (given.has(id)) resting.delete(id); else if (!was.element.deref()?.isConnected || ids.get(was.element.deref()) !== id) end(id, was);
    last = { root, lines, items };
    return null;
  };
  const sameElements = (items) => {
    const before = new Map(last?.items.map((was) => [was.element, was]));
    return new Map(items.map((rec) => [rec, before.get(rec.element)]));
  };
  // What stands in a field changes without a change of the document.
  const noteValues = (lines) => {
    const differ = lines.filter((rec, at) => rec.line[4] !== last.lines[at].line[4]);
    if (differ.length === 0) return;
    const values = new Map(differ.map((rec) => [rec.element, rec.line[4]]));
    for (const was of last.lines) if (values.has(was.element)) was.line[4] = values.get(was.element);
    for (const was of last.items) was.values = heard(was).values.join('\u0001');
  };
  const retire = (rec, place, shown) => {
    const around = itemAround(rec);
    const was = { place, element: new WeakRef(rec.element), role: rec.line[1], name: rec.line[2], item: around?.full ?? '', known: around?.known };
    if (rec.element.isConnected && !shown.has(rec.element)) resting.set(rec.line[3], was); else end(rec.line[3], was);
  };
  const end = (id, was) => {
    resting.delete(id);
    elements.delete(id);
    ended.set(id, was);
    if (ended.size > MAX_ENDED) ended.delete(ended.keys().next().value);
  };

  // Controls that stand beside each other: neighbours of one tag, and the same parts of neighbours (the star in each row).
  const MAX_PARTS = 8;
  const neighbours = (root) => {
    const groups = [];
    const visit = (rec) => {
      const found = rec.line && acts(rec.line) ? [rec] : [];
      if (rec.kids.length === 0) return found;
      const inside = new Map();  // what has controls in it -> those controls
      for (const kid of rec.kids) {
        const parts = visit(kid);
        if (parts.length > 0) inside.set(kid, parts);
        for (const part of parts) if (found.length < MAX_PARTS) found.push(part);
      }
      if (inside.size > 2) for (const recs of grouped(inside.keys(), (kid) => kid.tag).values()) if (recs.length > 2) gather(recs, inside);
      return found;
    };
    const gather = (recs, inside) => {
      const parts = new Map();
      for (const rec of recs) {
        const seen = new Map();
        for (const inner of inside.get(rec)) {
          const key = `${relative(inner, rec)}|${inner.line[1]}`, place = seen.get(key) ?? 0;
          seen.set(key, place + 1);
          const name = `${key}|${place}`;
          if (parts.has(name)) parts.get(name).push(inner); else parts.set(name, [inner]);
        }
      }
      for (const group of parts.values()) if (group.length > 2) groups.push(group);
    };
    visit(root);
    return groups;
  };
  const elementOf = (id) => {
    const element = elements.get(id)?.deref();
    return element && element.isConnected ? element : null;
  };
  // What an id was that is no longer there, and what is there now that may be meant.
  const lost = (id) => {
    const was = ended.get(id);
    if (!was || !last) return { was: null, now: [] };
    const words = new Set(was.name.toLowerCase().split(/\s+/).filter(Boolean));
    const likeness = (line) => {
      const shared = line[2].toLowerCase().split(/\s+/).filter((word) => words.has(word)).length;
      return (line[2] === was.name ? 100 : 0) + shared * 2 + (line[1] === was.role ? 3 : 0);
    };
    const near = last.lines.map(({ line }, place) => [likeness(line), Math.abs(place - was.place), line]).filter(([likely]) => likely > 0);
    near.sort(([one, way], [other, further]) => other - one || way - further);
    const told = near.slice(0, 3).map(([, , line]) => ({ id: line[3], role: line[1], name: line[2].slice(0, 80) }));
    return { was: { role: was.role, name: was.name }, now: told };
  };
  return { ids, record, identify, neighbours, elementOf, lost, looked: () => last !== null };
}
