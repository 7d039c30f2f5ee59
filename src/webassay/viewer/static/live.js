// Loads the part that changes every two seconds, for as long as a run is in progress and somebody looks.

const place = document.getElementById("now");
let shown = "";

async function look() {
  let again = 2000;
  try {
    const answer = await fetch(place.dataset.source);
    const text = await answer.text();
    if (answer.ok && text !== shown) {
      shown = text;
      place.innerHTML = text;
    }
    if (!place.querySelector("[data-live]")) again = 10000;
  } catch {
    again = 10000;
  }
  setTimeout(() => (document.hidden ? addEventListener("visibilitychange", look, { once: true }) : look()), again);
}

look();
