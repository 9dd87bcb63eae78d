"""Recorded hands: JSON, a hand a line; text for people; and all positions of a hand, played again by the rules.

A hand as text has the same values, one a line, and all its moves at the end::

    game: dazhong
    seed: 7
    ting: declared
    winners: all
    dealer: South
    wall: 3m9p…            (four times 13 tiles, East to North, then the draws)
    East: Anna
    moves: 9m, pung, 1s, chow 345m, ting 7p, win
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from suphx.games.dazhong.engine import start, step
from suphx.games.dazhong.table import (
    MOVES,
    NO_SEAT,
    NUM_KINDS,
    SEAT_NAMES,
    TABLE,
    Rules,
)
from suphx.games.mahjong.hand_record import TableRecord, set_wall
from suphx.games.mahjong.record_files import HandFiles
from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, kind_name
from suphx.kernel.record import Records

GAME = "dazhong"
OUTCOMES = ("wins", "self_drawn", "deal_ins", "tings", "calls", "fan", "win_fan")
"""Of a seat in a hand: 1 or 0, or a number of fan; a call is a meld with a discard of another seat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandRecord(TableRecord):
    """A hand; its wall is four times 13 tiles for the seats, then the draws."""

    game = GAME
    title = "hand of Dazhong"
    seat_names = SEAT_NAMES
    new_rules = Rules
    kinds = MappingProxyType({kind_name(kind): kind for kind in range(NUM_KINDS)})
    moves_by_text = MappingProxyType(MOVES)
    step = staticmethod(step)
    dealer: int

    def own_values(self) -> dict[str, Any]:
        """Return the dealer."""
        return {"dealer": SEAT_NAMES[self.dealer]}

    @classmethod
    def own_fields(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the dealer."""
        return {"dealer": SEAT_NAMES.index(values["dealer"])}


def new_tables(num_tables: int, rules: Rules) -> Records:
    """Return empty tables, TABLE (n,), for hands with these rules."""
    tables: Records = np.zeros(num_tables, TABLE)
    tables["declares"], tables["several_winners"] = rules.ting == "declared", rules.winners == "all"
    return tables


def record_of(table: np.void, rules: Rules, players: Sequence[str] = ()) -> HandRecord:
    """Return the record of a hand at a table, finished or not."""
    loser = int(table["loser"])
    by_seat = zip(*(table[name].tolist() for name in ("ready", "meld_type", "fan", "win_fan")), strict=True)
    outcomes = tuple(
        (win > 0, win > 0 and loser == NO_SEAT, seat == loser, ready, not {0, ANKAN_MELD}.issuperset(melds), fan, win)
        for seat, (ready, melds, fan, win) in enumerate(by_seat)
    )
    return HandRecord(
        rules=rules,
        seed=int(table["seed"]),
        dealer=int(table["dealer"]),
        wall=tuple((table["wall"] >> 2).tolist()),
        moves=tuple(table["moves"][: table["num_decisions"]].tolist()),
        players=tuple(players),
        outcomes=outcomes,
    )


def positions(record: HandRecord) -> Records:
    """Return TABLE (moves + 1,): the hand before each move, and after the last one; ValueError for an illegal move."""
    tables = new_tables(len(record.moves) + 1, record.rules)
    tables[0]["seed"], tables[0]["dealer"] = record.seed, record.dealer
    set_wall(tables[0], record.wall)
    start(tables[0], load_suits())
    record.play(tables)
    return tables


def record_text(record: HandRecord) -> str:
    """Return the text of a hand."""
    values = record.to_json()
    rules, players, moves = values.pop("rules"), values.pop("players"), values.pop("moves")
    lines = values | rules | dict(zip(SEAT_NAMES, players, strict=False)) | {"moves": ", ".join(moves)}
    return "".join(f"{name}: {value}\n" for name, value in lines.items())


def parse_text(text: str) -> HandRecord:
    """Return the hand of a text; ValueError for another text."""
    lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    values: dict[str, Any] = {name: lines[name] for name in ("seed", "dealer", "wall") if name in lines}
    rules = {name: lines[name] for name in ("ting", "winners") if name in lines}
    moves = [move.strip() for move in lines.get("moves", "").split(",") if move.strip()]
    players = [lines[seat] for seat in SEAT_NAMES if seat in lines]
    return HandRecord.from_json({**values, "rules": rules, "moves": moves, "players": players})


FILES = HandFiles({}, HandRecord.from_json, parse_text, record_text, word="hand")
