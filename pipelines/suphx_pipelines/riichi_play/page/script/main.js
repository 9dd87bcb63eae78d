// Draws everything that the server has sent.

function draw() {
  if (view === null) return;
  drawTable(state);
  fill(byId("now"), newest ? stepText(newest) : dealName(view.deal), stepPicture(newest));
  drawSeatOf();
  drawResult();
  drawHint();
  drawPlayers();
  drawDeals();
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
setTheme(remember("theme"));
setLanguage(DATA.language ?? remember("language") ?? (navigator.language || "en").slice(0, 2));
connectSocket();
