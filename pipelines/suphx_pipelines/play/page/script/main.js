// Draws everything that the server has sent.

// Whether the deal has ended, but the view with its result has not come yet.
function isEndAwaited() {
  return newest !== null && newest.kind === "end" && view.deal.result === null;
}

function draw() {
  if (view === null || isEndAwaited()) return;
  drawTable(state);
  fill(byId("now"), newest ? stepText(newest) : dealName(view.deal), stepPicture(newest));
  drawResult(); // it shows the seat, so that the focus can go there
  drawSeatOf();
  drawHint();
  drawPlayers();
  drawDeals();
  drawSaveProblem();
}

function setLanguage(wanted) {
  language = wanted in WORDS ? wanted : "en";
  byId("language").value = language;
  writeWords();
  label("help", "keys");
  fill(byId("key-list"), Object.entries(WORDS[language].keys).map(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)]));
  drawTheme();
  draw();
}

connectControls();
pace = remember("pace") in STEP_MILLISECONDS ? remember("pace") : "normal";
byId("pace").value = pace;
hasLabels = byId("labels").checked = remember("labels") === "true";
setTheme(remember("theme"));
setLanguage(DATA.language ?? remember("language") ?? (navigator.language || "en").slice(0, 2));
connectSocket();
