// A preview of what is written, replies in place, and a question before what was written is lost.
function addPreview(field) {
  const area = field.querySelector("textarea");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  button.textContent = "Preview";
  button.style.justifySelf = "start";
  const shown = document.createElement("div");
  shown.className = "preview";
  shown.hidden = true;
  shown.setAttribute("role", "region");
  shown.setAttribute("aria-label", "Preview");
  shown.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    const answer = await fetch("/preview", { method: "POST", body: new URLSearchParams({ text: area.value }) });
    shown.hidden = false;
    if (answer.ok) shown.innerHTML = await answer.text();
    else shown.textContent = "This cannot be previewed.";
  });
  field.append(button, shown);
}

for (const field of document.querySelectorAll("[data-preview]")) addPreview(field);

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-reply]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const comment = link.closest(".comment");
  const open = comment.querySelector(":scope > .fold-away > .reply-box");
  if (open) { open.querySelector("textarea").focus(); return; }
  const answer = await fetch(link.href);
  const form = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("form[data-unsaved]");
  if (!answer.ok || answer.redirected || !form) { location.assign(link.href); return; }
  const id = link.href.match(/\/c\/(\d+)/)[1];
  form.action = link.href;
  form.className = "stacked reply-box";
  const area = form.querySelector("textarea");
  area.id = `reply-${id}`;
  const label = form.querySelector("label");
  label.htmlFor = area.id;
  label.textContent = "Reply";
  form.querySelector(".actions a").remove();
  comment.querySelector(".fold-away").append(form);
  addPreview(form.querySelector("[data-preview]"));
  area.focus();
});

// Text has no address.
const address = document.getElementById("address");
if (address) {
  const kinds = [...document.getElementsByName("kind")];
  const show = () => { address.hidden = kinds.find((kind) => kind.checked)?.value === "text"; };
  for (const kind of kinds) kind.addEventListener("change", show);
  show();
}

// --- before it is lost ---

const text = (form) => [...new FormData(form)].map(([name, value]) => `${name}=${value}`).join("&");
const before = new Map([...document.querySelectorAll("form[data-unsaved]")].map((form) => [form, text(form)]));
let leaving = false;

function unsaved() {
  return [...document.querySelectorAll("form[data-unsaved]")].some((form) => {
    const first = before.get(form);
    return first === undefined ? form.querySelector("textarea")?.value : text(form) !== first;
  });
}

function ask(go) {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "leave-title");
  dialog.innerHTML = '<h2 id="leave-title">Leave without saving?</h2><p>What you have written on this page will be lost.</p>'
    + '<div class="actions"><button type="button" value="stay">Keep Writing</button>'
    + '<button type="button" class="quiet" value="leave">Discard and Leave</button></div>';
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    dialog.close();
    if (button.value === "leave") { leaving = true; go(); }
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || leaving || link.dataset.reply !== undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.getAttribute("href").startsWith("#") || !unsaved()) return;
  event.preventDefault();
  ask(() => location.assign(link.href));
});
