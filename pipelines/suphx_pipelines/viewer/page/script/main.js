// Draws everything that depends on where we are; remembers the place in the address and the choices in the browser.

// Move to another place: any of deal, step, seat, allHands, wall.
function go(target) {
  const isOtherDeal = "deal" in target && target.deal !== place.deal;
  Object.assign(place, target);
  if (isOtherDeal && !("step" in target)) place.step = 0;
  draw();
}

function draw() {
  const deal = currentDeal(), step = currentStep(), state = currentState();
  drawTable(state);
  fill(byId("now"), stepText(step), stepPicture(step));
  byId("deal").value = place.deal;
  byId("step").max = lastStep();
  byId("step").value = place.step;
  byId("step").setAttribute("aria-valuetext", stepText(step));
  byId("hands").setAttribute("aria-pressed", place.allHands);
  if (GAME.agent) {
    byId("decision").hidden = step !== null && step.kind === "end";
    drawDecision(step);
  }
  drawResult(deal, step);
  drawPlayers(state);
  if (HAS_WALL) {
    byId("wall").setAttribute("aria-pressed", place.wall);
    drawWall(deal, state);
  }
  drawLists();
  history.replaceState(null, "", `#${place.deal + 1}.${place.step}.${place.seat + 1}`);
}

let drawnLists = "";

function drawLists() {
  const key = [place.deal, place.seat, place.allHands, language].join();
  if (key !== drawnLists) {
    if (GAME.agent) drawDifferences();
    drawMoves();
    drawDeals();
    drawnLists = key;
  }
  markPlace();
}

function readAddress(hash) {
  const [deal, step, seat] = hash.slice(1).split(".").map(Number);
  if (deal >= 1 && deal < GAME.deals.length + 1) {
    place.deal = Math.floor(deal) - 1;
    place.step = 0;
  }
  if (step >= 0 && step <= lastStep()) place.step = Math.floor(step);
  if (seat >= 1 && seat < SEATS.length + 1) place.seat = Math.floor(seat) - 1;
}

function setLanguage(wanted) {
  language = wanted in WORDS ? wanted : "en";
  byId("language").value = language;
  writeWords();
  drawControls();
  drawDealChoice();
  drawTheme();
  draw();
}

for (const [isThere, kind] of [[GAME.agent, ".agent-only"], [HAS_WALL, ".wall-only"]]) {
  if (!isThere) for (const element of document.querySelectorAll(kind)) element.remove();
}
if (GAME.deals.length) {
  readAddress(location.hash);
  connect();
  byId("language").addEventListener("change", (event) => { remember("language", event.target.value); setLanguage(event.target.value); });
  byId("theme").addEventListener("click", () => { const theme = isDark() ? "light" : "dark"; remember("theme", theme); setTheme(theme); });
  // Not location.hash: Chromium may have put the address of the last replaceState back by then.
  addEventListener("hashchange", (event) => { readAddress(new URL(event.newURL).hash); draw(); });
  setTheme(remember("theme"));
  setLanguage(remember("language") ?? (navigator.language || "en").slice(0, 2));
}
