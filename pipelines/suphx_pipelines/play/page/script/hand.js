// The person's hand as buttons. A tile can be pressed if the server has offered its discard.

let riichi = null; // the offer of a riichi whose discard is being chosen
let hint = null; // the last answer about this decision

// Whether the hint, if there is one, names this action.
function isHinted(action) {
  return hint !== null && hint.reason === undefined && hint.best.includes(action);
}

function isAsked() {
  return view.moves.length > 0;
}

function discardOf(face, isDrawn) {
  const move = view.moves.find((each) => each.move === "discard" && each.is_drawn === isDrawn && each.faces[0] === face);
  if (!move || (riichi !== null && !riichi.discards.includes(move.action))) return null;
  return move.action;
}

function drawHand() {
  const own = place.seat, drawn = state.drawn.filter(([owner]) => owner === own).map(([, face]) => face);
  const isChoosing = view.moves.some((each) => each.move === "discard");
  byId("hand").classList.toggle("choosing", isChoosing);
  byId("hand").setAttribute("aria-label", word("your_hand"));
  fill(byId("hand"), state[`hand${own}`].map((face) => tileButton(face, false)), drawn.map((face) => tileButton(face, true)));
}

function tileButton(face, isDrawn) {
  const action = discardOf(face, isDrawn);
  const isBest = action !== null && isHinted(action);
  const button = el("button", { type: "button", class: `tile-button${isDrawn ? " drawn" : ""}${isBest ? " best" : ""}`, disabled: action === null, "data-action": action,
    "aria-label": isDrawn ? word("discard_drawn", { tile: tileName(face) }) : word("discard_tile", { tile: tileName(face) }) }, tile(face));
  if (action !== null) button.addEventListener("click", () => discard(action));
  return button;
}

function discard(action) {
  if (riichi !== null) sendMove(riichi.action, action);
  else sendMove(action);
}

// Move the focus among the tiles that can be discarded.
function focusTile(direction) {
  const buttons = [...byId("hand").querySelectorAll("button:enabled")];
  if (!buttons.length) return;
  const now = buttons.indexOf(document.activeElement);
  const next = now < 0 ? (direction > 0 ? 0 : buttons.length - 1) : (now + direction + buttons.length) % buttons.length;
  buttons[next].focus();
}
