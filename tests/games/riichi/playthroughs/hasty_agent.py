"""A scripted agent that wins, declares riichi and kans and calls whenever it can: its games have some of everything."""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.table import ANKAN, NINE_TERMINALS, PASS, PON, RIICHI, RON, TSUMO
from suphx.kernel.record import I16, I64, Records
from tests.games.riichi.builders.games import shanten_after

FIRST = (TSUMO, RON, RIICHI, NINE_TERMINALS)


class HastyAgent:
    """What it does follows from the table alone, by whole numbers: the same on every machine."""

    def __init__(self, calls_one_in: int) -> None:
        """``calls_one_in``: it makes about every so many-th call that it could make."""
        self.name = f"hasty-{calls_one_in}"
        self._calls_one_in = calls_one_in

    def act(self, tables: Records, indices: I64) -> I16:
        """Return an action for each of the tables ``indices``."""
        return np.array([self._choose(tables[i]) for i in indices.tolist()], np.int16)

    def _choose(self, table: np.void) -> int:
        legal = np.flatnonzero(table["legal"]).tolist()
        kans = [action for action in legal if ANKAN <= action < TSUMO]
        certain = [action for action in FIRST if action in legal] + kans
        if certain:
            return int(certain[0])
        number = int(table["num_decisions"]) * 7919 + int(table["kyoku"]) * 31
        if PASS in legal:
            calls = [action for action in legal if PON <= action < PASS]
            return int(calls[number % len(calls)]) if calls and number % self._calls_one_in == 0 else PASS
        return int(min(legal, key=lambda action: (shanten_after(table, action), action * number % 37, action)))
