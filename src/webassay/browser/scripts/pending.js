// What a page still has to do: its timers, requests, animations and changes. Runs, as all of these scripts do except
// watch.js, in an isolated world of every frame: same document, separate JavaScript. The page can neither see nor change
// anything here, and nothing here writes to the document. Every script gets what those before it returned; Python calls
// what all of them return together.
(secret) => {
  const clickListeners = new WeakSet();
  const dropListeners = new WeakSet();

  // --- talking to watch.js in the page's world ----------------------------------------------------------
  // Each event has a name of its own: a page that learns one, because it sees an event, has learned nothing.
  const fresh = () => [...crypto.getRandomValues(new Uint32Array(4))].join('-');
  let told = null, asking = secret;
  const hear = (event) => {
    event.stopImmediatePropagation();
    if (event.detail === 'click') clickListeners.add(event.composedPath()[0]);
    else if (event.detail === 'drop') dropListeners.add(event.composedPath()[0]);
    else told = event.detail;
  };
  const ask = (question) => {
    const name = asking, answer = fresh();
    told = null;
    asking = fresh();
    document.addEventListener(answer, hear, true);
    document.dispatchEvent(new CustomEvent(name, { detail: JSON.stringify({ ...question, next: asking, answer }) }));
    document.removeEventListener(answer, hear, true);
    return told;
  };
  // The page could lie here. Only numbers are accepted, so a lie can only make us wait longer or shorter.
  const number = (value) => (typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0);

  // --- what is pending ----------------------------------------------------------------------------------
  const EVERYTHING = { subtree: true, childList: true, characterData: true, attributes: true };
  let mutations = 0, mutationsSeen = -1;
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
  // A click on a link that says so becomes a download, of which nothing is heard until its answer has come.
  let downloads = 0;
  const isDownload = (node) => node instanceof HTMLAnchorElement && node.hasAttribute('download') && node.origin === location.origin;
  addEventListener('click', (event) => { if (!event.defaultPrevented && event.composedPath().some(isDownload)) downloads += 1; });
  // After the next frame, once the page is idle: work split into pieces (messages to itself, idle callbacks) is neither a
  // timer nor a request, but it is pending.
  const BUSY_TIME = 200;
  // A tab or frame that is not painted has no frames; a turn of the event loop must do. On a busy machine a painted one
  // may have to wait long for its frame, and until then its observers have not run. A tab is taken to be painted until
  // it fails to be; frames inside it are often out of sight.
  const UNPAINTED_TIME = 60, PAINTED_TIME = 1000;
  let painted = window.parent === window;
  const nextFrame = () => new Promise((resolve) => {
    const fallback = setTimeout(() => { painted = false; resolve(); }, painted && !document.hidden ? PAINTED_TIME : UNPAINTED_TIME);
    requestAnimationFrame(() => { painted = true; clearTimeout(fallback); requestIdleCallback(resolve, { timeout: BUSY_TIME }); });
  });
  const pulse = async (timerBound, animationBound, patience) => {
    const before = mutations;
    await nextFrame();
    let seen = {};
    try { seen = JSON.parse(ask({ about: 'pending', bound: timerBound, patience })) ?? {}; } catch { seen = {}; }
    const asked = downloads;
    downloads = 0;
    return JSON.stringify({
      mutated: mutations !== before,
      timers: number(seen.timers), next: number(seen.next), delay: number(seen.delay), fetches: number(seen.fetches), frames: number(seen.frames),
      animation: runningAnimations(animationBound), downloads: asked,
      loading: document.readyState !== 'complete',
    });
  };
  const newEpoch = () => { ask({ about: 'epoch' }); };
  const giveUp = () => {
    ask({ about: 'ignore' });
    for (const animation of allAnimations()) ignoredAnimations.add(animation);
  };

  // Whether the document changed since the last look at it.
  const changed = () => {
    mutations += changes.takeRecords().length;
    return mutations !== mutationsSeen;
  };
  const noteLook = () => { mutationsSeen = mutations; };

  return { clickListeners, dropListeners, ask, meet, nextFrame, pulse, newEpoch, giveUp, changed, noteLook };
}
