// The moves that are not discards, as buttons with the tiles that they are about.

const ORDER = ["tsumo", "ron", "riichi", "ankan", "kakan", "minkan", "pon", "chi", "nine terminals", "pass"];

function calls() {
  const moves = view.moves.filter((each) => each.move !== "discard");
  return moves.sort((a, b) => ORDER.indexOf(a.move) - ORDER.indexOf(b.move));
}

function isClaim() {
  return view.moves.some((each) => each.move === "pass");
}

function drawAsk() {
  const buttons = calls().map((move, index) => callButton(move, index));
  fill(byId("ask"), el("span", { class: "prompt" }, prompt()), buttons);
  byId("seat").classList.toggle("asked", isAsked());
  drawOffer();
}

function prompt() {
  if (!isAsked()) return isDealOver() ? "" : word("wait");
  return isClaim() && calls().length > 3 ? "" : question(); // the buttons need the space
}

function question() {
  if (riichi !== null) return word("choose_riichi");
  if (isClaim()) return word("choose_claim");
  return word(calls().length ? "choose_move" : "choose_discard");
}

// Tell people who hear the page what they are asked, and which moves there are; only when that changes.
function drawOffer() {
  const text = isAsked() ? [question(), ...calls().map(callName)].join("; ") : "";
  if (byId("offer").textContent !== text) byId("offer").textContent = text;
}

function callName(move) {
  return [word(move.move), ...(move.move === "tsumo" ? [] : move.faces.map(tileName))].join(" ");
}

function keyOf(move, index) {
  return move.move === "pass" ? "0" : String(index + 1);
}

function callButton(move, index) {
  const isBest = isHinted(move.action);
  const isWin = move.move === "tsumo" || move.move === "ron";
  const kinds = ["call", isWin ? "win-call" : "", move.move === "pass" ? "pass" : "", isBest ? "best" : "", riichi === move ? "pressed" : ""];
  const button = el("button", { type: "button", class: kinds.join(" "), "data-action": move.action, "aria-pressed": move.move === "riichi" ? String(riichi === move) : null },
    el("kbd", {}, keyOf(move, index)), el("b", {}, word(move.move)), move.faces.length && move.move !== "tsumo" ? el("span", { class: "faces" }, tiles(move.faces)) : null);
  button.addEventListener("click", () => makeCall(move));
  return button;
}

function makeCall(move) {
  if (move.move === "riichi") {
    riichi = riichi === move ? null : move;
    drawSeatOf();
  } else sendMove(move.action);
}

function pressKey(key) {
  const found = calls().find((move, index) => keyOf(move, index) === key);
  if (found) makeCall(found);
}

function drawSeatOf() {
  drawAsk();
  drawHand();
}
