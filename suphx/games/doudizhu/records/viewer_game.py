"""Recorded games as plain values for the viewer's page: states, steps, decisions and results.

Cards are ranks (0-14, the red joker is 14). A game begins with 17 cards a hand. There is a step for each bid, if the
rules have bidding, one in which the landlord takes the bottom cards, one for each move, and one for the end. The
decisions of a step are those of the seat that is to move after it. A step has only what it changes in the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suphx.games.doudizhu.cards import NUM_RANKS
from suphx.games.doudizhu.moves import KIND_NAMES, Moves
from suphx.games.doudizhu.records.game_record import GAME, GameRecord, positions
from suphx.games.doudizhu.table import GAME_END, LANDLORD, NO_SEAT, NUM_SEATS, SEAT_NAMES, scores_of
from suphx.games.game import CandidateOpinion, Opinions

SHOWN_CANDIDATES = 5
"""Candidates of a decision that are shown, beside the move that was played."""
_FACE_DOWN = -1


def viewer_game(
    records: Sequence[GameRecord], opinions: Sequence[Opinions] | None = None, *, first: int = 1
) -> dict[str, Any]:
    """Return ``{"game", "names", "agent", "num_decisions", "num_differences", "deals"}``; a deal is one game.

    ``opinions``: of an agent on each game. ``first``: number of the first game. ValueError names the game and the move
    that is not legal.
    """
    asked: Sequence[Opinions | None] = [None] * len(records) if opinions is None else opinions
    deals = []
    for number, pair in enumerate(zip(records, asked, strict=True), first):
        try:
            deals.append(_deal(number, *pair))
        except ValueError as error:
            raise ValueError(f"game {number}: {error}") from error
    decisions = [each for deal in deals for step in deal["steps"] for each in step["decisions"]]
    return {
        "game": GAME,
        "names": list(SEAT_NAMES),
        "agent": None,
        "num_decisions": len(decisions),
        "num_differences": sum(each["differs"] for each in decisions),
        "deals": deals,
    }


def _deal(number: int, record: GameRecord, opinions: Opinions | None) -> dict[str, Any]:
    tables, moves = positions(record), record.rules.load_moves()
    end = tables[-1]
    decisions: list[list[dict[str, Any]]] = [[] for _ in tables]
    for index, opinion in enumerate(opinions or ()):
        if len(opinion.candidates) > 1:  # the agent was asked and had a choice
            played = int(tables[index + 1]["moves"][index])
            decisions[index] = [_decision(int(tables[index]["actor"]), index // NUM_SEATS + 1, played, moves, opinion)]
    bottom, hand = _descending(int(tables[0]["bottom"])), _descending(int(tables[0]["hands"][LANDLORD]))
    changes: dict[str, Any] = {f"hand{LANDLORD}": hand, "bottom": bottom, "turn": LANDLORD}
    taken = {"kind": "bottom", "seat": LANDLORD, "faces": bottom, "changes": changes, "decisions": decisions[0]}
    steps = [*_bid_steps(record), taken]
    last: list[dict[str, Any] | None] = [None] * NUM_SEATS
    for index in range(len(record.moves)):
        steps.append(_step(tables[index], tables[index + 1], moves, last) | {"decisions": decisions[index + 1]})
        last = steps[-1]["changes"]["last"]
    is_over = bool(end["phase"] == GAME_END)
    if is_over:
        changes = {"turn": NO_SEAT, "open": list(range(NUM_SEATS))}
        steps.append({"kind": "end", "seat": int(end["winner"]), "faces": [], "changes": changes, "decisions": []})
    return {
        "number": number,
        "players": record.players and list(record.players),
        "start": _start(tables[0]),
        "steps": steps,
        "result": {
            "winner": int(end["winner"]) if is_over else None,
            "bombs": int(end["num_bombs"]),
            "stake": int(end["stake"]) * 2 ** int(end["num_bombs"]),
            "points": [int(points) for points in scores_of(tables[-1:], "points")[0]],
        },
    }


def _start(table: np.void) -> dict[str, Any]:
    """Return the state before the landlord takes the bottom cards."""
    hands = table["hands"].tolist()
    hands[LANDLORD] -= int(table["bottom"])
    state: dict[str, Any] = {f"hand{seat}": _descending(hand) for seat, hand in enumerate(hands)}
    state |= {"bottom": [_FACE_DOWN] * 3, "last": [None] * NUM_SEATS, "open": []}
    return state | {"turn": NO_SEAT, "to_beat": NO_SEAT, "bombs": 0, "stake": 1}


def _bid_steps(record: GameRecord) -> list[dict[str, Any]]:
    """Return a step for each bid; its faces are none, and its stake counts from then on."""
    steps = []
    for name, bid in record.bids:
        changes = {"stake": bid} if bid else {}
        kind, seat = "bid" if bid else "no bid", SEAT_NAMES.index(name)
        steps.append({"kind": kind, "seat": seat, "faces": [], "bid": bid, "changes": changes, "decisions": []})
    return steps


def _step(before: np.void, after: np.void, moves: Moves, last: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    """Return the move between two positions; ``last``: what each seat has played last before it."""
    seat, move = int(before["actor"]), int(after["moves"][int(before["num_moves"])])
    pass_move = moves.num_moves - 1
    kind = KIND_NAMES[moves.kinds[move]]
    faces = _grouped(int(moves.cards[move]))
    leads = after["to_beat"] == pass_move
    is_lead = bool(before["to_beat"] == pass_move)
    shown = [each and {**each, "is_old": each["is_old"] or is_lead} for each in last]
    shown[seat] = {"faces": faces, "type": kind, "is_old": False}
    to_beat = NO_SEAT if leads else (seat - int(after["num_passes"])) % NUM_SEATS
    changes = {
        "last": shown,
        "turn": NO_SEAT if after["phase"] == GAME_END else int(after["actor"]),
        "to_beat": to_beat,
        "bombs": int(after["num_bombs"]),
    }
    if faces:
        changes[f"hand{seat}"] = _descending(int(after["hands"][seat]))
    return {"kind": "play" if faces else "pass", "seat": seat, "faces": faces, "type": kind, "changes": changes}


def _decision(seat: int, turn: int, played: int, moves: Moves, opinion: CandidateOpinion) -> dict[str, Any]:
    """Return ``{"seat", "turn", "moves", "played", "agent", "differs", "more"}``.

    ``moves``: [{"faces", "type", "value", "p"}], the best ones first, and the played one; ``p`` is the length
    of a bar for the value, 0 to 1; ``played`` and ``agent`` are places among them; ``more``: candidates left out.
    """
    candidates, values = opinion.candidates, opinion.values
    place = int(np.flatnonzero(candidates == played)[0])
    order = [opinion.chosen] if values is None else np.argsort(-values, kind="stable")[:SHOWN_CANDIDATES].tolist()
    order += [each for each in (opinion.chosen, place) if each not in order]
    order = list(dict.fromkeys(order))
    bound = 1.0 if values is None else max(1.0, float(np.abs(values).max()))
    shown = []
    for each in order:
        move, value = int(candidates[each]), None if values is None else float(values[each])
        faces = _grouped(int(moves.cards[move]))
        shown.append(
            {
                "faces": faces,
                "type": KIND_NAMES[moves.kinds[move]],
                "value": None if value is None else round(value, 4),
                "p": None if value is None else round((value + bound) / (2 * bound), 4),
            }
        )
    return {
        "seat": seat,
        "turn": turn,
        "moves": shown,
        "played": order.index(place),
        "agent": order.index(opinion.chosen),
        "differs": place != opinion.chosen,
        "more": len(candidates) - len(order),
    }


def _descending(cards: int) -> list[int]:
    return [rank for rank in reversed(range(NUM_RANKS)) for _ in range(cards >> 4 * rank & 15)]


def _grouped(cards: int) -> list[int]:
    """Return the cards of a move: what there is most of first, such as a trio before its kicker."""
    counts = [(rank, cards >> 4 * rank & 15) for rank in range(NUM_RANKS)]
    return [rank for rank, count in sorted(counts, key=lambda pair: -pair[1]) for _ in range(count)]
