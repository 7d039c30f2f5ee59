// Put into the cart without leaving the page; a summary of the cart; buttons beside quantities.
const toast = document.getElementById("toast");
const count = document.getElementById("cart-count");
const toggle = document.getElementById("mini-cart-toggle");
const panel = document.getElementById("mini-cart");
let fading = 0;

function tell(message, problem) {
  const line = document.createElement("p");
  line.textContent = message;
  if (problem) line.className = "problem";
  else {
    const link = document.createElement("a");
    link.href = "/cart";
    link.textContent = "View cart";
    line.append(" ", link);
  }
  toast.replaceChildren(line);
  clearTimeout(fading);
  fading = setTimeout(() => toast.replaceChildren(), 8000);
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-add-to-cart]")) return;
  event.preventDefault();
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      headers: { accept: "application/json" },
    });
    const data = await answer.json();
    if (answer.ok) {
      count.textContent = data.count;
      count.setAttribute("aria-label", data.count === 1 ? "1 item" : `${data.count} items`);
      close();
      tell(data.message, false);
    } else {
      tell(data.error, true);
    }
  } catch {
    tell("That did not work. Please try again.", true);
  } finally {
    button.disabled = false;
  }
});

function close() {
  panel.hidden = true;
  toggle.setAttribute("aria-expanded", "false");
}

toggle.hidden = false;
toggle.addEventListener("click", async () => {
  if (!panel.hidden) return close();
  const answer = await fetch("/cart/mini");
  if (!answer.ok) return undefined;
  panel.innerHTML = await answer.text();
  panel.hidden = false;
  toggle.setAttribute("aria-expanded", "true");
  return undefined;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !panel.hidden) {
    close();
    toggle.focus();
  }
});
document.addEventListener("click", (event) => {
  if (!panel.hidden && !event.target.closest(".cart-tool")) close();
});

for (const input of document.querySelectorAll("input[data-stepper]")) {
  const label = input.labels[0].textContent;
  const frame = document.createElement("span");
  frame.className = "stepper";
  input.replaceWith(frame);
  const step = (sign, text, name) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-label", `${name} ${label}`);
    button.addEventListener("click", () => {
      if (sign > 0) input.stepUp();
      else input.stepDown();
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
    return button;
  };
  frame.append(step(-1, "−", "Decrease"), input, step(1, "+", "Increase"));
}
