// How a game ended.

function resultContent(deal) {
  const result = deal.result;
  return [el("h2", {}, `${dealName(deal)}: ${endText(deal)}`),
    el("p", {}, word("stake", { points: points(result.stake) }), " · ", word("bombs", { count: result.bombs })),
    el("ul", { class: "changes" }, SEATS.map((seat) => {
      const won = result.points[seat];
      return el("li", {}, el("span", {}, seatName(seat, deal)), el("b", { class: won > 0 ? "up" : "down" }, change(won)));
    }))];
}
