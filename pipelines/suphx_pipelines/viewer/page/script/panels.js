// What is beside the table: the agent's opinion, the result, the players.

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
    const button = el("button", { type: "button", class: "player", "data-seat": seat, "aria-pressed": String(seat === place.seat), title: word("view_from", { name: seatName(seat) }) }, playerContent(seat, state));
    button.addEventListener("click", () => go({ seat }));
    return button;
  }));
}
