// Votes without leaving the page, and comments that fold away.
const toast = document.getElementById("toast");

function show(form, { score, value }) {
  form.querySelector(".score").textContent = `${score} point${score === 1 ? "" : "s"}`;
  for (const [name, way] of [["up", 1], ["down", -1]]) {
    const arrow = form.querySelector(`.${name}`);
    const on = value === way;
    arrow.value = on ? 0 : way;
    arrow.setAttribute("aria-pressed", String(on));
    arrow.setAttribute("aria-label", on ? `Take back ${name}vote` : `${name === "up" ? "Up" : "Down"}vote`);
  }
}

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-vote]");
  if (!form || !event.submitter) return;
  event.preventDefault();
  const body = new URLSearchParams({ value: event.submitter.value });
  const answer = await fetch(form.action, { method: "POST", body, headers: { accept: "application/json" } });
  if (answer.redirected || !(answer.headers.get("content-type") ?? "").includes("json")) {
    location.assign(`/account/login?next=${encodeURIComponent(location.pathname + location.search)}`);
    return;
  }
  const told = await answer.json();
  if (answer.ok) show(form, told);
  else toast.textContent = told.error;
});

for (const button of document.querySelectorAll("[data-fold]")) button.hidden = false;
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-fold]");
  if (!button) return;
  const folded = button.closest(".comment").classList.toggle("folded");
  button.setAttribute("aria-expanded", String(!folded));
  button.textContent = folded ? "Expand" : "Collapse";
});
