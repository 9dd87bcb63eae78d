// What only riichi has beside the table: waits and riichi of a player, points after a deal, the wall.

function playerContent(seat, state) {
  const waits = state[`waits${seat}`];
  return [el("b", { class: windOf(seat) === 0 ? "wind dealer" : "wind" }, word(`wind_short${windOf(seat)}`)), el("span", { class: "who" }, GAME.names[seat]),
    el("span", { class: "badges" }, state.riichi[seat] ? el("em", {}, word(state.riichi[seat] === 2 ? "double_riichi" : "riichi")) : null),
    el("span", { class: "waits" }, isShown(seat, state) && waits.length ? [word("waits"), " ", tiles(waits)] : null),
    el("span", { class: "score" }, points(state.scores[seat]))];
}

function dealCell(deal, seat) {
  const delta = deal.after[seat] - deal.scores[seat];
  return [points(deal.after[seat]), el("small", { class: delta > 0 ? "up" : delta < 0 ? "down" : "" }, delta ? change(delta) : "")];
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
      el("span", {}, word("rinshan"), " ", tiles(rest)), el("span", {}, word("dora_indicators"), " ", tiles(indicators.map((number) => deal.wall[number]))),
      el("span", {}, word("ura"), " ", tiles(indicators.map((number) => deal.wall[number + 1])))));
}
