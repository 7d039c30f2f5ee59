// Whoever scrolls to the end of a list gets the next page below it, a few times; the link to it stays.
const MOST = 3;
const PAUSE = 250;
const NEAR = 200;
const list = document.querySelector("[data-posts]");
let link = document.querySelector("[data-more]");
let loaded = 0;
let timer = 0;
let busy = false;
let byHand = false;

async function load() {
  if (busy || !link || loaded >= MOST) return;
  busy = true;
  try {
    const answer = await fetch(link.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.querySelector("[data-more]");
    list.append(...(page.querySelector("[data-posts]")?.children ?? []));
    loaded += 1;
    if (next) link.href = next.getAttribute("href");
    else { link.parentElement.remove(); link = null; }
  } finally {
    busy = false;
  }
}

function look() {
  if (!byHand || !link || link.getBoundingClientRect().top > innerHeight + NEAR) return;
  clearTimeout(timer);
  timer = setTimeout(load, PAUSE);
}

function scrolling() {
  byHand = true;
  look();
}

// Only for those who scroll by themselves: who follows the link must find it where it was.
if (list && link) {
  addEventListener("wheel", scrolling, { passive: true });
  addEventListener("touchmove", scrolling, { passive: true });
  addEventListener("keydown", (event) => { if (["PageDown", "End", " "].includes(event.key)) scrolling(); });
  addEventListener("scroll", look, { passive: true });
}
