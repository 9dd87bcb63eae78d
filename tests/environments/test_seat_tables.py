"""How opponents that are no scripted agents are asked."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.environments import seat_tables
from suphx.environments.environment_config import EnvironmentConfig
from suphx.environments.seat_tables import SeatTables
from suphx.kernel.record import I16, I64, Records
from suphx.selfplay.agents.agent import ScriptedAgent

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


def played(opponents: tuple[str, str, str], num_steps: int) -> SeatTables:
    """Return tables at which the player at seat 0 has done the first legal action ``num_steps`` times."""
    tables = SeatTables(NUM_TABLES, EnvironmentConfig(opponents=opponents))
    tables.start(tables.everything, np.arange(NUM_TABLES), np.zeros(NUM_TABLES, np.int64))
    for _ in range(num_steps):
        tables.act(tables.everything, tables.masks.argmax(axis=1))
    return tables


def test_an_opponent_at_several_seats_is_asked_once_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    agents: list[CountedAgent] = []

    def load(name: str) -> CountedAgent:
        agents.append(CountedAgent(name))
        return agents[-1]

    monkeypatch.setattr(seat_tables, "load_agent", load)
    tables = played(("mine", "mine", "other"), 30)
    expected = played(("tsumogiri",) * 3, 30)
    assert (tables.simulator.tables == expected.simulator.tables).all()
    mine, other = agents
    assert (mine.name, other.name) == ("mine", "other")
    assert {seat for seats in other.batches for seat in seats.tolist()} == {3}
    assert {seat for seats in mine.batches for seat in seats.tolist()} == {1, 2}
    assert any(len(set(seats.tolist())) == 2 for seats in mine.batches)
