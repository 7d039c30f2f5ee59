// State lives here. It is sent after a while, and again after every change; each render makes all elements anew.
const SEED = {
  chores: [
    { id: 1, text: "Water the plants", done: false, starred: false, updatedAt: "2026-02-20T08:00:00Z" },
    { id: 2, text: "Feed the cat", done: false, starred: false, updatedAt: "2026-02-21T08:00:00Z" },
    { id: 3, text: "Pay the rent", done: true, starred: false, updatedAt: "2026-02-22T08:00:00Z" },
  ],
  settings: { sort: "age" },
  _nextId: 4,
};
let state = JSON.parse(localStorage.getItem("chores") || JSON.stringify(SEED));
let pending = null;

function send() {
  clearTimeout(pending);
  pending = setTimeout(() => {
    fetch("/api/state", { method: "PUT", body: JSON.stringify(state) }).catch(() => {});
  }, 150);
}

function changed(chore) {
  if (chore) chore.updatedAt = new Date().toISOString();
  localStorage.setItem("chores", JSON.stringify(state));
  send();
  render();
}

function render() {
  document.getElementById("day").textContent = "It is " + new Date().toISOString().slice(0, 7) + ".";
  document.getElementById("app").innerHTML =
    state.chores
      .map(
        (c) =>
          `<p>${c.text}${c.done ? " (done)" : ""} <button data-do="done" data-id="${c.id}">Finish ${c.id}</button>` +
          `<button data-do="star" data-id="${c.id}">Star ${c.id}</button>` +
          `<button data-do="drop" data-id="${c.id}">Delete ${c.id}</button></p>`,
      )
      .join("") +
    `<label>New <input id="text"></label><button data-do="add">Add</button><button data-do="sort">Sort</button>`;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const chore = state.chores.find((c) => String(c.id) === button.dataset.id);
  if (button.dataset.do === "done") chore.done = true;
  if (button.dataset.do === "star") chore.starred = !chore.starred;
  if (button.dataset.do === "drop") state.chores = state.chores.filter((c) => c !== chore);
  if (button.dataset.do === "sort") state.settings.sort = "name";
  if (button.dataset.do === "add") {
    const text = document.getElementById("text").value;
    state.chores.push({ id: state._nextId++, text, done: false, starred: false, updatedAt: new Date().toISOString() });
  }
  changed(chore);
});

new EventSource("/api/events").onmessage = () => {
  state = JSON.parse(JSON.stringify(SEED));
  changed();
};
render();
send();
