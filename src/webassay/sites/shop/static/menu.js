// The departments: open by pointing, by their button, or by arrow keys.
const items = [...document.querySelectorAll(".department")];
const list = document.getElementById("departments");
const menuButton = document.getElementById("menu-button");
const wide = matchMedia("(min-width: 761px)");

const parts = (item) => ({
  link: item.querySelector(":scope > a"),
  button: item.querySelector(":scope > button"),
  panel: item.querySelector(":scope > .panel"),
});

function toggle(item, open) {
  for (const other of items) {
    const { button, panel } = parts(other);
    const shown = open && other === item;
    button.setAttribute("aria-expanded", String(shown));
    panel.hidden = !shown;
  }
}

function move(item, step) {
  const next = items[(items.indexOf(item) + step + items.length) % items.length];
  toggle(item, false);
  parts(next).link.focus();
}

for (const item of items) {
  const { link, button, panel } = parts(item);
  button.hidden = false;
  item.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse" && wide.matches) toggle(item, true); });
  item.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && wide.matches) toggle(item, false); });
  button.addEventListener("click", (event) => {
    // A pointer has opened the menu already by coming here; only keys and fingers toggle it.
    const byMouse = event.detail > 0 && wide.matches && matchMedia("(hover: hover)").matches;
    toggle(item, byMouse || panel.hidden);
  });
  item.addEventListener("keydown", (event) => {
    const inside = [...panel.querySelectorAll("a")];
    const place = inside.indexOf(document.activeElement);
    if (event.key === "ArrowDown") {
      toggle(item, true);
      inside[Math.min(place + 1, inside.length - 1)].focus();
    } else if (event.key === "ArrowUp" && place >= 0) {
      (place > 0 ? inside[place - 1] : link).focus();
    } else if (event.key === "ArrowRight") {
      move(item, 1);
    } else if (event.key === "ArrowLeft") {
      move(item, -1);
    } else if (event.key === "Escape" && !panel.hidden) {
      toggle(item, false);
      link.focus();
    } else {
      return;
    }
    event.preventDefault();
  });
  item.addEventListener("focusout", (event) => {
    if (!item.contains(event.relatedTarget) && !item.matches(":hover")) toggle(item, false);
  });
}

const narrow = () => { menuButton.hidden = wide.matches; };
wide.addEventListener("change", narrow);
narrow();
menuButton.addEventListener("click", () => {
  const open = list.classList.toggle("open");
  menuButton.setAttribute("aria-expanded", String(open));
});
