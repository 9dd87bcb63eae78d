// Lists to jump from: differences, moves, deals.

function jump(target, ...content) {
  const button = el("button", { type: "button", "data-place": placeName({ deal: place.deal, ...target }) }, content);
  button.addEventListener("click", () => go(target));
  return el("li", {}, button);
}

function placeName({ deal, step }) {
  return `${deal}.${step}`;
}

// Mark where we are in the lists, which stay as they are from step to step.
function markPlace() {
  for (const button of document.querySelectorAll(".jumps button")) {
    if (button.dataset.place === placeName(place)) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
  }
  const current = byId("moves").children[place.step];
  if (current) byId("moves").scrollTop = current.offsetTop - byId("moves").clientHeight / 2;
}

function drawDifferences() {
  const found = differences();
  byId("difference-count").textContent = word("count_of", { count: found.length, total: countDecisions() });
  fill(byId("differences"), found.map(({ deal, step, decision }) => {
    const played = decision.moves[decision.played], wanted = decision.moves[decision.agent];
    return jump({ deal, step }, el("span", { class: "where" }, dealName(GAME.deals[deal]), ` · ${word("turn", { number: decision.turn })}`, place.allHands ? ` · ${seatName(decision.seat, GAME.deals[deal])}` : ""),
      el("span", { class: "pair" }, shortMove(played, "played"), "→", shortMove(wanted, "agent")));
  }));
}

function countDecisions() {
  let count = 0;
  for (const deal of GAME.deals) for (const step of deal.steps) for (const decision of step.decisions) count += decision.played !== null && decision.agent !== null && isSeen(decision);
  return count;
}

function drawMoves() {
  const steps = [null, ...currentDeal().steps];
  fill(byId("moves"), steps.map((step, index) => {
    const isMarked = step !== null && step.decisions.some((decision) => decision.differs && isSeen(decision));
    return jump({ step: index }, stepText(step), isMarked ? el("i", { class: "dot", title: word("differs") }) : null);
  }));
}

function drawDeals() {
  const head = el("tr", {}, el("th", {}, word("deal")), SEATS.map((seat) => el("th", { scope: "col" }, columnName(seat))));
  const rows = GAME.deals.map((deal, index) => {
    const button = el("button", { type: "button", "data-place": placeName({ deal: index, step: 0 }), "aria-current": index === place.deal ? "true" : null }, dealName(deal));
    button.addEventListener("click", () => go({ deal: index, step: 0 }));
    return el("tr", {}, el("th", { scope: "row" }, button, el("small", {}, endText(deal))),
      SEATS.map((seat) => el("td", {}, dealCell(deal, seat))));
  });
  fill(byId("deals"), el("thead", {}, head), el("tbody", {}, rows));
}

function drawDealChoice() {
  fill(byId("deal"), GAME.deals.map((deal, index) => el("option", { value: index }, dealName(deal))));
  byId("deal").value = place.deal;
}
