// Tabs of the product page, and its reviews page by page.
const frame = document.querySelector("[data-tabs]");
if (frame) {
  const sections = [...frame.querySelectorAll(":scope > section")];
  const list = document.createElement("div");
  list.className = "tablist";
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Product information");
  const tabs = sections.map((section) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `tab-${section.id}`;
    tab.textContent = section.dataset.tab;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", section.id);
    section.setAttribute("role", "tabpanel");
    section.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("click", () => select(section));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = sections[(sections.indexOf(section) + step + sections.length) % sections.length];
      select(next);
      tabs[sections.indexOf(next)].focus();
    });
    list.append(tab);
    return tab;
  });

  const select = (chosen) => sections.forEach((section, i) => {
    section.hidden = section !== chosen;
    tabs[i].setAttribute("aria-selected", String(section === chosen));
    tabs[i].tabIndex = section === chosen ? 0 : -1;
  });

  const reviews = document.getElementById("reviews");
  frame.prepend(list);
  select(frame.dataset.open === "reviews" || location.hash === "#reviews" || location.hash === "#write" ? reviews : sections[0]);
  if (!reviews.hidden && location.hash === "#reviews") frame.scrollIntoView();

  document.querySelector("[data-open-reviews]")?.addEventListener("click", (event) => {
    event.preventDefault();
    select(reviews);
    frame.scrollIntoView();
    tabs[sections.indexOf(reviews)].focus({ preventScroll: true });
  });

  const box = document.getElementById("review-list");
  const load = async (page) => {
    const answer = await fetch(`${box.dataset.source}?reviews=${page}`);
    if (!answer.ok) return false;
    box.innerHTML = await answer.text();
    return true;
  };
  box.addEventListener("click", async (event) => {
    const link = event.target.closest(".pager a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const page = new URL(link.href).searchParams.get("reviews");
    if (await load(page)) {
      history.pushState({}, "", link.href);
      frame.scrollIntoView();
      tabs[sections.indexOf(reviews)].focus({ preventScroll: true });
    } else {
      location.assign(link.href);
    }
  });
  addEventListener("popstate", () => {
    if (box) load(new URLSearchParams(location.search).get("reviews") ?? "1");
  });
}
