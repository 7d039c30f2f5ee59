// Whoever scrolls to the end of a list gets the next page below it, a few times; the link to it stays.
const MOST = 3;
const PAUSE = 250;
const list = document.querySelector("[data-posts]");
let link = document.querySelector("[data-more]");
let loaded = 0;
let timer = 0;
let busy = false;
let scrolled = false;

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

// Only for those who scroll by themselves: who follows the link must find it where it was.
if (list && link) {
  addEventListener("wheel", () => { scrolled = true; }, { passive: true });
  addEventListener("touchmove", () => { scrolled = true; }, { passive: true });
  addEventListener("keydown", (event) => { if (["PageDown", "End", " "].includes(event.key)) scrolled = true; });
  new IntersectionObserver((entries) => {
    clearTimeout(timer);
    if (entries.at(-1).isIntersecting && scrolled) timer = setTimeout(load, PAUSE);
  }, { rootMargin: "200px" }).observe(link);
  addEventListener("scroll", () => {
    if (!scrolled || !link || link.getBoundingClientRect().top > innerHeight + 200) return;
    clearTimeout(timer);
    timer = setTimeout(load, PAUSE);
  }, { passive: true });
}
