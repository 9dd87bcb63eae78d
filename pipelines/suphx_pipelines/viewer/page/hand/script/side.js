// Beside the table: a player's payments, and how a hand ended.

function playerContent(seat, state) {
  return [el("b", { class: seat === currentDeal().dealer ? "wind dealer" : "wind" }, word(`wind_short${seat}`)), el("span", { class: "who" }, playerName(seat)),
    el("span", { class: "badges" }, state.riichi?.[seat] ? el("em", {}, word("ready")) : null), el("span", { class: "score" }, change(state.scores[seat]))];
}

function dealCell(deal, seat) {
  const won = deal.after[seat];
  return won ? el("span", { class: won > 0 ? "up" : "down" }, change(won)) : "–";
}

function resultContent(deal) {
  return [el("h2", {}, `${dealName(deal)}: ${endText(deal)}`), deal.result.wins.map((win) => el("div", { class: "win" },
    el("p", { class: "line" }, el("b", {}, seatName(win.seat, deal)), " ", tile(win.face), " ", word("fan_count", { count: win.fan })),
    el("ul", { class: "yaku" }, win.fans.map((name) => el("li", {}, name))))),
  el("ul", { class: "changes" }, SEATS.map((seat) => el("li", {}, el("span", {}, seatName(seat, deal)),
    el("b", { class: deal.after[seat] > 0 ? "up" : deal.after[seat] < 0 ? "down" : "soft" }, change(deal.after[seat])))))];
}
