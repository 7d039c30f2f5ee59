// What somebody does to a page with mouse and keyboard: trusted clicks, keys and inputs, each with the role and name of
// the element. It runs in our own world, where the page can neither see it nor speak to it.
(binding) => {
  const report = globalThis[binding];
  if (globalThis.webassayDeeds === binding) return;
  globalThis.webassayDeeds = binding;
  const numbers = new WeakMap();
  let last = 0;
  const number = (element) => numbers.get(element) ?? (numbers.set(element, ++last), last);
  const INTERACTIVE = "a[href],button,input,select,textarea,label,summary,option,[role],[tabindex],[contenteditable]";
  const short = (text) => String(text ?? "").replace(/\s+/g, " ").trim().slice(0, 200);

  const tell = (kind, event, more) => {
    const target = event.composedPath()[0];
    if (!event.isTrusted || typeof report !== "function") return;
    const element = target instanceof Element ? target.closest(INTERACTIVE) ?? target : document.body;
    if (!element) return;
    const name = element.computedName || element.getAttribute("aria-label") || element.textContent;
    report(JSON.stringify({ kind, role: short(element.computedRole), name: short(name), element: number(element), ...more }));
  };

  const value = (element) => {
    if (element.type === "password") return "•".repeat(Math.min(element.value.length, 20));
    if (element.type === "checkbox" || element.type === "radio") return element.checked ? "checked" : "unchecked";
    if (element.type === "file") return [...element.files].map((file) => file.name).join(", ");
    if (element instanceof HTMLSelectElement) return [...element.selectedOptions].map((one) => one.label).join(", ");
    return element.value ?? element.textContent;
  };

  // A key that types something is told by what it typed.
  const names = (event) => event.key.length > 1 || event.ctrlKey || event.metaKey || event.altKey;
  const chord = (event) =>
    [event.ctrlKey && "Control", event.altKey && "Alt", event.metaKey && "Meta", event.key].filter(Boolean).join("+");
  const MODIFIERS = new Set(["Shift", "Control", "Alt", "Meta", "CapsLock"]);

  // Enter in a field and a key on a button make a click without a place; the key has been told already.
  addEventListener("click", (event) => event.detail > 0 && tell("click", event, {}), true);
  addEventListener("auxclick", (event) => tell("click", event, { text: event.button === 1 ? "middle" : "right" }), true);
  addEventListener("input", (event) => tell("input", event, { text: short(value(event.composedPath()[0])) }), true);
  addEventListener(
    "keydown",
    (event) => names(event) && !MODIFIERS.has(event.key) && tell("press", event, { text: chord(event) }),
    true,
  );
};
