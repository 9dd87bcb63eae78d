// What happened, in a sentence.

function stepText(step) {
  if (!step) return word("dealt");
  if (step.kind === "end") return endText(currentDeal());
  const type = step.kind === "play" ? typeName(step.type) : "";
  return word(`does ${step.kind}`, { name: seatName(step.seat), cards: cardNames(step.faces), type, bid: step.bid });
}

function stepPicture() {
  return null;
}

function endText(deal) {
  const winner = deal.result.winner;
  return winner === null ? word("not_finished") : word(winner === 0 ? "landlord_wins" : "peasants_win", { name: seatName(winner, deal) });
}
