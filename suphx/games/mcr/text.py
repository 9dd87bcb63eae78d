"""A game of MCR as people read and type it: in the terminal, and step by step on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, add_meld
from suphx.games.mahjong.viewer import CALLED, shown_steps
from suphx.games.mcr.fans import FANS
from suphx.games.mcr.record import GAME, GameRecord, positions, winning_fans
from suphx.games.mcr.table import (
    CLAIM,
    ENDED,
    KIND_NAMES,
    KONG,
    MOVES,
    NAME_ORDER,
    NO_KIND,
    NO_SEAT,
    NUM_KINDS,
    NUM_SEATS,
    OWN_TURN,
    SEAT_NAMES,
    Rules,
    move_text,
)
from suphx.games.mcr.tables import McrTables

_MOVES = {text.lower(): move for text, move in MOVES.items()}


class McrText:
    """The game in the terminal, with the tile names of the game."""

    help = (
        "Tiles: W1-W9 are characters, T1-T9 bamboo, B1-B9 dots, F1-F4 east to north, J1-J3 red, green, white dragon.",
        "Moves: a tile discards it; 'kong W5', 'chow T5' (T5 is its middle tile), 'pung', 'win', 'pass'.",
    )

    def move_text(self, rules: Rules, move: int) -> str:
        """Return a move as people write it."""
        return move_text(move)

    def read_move(self, rules: Rules, text: str) -> int:
        """Return the move that a person typed; ValueError for another text."""
        move = _MOVES.get(" ".join(text.lower().split()))
        if move is None:
            raise ValueError(f"{text!r} is no move: type one of those in the list")
        return move

    def seat_lines(self, tables: McrTables, index: int, seat: int) -> list[str]:
        """Return what a seat sees at a table, as lines of text: nothing that is hidden from it."""
        t = tables.state[index]
        lines = [f"Round wind: {SEAT_NAMES[t['round_wind']]}"]
        for other in range(NUM_SEATS):
            parts = [f"{SEAT_NAMES[other]}{' (you)' if other == seat else ''}: {t['wall_left'][other]} in the wall;"]
            parts += [_meld(t, other, place, is_own=other == seat) for place in range(t["num_melds"][other])]
            number = t["num_discards"][other]
            river = zip(t["river"][other, :number].tolist(), t["is_taken"][other, :number].tolist(), strict=True)
            lines.append(" ".join([*parts, "discards", *(KIND_NAMES[kind] for kind, taken in river if not taken)]))
        if t["phase"] not in (OWN_TURN, ENDED):
            what = "discards" if t["phase"] == CLAIM else "adds to a pung"
            lines.append(f"{SEAT_NAMES[t['turn']]} {what} {KIND_NAMES[t['claimed']]}")
        is_own_draw = t["drawn"] != NO_KIND and t["turn"] == seat and t["phase"] == OWN_TURN
        drawn = f", drawn {KIND_NAMES[t['drawn']]}" if is_own_draw else ""
        lines.append(f"Your hand: {tiles_text(t['hand'][seat])}{drawn}")
        if t["phase"] != ENDED and t["actor"] == seat:
            lines.append("Your moves: " + ", ".join(move_text(int(move)) for move in np.flatnonzero(t["legal"])))
        return lines

    def end_lines(self, tables: McrTables, index: int) -> list[str]:
        """Return how a game ended, as lines of text."""
        t = tables.state[index]
        scores = ", ".join(f"{name} {score:+d}" for name, score in zip(SEAT_NAMES, t["score"].tolist(), strict=True))
        return [end_text(t), *([f"Scores: {scores}"] if t["phase"] == ENDED else [])]


def tiles_text(counts: np.typing.NDArray[np.integer]) -> str:
    """Return counts by kind as text: ``W123 T55 F1``."""
    names = [KIND_NAMES[kind] for kind in NAME_ORDER for _ in range(counts[kind])]
    groups = {suit: "".join(name[1] for name in names if name[0] == suit) for suit in "WTBFJ"}
    return " ".join(suit + ranks for suit, ranks in groups.items() if ranks)


def end_text(table: Any) -> str:
    """Return how a game ended."""
    if table["phase"] != ENDED:
        return "not finished"
    if table["offender"] != NO_SEAT:
        return f"an illegal reply of {SEAT_NAMES[table['offender']]}"
    winner, loser = int(table["winner"]), int(table["loser"])
    if winner == NO_SEAT:
        return "draw: a wall is empty"
    fans = ", ".join(fan_texts(table))
    melds = "".join(f" {_meld(table, winner, place, is_own=True)}" for place in range(table["num_melds"][winner]))
    how = "drawn" if loser == NO_SEAT else f"from {SEAT_NAMES[loser]}"
    hand = f"{tiles_text(table['hand'][winner])}{melds}: {KIND_NAMES[table['win_kind']]}, {how}"
    return f"{SEAT_NAMES[winner]} wins {table['win_fan']} fan with {hand} ({fans})"


def fan_texts(table: Any) -> list[str]:
    """Return the fans of the winner at a table with their values: ``All Chows 2``."""
    return [
        f"{FANS[number - 1][0]} {FANS[number - 1][2]}{f' x {count}' if count > 1 else ''}"
        for number, count in winning_fans(table)
    ]


def viewer_game(records: Sequence[GameRecord], opinions: Any = None, *, first: int = 1) -> dict[str, Any]:
    """Return recorded games for the page; ValueError names the game with an illegal move."""
    deals = []
    for number, record in enumerate(records, first):
        try:
            deals.append({"number": number, **_deal(record)})
        except ValueError as error:
            raise ValueError(f"game {number}: {error}") from error
    return {"game": GAME, "names": list(SEAT_NAMES), "agent": None, "deals": deals}


def _deal(record: GameRecord) -> dict[str, Any]:
    tables = positions(record)
    told = [("discard", move) if move < KONG else None for move in record.moves]
    start, steps = shown_steps(tables, told, _more)
    last = tables[-1]
    winner, loser = int(last["winner"]), int(last["loser"])
    kind = "not finished" if last["phase"] != ENDED else "empty wall"
    kind = "illegal reply" if last["offender"] != NO_SEAT else kind if winner == NO_SEAT else "win"
    win = {
        "seat": winner,
        "loser": winner if loser == NO_SEAT else loser,
        "face": int(last["win_kind"]),
        "fan": int(last["win_fan"]),
        "fans": fan_texts(last),
    }
    return {
        "dealer": 0,
        "round": record.round_wind,
        "players": list(record.players) or None,
        "start": start,
        "steps": steps,
        "result": {"kind": kind, "wins": [win] * (kind == "win")},
        "after": last["score"].tolist(),
    }


def _more(table: Any) -> dict[str, Any]:
    winner, taken = int(table["winner"]), CALLED * table["is_taken"].astype(np.int64)
    rivers = {
        f"river{seat}": (table["river"][seat] + taken[seat])[: table["num_discards"][seat]].tolist()
        for seat in range(NUM_SEATS)
    }
    more = {"scores": table["score"].tolist(), "is_ended": bool(table["phase"] == ENDED), "open": [], **rivers}
    return more if winner == NO_SEAT else more | {"open": [winner], "drawn": [[winner, int(table["win_kind"])]]}


def _meld(table: Any, seat: int, place: int, *, is_own: bool) -> str:
    """Return a meld as text; of a concealed kong others see only that it is there."""
    meld_type, kind = int(table["meld_type"][seat, place]), int(table["meld_kind"][seat, place])
    if meld_type == ANKAN_MELD and not is_own:
        return "[concealed kong]"
    counts = np.zeros(NUM_KINDS, np.int64)
    add_meld(counts, meld_type, kind, 1)
    return f"[{tiles_text(counts)}]"
