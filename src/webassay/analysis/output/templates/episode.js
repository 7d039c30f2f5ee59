"use strict";
(() => {
  // A picture that occurs twice is in the file once.
  for (const copy of document.querySelectorAll("img[data-same]")) {
    const first = document.getElementById(copy.dataset.same);
    if (first) { copy.src = first.src; copy.hidden = false; }
  }
  const player = document.querySelector(".player");
  if (!player) return;
  const steps = [...player.querySelectorAll(".step")];
  const film = player.querySelector(".film");
  const frames = [...film.querySelectorAll("a")];
  let now = 0;
  let after = false;
  const bar = document.querySelector(".bar");
  // The film stays in view below whatever else does.
  const below = () => film.style.setProperty("--bar", `${bar ? bar.offsetHeight : 0}px`);
  addEventListener("resize", below);
  below();

  const flip = () => {
    for (const step of steps) {
      const button = step.querySelector(".flip");
      if (!button) continue;
      button.setAttribute("aria-pressed", String(after));
      for (const part of step.querySelectorAll("figure .before")) part.hidden = after;
      for (const part of step.querySelectorAll("figure .after")) part.hidden = !after;
    }
  };
  const ahead = () => {
    // The next pictures are there before anybody asks for them.
    for (const step of steps.slice(now + 1, now + 4)) {
      for (const picture of step.querySelectorAll("img[loading=lazy]")) picture.loading = "eager";
    }
  };
  const show = (number, focus) => {
    now = Math.max(0, Math.min(steps.length - 1, number));
    steps.forEach((step, place) => step.classList.toggle("now", place === now));
    frames.forEach((frame, place) => {
      if (place === now) frame.setAttribute("aria-current", "step"); else frame.removeAttribute("aria-current");
    });
    const frame = frames[now];
    if (frame) film.scrollLeft = frame.offsetLeft - film.clientWidth / 2 + frame.clientWidth / 2;
    if (focus) {
      const edge = film.getBoundingClientRect().bottom;
      const top = steps[now].getBoundingClientRect().top;
      const all = !player.classList.contains("playing");
      // Nothing moves while the step is in view: pages can be compared as they change in place.
      if (all || top < edge || top > innerHeight * 0.6) scrollBy(0, top - film.offsetHeight - (parseFloat(getComputedStyle(film).top) || 0) - 8);
      steps[now].focus({ preventScroll: true });
      // The address leads to this step.
      try { history.replaceState(null, "", `#${steps[now].id}`); } catch { /* Not in a frame without an address. */ }
    }
    ahead();
  };
  const named = () => {
    const place = steps.findIndex((step) => `#${step.id}` === location.hash);
    if (place >= 0) show(place, true);
  };
  for (const button of player.querySelectorAll(".flip")) {
    button.hidden = false;
    button.addEventListener("click", () => { after = !after; flip(); });
  }
  addEventListener("hashchange", named);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    // The same address again changes nothing, and still means: go there.
    if (link && link.getAttribute("href") === location.hash) setTimeout(named);
  });
  const typing = (element) => element.closest?.("input, textarea, select, [contenteditable]");
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
    const way = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 }[event.key];
    if (way) show(now + way, true);
    else if (event.key === "b") { after = !after; flip(); }
    else if (event.key === "a") { player.classList.toggle("playing"); show(now, true); }
    else return;
    event.preventDefault();
  });

  // What takes space is loaded when it is opened; lines of a tree are sifted as somebody types.
  document.addEventListener("toggle", async (event) => {
    const box = event.target;
    if (!box.open || !box.dataset?.whenOpen) return;
    const from = box.dataset.whenOpen;
    delete box.dataset.whenOpen;
    const summary = box.querySelector("summary");
    try {
      const answer = await fetch(from);
      const made = new DOMParser().parseFromString(await answer.text(), "text/html");
      box.replaceChildren(summary, ...(answer.ok ? made.body.childNodes : [`It cannot be loaded (${answer.status}).`]));
    } catch {
      box.replaceChildren(summary, "It cannot be loaded: is the viewer still running?");
    }
  }, true);
  document.addEventListener("input", (event) => {
    const field = event.target.closest?.(".sift");
    if (!field) return;
    const wanted = field.value.trim().toLowerCase();
    for (const line of field.closest("details").querySelectorAll(".line")) {
      line.hidden = wanted !== "" && !line.textContent.toLowerCase().includes(wanted);
    }
  });

  player.classList.add("playing", "ready");
  const start = Number(player.dataset.start || 0);
  show(start > 0 ? start - 1 : 0, false);
  named();
})();
