// The game as Python has written it, and where in it we are. No rule of the game is known here.

const DATA = JSON.parse(byId("data").textContent);
const GAME = DATA.game;
const SEATS = GAME.names.map((_, seat) => seat);
const HAS_WALL = GAME.deals.some((deal) => "wall" in deal);
const place = { deal: 0, step: 0, seat: DATA.seat, allHands: false, wall: false };

function currentDeal() {
  return GAME.deals[place.deal];
}

// Step 0 is the deal before the first draw; step n is the moment after steps[n - 1].
function currentStep() {
  return place.step ? currentDeal().steps[place.step - 1] : null;
}

function currentState() {
  const state = { ...currentDeal().start };
  for (const step of currentDeal().steps.slice(0, place.step)) Object.assign(state, step.changes);
  return state;
}

function lastStep(deal = currentDeal()) {
  return deal.steps.length;
}

function isShown(seat, state) {
  return place.allHands || seat === place.seat || state.open.includes(seat);
}

// The decisions that may be seen: those of the seat at the bottom, or of all.
function isSeen(decision) {
  return place.allHands || decision.seat === place.seat;
}

function differences() {
  const found = [];
  GAME.deals.forEach((deal, dealIndex) => deal.steps.forEach((step, index) => {
    for (const decision of step.decisions) {
      if (decision.differs && isSeen(decision)) found.push({ deal: dealIndex, step: index + 1, decision });
    }
  }));
  return found;
}

function isBefore(a, b) {
  return a.deal < b.deal || (a.deal === b.deal && a.step < b.step);
}
