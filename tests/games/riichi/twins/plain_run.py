"""Part of a random game, for runs without the compiler or with bounds checks; prints what came of it.

Without the compiler numpy records have no attributes, and their int8 values overflow where compiled code computes with
64 bits. So the state is then an object of Python numbers. A script: its argument is the number of decisions.
"""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np

from suphx.games.mahjong.shanten import load_suits
from suphx.games.riichi import yaku
from suphx.games.riichi.ending import start_game
from suphx.games.riichi.kyoku import step
from suphx.games.riichi.rules import apply_rules, tenhou
from suphx.games.riichi.shanten import shanten
from suphx.games.riichi.simulator import deal_next, finish_kyoku
from suphx.games.riichi.table import GAME_END, KYOKU_END, PASS, RIICHI, RON, TABLE, TSUMO, TSUMOGIRI
from suphx.games.riichi.tile import kind_of_face

SHOWN = (
    "scores",
    "kyoku",
    "honba",
    "kyotaku",
    "river",
    "river_flags",
    "meld_kind",
    "hand",
    "waits",
    "legal",
    "placement",
)


def plain(table: np.void) -> Any:
    """Return a table record as an object of Python numbers and arrays of them."""
    assert TABLE.names is not None
    return SimpleNamespace(**{name: _plain_field(table[name]) for name in TABLE.names})


def _plain_field(value: Any) -> Any:
    return value.astype(object) if isinstance(value, np.ndarray) else int(value)


class _PlainNumpy:
    """Gives yaku.py scratch arrays of Python numbers."""

    int8 = np.int8

    @staticmethod
    def empty(shape: tuple[int, ...], _: type) -> Any:
        return np.zeros(shape, object)


def run(num_decisions: int) -> None:
    """Play ``num_decisions`` of a game and print the state."""
    tables = np.zeros(1, TABLE)
    apply_rules(tables, tenhou())
    tables["wall_seed"] = 1
    table: Any = tables[0]
    suits: Any = load_suits()
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        table = plain(table)
        vars(yaku)["np"] = _PlainNumpy
    start_game(table, 25_000)
    deal_next(table, suits)
    for number in range(num_decisions):
        step(table, suits, _choose(table, suits, number))
        if _get(table, "phase") == KYOKU_END:
            print([int(x) for x in _get(table, "win_yaku")], [int(x) for x in _get(table, "deltas")])
            finish_kyoku(table, suits)
        if _get(table, "phase") == GAME_END:
            break
    for name in SHOWN:
        print(name, np.asarray(_get(table, name)).astype(np.int64).tolist())


def _choose(table: Any, suits: Any, number: int) -> int:
    """Return an action: a win, riichi, every third possible call, else the discard that keeps the least shanten."""
    legal = [action for action in range(PASS + 1) if _get(table, "legal")[action]]
    for action in (TSUMO, RON, RIICHI):
        if action in legal:
            return action
    if PASS in legal:
        return legal[0] if number % 3 == 0 else PASS
    discards = [action for action in legal if action <= TSUMOGIRI]
    seat = int(_get(table, "actor"))

    def shanten_after(action: int) -> int:
        hand = _get(table, "hand")[seat].copy()
        hand[kind_of_face(int(_get(table, "drawn")) if action == TSUMOGIRI else action)] -= 1
        return int(shanten(suits, hand, int(_get(table, "num_melds")[seat])))

    return legal[-1] if number % 5 == 0 else min(discards, key=shanten_after)


def _get(table: Any, name: str) -> Any:
    return table[name] if isinstance(table, np.void) else getattr(table, name)


if __name__ == "__main__":
    run(int(sys.argv[1]))
