// Every page works without these; with them it is quicker.
import "./web.js";
import "./menu.js";
import "./search.js";
import "./cart.js";
import "./product.js";

if (matchMedia("(max-width: 760px)").matches) {
  for (const part of document.querySelectorAll("details.filters")) part.open = false;
}
