"""Positions to measure with: the decisions of games that the scripted agent ukeire plays."""

from __future__ import annotations

from itertools import count

import numpy as np

from suphx.games.riichi import Simulator, observed_tables, tenhou
from suphx.kernel.record import Records
from suphx.selfplay.agents.agent import ScriptedAgent

_PLAYED_TABLES = 64


def played_positions(num_positions: int, seed: int) -> Records:
    """Return TABLE records of decisions in games of the scripted agent ukeire, from many games side by side."""
    agent = ScriptedAgent("ukeire")
    parts: list[Records] = []
    for batch in count():
        simulator = Simulator(_PLAYED_TABLES, tenhou())
        simulator.reset(range(seed + batch * _PLAYED_TABLES, seed + (batch + 1) * _PLAYED_TABLES))
        while (waiting := simulator.waiting()).size:
            asked = observed_tables(simulator.tables, waiting)
            parts.append(simulator.tables[waiting[asked == 1]])
            simulator.advance(waiting, agent.act(simulator.tables, waiting))
            if sum(map(len, parts)) >= num_positions:
                return np.concatenate(parts)[:num_positions]
    raise AssertionError("unreachable")
