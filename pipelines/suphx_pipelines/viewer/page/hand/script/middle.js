// The middle of the table: what each seat was paid so far, the round wind, the tiles left.

function drawMiddle(deal, state) {
  const plates = SEATS.map((seat) => {
    const kinds = ["plate", `at${relative(seat)}`, state.turn === seat ? "turn" : "", seat === deal.dealer ? "dealer" : ""];
    return el("div", { class: kinds.join(" ") }, el("b", { title: word(`wind${seat}`) }, word(`wind_short${seat}`)), el("span", {}, change(state.scores[seat])));
  });
  return el("div", { class: "middle" }, plates, el("div", { class: "info" }, el("strong", {}, dealName(deal)),
    deal.round === undefined ? null : el("span", { class: "honba" }, word("round_wind", { wind: word(`wind${deal.round}`) })),
    el("span", { class: "counts" }, el("span", { title: word("left_title") }, el("i", { class: "mini-tile" }), ` ${state.left}`))));
}
