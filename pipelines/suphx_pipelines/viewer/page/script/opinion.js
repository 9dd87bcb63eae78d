// An agent's choice beside that of a player: a bar for each move.

function opinion(decision) {
  const isBarred = decision.moves.some((move) => move.p !== null);
  const rows = decision.moves.map((move, index) => ({ move, index }))
    .filter(({ index }) => isBarred || index === decision.played || index === decision.agent);
  const heading = el("h3", {}, seatName(decision.seat), " ", el("span", { class: `verdict ${decision.differs ? "differs" : ""}` }, verdict(decision)));
  return el("div", { class: "opinion" }, heading, cost(decision), bars(decision, rows));
}

// What the played move cost, where it was estimated.
function cost(decision) {
  if (!decision.cost) return null;
  const rounded = (value) => change(Number(value.toFixed(GAME.cost_unit === "points" ? 0 : 1)));
  const [low, high] = decision.cost.interval;
  const unit = word(GAME.cost_unit === "points" ? "cost_points" : "cost_placement_points");
  return el("p", { class: "cost" }, word("cost", { mean: rounded(decision.cost.mean), unit, low: rounded(low), high: rounded(high) }));
}

// Return a row for each of the moves, with what its look-ahead shows if there is one.
function bars(decision, rows) {
  const isAhead = rows.some(({ move }) => lookahead(move) !== "");
  return [el("ul", { class: isAhead ? "bars ahead" : "bars" }, rows.map(({ move, index }) => bar(decision, move, index))),
    barsNote(decision, isAhead)];
}

function verdict(decision) {
  if (decision.played === null) return word("not_known");
  if (decision.agent === null) return word("no_action");
  return word(decision.differs ? "differs" : "agrees");
}

function bar(decision, move, index) {
  const isPlayed = index === decision.played, isAgent = index === decision.agent;
  const kinds = [isPlayed ? "played" : "", isAgent ? "agent" : ""].filter((kind) => kind);
  const marks = [isAgent ? el("em", { class: "mark-agent" }, word("mark_agent")) : null, isPlayed ? el("em", { class: "mark-played" }, word("mark_played")) : null];
  const filled = el("i");
  filled.style.width = `${100 * (move.p ?? 0)}%`;
  return el("li", { class: kinds.join(" ") },
    el("span", { class: "what" }, moveContent(move)),
    el("span", { class: "look" }, lookahead(move)),
    el("span", { class: "bar" }, move.p === null ? null : filled, el("span", { class: "marks" }, marks)),
    el("span", { class: "value" }, moveValue(move)));
}
