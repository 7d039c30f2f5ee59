// Suggestions, which come a little after what was typed.
const input = document.getElementById("search");
const list = document.getElementById("suggestions");
const PAUSE = 320;
let timer = 0;
let asked = 0;
let active = -1;

input.setAttribute("role", "combobox");
input.setAttribute("aria-autocomplete", "list");
input.setAttribute("aria-controls", "suggestions");
input.setAttribute("aria-expanded", "false");

function close() {
  list.hidden = true;
  active = -1;
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

function mark(index) {
  active = index;
  [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === index)));
  if (index >= 0) input.setAttribute("aria-activedescendant", list.children[index].id);
  else input.removeAttribute("aria-activedescendant");
}

function option({ name, url }, i) {
  const item = document.createElement("li");
  item.id = `suggestion-${i}`;
  item.setAttribute("role", "option");
  item.setAttribute("aria-selected", "false");
  item.textContent = name;
  item.dataset.url = url;
  item.addEventListener("mousedown", (event) => { event.preventDefault(); location.assign(url); });
  return item;
}

async function suggest() {
  const text = input.value.trim();
  const mine = ++asked;
  if (text.length < 2) return close();
  const answer = await fetch(`/search/suggest?q=${encodeURIComponent(text)}`);
  if (!answer.ok) return close();
  const { suggestions } = await answer.json();
  if (mine !== asked || document.activeElement !== input) return undefined;
  list.replaceChildren(...suggestions.map(option));
  if (!suggestions.length) return close();
  mark(-1);
  list.hidden = false;
  input.setAttribute("aria-expanded", "true");
  return undefined;
}

input.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(suggest, PAUSE);
});
input.addEventListener("blur", close);
input.addEventListener("keydown", (event) => {
  if (list.hidden) return;
  const count = list.children.length;
  if (event.key === "ArrowDown") mark((active + 1) % count);
  else if (event.key === "ArrowUp") mark((active - 1 + count) % count);
  else if (event.key === "Escape") close();
  else if (event.key === "Enter" && active >= 0) location.assign(list.children[active].dataset.url);
  else return;
  event.preventDefault();
});
