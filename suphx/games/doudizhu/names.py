"""What recipes name in DouDizhu, without kernels: scripted agents, and decision kinds, one for each seat."""

from __future__ import annotations

from suphx.games.doudizhu.table import SEAT_NAMES
from suphx.games.learning import DecisionKind

ABOUT_AGENTS = {
    "random": "chooses among the legal moves at random",
    "rule": "keeps few and strong moves, and blocks opponents with few cards",
}
"""What each scripted agent plays, the strongest last."""
AGENTS = tuple(ABOUT_AGENTS)
"""The position of a name is its number in bots.py."""

DECISIONS = tuple(
    DecisionKind(game="doudizhu", number=seat, name=name, role=name) for seat, name in enumerate(SEAT_NAMES)
)
