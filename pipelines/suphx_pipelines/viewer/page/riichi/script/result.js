// How a deal ended, and the game.

// Return what the panel of a finished deal shows; isLast: the game is over, too.
function resultContent(deal, isLast) {
  const result = deal.result;
  const title = result.wins.length ? word(result.wins[0].seat === result.wins[0].loser ? "tsumo" : "ron") : word(`draw ${result.kind}`);
  const tenpai = result.tenpai.length ? el("p", {}, word("tenpai_seats", { names: result.tenpai.map((seat) => seatName(seat, deal)).join(", ") })) : null;
  return [el("h2", {}, `${dealName(deal)}: ${title}`), result.wins.map((win) => drawWin(win, deal)),
    result.ura.length ? el("p", { class: "line" }, word("ura"), " ", tiles(result.ura)) : null, tenpai, drawChanges(deal),
    isLast && GAME.placement ? el("p", { class: "final" }, finalText(deal)) : null];
}

function drawWin(win, deal) {
  const isTsumo = win.seat === win.loser;
  const title = word(isTsumo ? "wins_tsumo" : "wins_ron", { name: seatName(win.seat, deal), loser: seatName(win.loser, deal) });
  const limit = win.limit && !win.yakuman ? word(win.limit) : "";
  const han = win.han === null ? "" : word("han_fu", { han: win.han, fu: win.fu });
  const value = win.yakuman ? word("yakuman_count", { count: win.yakuman }) : [han, limit].filter(Boolean).join(" · ");
  const yaku = [...win.yaku.map((name) => yakuName(name)), ...win.bonus.map(([name, count]) => [term(name), ` ${count}`])];
  return el("div", { class: "win" }, el("p", { class: "line" }, el("b", {}, title), " ", tile(win.face)),
    el("p", {}, `${value} · `, el("b", {}, word("points", { count: points(win.points) }))),
    el("ul", { class: "yaku" }, yaku.map((name) => el("li", {}, name))),
    isTsumo ? null : el("p", { class: "soft" }, term("deal_in"), `: ${seatName(win.loser, deal)}`),
    win.liable === null ? null : el("p", { class: "soft" }, word("liable", { name: seatName(win.liable, deal) })));
}

function drawChanges(deal) {
  return el("ul", { class: "changes" }, SEATS.map((seat) => {
    const delta = deal.after[seat] - deal.scores[seat];
    return el("li", {}, el("span", {}, seatName(seat, deal)), el("span", { class: delta > 0 ? "up" : delta < 0 ? "down" : "soft" }, change(delta)), el("b", {}, points(deal.after[seat])));
  }));
}

function finalText(deal) {
  const order = [...SEATS].sort((a, b) => GAME.placement[a] - GAME.placement[b]);
  return word("final", { order: order.map((seat, index) => `${index + 1}. ${seatName(seat, deal)} ${points(GAME.final[seat])}`).join("  ") });
}
