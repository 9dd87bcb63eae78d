// Moves beside the bars of an agent, and in the list of differences.

function moveContent(move) {
  return [el("span", { class: "soft" }, typeName(move.type)), move.faces.length ? el("span", { class: "faces" }, fan(move.faces)) : null];
}

function moveValue(move) {
  return move.value === null ? "" : signed(move.value);
}

function signed(value) {
  const text = Math.abs(value).toLocaleString(language, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  return value < 0 ? `−${text}` : `+${text}`;
}

function lookahead() {
  return "";
}

// What the values are, and how many moves are not shown.
function barsNote(decision) {
  const isValued = decision.moves.some((move) => move.value !== null);
  const notes = [decision.more && isValued ? word("more_moves", { count: points(decision.more) }) : "", isValued ? word("values") : ""];
  return el("p", { class: "soft note" }, notes.join(" "));
}

function shortMove(move, kind) {
  return el("span", { class: `short ${kind}` }, move.faces.length ? fan(move.faces) : typeName("pass"), move.value === null ? null : el("small", {}, moveValue(move)));
}
