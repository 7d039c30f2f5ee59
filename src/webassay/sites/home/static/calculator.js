// Keys for the calculator. They only write into the field; the site computes.
const keys = document.querySelector("[data-keys]");
const field = document.getElementById(keys.dataset.keys);

function write(text) {
  field.setRangeText(text, field.selectionStart, field.selectionEnd, "end");
}

function erase() {
  const start = field.selectionStart === field.selectionEnd ? Math.max(0, field.selectionStart - 1) : field.selectionStart;
  field.setRangeText("", start, field.selectionEnd, "end");
}

const names = { "(": "open parenthesis", ")": "close parenthesis", "+": "plus", "-": "minus", "*": "times", "/": "divided by", "%": "percent", ".": "point", "⌫": "backspace" };

for (const key of ["7", "8", "9", "(", ")", "4", "5", "6", "*", "/", "1", "2", "3", "+", "-", "0", ".", "%", "⌫"]) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = key;
  if (names[key]) button.setAttribute("aria-label", names[key]);
  button.addEventListener("click", () => (key === "⌫" ? erase() : write(key)));
  keys.append(button);
}
const equals = document.createElement("button");
equals.type = "submit";
equals.textContent = "=";
equals.setAttribute("aria-label", "equals");
keys.append(equals);
keys.hidden = false;
field.focus();
field.setSelectionRange(field.value.length, field.value.length);
