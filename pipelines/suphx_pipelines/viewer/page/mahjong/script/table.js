// The table: four seats around the middle, each drawn as if it were at the bottom and then turned.

function drawTable(state) {
  const deal = currentDeal(), step = currentStep();
  const seats = SEATS.map((seat) => drawSeat(state, seat, step));
  fill(byId("table"), el("div", { class: "felt" }, seats, SEATS.map((seat) => drawName(seat)), drawMiddle(deal, state, step)));
  byId("table").setAttribute("aria-label", word("table_of", { deal: dealName(deal) }));
}

function relative(seat) {
  return (seat - place.seat + 4) % 4;
}

function drawSeat(state, seat, step) {
  const isOpen = isShown(seat, state);
  const beside = state.drawn.filter(([owner]) => owner === seat).map(([, face]) => face);
  const melds = state[`melds${seat}`];
  const hand = el("div", { class: "hand" }, tiles(isOpen ? state[`hand${seat}`] : state[`hand${seat}`].map(() => -1)),
    beside.map((face) => tile(isOpen ? face : -1, "drawn", state.open.includes(seat) ? [] : [word("tile_drawn")])));
  const newest = step && step.seat === seat && (step.kind === "discard") ? state[`river${seat}`].length - 1 : -1;
  const kinds = ["seat", relative(seat) ? "other" : "own", isOpen ? "open" : "", isTight(melds) ? "tight" : ""];
  const layer = el("div", { class: kinds.join(" ") }, hand, el("div", { class: "melds" }, melds.map(meld)),
    river(state[`river${seat}`], newest), state.riichi?.[seat] ? el("span", { class: "stick" }, el("i")) : null);
  layer.style.setProperty("--turns", relative(seat));
  return layer;
}

// More than three kans leave no room for a hand of the usual size.
function isTight(melds) {
  return melds.reduce((sum, each) => sum + (each.is_added ? 3 : each.faces.length), 0) > 10;
}

function drawName(seat) {
  return el("div", { class: `name at${relative(seat)}` }, playerName(seat));
}
