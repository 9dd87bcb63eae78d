// Names of yaku, deals and seats.

function yakuName(name) {
  return WORDS[language].yaku[name] ?? name;
}

function dealName(deal) {
  const name = word("deal_name", { wind: word(`wind${Math.floor(deal.kyoku / 4)}`), number: deal.kyoku % 4 + 1 });
  return deal.honba ? `${name} · ${word("honba", { count: deal.honba })}` : name;
}

function windOf(seat, deal = currentDeal()) {
  return (seat - deal.dealer + 4) % 4;
}

// Seats: with the wind where another seat has the same name, or the same with another number.

function bareName(name) {
  return name.replace(/ \d+$/, "");
}

// Return the name for a sentence on a deal, such as "ukeire (South)".
function seatName(seat, deal = currentDeal()) {
  const name = GAME.names[seat];
  const isShared = SEATS.some((other) => other !== seat && bareName(GAME.names[other]) === bareName(name));
  return isShared ? word("name_in_deal", { name, wind: word(`wind${windOf(seat, deal)}`) }) : name;
}

// Return the name for all deals of a game: seats that share it have the wind of the first deal.
function columnName(seat) {
  const name = GAME.names[seat];
  const isShared = SEATS.some((other) => other !== seat && GAME.names[other] === name);
  return isShared ? word("name_at_start", { name, wind: word(`wind${seat}`) }) : name;
}

function playerName(seat) {
  return GAME.names[seat];
}
