// What the server has sent last: the names that the viewer's scripts use, for a game that goes on.

const DATA = JSON.parse(byId("data").textContent);
const SEATS = [0, 1, 2, 3];
const GAME = { names: ["", "", "", ""], placement: null, final: null };
const place = { seat: 0, allHands: false };

let view = null; // the last message of the type view
let state = null; // the state that is shown: that of the view, or an earlier one while steps are played
let newest = null; // the step that led to it

function currentDeal() {
  return view.deal;
}

function currentStep() {
  return newest;
}

function isShown(seat, shownState) {
  return seat === place.seat || shownState.open.includes(seat);
}

function isDealOver() {
  return view.deal.result !== null;
}

// Take over a view; steps that are shown as long as it is the same deal stay.
function setView(next) {
  const isSameDeal = view !== null && view.id === next.id && view.finished.length - isDealOver() === next.finished.length - (next.deal.result !== null);
  if (!isSameDeal) newest = null;
  view = next;
  state = next.state;
  place.seat = next.seat;
  Object.assign(GAME, { names: next.names, placement: next.placement, final: next.final });
}
