// Hints, players, finished deals, the end of a deal, and whether the game is saved.

let wantsHints = false;

function drawHint() {
  byId("hint-panel").hidden = !view.has_hints || isDealOver();
  byId("hints").setAttribute("aria-pressed", String(wantsHints));
  byId("agent-name").textContent = view.agent;
  if (!wantsHints) fill(byId("hint"));
  else if (hint === null) fill(byId("hint"), el("p", { class: "soft" }, word(isAsked() ? "hint_comes" : "hint_later")));
  else if (hint.reason !== undefined) fill(byId("hint"), el("p", { class: "down" }, word("hint_failed", { reason: hint.reason })));
  else if (hint.agent === null) fill(byId("hint"), el("p", { class: "soft" }, word("no_action")));
  else {
    const isBarred = hint.moves.some((move) => move.p !== null);
    const rows = hint.moves.map((move, index) => ({ move, index })).filter(({ index }) => isBarred || index === hint.agent);
    fill(byId("hint"), bars({ ...hint, played: null }, rows));
  }
}

function askHint() {
  if (wantsHints && view.has_hints && isAsked() && hint === null) send({ type: "hint", number: view.number });
}

function drawPlayers() {
  fill(byId("players"), SEATS.map((seat) => {
    const waits = state[`waits${seat}`];
    return el("div", { class: `player${seat === place.seat ? " self" : ""}` },
      el("b", { class: windOf(seat) === 0 ? "wind dealer" : "wind", title: word(`wind${windOf(seat)}`) }, word(`wind_short${windOf(seat)}`)), el("span", { class: "who" }, GAME.names[seat]),
      el("span", { class: "badges" }, state.riichi[seat] ? el("em", {}, word(state.riichi[seat] === 2 ? "double_riichi" : "riichi")) : null),
      el("span", { class: "waits" }, waits.length ? [word("waits"), " ", tiles(waits)] : null),
      el("span", { class: "score" }, points(state.scores[seat])));
  }));
}

function drawDeals() {
  byId("deals-panel").hidden = !view.finished.length;
  const head = el("tr", {}, el("th", {}, word("deal")), SEATS.map((seat) => el("th", { scope: "col" }, columnName(seat))));
  const rows = view.finished.map((deal) => el("tr", {}, el("th", { scope: "row" }, dealName(deal), el("small", {}, endText(deal))),
    SEATS.map((seat) => el("td", {}, dealCell(deal, seat)))));
  fill(byId("deals"), el("thead", {}, head), el("tbody", {}, rows));
}

function drawResult() {
  const panel = byId("result"), isEnd = isDealOver();
  panel.hidden = !isEnd && !view.problem;
  byId("seat").hidden = !panel.hidden;
  byId("end").hidden = panel.hidden;
  byId("stage").classList.toggle("ended", isEnd);
  fill(byId("end"), panel.hidden ? [] : endButtons());
  if (panel.hidden) return fill(panel);
  const problem = view.problem ? el("p", { class: "down" }, word("problem", { reason: view.problem })) : null;
  fill(panel, isEnd ? resultContent(view.deal, view.is_over) : null, problem);
}

function drawSaveProblem() {
  const key = view.is_over ? "record_not_saved" : "game_not_saved";
  setNotice("save-problem", view.save_problem ? word(key, { reason: view.save_problem }) : "");
}

function endButtons() {
  if (!view.is_over && !view.problem) {
    const next = el("button", { type: "button", id: "next", class: "primary" }, word("next_deal"));
    next.addEventListener("click", nextDeal);
    return el("p", { class: "buttons" }, next);
  }
  const again = el("button", { type: "button", id: "again", class: view.is_over ? "plain" : "primary" }, word("new_game"));
  again.addEventListener("click", () => { hideNotice(); disable(again); send({ type: "new" }); });
  const address = `/game/${view.table}${location.search}`;
  const open = view.is_over ? el("a", { id: "viewer", class: "primary", href: address, target: "_blank", rel: "noopener" }, word("open_viewer")) : null;
  return [el("p", { class: "buttons" }, open, again), view.record ? el("p", { class: "soft" }, word("saved", { file: view.record })) : null];
}

// A button that is disabled loses the focus: the keyboard goes on in the hand.
function disable(button) {
  if (button.matches(":focus-visible")) awaitFocus(byId("hand"));
  button.disabled = true;
}

function nextDeal() {
  hideNotice();
  disable(byId("next"));
  send({ type: "next", number: view.number });
}
