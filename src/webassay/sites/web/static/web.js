// For every site: pages work without this; with it they are quicker.
document.documentElement.classList.add("script");

for (const form of document.querySelectorAll("form[data-auto-submit]")) {
  form.querySelector("button").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}

for (const choice of document.querySelectorAll("[data-shows]")) {
  const part = document.getElementById(choice.dataset.shows);
  const show = () => { part.hidden = !choice.checked; };
  for (const other of document.getElementsByName(choice.name)) other.addEventListener("change", show);
  show();
}

for (const all of document.querySelectorAll("[data-pick-all]")) {
  const boxes = all.closest("table").querySelectorAll("tbody input[type=checkbox]");
  all.addEventListener("change", () => { for (const box of boxes) box.checked = all.checked; });
}
