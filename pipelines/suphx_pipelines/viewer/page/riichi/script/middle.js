// What only riichi has in the middle of the table: honba, sticks, dora.

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
