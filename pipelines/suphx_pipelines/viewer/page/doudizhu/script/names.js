// Names of cards, games and seats.

const ROLES = GAME.names;

function cardName(rank) {
  return rank < 0 ? word("hidden_card") : WORDS[language].cards[rank];
}

function cardNames(ranks) {
  return ranks.map(cardName).join(" ");
}

function typeName(type) {
  return word(`type ${type}`);
}

function dealName(deal) {
  return word("deal_name", { number: deal.number });
}

function roleName(seat) {
  return word(ROLES[seat]);
}

// Return the name for a sentence on a game, such as "Landlord (candidate)".
function seatName(seat, deal = currentDeal()) {
  return deal.players ? word("name_in_deal", { name: roleName(seat), player: deal.players[seat] }) : roleName(seat);
}

function columnName(seat) {
  return roleName(seat);
}
