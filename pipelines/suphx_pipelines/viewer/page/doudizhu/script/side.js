// What only DouDizhu has beside the table: a player's cards left, the points of a game.

function playerContent(seat, state) {
  const deal = currentDeal();
  return [el("b", { class: seat === 0 ? "wind dealer" : "wind" }, word(`short ${ROLES[seat]}`)), el("span", { class: "who" }, seatName(seat, deal)),
    el("span", { class: "score" }, word("cards_count", { count: state[`hand${seat}`].length }))];
}

function dealCell(deal, seat) {
  const won = deal.result.points[seat];
  return won ? el("span", { class: won > 0 ? "up" : "down" }, change(won)) : "–";
}
