// The table: the own hand below, the seat that moves next on the right, the one before on the left, the stake between them.

function drawTable(state) {
  const deal = currentDeal();
  fill(byId("table"), el("div", { class: "felt" }, SEATS.map((seat) => drawSeat(state, seat)), drawMiddle(deal, state)));
  byId("table").setAttribute("aria-label", word("table_of", { deal: dealName(deal) }));
}

function relative(seat) {
  return (seat - place.seat + SEATS.length) % SEATS.length;
}

function drawSeat(state, seat) {
  const deal = currentDeal(), hand = state[`hand${seat}`];
  const kinds = ["seat", `at${relative(seat)}`, state.turn === seat ? "turn" : "", seat === 0 ? "landlord" : ""];
  return el("div", { class: kinds.join(" ") },
    el("div", { class: "plate" }, el("b", { class: "count", title: word("cards_left") }, String(hand.length)),
      el("span", { class: "role" }, roleName(seat), deal.players ? el("small", {}, deal.players[seat]) : null)),
    fan(isShown(seat, state) ? hand : hand.map(() => -1), "hand"), drawLast(state, seat));
}

function drawLast(state, seat) {
  const last = state.last[seat];
  if (!last) return el("div", { class: "last" });
  const kinds = ["last", last.is_old ? "old" : "", state.to_beat === seat ? "leads" : "", last.type === "bomb" || last.type === "rocket" ? "boom" : ""];
  return el("div", { class: kinds.join(" ") }, last.faces.length ? [fan(last.faces), el("em", {}, typeName(last.type))] : el("em", { class: "pass" }, typeName("pass")));
}

function drawMiddle(deal, state) {
  const turn = state.turn < 0 ? null : el("span", { class: "whose" }, word(state.to_beat < 0 ? "leads" : "moves_next", { name: roleName(state.turn) }));
  return el("div", { class: "middle" },
    el("div", { class: "bottom", title: word("bottom_cards") }, el("small", {}, word("bottom_cards")), fan(state.bottom, "apart")),
    el("div", { class: "stake" }, el("strong", {}, word("stake", { points: points(state.stake * 2 ** state.bombs) })), el("small", {}, word("bombs", { count: state.bombs })), turn));
}
