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

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np

from suphx.games.dazhong.engine import start, step
from suphx.games.dazhong.table import (
    ENDED,
    MOVES,
    NO_SEAT,
    NUM_KINDS,
    NUM_SEATS,
    NUM_TILES,
    SEAT_NAMES,
    TABLE,
    Rules,
    move_text,
)
from suphx.games.mahjong.hand_tables import MAX_SEED
from suphx.games.mahjong.record_files import HandFiles
from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, kind_name
from suphx.kernel.record import Records

GAME = "dazhong"
OUTCOMES = ("wins", "self_drawn", "deal_ins", "tings", "calls", "fan", "win_fan")
"""Of a seat in a hand: 1 or 0, or a number of fan; a call is a meld with a discard of another seat."""
_KINDS = {kind_name(kind): kind for kind in range(NUM_KINDS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class HandRecord:
    """A hand, perhaps one that was not finished."""

    rules: Rules
    seed: int
    """Of the deal: the random moves of agents follow from it."""
    dealer: int
    wall: tuple[int, ...]
    """The kinds of all 108 tiles: four times 13 for the seats, then the draws."""
    moves: tuple[int, ...]
    players: tuple[str, ...]
    """Who played, by seat; empty if nobody knows."""
    outcomes: tuple[tuple[int, ...], ...] = field(default=(), compare=False)
    """What each seat did, by OUTCOMES, in a hand that was just played; empty if the record was read."""

    def __post_init__(self) -> None:
        if np.bincount(self.wall, minlength=NUM_KINDS).tolist() != [4] * NUM_KINDS:
            raise ValueError("the wall does not have four tiles of each of the 27 kinds")
        if not 0 <= self.seed < MAX_SEED:
            raise ValueError(f"the seed is {self.seed}: use 0 to 2**62 - 1")
        if len(self.players) not in (0, NUM_SEATS):
            raise ValueError(f"there are {len(self.players)} players: name four or none")

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of this hand."""
        return {
            "game": GAME,
            "seed": self.seed,
            "rules": asdict(self.rules),
            "dealer": SEAT_NAMES[self.dealer],
            "wall": "".join(map(kind_name, self.wall)),
            "players": list(self.players),
            "moves": list(map(move_text, self.moves)),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the hand of a JSON object; ValueError for another one."""
        try:
            wall = re.findall("..", values["wall"])
            return cls(
                rules=Rules(**values["rules"]),
                seed=int(values["seed"]),
                dealer=SEAT_NAMES.index(values["dealer"]),
                wall=tuple(_KINDS[name] for name in wall),
                moves=tuple(MOVES[move] for move in values["moves"]),
                players=tuple(map(str, values["players"])),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no hand of Dazhong: {error!r} is missing or wrong") from error


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
    table, suits, wall = tables[0], load_suits(), np.array(record.wall)
    table["seed"], table["dealer"] = record.seed, record.dealer
    table["wall"][np.argsort(wall, kind="stable")] = np.arange(NUM_TILES)
    start(table, suits)
    for number, move in enumerate(record.moves):
        if table["phase"] == ENDED or not table["legal"][move]:
            seat = SEAT_NAMES[table["actor"]]
            raise ValueError(f"move {number + 1}, {seat}: {move_text(move)} is not legal")
        tables[number + 1] = table
        table = tables[number + 1]
        step(table, suits, move)
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
