// What is beside the table: the agent's opinion, the result, the players, the wall.

function drawDecision(step) {
  byId("agent-name").textContent = GAME.agent;
  const seen = step ? step.decisions.filter(isSeen) : [];
  fill(byId("opinions"), seen.length ? seen.map(opinion) : el("p", { class: "soft" }, word("no_decision")));
}

function drawResult(deal, step) {
  const panel = byId("result"), isEnd = step !== null && step.kind === "end";
  panel.hidden = !isEnd;
  if (isEnd) fill(panel, resultContent(deal, place.deal + 1 === GAME.deals.length));
}

function drawPlayers(state) {
  fill(byId("players"), SEATS.map((seat) => {
    const waits = state[`waits${seat}`];
    const isOpen = isShown(seat, state);
    const button = el("button", { type: "button", class: "player", "aria-pressed": String(seat === place.seat), title: word("view_from", { name: seatName(seat) }) },
      el("b", { class: windOf(seat) === 0 ? "wind dealer" : "wind" }, word(`wind_short${windOf(seat)}`)), el("span", { class: "who" }, GAME.names[seat]),
      el("span", { class: "badges" }, state.riichi[seat] ? el("em", {}, word(state.riichi[seat] === 2 ? "double_riichi" : "riichi")) : null),
      el("span", { class: "waits" }, isOpen && waits.length ? [word("waits"), " ", tiles(waits)] : null),
      el("span", { class: "score" }, points(state.scores[seat])));
    button.addEventListener("click", () => go({ seat }));
    return button;
  }));
}

const RINSHAN_PLACES = [134, 135, 132, 133];

function drawWall(deal, state) {
  byId("wall-panel").hidden = !place.wall;
  if (!place.wall) return;
  const end = state.next + state.left;
  const live = deal.wall.slice(state.next, end), used = new Set(RINSHAN_PLACES.slice(0, state.rinshan));
  const rest = RINSHAN_PLACES.filter((number) => !used.has(number)).map((number) => deal.wall[number]);
  const indicators = [130, 128, 126, 124, 122];
  fill(byId("wall-tiles"), el("h3", {}, word("next_draws", { count: live.length })), el("div", { class: "small-tiles" }, tiles(live)),
    el("h3", {}, word("dead_wall")), el("div", { class: "small-tiles" },
      el("span", {}, word("rinshan"), " ", tiles(rest)), el("span", {}, word("dora"), " ", tiles(indicators.map((number) => deal.wall[number]))),
      el("span", {}, word("ura"), " ", tiles(indicators.map((number) => deal.wall[number + 1])))));
}
