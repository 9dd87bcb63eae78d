"""Hanchans side by side, written down as they are played: the ``Tables`` of riichi (suphx/games/game.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.games.game import PlayedGame
from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.riichi.bots import choose_scripted
from suphx.games.riichi.names import AGENTS
from suphx.games.riichi.records.replay import GameRecorder
from suphx.games.riichi.records.statistics import STATISTICS_COLUMNS, STATISTICS_RATIOS, game_row
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import GAME_END, NUM_ACTIONS
from suphx.games.scoring import SeatScoring
from suphx.kernel.jit import jit
from suphx.kernel.record import I16, I64, Records

_USUAL_KYOKUS = 12.0
_MOST_OF_A_GAME = 0.95


def shares_played(num_kyokus: I64, is_over: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return about how much of its hanchan each table has played after so many kyokus, 0 to 1; float64 [tables]."""
    return np.where(is_over, 1.0, np.minimum(num_kyokus / _USUAL_KYOKUS, _MOST_OF_A_GAME))


class RiichiTables(GameRecorder):
    """``Tables`` of hanchans; followers of games (mjai programs) read what is written down."""

    num_moves = NUM_ACTIONS

    def __init__(self, num_tables: int, rules: Rules, *, has_draw_lanes: bool = False) -> None:
        """With ``has_draw_lanes`` every seat draws from its own positions of the wall, so that games of one seed have
        more in common (docs/evaluation.md)."""
        super().__init__(Simulator(num_tables, rules, stops_at_kyoku_end=True, has_draw_lanes=has_draw_lanes))
        self.state: Records = self._simulator.tables
        self.shares: NDArray[np.float64] = np.zeros(num_tables)
        self._num_kyokus = np.zeros(num_tables, np.int64)
        self._ended: I64 = np.zeros(0, np.int64)

    def begin(self, indices: I64, seeds: Sequence[int]) -> None:
        """Deal new games at tables."""
        self._simulator.reset(seeds, indices)
        self.begin_kyokus(indices)
        self.shares[indices] = self._num_kyokus[indices] = 0

    def waiting(self) -> I64:
        """Return the tables that wait for an action."""
        return self._simulator.waiting()

    def actors(self, indices: I64) -> I64:
        """Return the seat that is to act at each table."""
        actors: I64 = self.state["actor"][indices]
        return actors

    def advance(self, indices: I64, actions: I16 | I64) -> None:
        """Play an action at each table; deals that end are written down, and the next ones begin."""
        super().advance(indices, actions.astype(np.int16))
        ended = self._simulator.at_kyoku_end()
        if not ended.size:
            return
        self.take_kyokus(ended)
        self._simulator.next_kyoku(ended)
        self.begin_kyokus(ended)
        is_over = self.state["phase"][ended] == GAME_END
        self._num_kyokus[ended] += 1
        self.shares[ended] = shares_played(self._num_kyokus[ended], is_over)
        self._ended = np.concatenate([self._ended, ended[is_over]])

    def take_ended(self) -> I64:
        """Return the tables whose games have ended since the last call."""
        ended, self._ended = self._ended, self._ended[:0]
        return ended

    def take_game(self, index: int, game_id: str, names: Sequence[str]) -> PlayedGame:
        """Return the game that has ended at a table; ``names``: who played, by seat."""
        first, second, third, fourth = names
        log = self.finish(index, game_id, (first, second, third, fourth))
        assert log.final_scores is not None
        return PlayedGame(game_id, log.final_scores, log)


@dataclass(frozen=True, slots=True, kw_only=True)
class RiichiScoring(SeatScoring):
    """Hanchans: each wall is played four times, and what a player did in them is counted."""

    deal: str = "wall"
    games: str = "hanchans"
    has_deals: bool = True
    table_options: Mapping[str, Any] = field(default_factory=lambda: {"has_draw_lanes": True})
    counters: tuple[str, ...] = STATISTICS_COLUMNS
    ratios: Mapping[str, tuple[str, str]] = field(default_factory=lambda: STATISTICS_RATIOS)

    def count(self, record: Any, player: str, places: Sequence[int]) -> list[int] | None:
        """Return ``game_row``."""
        return game_row(record, player, places)


class ScriptedAgent:
    """One of the scripted agents by name."""

    def __init__(self, name: str) -> None:
        if name not in AGENTS:
            raise ValueError(f"{name!r} is not a scripted agent: use one of {', '.join(AGENTS)}")
        self.name = name
        self._number = AGENTS.index(name)

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each table."""
        actions = np.empty(indices.shape, np.int16)
        _act(tables, indices, load_suits(), self._number, actions)
        return actions


@jit
def _act(tables: Records, indices: I64, suits: Suits, script: int, actions: I16) -> None:
    for i in range(len(indices)):
        actions[i] = choose_scripted(tables[indices[i]], suits, script)
