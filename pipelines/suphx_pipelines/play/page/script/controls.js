// Keys and the buttons at the top.

const KEYS = {
  ArrowRight: () => focusTile(1), ArrowLeft: () => focusTile(-1), d: () => pressDrawn(), r: () => pressMove("riichi"), w: () => { pressMove("tsumo"); pressMove("ron"); },
  h: () => toggleHints(), Escape: () => { riichi = null; drawSeatOf(); }, Enter: () => byId("next")?.click(), "?": () => byId("keys").showModal(),
};

function pressDrawn() {
  byId("hand").querySelector("button.drawn:enabled")?.click();
}

function pressMove(name) {
  const move = view.moves.find((each) => each.move === name);
  if (move) makeCall(move);
}

function toggleHints() {
  wantsHints = !wantsHints;
  if (!wantsHints) hint = null;
  askHint();
  draw();
}

function onKey(event) {
  const target = event.target;
  if (event.repeat && event.key === "Enter" && target.matches("#seat button")) event.preventDefault(); // a held key makes one move
  if (view === null || event.ctrlKey || event.altKey || event.metaKey || event.repeat || byId("keys").open || target.matches("select, input")) return;
  if (event.key === "Enter" && target.matches("button, a")) return;
  if (/^[0-9]$/.test(event.key)) return pressKey(event.key);
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

function connectControls() {
  byId("language").addEventListener("change", (event) => { remember("language", event.target.value); setLanguage(event.target.value); });
  byId("theme").addEventListener("click", () => { const theme = isDark() ? "light" : "dark"; remember("theme", theme); setTheme(theme); });
  byId("pace").addEventListener("change", (event) => { pace = event.target.value; remember("pace", pace); });
  byId("hints").addEventListener("click", toggleHints);
  byId("labels").addEventListener("change", (event) => { hasLabels = event.target.checked; remember("labels", String(hasLabels)); draw(); });
  byId("help").addEventListener("click", () => byId("keys").showModal());
  document.addEventListener("keydown", onKey);
}
