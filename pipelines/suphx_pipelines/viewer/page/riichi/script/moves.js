// Moves beside the bars of an agent, and in the list of differences.

function moveContent(move) {
  return [move.move === "discard" ? el("span", { class: "soft" }, tileName(move.faces[0])) : el("b", {}, word(move.move)), el("span", { class: "faces" }, tiles(move.faces))];
}

function moveValue(move) {
  return move.p === null ? "" : percent(move.p);
}

// Return "1 · 16": the shanten after a discard and the tiles that improve the hand.
function lookahead(move) {
  if (move.shanten === undefined) return "";
  return `${move.shanten === 0 ? word("tenpai") : move.shanten} · ${move.ukeire}`;
}

// What the numbers before the bars are.
function barsNote(decision, isAhead) {
  return isAhead ? el("p", { class: "soft note" }, word("lookahead"), " (", term("shanten"), ")") : null;
}

function shortMove(move, kind) {
  return el("span", { class: `short ${kind}` }, move.move === "discard" ? null : word(move.move), move.move === "discard" ? tiles(move.faces) : null,
    move.p === null ? null : el("small", {}, percent(move.p)));
}
