"""Many games side by side: give every waiting table its move, get the next decisions.

>>> simulator = Simulator(256, Rules())
>>> simulator.reset(seeds=range(256))
>>> while (waiting := simulator.waiting()).size:
...     offsets, legal = simulator.legal(waiting)  # the moves of table i: legal[offsets[i] : offsets[i + 1]]
...     simulator.advance(waiting, legal[offsets[:-1]])
>>> simulator.scores()  # float32 (256, 3)
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from suphx.games.doudizhu.engine.auction import Auction, deal_game
from suphx.games.doudizhu.engine.play import MAX_SEED as MAX_SEED
from suphx.games.doudizhu.engine.play import step
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.score import F32, scores_of
from suphx.games.doudizhu.engine.table import PLAYING, SEAT_NAMES, TABLE
from suphx.games.doudizhu.moves.legal import list_legal
from suphx.games.doudizhu.moves.move_table import Moves, move_text
from suphx.kernel.jit import jit
from suphx.kernel.record import I32, I64, Records
from suphx.kernel.table_indices import as_integers, check_in_range, index_fault

_MOVES_A_TABLE = 64  # for a start; the list grows when tables have more


class Simulator:
    """A batch of games; ``tables`` is the whole state, a TABLE record array (n,)."""

    def __init__(self, num_tables: int, rules: Rules) -> None:
        if num_tables < 1:
            raise ValueError(f"num_tables is {num_tables}: a simulator needs at least one table")
        self.rules = rules
        self.moves = rules.load_moves()
        self.tables: Records = np.zeros(num_tables, TABLE)
        self._legal = np.zeros(self.moves.num_moves + _MOVES_A_TABLE * num_tables, np.int32)

    def reset(self, seeds: Iterable[int], indices: ArrayLike | None = None) -> None:
        """Start a new game on the tables ``indices`` (None: all); cards come from ``seeds``, one for each table.

        ``indices``: integers (n,). With ``rules.bidding`` the seats bid as scripted agents do.
        ValueError for another number of seeds, one that is not in 0 … 2**62 - 1, or a table that is not there.
        """
        chosen = np.arange(len(self.tables)) if indices is None else as_integers(indices, "indices")
        all_seeds = as_integers(list(seeds), "seeds", chosen.size)
        if np.any(all_seeds < 0) or np.any(all_seeds >= MAX_SEED):
            raise ValueError(f"seeds must lie in 0 … 2**62 - 1, not {all_seeds.min()} … {all_seeds.max()}")
        check_in_range(chosen, len(self.tables))
        _deal(self.tables, self.moves, chosen, all_seeds, self.rules.bidding)

    def start(self, index: int, auction: Auction) -> None:
        """Start a game on the table ``index`` as ``auction`` ended; ValueError if it is not over."""
        auction.start(self.tables[index], self.moves)

    def waiting(self) -> I64:
        """Return the indices of the tables that wait for a move of their ``actor``."""
        return np.flatnonzero(self.tables["phase"] == PLAYING)

    def legal(self, indices: ArrayLike) -> tuple[I64, I32]:
        """Return the legal moves of the tables ``indices``, integers (n,), one after another.

        int64 (n + 1,): where the moves of each table begin, and the end of the last; int32 (m,): the moves. A table
        that does not wait has none. ValueError for a table that is not there.
        """
        places = as_integers(indices, "indices")
        offsets = np.zeros(len(places) + 1, np.int64)
        done = _list_moves(self.tables, self.moves, places, 0, self._legal, offsets)
        while 0 <= done < len(places):
            self._legal = np.concatenate([self._legal, np.zeros_like(self._legal)])
            done = _list_moves(self.tables, self.moves, places, done, self._legal, offsets)
        if done < 0:
            raise ValueError(index_fault(places, -1 - done, len(self.tables)))
        return offsets, self._legal[: offsets[-1]].copy()

    def advance(self, indices: ArrayLike, moves: ArrayLike) -> None:
        """Apply one move for each of the tables ``indices``; both are integers (n,).

        ValueError for a move that is not legal, a table that is not there, or one that is named twice.
        """
        places = as_integers(indices, "indices")
        numbers = as_integers(moves, "moves", places.size)
        chosen = np.clip(numbers, -1, self.moves.num_moves).astype(np.int32)
        bad = _first_illegal(self.tables, self.moves, places, chosen, self._legal)
        if bad >= 0:
            fault = index_fault(places, bad, len(self.tables))
            raise ValueError(fault or self._explain(int(places[bad]), int(numbers[bad])))
        advance_tables(self.tables, self.moves, places, chosen)

    def scores(self) -> F32:
        """Return float32 (n, 3): what each seat won or lost by ``rules.scoring``; 0 while a game goes on."""
        return scores_of(self.tables, self.rules.scoring)

    def _explain(self, index: int, move: int) -> str:
        table = self.tables[index]
        name = move_text(self.moves, move) if 0 <= move < self.moves.num_moves else f"move {move}"
        legal = [move_text(self.moves, int(other)) for other in self.legal(np.array([index]))[1]]
        more = ", …" if len(legal) > 20 else ""
        allowed = ", ".join(legal[:20]) + more if legal else "nothing, the table does not wait"
        return f"table {index}, {SEAT_NAMES[table['actor']]}: {name} is not legal; legal: {allowed}"


@jit
def _deal(tables: Records, m: Moves, indices: I64, seeds: I64, has_bidding: bool) -> None:
    for i in range(len(indices)):
        deal_game(tables[indices[i]], m, seeds[i], has_bidding)


@jit
def _list_moves(tables: Records, m: Moves, indices: I64, first: int, out: I32, offsets: I64) -> int:
    """List the moves of the tables from ``indices[first]`` on while ``out`` has room; return how many are done.

    -1 - i: ``indices[i]`` is no table.
    """
    for i in range(first, len(indices)):
        at = offsets[i]
        if len(out) - at < len(m.cards):
            return i
        if not 0 <= indices[i] < len(tables):
            return -1 - i
        t = tables[indices[i]]
        offsets[i + 1] = list_legal(m, t.hands[t.actor], t.to_beat, out, at) if t.phase == PLAYING else at
    return len(indices)


@jit
def _first_illegal(tables: Records, m: Moves, indices: I64, moves: I32, scratch: I32) -> int:
    """Return the position of the first move that is not legal, table that is not there or named before; -1: none."""
    is_named = np.zeros(len(tables), np.bool_)
    for i in range(len(indices)):
        if not 0 <= indices[i] < len(tables) or is_named[indices[i]]:
            return i
        is_named[indices[i]] = True
        t = tables[indices[i]]
        end = list_legal(m, t.hands[t.actor], t.to_beat, scratch, 0) if t.phase == PLAYING else 0
        is_legal = False
        for index in range(end):
            is_legal |= scratch[index] == moves[i]
        if not is_legal:
            return i
    return -1


@jit
def advance_tables(tables: Records, m: Moves, indices: I64, moves: I32) -> None:
    """Apply one legal move at each of the tables ``indices``."""
    for i in range(len(indices)):
        step(tables[indices[i]], m, moves[i])
