"""Many hands side by side, and what a match counts: the ``Tables`` and the scoring of Dazhong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from suphx.games.dazhong.agents import Tools, choose_scripted, load_tools
from suphx.games.dazhong.engine import deal, step
from suphx.games.dazhong.names import AGENTS
from suphx.games.dazhong.records import OUTCOMES, HandRecord, new_tables, positions, record_of
from suphx.games.dazhong.table import (
    ENDED,
    HAND_TILES,
    NUM_ACTIONS,
    NUM_SEATS,
    NUM_TILES,
    SEAT_NAMES,
    Rules,
    move_text,
)
from suphx.games.game import PlayedGame
from suphx.games.mahjong.hand_tables import HandAgent, HandScoring, HandTables
from suphx.games.mahjong.shanten import Suits, load_suits
from suphx.games.record_tools import Replay
from suphx.games.scoring import PLACE_COUNTERS
from suphx.kernel.jit import jit
from suphx.kernel.record import I64, Records

WIN_POINTS = 1000
"""What a win adds to the fan of a hand in a match: wins count first, payments second."""


def played_game(table: Any, rules: Rules, names: Sequence[str], game_id: str = "") -> PlayedGame:
    """Return the hand that has ended at a table; its points are its fan, and ``WIN_POINTS`` for who has won."""
    points = table["fan"] + WIN_POINTS * (table["win_fan"] > 0)
    return PlayedGame(game_id, tuple(points.tolist()), record_of(table, rules, names))


def replay(record: HandRecord) -> Replay:
    """Play a recorded hand again; ValueError for an illegal move."""
    end, counts = positions(record)[-1], {"decisions": len(record.moves)}
    return Replay(counts, played_game(end, record.rules, record.players) if end["phase"] == ENDED else None)


@jit
def _deal(tables: Records, suits: Suits, indices: I64, seeds: I64) -> None:
    for i in range(len(indices)):
        deal(tables[indices[i]], suits, seeds[i])


@jit
def _step(tables: Records, suits: Suits, indices: I64, moves: I64) -> None:
    for i in range(len(indices)):
        step(tables[indices[i]], suits, moves[i])


class DazhongTables(HandTables):
    """``Tables`` of hands; ``state`` is a TABLE record array (n,)."""

    num_moves = NUM_ACTIONS
    ended_phase = ENDED
    tiles_to_draw = NUM_TILES - NUM_SEATS * HAND_TILES
    seat_names = SEAT_NAMES
    move_text = staticmethod(move_text)

    new_state = staticmethod(new_tables)
    deal = staticmethod(_deal)
    step = staticmethod(_step)
    played_game = staticmethod(played_game)


class ScriptedAgent(HandAgent):
    """One of the scripted agents."""

    names = AGENTS

    def __init__(self, name: str) -> None:
        """``name``: one of AGENTS; ValueError for another."""
        super().__init__(name)
        self._tools = load_tools()

    def choose(self, tables: Records, indices: I64, moves: I64) -> None:
        """Fill ``moves`` with a legal one for each table."""
        _act(tables, load_suits(), self._tools, indices, self.number, moves)


@jit
def _act(tables: Records, suits: Suits, tools: Tools, indices: I64, agent: int, moves: I64) -> None:
    for i in range(len(indices)):
        moves[i] = choose_scripted(tables[indices[i]], suits, tools, agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class DazhongScoring(HandScoring):
    """Hands: each wall is played four times; the winner is first, then who was paid most."""

    deal: str = "wall"
    games: str = "hands"
    deals_per_task: int = 250
    deals_per_look: int = 100
    deals_per_lineup: int = 20
    counters: tuple[str, ...] = (*PLACE_COUNTERS, *OUTCOMES)
    ratios: Mapping[str, tuple[str, str]] = field(
        default_factory=lambda: {
            "average_placement": ("place", "games"),
            "win_rate": ("wins", "games"),
            "self_drawn_rate": ("self_drawn", "games"),
            "deal_in_rate": ("deal_ins", "games"),
            "ting_rate": ("tings", "games"),
            "call_rate": ("calls", "games"),
            "average_fan": ("fan", "games"),
            "average_win_fan": ("win_fan", "wins"),
        }
    )
