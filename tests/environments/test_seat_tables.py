"""How opponents that are no scripted agents are asked."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.environments.seat_tables import EnvironmentConfig, SeatTables
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import I16, I64, Records
from suphx.selfplay.agents.agent import AgentLike
from tests.repository import REPOSITORY

NUM_TABLES = 64


class CountedAgent:
    """Discards what it draws, and notes the seats of each question."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.batches: list[I64] = []
        self._agent = ScriptedAgent("tsumogiri")

    def act(self, tables: Records, indices: I64) -> I16:
        self.batches.append(tables["actor"][indices].astype(np.int64))
        return self._agent.act(tables, indices)


def played(opponents: tuple[AgentLike, AgentLike, AgentLike], num_steps: int) -> SeatTables:
    """Return tables at which the player at seat 0 has done the first legal action ``num_steps`` times."""
    tables = SeatTables(NUM_TABLES, EnvironmentConfig(opponents=opponents))
    tables.start(tables.everything, np.arange(NUM_TABLES), np.zeros(NUM_TABLES, np.int64))
    for _ in range(num_steps):
        tables.act(tables.everything, tables.masks.argmax(axis=1))
    return tables


def test_an_opponent_at_several_seats_is_asked_once_for_all_of_them() -> None:
    mine, other = CountedAgent("mine"), CountedAgent("other")
    tables = played((mine, mine, other), 30)
    expected = played(("tsumogiri",) * 3, 30)
    assert (tables.simulator.tables == expected.simulator.tables).all()
    assert {seat for seats in other.batches for seat in seats.tolist()} == {3}
    assert {seat for seats in mine.batches for seat in seats.tolist()} == {1, 2}
    assert any(len(set(seats.tolist())) == 2 for seats in mine.batches)


def test_a_folder_of_nets_is_loaded_once_whether_it_is_a_path_or_its_text() -> None:
    folder = REPOSITORY / "examples" / "agents" / "supervised"
    tables = SeatTables(1, EnvironmentConfig(opponents=(folder, "random", str(folder))))
    assert [offsets for _, offsets in tables._agents] == [[1, 3]]


class Follower(ScriptedAgent):
    """Must know how games came to where they are, as programs over mjai do."""

    max_tables = 1

    def follow(self, recorder: object) -> None:
        """Begin with new games."""

    def leave(self) -> None:
        """End with these games."""

    def forfeits(self, index: int) -> dict[int, str]:
        """Return no seat."""
        return {}


def test_an_opponent_that_follows_whole_games_is_refused() -> None:
    with pytest.raises(ValueError, match="ukeire follows whole games and cannot play in an environment"):
        SeatTables(1, EnvironmentConfig(opponents=(Follower("ukeire"),) * 3))
