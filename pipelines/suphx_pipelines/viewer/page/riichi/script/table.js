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
    river(state[`river${seat}`], newest), state.riichi[seat] ? el("span", { class: "stick" }, el("i")) : null);
  layer.style.setProperty("--turns", relative(seat));
  return layer;
}

// More than three kans leave no room for a hand of the usual size.
function isTight(melds) {
  return melds.reduce((sum, each) => sum + (each.is_added ? 3 : each.faces.length), 0) > 10;
}

function drawName(seat) {
  return el("div", { class: `name at${relative(seat)}` }, GAME.names[seat]);
}

function drawMiddle(deal, state, step) {
  const isEnd = step && step.kind === "end";
  const plates = SEATS.map((seat) => {
    const wind = windOf(seat);
    const kinds = ["plate", `at${relative(seat)}`, state.turn === seat ? "turn" : "", wind === 0 ? "dealer" : ""];
    const delta = isEnd ? deal.after[seat] - deal.scores[seat] : 0;
    return el("div", { class: kinds.join(" ") }, el("b", { title: word(`wind${wind}`) }, word(`wind_short${wind}`)),
      el("span", {}, points(state.scores[seat])), delta ? el("small", { class: delta > 0 ? "up" : "down" }, change(delta)) : null);
  });
  const counts = [
    el("span", { title: word("sticks_title") }, el("i", { class: "mini-stick" }), ` ${state.sticks}`),
    el("span", { title: word("left_title") }, el("i", { class: "mini-tile" }), ` ${state.left}`),
  ];
  return el("div", { class: "middle" }, plates,
    el("div", { class: "info" }, el("strong", {}, word("deal_name", { wind: word(`wind${Math.floor(deal.kyoku / 4)}`), number: deal.kyoku % 4 + 1 })),
      deal.honba ? el("span", { class: "honba" }, word("honba", { count: deal.honba })) : null, el("span", { class: "counts" }, counts)),
    doraBox(state));
}

// On the page of suphx play it explains itself when it is touched; in the viewer the table has gestures of its own.
function doraBox(state) {
  const box = el("div", { class: "dora", title: word("dora_indicators") }, doraTiles(state));
  box.addEventListener("click", () => showMeaning(word("dora"), word("dora_means")));
  return box;
}

function doraTiles(state) {
  return SEATS.concat(4).map((index) => tile(index < state.dora.length ? state.dora[index] : -1, index < state.dora.length ? "" : "closed"));
}
