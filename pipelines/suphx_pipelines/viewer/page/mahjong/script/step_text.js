// What happened, in a sentence.

// Whether the tile of a step may be shown: a draw is seen by the seat that draws.
function isSeenStep(step) {
  return step.kind !== "draw" || place.allHands || step.seat === place.seat;
}

function stepText(step) {
  if (!step) return word("dealt");
  const name = seatName(step.seat);
  if (step.kind === "end") return endText(currentDeal());
  const isHidden = !isSeenStep(step);
  const faces = isHidden ? [] : step.faces;
  return word(isHidden ? "does draw hidden" : `does ${step.kind}`, { name, tile: faces.length ? tileName(faces[0]) : "", tiles: faces.map(tileName).join(" ") });
}

// What lies beside the sentence: the tile that was drawn or discarded.
function stepPicture(step) {
  return step && (step.kind === "discard" || step.kind === "draw") && isSeenStep(step) ? tile(step.faces[0]) : null;
}

function endText(deal) {
  const result = deal.result;
  if (!result.wins.length) return word(`draw ${result.kind}`);
  return result.wins.map((win) => word(win.seat === win.loser ? "wins_tsumo" : "wins_ron", { name: seatName(win.seat, deal), loser: seatName(win.loser, deal) })).join("; ");
}
