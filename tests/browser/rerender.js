// Runs in our isolated world: renders lists the way applications do, changes them at random, looks before and after
// each change, and counts what became of the ids. Only this script knows which item a node shows.
(seed, rounds) => {
  let state = seed >>> 0;
  const dice = (n) => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return Math.floor((state / 4294967296) * n); };
  const pick = (things) => things[dice(things.length)];
  const WORDS = ['milk', 'bread', 'apples', 'tea', 'rice', 'plums', 'flour', 'salt'];

  // Every markup: one item as HTML. {0} what it says, {1} a second text, {2} attributes, {3} a class, {4} a remark.
  const MARKUPS = {
    listitem: ['ul', '<li{2}><a href="#">{0}</a> <span>{1}</span> <button>Delete</button></li>'],
    rows: ['div class="rows"', '<div class="row"{2}><input type="checkbox"><span>{0}</span><span>{1}</span><button>Edit</button><button>Delete</button></div>'],
    bare: ['div', '<div{2}><b>{0}</b><button>Open</button></div>'],
    table: ['tbody', '<tr{2}><td>{0}</td><td>{1}</td><td><button>Edit</button><button>Delete</button></td></tr>'],
    chips: ['div', '<button class="chip"{2}>{0}</button>'],
    hand: ['div', '<div class="mail {3}" style="cursor:pointer"{2}><span class="star" style="cursor:pointer">☆</span><p>{0}</p><p>{1}</p></div>'],
    paragraphs: ['div', '<p{2}>{0}</p>'],
    links: ['nav', '<a href="#"{2}>{0}</a>'],
    labels: ['div', '<label{2}><input type="checkbox"><span>{0}</span></label>'],
    orders: ['div', '<div class="order"{2}><b>{0}</b><i>{4}</i><input aria-label="Amount"><select aria-label="Size"><option>S</option><option>L</option></select><button>Drop</button></div>'],
    cards: ['section', '<div class="card"{2}><ul><li><a href="#">{0}</a></li><li><em>{1}</em><button>Buy</button></li><li><button>Edit</button></li></ul><i>{4}</i></div>'],
    wide: ['div', '<article{2}><h3>{0}</h3><i>{4}</i><p>{1}</p><p>Ships free</p><p>In stock</p><p>Two years</p><ul><li>Blue</li><li>Steel</li></ul><button>Buy</button><button>Keep</button></article>'],
  };
  const KEYS = { none: () => '', data: (item) => ` data-id="${item.key}"`, index: (item, at) => ` data-id="${at}"`, random: () => ` id="r${dice(1e9)}"` };
  let lastKey = 0;
  const called = new Map();  // key -> what the item is called
  const made = (texts) => {
    const key = ++lastKey;
    const number = texts === 'numbered' ? `Item ${key}` : texts === 'words' ? `${pick(WORDS)} ${key}` : pick(WORDS);
    called.set(key, number);
    return { key, say: number, more: texts === 'few' ? '' : `${dice(5)} left`, on: false, remark: '' };
  };
  const markup = (world, item, at) => MARKUPS[world.markup][1].replace('{0}', item.say).replace('{1}', item.more).replace('{2}', KEYS[world.keys](item, at)).replace('{3}', item.on ? 'on' : '').replace('{4}', item.remark);
  const built = (html, tag) => { const box = document.createElement(tag); box.innerHTML = html; return box.firstElementChild; };

  // --- the ways to render ---------------------------------------------------------------------------------
  const truth = new WeakMap();  // element -> [key of its item, which part of it]
  const claim = (node, item) => { [node, ...node.querySelectorAll('*')].forEach((element, part) => truth.set(element, [item.key, part])); };
  const patch = (node, like) => {
    if (node.nodeType === 3) { if (node.data !== like.data) node.data = like.data; return; }
    for (const name of node.getAttributeNames()) if (!like.hasAttribute(name)) node.removeAttribute(name);
    for (const name of like.getAttributeNames()) if (node.getAttribute(name) !== like.getAttribute(name)) node.setAttribute(name, like.getAttribute(name));
    // A remark came or went.
    if (node.childNodes.length !== like.childNodes.length) node.replaceChildren(...like.childNodes);
    else [...node.childNodes].forEach((child, at) => patch(child, like.childNodes[at]));
  };
  const host = () => (document.querySelector('#list') ?? document.body);
  const open = (world) => `<${MARKUPS[world.markup][0]}>`;
  const shell = (world, inner) => {
    const [tag] = MARKUPS[world.markup][0].split(' ');
    const list = `${open(world)}${inner}</${tag}>`;
    return (world.toast ? '<div class="toast">Saved</div>' : '') + `<header><h1>Things</h1><span>${world.items.length} things</span><button>New</button></header>`
      + (tag === 'tbody' ? `<table><thead><tr><th>A</th></tr></thead>${list}</table>` : list) + '<footer><button>Clear</button><a href="#">Help</a></footer>';
  };
  const listIn = (world) => { const [tag] = MARKUPS[world.markup][0].split(' '); return document.querySelector(tag === 'div' ? 'header + div' : tag); };
  const RENDERERS = {
    page: (world) => { document.body.innerHTML = shell(world, world.items.map((item, at) => markup(world, item, at)).join('')); },
    list: (world) => { listIn(world).innerHTML = world.items.map((item, at) => markup(world, item, at)).join(''); },
    keyed: (world) => {
      const list = listIn(world), old = new Map([...list.children].map((node) => [truth.get(node)[0], node]));
      world.items.forEach((item, at) => {
        const fresh = built(markup(world, item, at), list.tagName);
        const node = old.get(item.key) ?? fresh;
        if (node !== fresh) patch(node, fresh);
        old.delete(item.key);
        if (list.children[at] !== node) list.insertBefore(node, list.children[at] ?? null);
      });
      for (const node of old.values()) node.remove();
    },
    // Like a list that shows a part of many items: the nodes of those that went are used for those that came.
    recycled: (world) => {
      const list = listIn(world), old = new Map([...list.children].map((node) => [truth.get(node)[0], node]));
      const spare = [...old].filter(([key]) => !world.items.some((item) => item.key === key)).map(([, node]) => node);
      world.items.forEach((item, at) => {
        const fresh = built(markup(world, item, at), list.tagName);
        const node = old.get(item.key) ?? spare.shift() ?? fresh;
        if (node !== fresh) patch(node, fresh);
        if (list.children[at] !== node) list.insertBefore(node, list.children[at] ?? null);
      });
      for (const node of spare) node.remove();
    },
    unkeyed: (world) => {
      const list = listIn(world);
      world.items.forEach((item, at) => {
        const fresh = built(markup(world, item, at), list.tagName);
        if (list.children[at]) patch(list.children[at], fresh); else list.append(fresh);
      });
      while (list.children.length > world.items.length) list.lastElementChild.remove();
    },
  };
  const render = (world, how) => {
    RENDERERS[how](world);
    [...listIn(world).children].forEach((node, at) => claim(node, world.items[at]));
  };

  // --- the changes ------------------------------------------------------------------------------------------
  const CHANGES = {
    nothing: () => {},
    insert: ({ items, texts }) => { items.splice(dice(items.length + 1), 0, made(texts)); },
    remove: ({ items }) => { if (items.length) items.splice(dice(items.length), 1); },
    move: ({ items }) => { if (items.length) items.splice(dice(items.length), 0, ...items.splice(dice(items.length), 1)); },
    replace: ({ items, texts }) => { if (items.length) items.splice(dice(items.length), 1, made(texts)); },
    toggle: ({ items }) => { if (items.length) { const item = pick(items); item.on = !item.on; } },
    remark: ({ items }) => { if (items.length) { const item = pick(items); item.remark = item.remark ? '' : pick(['Sold out', 'New', 'Two for one']); } },
    sell: ({ items }) => { if (items.length) { const item = pick(items); item.more = item.more && `${dice(50)} left`; } },
    replaceAll: (world) => { world.items = world.items.map(() => made(world.texts)); },
    scroll: ({ items, texts }) => { for (let n = 1 + dice(3); n > 0 && items.length; n -= 1) { items.shift(); items.push(made(texts)); } },
    both: (world) => { CHANGES.remove(world); CHANGES.insert(world); },
    toast: (world) => { world.toast = !world.toast; },
  };

  const look = () => {
    webassay.observe({ boxes: false, clip: [0, 0, 1280, 720], inFrame: false });
    const seen = new Map();  // id -> [key, part, what is said]
    for (const element of document.querySelectorAll('body *')) {
      const id = webassay.ids.get(element);
      if (id && webassay.find(id) === element) seen.set(id, [...(truth.get(element) ?? [0, labelOf(element)]), contentOf(element)]);
    }
    return seen;
  };
  const labelOf = (element) => `${element.tagName} ${element.children.length ? '' : element.textContent.replace(/\d/g, '')}`;
  const contentOf = (element) => {
    let at = element;
    while (at.parentElement && truth.get(at.parentElement)?.[0] === truth.get(at)?.[0]) at = at.parentElement;
    return truth.has(at) ? `${at.textContent} ${world.keys === 'data' ? at.dataset.id : ''}` : '';
  };

  let world;
  const result = { changes: 0, unchanged: 0, kept: 0, changed: 0, changedKept: 0, strayed: [], twins: 0, lost: {} };
  const worlds = rounds;
  for (let round = 0; round < worlds; round += 1) {
    world = { markup: pick(Object.keys(MARKUPS)), keys: pick(Object.keys(KEYS)), texts: pick(['numbered', 'words', 'few']), items: [], toast: false };
    for (let n = dice(9); n > 0; n -= 1) world.items.push(made(world.texts));
    const how = pick(Object.keys(RENDERERS));
    render(world, 'page');
    let before = look();
    for (let step = 0; step < 10; step += 1) {
      const change = pick(Object.keys(CHANGES));
      CHANGES[change](world);
      render(world, change === 'toast' ? 'page' : how);
      const after = look();
      result.changes += 1;
      const now = new Map([...after].map(([id, [key, part]]) => [`${key} ${part}`, id]));
      const says = new Map([...after.values()].map(([key, part, said]) => [`${key} ${part}`, said]));
      const story = `${world.markup} ${world.keys} ${world.texts} ${how} ${change}`;
      for (const [id, [key, part, said]] of before) {
        const there = after.get(id);
        if (there && (there[0] !== key || there[1] !== part)) {
          // Nobody can tell one "tea" that has lost its remark from another that has none, unless they have keys.
          const alike = there[2] === said || (world.keys !== 'data' && called.get(there[0]) === called.get(key));
          if (there[0] && there[1] === part && alike) result.twins += 1;
          else result.strayed.push(`${story}: [${id}] was ${key} ${part} "${said}", is ${there.join(' ')}`);
        }
        if (!now.has(`${key} ${part}`)) continue;
        const twin = key && [...before.values()].filter((other) => other[1] === part && other[2] === said).length > 1;
        if (twin && change !== 'nothing' && change !== 'toast') continue;
        if (key && says.get(`${key} ${part}`) !== said) {
          // With few words, another item may say what this one said before.
          if (world.texts === 'few') continue;
          result.changed += 1;
          if (now.get(`${key} ${part}`) === id) result.changedKept += 1;
          else result.lost[story] = (result.lost[story] ?? 0) + 1;
          continue;
        }
        result.unchanged += 1;
        if (now.get(`${key} ${part}`) === id) result.kept += 1;
        else result.lost[story] = (result.lost[story] ?? 0) + 1;
      }
      before = after;
    }
  }
  return JSON.stringify(result);
}
