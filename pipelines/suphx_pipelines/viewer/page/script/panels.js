// What is beside the table: the agent's opinion, the result, the players, the wall.

function opinion(decision) {
  const isBarred = decision.moves.some((move) => move.p !== null);
  const rows = decision.moves.map((move, index) => ({ move, index }))
    .filter(({ index }) => isBarred || index === decision.played || index === decision.agent);
  const heading = el("h3", {}, GAME.names[decision.seat], " ", el("span", { class: `verdict ${decision.differs ? "differs" : ""}` }, verdict(decision)));
  return el("div", { class: "opinion" }, heading, el("ul", { class: "bars" }, rows.map(({ move, index }) => bar(decision, move, index))));
}

function verdict(decision) {
  if (decision.played === null) return word("not_known");
  if (decision.agent === null) return word("no_answer");
  return word(decision.differs ? "differs" : "agrees");
}

function bar(decision, move, index) {
  const isPlayed = index === decision.played, isAgent = index === decision.agent;
  const kinds = [isPlayed ? "played" : "", isAgent ? "agent" : "", move.move === "discard" ? "" : "question"];
  const marks = [isAgent ? el("em", { class: "mark-agent" }, word("mark_agent")) : null, isPlayed ? el("em", { class: "mark-played" }, word("mark_played")) : null];
  const filled = el("i");
  filled.style.width = `${100 * (move.p ?? 0)}%`;
  return el("li", { class: kinds.join(" ") },
    el("span", { class: "what" }, move.move === "discard" ? el("span", { class: "soft" }, tileName(move.faces[0])) : el("b", {}, word(move.move)), el("span", { class: "faces" }, tiles(move.faces))),
    el("span", { class: "bar" }, move.p === null ? null : filled, el("span", { class: "marks" }, marks)),
    el("span", { class: "value" }, move.p === null ? "" : percent(move.p)));
}

function drawDecision(step) {
  byId("agent-name").textContent = GAME.agent;
  const seen = step ? step.decisions.filter(isSeen) : [];
  fill(byId("opinions"), seen.length ? seen.map(opinion) : el("p", { class: "soft" }, word("no_decision")));
}

function drawResult(deal, step) {
  const panel = byId("result"), isEnd = step !== null && step.kind === "end";
  panel.hidden = !isEnd;
  if (!isEnd) return;
  const result = deal.result;
  const title = result.wins.length ? word(result.wins[0].seat === result.wins[0].loser ? "tsumo" : "ron") : word(`draw ${result.kind}`);
  const tenpai = result.tenpai.length ? el("p", {}, word("tenpai_seats", { names: result.tenpai.map((seat) => GAME.names[seat]).join(", ") })) : null;
  const isLast = place.deal + 1 === GAME.deals.length;
  fill(panel, el("h2", {}, `${dealName(deal)}: ${title}`), result.wins.map((win) => drawWin(win)),
    result.ura.length ? el("p", { class: "line" }, word("ura"), " ", tiles(result.ura)) : null, tenpai, drawChanges(deal),
    isLast && GAME.placement ? el("p", { class: "final" }, finalText()) : null);
}

function drawWin(win) {
  const isTsumo = win.seat === win.loser;
  const title = word(isTsumo ? "wins_tsumo" : "wins_ron", { name: GAME.names[win.seat], loser: GAME.names[win.loser] });
  const value = win.yakuman ? word("yakuman_count", { count: win.yakuman }) : word("han_fu", { han: win.han, fu: win.fu });
  const limit = win.limit && !win.yakuman ? ` · ${word(win.limit)}` : "";
  const yaku = [...win.yaku.map((name) => yakuName(name)), ...win.bonus.map(([name, count]) => `${word(name)} ${count}`)];
  return el("div", { class: "win" }, el("p", { class: "line" }, el("b", {}, title), " ", tile(win.face)),
    el("p", {}, `${value}${limit} · `, el("b", {}, word("points", { count: points(win.points) }))),
    el("ul", { class: "yaku" }, yaku.map((name) => el("li", {}, name))),
    win.liable === null ? null : el("p", { class: "soft" }, word("liable", { name: GAME.names[win.liable] })));
}

function drawChanges(deal) {
  return el("ul", { class: "changes" }, SEATS.map((seat) => {
    const delta = deal.after[seat] - deal.scores[seat];
    return el("li", {}, el("span", {}, GAME.names[seat]), el("span", { class: delta > 0 ? "up" : delta < 0 ? "down" : "soft" }, change(delta)), el("b", {}, points(deal.after[seat])));
  }));
}

function finalText() {
  const order = [...SEATS].sort((a, b) => GAME.placement[a] - GAME.placement[b]);
  return word("final", { order: order.map((seat, index) => `${index + 1}. ${GAME.names[seat]} ${points(GAME.final[seat])}`).join("  ") });
}

function drawPlayers(state) {
  fill(byId("players"), SEATS.map((seat) => {
    const waits = state[`waits${seat}`];
    const isOpen = isShown(seat, state);
    const button = el("button", { type: "button", class: "player", "aria-pressed": String(seat === place.seat), title: word("view_from", { name: GAME.names[seat] }) },
      el("b", { class: windOf(seat) === 0 ? "wind dealer" : "wind" }, word(`wind_short${windOf(seat)}`)), el("span", { class: "who" }, GAME.names[seat]),
      el("span", { class: "badges" }, state.riichi[seat] ? el("em", {}, word(state.riichi[seat] === 2 ? "double_riichi" : "riichi")) : null),
      el("span", { class: "waits" }, isOpen && waits.length ? [word("waits"), " ", tiles(waits)] : null),
      el("span", { class: "score" }, points(state.scores[seat])));
    button.addEventListener("click", () => go({ seat }));
    return button;
  }));
}

const RINSHAN_PLACES = [134, 135, 132, 133];

function drawWall(deal, state) {
  byId("wall-panel").hidden = !place.wall;
  if (!place.wall) return;
  const end = state.next + state.left;
  const live = deal.wall.slice(state.next, end), used = new Set(RINSHAN_PLACES.slice(0, state.rinshan));
  const rest = RINSHAN_PLACES.filter((number) => !used.has(number)).map((number) => deal.wall[number]);
  const indicators = [130, 128, 126, 124, 122];
  fill(byId("wall-tiles"), el("h3", {}, word("next_draws", { count: live.length })), el("div", { class: "small-tiles" }, tiles(live)),
    el("h3", {}, word("dead_wall")), el("div", { class: "small-tiles" },
      el("span", {}, word("rinshan"), " ", tiles(rest)), el("span", {}, word("dora"), " ", tiles(indicators.map((number) => deal.wall[number]))),
      el("span", {}, word("ura"), " ", tiles(indicators.map((number) => deal.wall[number + 1])))));
}
