// Runs in the page's own world before any of its scripts. It changes no behaviour except the clock: it counts pending
// work (timers, frames, fetches and the reading of their bodies), notes which elements listen for clicks and drops, and tells
// the isolated world on request, through events whose names are used once and known to nobody else. It wraps native
// functions in proxies, because those still print as native code. Whatever could show a name to the page is taken here,
// before the page can replace it.
(secret, clockOffset) => {
  const { setTimeout: nativeSetTimeout, performance, document, CustomEvent, Proxy, Reflect, WeakRef, Date: NativeDate } = globalThis;
  const now = performance.now.bind(performance);
  const apply = Reflect.apply;
  const define = Object.defineProperty;
  const { parse, stringify } = JSON;
  const hold = (host, name, handler) => {
    const native = host[name];
    if (typeof native !== 'function') return;
    define(host, name, { ...Object.getOwnPropertyDescriptor(host, name), value: new Proxy(native, { apply: handler }) });
  };

  // Every message travels to the one who watches; a page that writes without end would keep all others waiting.
  const MESSAGES_A_SECOND = 500;
  let second = 0, written = 0;
  const throttled = (native, self, args) => {
    const time = now();
    if (time - second > 1000) { second = time; written = 0; }
    written += 1;
    return written > MESSAGES_A_SECOND ? undefined : apply(native, self, args);
  };
  for (const name of ['log', 'info', 'warn', 'error', 'debug', 'dir', 'dirxml', 'table', 'trace', 'assert', 'group', 'count', 'timeLog', 'timeEnd']) hold(console, name, throttled);

  if (clockOffset !== null) {
    const readClock = NativeDate.now;
    const PageDate = new Proxy(NativeDate, {
      apply: () => new NativeDate(readClock() + clockOffset).toString(),
      construct: (target, args, newTarget) =>
        Reflect.construct(target, args.length === 0 ? [readClock() + clockOffset] : args, newTarget),
    });
    const pageNow = new Proxy(readClock, { apply: (target) => readClock() + clockOffset });
    define(NativeDate, 'now', { value: pageNow, writable: true, configurable: true, enumerable: false });
    define(NativeDate.prototype, 'constructor', { value: PageDate, writable: true, configurable: true, enumerable: false });
    define(globalThis, 'Date', { value: PageDate, writable: true, configurable: true, enumerable: false });
  }
  if (!document) return;

  const timers = new Map();   // timer id -> {set, due, delay, key, every}
  const fired = new Map();    // key -> {count, delay, first}: how often the same timer fired since the last action
  const endless = new Set();  // keys of timers that restart themselves forever
  const fetches = new Set();
  const keyOf = (callback, delay) => {
    try { return delay + ':' + apply(Function.prototype.toString, callback, []).slice(0, 240); } catch { return delay + ':?'; }
  };
  const note = (timer) => {
    const seen = fired.get(timer.key);
    if (seen) seen.count += 1;
    else fired.set(timer.key, { count: 1, delay: timer.delay, first: now() });
  };

  // Whether something has gone on repeating for longer than a bound. Time alone does not tell: on a busy machine six
  // ticks of 70 ms take a second. What counts is how long the repetitions take where nothing keeps them waiting.
  const SHORTEST = 4, BUSY = 4;
  const lasted = (times, delay, elapsed, bound) =>
    elapsed > bound && (times * Math.max(delay, SHORTEST) > bound || elapsed > BUSY * bound);

  const remember = (every) => (native, self, args) => {
    const callback = args[0];
    if (typeof callback !== 'function') return apply(native, self, args);
    const delay = Math.max(0, Number(args[1]) || 0);
    const timer = { set: now(), due: now() + delay, delay, key: keyOf(callback, delay), every, ticks: 0 };
    const wrapped = [function (...rest) {
      if (every) { timer.due = now() + delay; timer.ticks += 1; } else timers.delete(id);
      note(timer);
      return apply(callback, this, rest);
    }, ...args.slice(1)];
    const id = apply(native, self, wrapped);
    timers.set(id, timer);
    return id;
  };
  const forget = (native, self, args) => { timers.delete(args[0]); return apply(native, self, args); };
  hold(globalThis, 'setTimeout', remember(false));
  hold(globalThis, 'setInterval', remember(true));
  hold(globalThis, 'clearTimeout', forget);
  hold(globalThis, 'clearInterval', forget);

  let frames = 0;             // asked for since the last look
  hold(globalThis, 'requestAnimationFrame', (native, self, args) => { frames += 1; return apply(native, self, args); });

  if (globalThis.Scheduler) hold(Scheduler.prototype, 'postTask', (native, self, args) => {
    const [callback, options, ...more] = args;
    if (typeof callback !== 'function') return apply(native, self, args);
    const delay = Math.max(0, Number(options?.delay) || 0), token = {};
    const timer = { set: now(), due: now() + delay, delay, key: keyOf(callback, delay), every: false };
    timers.set(token, timer);
    options?.signal?.addEventListener?.('abort', () => timers.delete(token));
    return apply(native, self, [function (...rest) { timers.delete(token); note(timer); return apply(callback, this, rest); }, options, ...more]);
  });

  const untilSettled = (native, self, args) => {
    const token = {};
    fetches.add(token);
    // One turn later, so that code awaiting the result runs first.
    const done = () => { apply(nativeSetTimeout, globalThis, [() => fetches.delete(token), 0]); };
    let result;
    try { result = apply(native, self, args); } catch (error) { fetches.delete(token); throw error; }
    result.then(done, done);
    return result;
  };
  hold(globalThis, 'fetch', untilSettled);
  for (const name of ['json', 'text', 'blob', 'arrayBuffer', 'bytes', 'formData']) hold(Response.prototype, name, untilSettled);

  // Wait for a worker's first message; after a second of silence and a number of looks (on a busy machine a second is
  // nothing), do not wait for it again.
  const WORKER_TIME = 1000, WORKER_LOOKS = 20, BETWEEN_LOOKS = 30;
  const silent = new WeakSet();
  const nativeListen = EventTarget.prototype.addEventListener;
  const expectMessage = (worker) => {
    if (silent.has(worker)) return;
    const token = {};
    timers.set(token, { due: now() + WORKER_TIME, delay: 0, key: 'worker', every: false, looks: 0, expired: () => silent.add(worker) });
    const done = () => { apply(nativeSetTimeout, globalThis, [() => timers.delete(token), 0]); };
    for (const type of ['message', 'error']) apply(nativeListen, worker, [type, done, { once: true }]);
  };
  if (globalThis.Worker) {
    hold(Worker.prototype, 'postMessage', (native, self, args) => { expectMessage(self); return apply(native, self, args); });
    define(globalThis, 'Worker', { ...Object.getOwnPropertyDescriptor(globalThis, 'Worker'), value: new Proxy(Worker, {
      construct: (target, args, newTarget) => { const worker = Reflect.construct(target, args, newTarget); expectMessage(worker); return worker; },
    }) });
  }

  // Which elements react to clicks or take what is dropped on them.
  const CLICKS = new Set(['click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'dblclick']);
  const DROPS = new Set(['drop', 'dragover']);
  let listening = [];         // [WeakRef(element), what it listens for]
  let delegating = false;     // something listens for clicks on behalf of others
  const wanted = new Set();   // selectors of the elements that it listens for
  const MAX_LISTENING = 20000;
  const noteListener = (target, what) => { if (listening.length < MAX_LISTENING) listening.push([new WeakRef(target), what]); };
  // A listener further up finds its target by a selector, which stands in its source: target.closest('.row'),
  // target.matches('[data-open]'), target.dataset.open. "Not inside of" is about something else.
  const SELECTORS = /(!?)[\w$.?]*\.(?:closest|matches)\(\s*(["'`])([^"'`$]{1,120})\2|\.dataset\.(\w{1,40})|Attribute\(\s*["'](data-[\w-]{1,40})["']/g;
  const MAX_SOURCE = 50000;
  const readSelectors = (listener) => {
    const handler = typeof listener === 'function' ? listener : listener?.handleEvent;
    if (typeof handler !== 'function' || wanted.size > 500) return;
    let source = '';
    try { source = apply(Function.prototype.toString, handler, []).slice(0, MAX_SOURCE); } catch { return; }
    for (const [, not, , selector, data, attribute] of source.matchAll(SELECTORS)) {
      if (selector && !not) wanted.add(selector);
      else if (data) wanted.add(`[data-${data.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase())}]`);
      else if (attribute) wanted.add(`[${attribute}]`);
    }
  };
  // The document does so, and so does what listens for everything that a mouse can do.
  const EVERYTHING = 4;
  const heard = new WeakMap();
  const noteDelegate = (target, type) => {
    if (delegating) return;
    const types = heard.get(target) ?? new Set();
    heard.set(target, types.add(type));
    delegating = target === document || types.size >= EVERYTHING;
  };
  hold(EventTarget.prototype, 'addEventListener', (native, self, args) => {
    const what = CLICKS.has(args[0]) ? 'click' : DROPS.has(args[0]) ? 'drop' : '';
    if (what && self instanceof Element) noteListener(self, what);
    if (what === 'click') { noteDelegate(self, args[0]); readSelectors(args[1]); }
    return apply(native, self, args);
  });
  const holdHandler = (host, name, what) => {
    const handler = Object.getOwnPropertyDescriptor(host, name);
    if (!handler?.set) return;
    define(host, name, { ...handler, set: new Proxy(handler.set, { apply: (native, self, args) => {
      if (typeof args[0] === 'function' && self instanceof Element) noteListener(self, what);
      return apply(native, self, args);
    } }) });
  };
  for (const host of [HTMLElement.prototype, SVGElement.prototype]) {
    for (const name of CLICKS) holdHandler(host, 'on' + name, 'click');
    for (const name of DROPS) holdHandler(host, 'on' + name, 'drop');
  }
  // Frameworks that listen further up leave the handlers on the element: as a property named after the event, or all
  // together in one object ({onClick}).
  const NAMED_HANDLER = /^(__|\$\$)(click|mousedown|pointerdown)$/, HANDLERS = ['onClick', 'onMouseDown', 'onPointerDown'];
  const handled = new WeakSet();
  const { keys } = Object;
  const holdsHandler = (element) => {
    for (const key of keys(element)) {
      const value = element[key];
      if (NAMED_HANDLER.test(key) && value !== undefined) return true;
      if (typeof value === 'object' && value !== null && HANDLERS.some((name) => typeof value[name] === 'function')) return true;
    }
    return false;
  };
  const findHandlers = () => {
    for (const selector of wanted) {
      let found = [];
      try { found = document.querySelectorAll(selector); } catch { wanted.delete(selector); }
      for (const element of found) if (!handled.has(element)) { handled.add(element); noteListener(element, 'click'); }
    }
    if (!delegating) return;
    for (const element of document.querySelectorAll('body *')) {
      if (!handled.has(element) && holdsHandler(element)) { handled.add(element); noteListener(element, 'click'); }
    }
  };

  const dispatch = EventTarget.prototype.dispatchEvent, nativeForget = EventTarget.prototype.removeEventListener;
  const detailOf = Object.getOwnPropertyDescriptor(CustomEvent.prototype, 'detail').get;
  let listeningFor = secret, answer = '';
  const tell = (target, detail) => apply(dispatch, target, [new CustomEvent(answer, { detail, composed: true })]);
  const ask = (event) => {
    const question = parse(apply(detailOf, event, []));
    apply(nativeForget, document, [listeningFor, ask]);
    listeningFor = question.next;
    answer = question.answer;
    apply(nativeListen, document, [listeningFor, ask]);
    if (question.about === 'listeners') {
      if (question.changed) findHandlers();
      const found = listening;
      listening = [];
      for (const [reference, what] of found) {
        const element = reference.deref();
        if (element?.isConnected) tell(element, what); else if (element) listening.push([reference, what]);
      }
      return;
    }
    const time = now();
    if (question.about === 'epoch') { fired.clear(); return; }
    if (question.about === 'ignore') { for (const timer of timers.values()) endless.add(timer.key); fetches.clear(); return; }
    const { bound, patience } = question;
    for (const [key, seen] of fired) if (seen.count >= 4 && lasted(seen.count, seen.delay, time - seen.first, patience)) endless.add(key);
    let next = null, delay = 0, count = 0;
    for (const [id, timer] of timers) {
      if (timer.expired && (timer.looks += 1) > WORKER_LOOKS && timer.due < time) { timer.expired(); timers.delete(id); continue; }
      if (endless.has(timer.key) || timer.delay > bound) continue;
      if (timer.every && (timer.delay > 100 || lasted(timer.ticks, timer.delay, time - timer.set, bound))) continue;
      count += 1;
      // A worker may answer at any time.
      const left = Math.min(Math.max(0, timer.due - time), timer.expired ? BETWEEN_LOOKS : Infinity);
      if (next === null || left < next) { next = left; delay = timer.delay; }
    }
    tell(document, stringify({ timers: count, next, delay, fetches: fetches.size, frames }));
    frames = 0;
  };
  apply(nativeListen, document, [listeningFor, ask]);
}
