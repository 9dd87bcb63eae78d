"""What recipes name in DouDizhu, without kernels: scripted agents, and decision kinds, one for each seat."""

from __future__ import annotations

from suphx.games.doudizhu.table import SEAT_NAMES
from suphx.games.learning import DecisionKind

AGENTS = ("random", "rule")
"""The position of a name is its number in bots.py."""

DECISIONS = tuple(
    DecisionKind(game="doudizhu", number=seat, name=name, role=name) for seat, name in enumerate(SEAT_NAMES)
)
