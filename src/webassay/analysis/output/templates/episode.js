"use strict";
(() => {
  // A picture that occurs twice is in the file once.
  for (const copy of document.querySelectorAll("img[data-same]")) {
    const first = document.getElementById(copy.dataset.same);
    if (first) { copy.src = first.src; copy.hidden = false; }
  }
  const steps = [...document.querySelectorAll(".step")];
  const chips = [...document.querySelectorAll(".strip a")];
  const bar = document.querySelector(".strip");
  const edge = () => (bar ? bar.getBoundingClientRect().height : 0) + 24;
  const current = () => steps.findLastIndex((step) => step.getBoundingClientRect().top <= edge());
  const mark = () => {
    const now = current();
    chips.forEach((chip, number) => {
      if (number === now) chip.setAttribute("aria-current", "step"); else chip.removeAttribute("aria-current");
    });
    const chip = chips[now];
    if (chip) bar.scrollLeft = chip.offsetLeft - bar.clientWidth / 2;
  };
  addEventListener("scroll", mark, { passive: true });
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 }[event.key];
    const step = way && steps[Math.min(steps.length - 1, current() + way)];
    if (!step) { if (way === -1) scrollTo(0, 0); return; }
    event.preventDefault();
    scrollTo(0, scrollY + step.getBoundingClientRect().top - edge() + 8);
    step.focus({ preventScroll: true });
    mark();
  });
  mark();
})();
