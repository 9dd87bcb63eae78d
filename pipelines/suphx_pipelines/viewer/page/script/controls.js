// Buttons, keys, the wheel and touch.

let timer = null;

function forward() {
  if (place.step < lastStep()) go({ step: place.step + 1 });
  else if (place.deal + 1 < GAME.deals.length) go({ deal: place.deal + 1, step: 0 });
  else stopPlaying();
}

function backward() {
  if (place.step > 0) go({ step: place.step - 1 });
  else if (place.deal > 0) go({ deal: place.deal - 1, step: lastStep(GAME.deals[place.deal - 1]) });
}

function nextDeal() {
  if (place.deal + 1 < GAME.deals.length) go({ deal: place.deal + 1, step: 0 });
}

function previousDeal() {
  if (place.step > 0) go({ step: 0 });
  else if (place.deal > 0) go({ deal: place.deal - 1, step: 0 });
}

function nextDifference() {
  const found = differences().find((each) => isBefore(place, each));
  if (found) go({ deal: found.deal, step: found.step });
}

function previousDifference() {
  const found = differences().reverse().find((each) => isBefore(each, place));
  if (found) go({ deal: found.deal, step: found.step });
}

function togglePlaying() {
  if (timer !== null) return stopPlaying();
  timer = setInterval(forward, 700);
  drawPlaying();
}

function stopPlaying() {
  clearInterval(timer);
  timer = null;
  drawPlaying();
}

function drawPlaying() {
  fill(byId("play"), icon(timer === null ? "play" : "pause"));
  label("play", timer === null ? "play" : "pause");
}

const BUTTONS = {
  "deal-before": [previousDeal, "up"], "deal-after": [nextDeal, "down"], first: [() => go({ step: 0 }), "first"],
  before: [backward, "before"], after: [forward, "after"], last: [() => go({ step: lastStep() }), "last"],
  "difference-before": [previousDifference, "before"], "difference-after": [nextDifference, "after"],
};

const KEYS = {
  ArrowRight: forward, ArrowLeft: backward, ArrowDown: nextDeal, ArrowUp: previousDeal, Home: () => go({ step: 0 }), End: () => go({ step: lastStep() }),
  n: nextDifference, p: previousDifference, h: () => go({ allHands: !place.allHands }), " ": togglePlaying, "?": () => byId("keys").showModal(),
  ...Object.fromEntries(SEATS.map((seat) => [seat + 1, () => go({ seat })])),
  ...(HAS_WALL ? { w: () => go({ wall: !place.wall }) } : {}),
};

function onKey(event) {
  const target = event.target;
  if (event.ctrlKey || event.altKey || event.metaKey || byId("keys").open || target.matches("select")) return;
  if (event.key === " " && target.matches("button")) return;
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act || (target.matches("input") && event.key.startsWith("Arrow"))) return;
  event.preventDefault();
  act();
}

let turned = 0;

function onWheel(event) {
  if (event.ctrlKey || window.matchMedia("(max-width: 899px)").matches) return;
  event.preventDefault();
  turned += event.deltaY;
  if (Math.abs(turned) < 40) return;
  (turned > 0 ? forward : backward)();
  turned = 0;
}

let touched = null;

// A swipe steps; so does a tap or click on the right or the left half of the table.
function onPointerUp(event) {
  if (!touched) return;
  const dx = event.clientX - touched.x, dy = event.clientY - touched.y;
  touched = null;
  if (Math.abs(dx) > 40 && Math.abs(dx) > Math.abs(dy)) return (dx < 0 ? forward : backward)();
  if (Math.hypot(dx, dy) > 8 || event.button !== 0) return;
  const box = byId("table").getBoundingClientRect();
  (event.clientX > box.left + box.width / 2 ? forward : backward)();
}

function connect() {
  for (const [id, [act]] of Object.entries(BUTTONS)) byId(id)?.addEventListener("click", act);
  byId("play").addEventListener("click", togglePlaying);
  byId("deal").addEventListener("change", (event) => go({ deal: Number(event.target.value), step: 0 }));
  byId("step").addEventListener("input", (event) => go({ step: Number(event.target.value) }));
  byId("hands").addEventListener("click", () => go({ allHands: !place.allHands }));
  byId("wall")?.addEventListener("click", () => go({ wall: !place.wall }));
  byId("help").addEventListener("click", () => byId("keys").showModal());
  document.addEventListener("keydown", onKey);
  const table = byId("table");
  table.addEventListener("wheel", onWheel, { passive: false });
  table.addEventListener("pointerdown", (event) => { touched = { x: event.clientX, y: event.clientY }; });
  table.addEventListener("pointerup", onPointerUp);
  table.addEventListener("pointercancel", () => { touched = null; });
}

function drawControls() {
  for (const [id, [, name]] of Object.entries(BUTTONS)) {
    if (!byId(id)) continue; // without an agent there are no differences
    fill(byId(id), icon(name));
    label(id, id);
  }
  drawPlaying();
  label("help", "keys");
  byId("step").setAttribute("aria-label", word("step"));
  fill(byId("key-list"), Object.entries(WORDS[language].keys).map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)]));
}
