"""Many hanchans side by side: give every waiting table its action, get the next decisions.

>>> simulator = Simulator(256, tenhou())
>>> simulator.reset(seeds=range(256))
>>> while (waiting := simulator.waiting()).size:
...     simulator.advance(waiting, choose(simulator.tables[waiting]))
>>> simulator.placements()  # int8 (256, 4)
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.riichi import table as codes
from suphx.games.riichi.ending import end_kyoku, start_game
from suphx.games.riichi.kyoku import start_kyoku, step
from suphx.games.riichi.rules import Rules, apply_rules
from suphx.games.riichi.table import TABLE, Table, action_name, shuffle_wall
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I16, I32, I64, Records, as_integers, check_in_range, index_fault

MAX_SEED = 2**62


class Simulator:
    """A batch of hanchans over a shared lookup table; ``tables`` is the whole state, a TABLE record array (n,)."""

    def __init__(
        self, num_tables: int, rules: Rules, *, stops_at_kyoku_end: bool = False, has_draw_lanes: bool = False
    ) -> None:
        """Make ``num_tables`` empty tables; with ``stops_at_kyoku_end`` a finished deal waits for ``next_kyoku``.

        With ``has_draw_lanes`` every seat draws from its own positions of the wall (kyoku.py).
        """
        if num_tables < 1:
            raise ValueError(f"num_tables is {num_tables}: a simulator needs at least one table")
        self.rules = rules
        self.tables: Records = np.zeros(num_tables, TABLE)
        self.stops_at_kyoku_end = stops_at_kyoku_end
        self._has_draw_lanes = has_draw_lanes

    def reset(self, seeds: Iterable[int], indices: ArrayLike | None = None) -> None:
        """Start a new game on the tables ``indices`` (None: all); walls come from ``seeds``, one for each table.

        ``indices``: integers (n,). ValueError for another number of seeds, one that is not in 0 … 2**62 - 1, or a table
        that is not there or named twice.
        """
        chosen = np.arange(len(self.tables)) if indices is None else as_integers(indices, "indices")
        all_seeds = as_integers(list(seeds), "seeds", chosen.size)
        if np.any(all_seeds < 0) or np.any(all_seeds >= MAX_SEED):
            raise ValueError(f"seeds must lie in 0 … 2**62 - 1, not {all_seeds.min()} … {all_seeds.max()}")
        check_in_range(chosen, len(self.tables))
        if np.unique(chosen).size < chosen.size:
            raise ValueError("a table is named twice: give each one seed")
        tables = self.tables[chosen]
        apply_rules(tables, self.rules)
        tables["wall_seed"] = all_seeds
        tables["has_draw_lanes"] = self._has_draw_lanes
        _start_games(tables, load_suits(), self.rules.start_points)
        self.tables[chosen] = tables

    def waiting(self) -> I64:
        """Return the indices of the tables that wait for a decision of their ``actor``."""
        return np.flatnonzero(self.tables["num_legal"])

    def at_kyoku_end(self) -> I64:
        """Return the indices of the tables whose deal is over and not yet taken away by ``next_kyoku``."""
        return np.flatnonzero(self.tables["phase"] == codes.KYOKU_END)

    def advance(self, indices: ArrayLike, actions: ArrayLike) -> None:
        """Apply one action for each of the tables ``indices``; both are integers (n,).

        ValueError for an action that is not legal, a table that is not there, or one that is named twice.
        """
        places = as_integers(indices, "indices")
        numbers = as_integers(actions, "actions", places.size)
        chosen = np.clip(numbers, -1, codes.NUM_ACTIONS).astype(np.int16)
        bad = _first_illegal(self.tables, places, chosen)
        if bad >= 0:
            if fault := index_fault(places, bad, len(self.tables)):
                raise ValueError(fault)
            table = self.tables[places[bad]]
            allowed = ", ".join(action_name(int(a)) for a in np.flatnonzero(table["legal"]))
            raise ValueError(
                f"table {places[bad]}, seat {table['actor']}: {action_name(int(numbers[bad]))} is not legal; "
                f"legal: {allowed or 'nothing, the table does not wait'}"
            )
        _advance(self.tables, load_suits(), places, chosen, not self.stops_at_kyoku_end)

    def next_kyoku(self, indices: ArrayLike) -> None:
        """Go on from the end of a deal to the next one or to the end of the game; ValueError for a table without."""
        places = as_integers(indices, "indices")
        check_in_range(places, len(self.tables))
        if (empty := places[self.tables["num_winds"][places] == 0]).size:
            raise ValueError(f"table {empty[0]} has no game: reset it first")
        _next_kyoku(self.tables, load_suits(), places)

    def placements(self) -> I8:
        """Return int8 (n, 4): places 1-4 by seat, 0 while a game goes on."""
        return np.array(self.tables["placement"])

    def scores(self) -> I32:
        """Return int32 (n, 4): points by seat."""
        return np.array(self.tables["scores"])


@jit
def deal_next(t: Table, suits: Suits) -> None:
    """From KYOKU_START: make the wall of the table's seed, kyoku and honba, and deal it."""
    shuffle_wall(t.wall_seed, t.kyoku, t.honba, t.wall)
    t.num_kyoku += 1
    start_kyoku(t, suits)


@jit
def finish_kyoku(t: Table, suits: Suits) -> None:
    """From KYOKU_END: count the deal; go on to the next one unless the game is over."""
    end_kyoku(t)
    if t.phase != codes.GAME_END:
        deal_next(t, suits)


@jit
def _start_games(tables: Records, suits: Suits, start_points: int) -> None:
    for i in range(len(tables)):
        start_game(tables[i], start_points)
        deal_next(tables[i], suits)


@jit
def _first_illegal(tables: Records, indices: I64, actions: I16) -> int:
    """Return the position of the first action that is not legal, table that is not there or named before; -1: none."""
    is_named = np.zeros(len(tables), np.bool_)
    for i in range(len(indices)):
        if not 0 <= indices[i] < len(tables) or is_named[indices[i]]:
            return i
        is_named[indices[i]] = True
        if not 0 <= actions[i] < 120 or tables[indices[i]].legal[actions[i]] == 0:
            return i
    return -1


@jit
def _advance(tables: Records, suits: Suits, indices: I64, actions: I16, goes_on: bool) -> None:
    for i in range(len(indices)):
        t = tables[indices[i]]
        step(t, suits, actions[i])
        if goes_on and t.phase == codes.KYOKU_END:
            finish_kyoku(t, suits)


@jit
def _next_kyoku(tables: Records, suits: Suits, indices: I64) -> None:
    for i in range(len(indices)):
        if tables[indices[i]].phase == codes.KYOKU_END:
            finish_kyoku(tables[indices[i]], suits)
        elif tables[indices[i]].phase == codes.KYOKU_START:
            deal_next(tables[indices[i]], suits)
