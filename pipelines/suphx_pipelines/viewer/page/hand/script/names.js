// Names of hands and seats, in games of single hands: who sits where differs from hand to hand.

function dealName(deal) {
  return word("deal_name", { number: deal.number });
}

function windOf(seat) {
  return seat;
}

function playerName(seat, deal = currentDeal()) {
  return deal.players ? deal.players[seat] : word(`wind${seat}`);
}

// Return the name for a sentence on a hand, such as "ukeire (South)".
function seatName(seat, deal = currentDeal()) {
  const wind = word(`wind${seat}`);
  return deal.players ? word("name_in_deal", { name: deal.players[seat], wind }) : wind;
}

function columnName(seat) {
  return word(`wind${seat}`);
}
