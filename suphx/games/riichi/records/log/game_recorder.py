"""Writes down the games of a Simulator: tables become GameLogs, for mjlog, mjai, statistics and the replay.

>>> simulator = Simulator(256, rules, stops_at_kyoku_end=True)
>>> recorder = GameRecorder(simulator)
>>> recorder.begin_kyokus(indices)  # after simulator.reset and simulator.next_kyoku
>>> recorder.advance(indices, actions)  # instead of simulator.advance
>>> recorder.take_kyokus(simulator.at_kyoku_end())  # before simulator.next_kyoku
>>> log = recorder.finish(table_index, "game-1", names)  # at GAME_END
"""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.engine.simulator import Simulator
from suphx.games.riichi.records.log.gamelog import ACTION_BITS, GameLog, KyokuLog, empty_result
from suphx.games.riichi.table.action import PASS, PON, RON
from suphx.games.riichi.table.table import CLAIM, GAME_END, RESULT, ROB_KAN, WIN_RESULT, Table
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I16, I64, U16, Records

_MAX_MOVES = 256  # a deal has at most 70 draws with a discard each, 4 riichi, 16 melds with a discard, 3 wins


class GameRecorder:
    """Keeps the moves of the running deal of every table, and the finished deals."""

    def __init__(self, simulator: Simulator) -> None:
        """Follow ``simulator``, which must stop at the end of every deal; ValueError otherwise."""
        if not simulator.stops_at_kyoku_end:
            raise ValueError("the simulator goes on by itself: make it with stops_at_kyoku_end=True to record games")
        self._simulator = simulator
        num_tables = len(simulator.tables)
        self._moves = np.zeros((num_tables, _MAX_MOVES), np.uint16)
        self._num_moves = np.zeros(num_tables, np.int64)
        self._kyokus: list[list[KyokuLog]] = [[] for _ in range(num_tables)]
        self._starts = simulator.tables[["honba", "kyotaku", "scores"]].copy()

    def advance(self, indices: I64, actions: I16) -> None:
        """Advance the simulator and write down what came of it: granted claims only, no passes."""
        tables = self._simulator.tables
        actors = tables["actor"][indices]
        was_window = np.isin(tables["phase"][indices], (CLAIM, ROB_KAN)).astype(np.int8)
        self._simulator.advance(indices, actions)
        _record(tables, indices, np.asarray(actions, np.int16), actors, was_window, self._moves, self._num_moves)

    def take_kyokus(self, indices: I64) -> None:
        """Keep the finished deals of the tables ``indices``, which stand at KYOKU_END."""
        for i in indices.tolist():
            kyoku = self.running_kyoku(i)
            for name in RESULT.names or ():
                kyoku.result[name] = self._simulator.tables[i][name]
            self._kyokus[i].append(kyoku)
            self._num_moves[i] = 0

    def running_kyoku(self, index: int) -> KyokuLog:
        """Return the deal of table ``index`` as far as it has been played, with an empty result."""
        table, start = self._simulator.tables[index], self._starts[index]
        first, second, third, fourth = start["scores"].tolist()
        return KyokuLog(
            kyoku=int(table["kyoku"]),
            honba=int(start["honba"]),
            kyotaku=int(start["kyotaku"]),
            scores=(first, second, third, fourth),
            wall=table["wall"].astype(np.uint8),
            is_wall_from_seed=False,
            moves=self._moves[index, : self._num_moves[index]].copy(),
            result=empty_result(),
        )

    def finished_kyokus(self, index: int) -> list[KyokuLog]:
        """Return the finished deals of the game at table ``index``."""
        return list(self._kyokus[index])

    def begin_kyokus(self, indices: I64) -> None:
        """Note how the new deals of the tables ``indices`` start; call it after ``next_kyoku`` and after ``reset``.

        After ``reset`` what was written down of the game before is forgotten.
        """
        tables = self._simulator.tables
        self._num_moves[indices] = 0
        is_first = (tables["num_kyoku"][indices] == 1) & (tables["phase"][indices] != GAME_END)
        for index in indices[is_first].tolist():
            self._kyokus[index] = []
        for name in ("honba", "kyotaku", "scores"):
            self._starts[name][indices] = tables[name][indices]

    def finish(self, index: int, game_id: str, names: tuple[str, str, str, str]) -> GameLog:
        """Return the game of table ``index`` and forget it; ValueError if the table is not at GAME_END."""
        table = self._simulator.tables[index]
        if table["phase"] != GAME_END:
            raise ValueError(f"table {index} is in phase {table['phase']}: a game is finished at GAME_END")
        kyokus, self._kyokus[index] = self._kyokus[index], []
        first, second, third, fourth = table["scores"].tolist()
        return GameLog(
            id=game_id,
            rules=self._simulator.rules,
            names=names,
            kyokus=kyokus,
            final_scores=(first, second, third, fourth),
        )


@jit
def _record(
    tables: Records, indices: I64, actions: I16, actors: I8, was_window: I8, moves: U16, num_moves: I64
) -> None:  # fmt: skip
    for n in range(len(indices)):
        i = indices[n]
        if was_window[n]:
            num_moves[i] = _add_claims(tables[i], moves[i], num_moves[i])
        else:
            moves[i, num_moves[i]] = actors[n] << ACTION_BITS | actions[n]
            num_moves[i] += 1


@jit
def _add_claims(t: Table, moves: U16, n: int) -> int:
    """Append what was granted if the claim window has just closed; return the number of moves."""
    if t.phase == CLAIM or t.phase == ROB_KAN:
        return n
    if t.result == WIN_RESULT:
        for w in range(t.num_wins):
            moves[n] = t.win_seat[w] << ACTION_BITS | RON
            n += 1
    elif t.result == 0 and t.turn == t.actor and PON <= t.claim_actions[t.actor] < PASS:
        # The seat that got its pon, kan or chi has the turn now; the others' claims are void.
        moves[n] = t.actor << ACTION_BITS | t.claim_actions[t.actor]
        n += 1
    return n
