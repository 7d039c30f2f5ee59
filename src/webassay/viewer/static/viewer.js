// Keys and small conveniences of every page. A page works without any of it.

const typing = (element) => element && element.closest("input, textarea, select, [contenteditable]");
const rows = () => [...document.querySelectorAll("[data-row]")].filter((row) => row.checkVisibility());

for (const button of document.querySelectorAll("[data-opens]")) {
  button.addEventListener("click", () => document.getElementById(button.dataset.opens)?.showModal());
}

// What explains itself is open on the first visit, and stays as it was left.
for (const intro of document.querySelectorAll("details[data-remember]")) {
  const name = `webassay.${intro.dataset.remember}`;
  try {
    intro.open = localStorage.getItem(name) !== "closed";
    intro.addEventListener("toggle", () => localStorage.setItem(name, intro.open ? "open" : "closed"));
  } catch { /* A browser may have no storage. */ }
}

for (const choice of document.querySelectorAll("[data-submits]")) {
  choice.addEventListener("change", () => choice.form.requestSubmit());
}

// Parts that take longer than the rest of the page; some only when they are opened.
function load(holder, source) {
  const part = holder.querySelector(".part") ?? holder;
  part.setAttribute("aria-busy", "true");
  fetch(source)
    .then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(answer.statusText))))
    .then((text) => { part.innerHTML = text; })
    .catch(() => { part.querySelector(".none")?.append(" It could not be loaded."); })
    .finally(() => part.removeAttribute("aria-busy"));
}
for (const holder of document.querySelectorAll("[data-load]")) load(holder, holder.dataset.load);
for (const holder of document.querySelectorAll("details[data-load-later]")) {
  holder.addEventListener("toggle", () => load(holder, holder.dataset.loadLater), { once: true });
}

let before = "";

function mark(way) {
  const all = rows();
  const now = all.findIndex((row) => row.classList.contains("marked"));
  const next = all[Math.min(all.length - 1, Math.max(0, now + way))];
  if (!next) return false;
  all[now]?.classList.remove("marked");
  next.classList.add("marked");
  next.scrollIntoView({ block: "nearest" });
  (next.matches("a") ? next : next.querySelector("a"))?.focus({ preventScroll: true });
  return true;
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
  const key = event.key;
  if (before === "g") {
    before = "";
    const link = [...document.querySelectorAll(".bar nav a:not(.brand)")]
      .find((one) => one.textContent.trim().toLowerCase().startsWith(key));
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  if (key === "g") { before = "g"; setTimeout(() => { before = ""; }, 1500); return; }
  if (key === "?") { document.getElementById("keys").showModal(); event.preventDefault(); }
  if (key === "/") { document.querySelector(".find input").focus(); event.preventDefault(); }
  if ((key === "j" || key === "k") && mark(key === "j" ? 1 : -1)) event.preventDefault();
});
