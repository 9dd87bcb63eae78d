"""The decision kinds: each seat values its candidate moves with a net of its own; without kernels."""

from __future__ import annotations

from suphx.games.doudizhu.table import SEAT_NAMES
from suphx.games.learning import DecisionKind

DECISIONS = tuple(
    DecisionKind(game="doudizhu", number=seat, name=name, role=name) for seat, name in enumerate(SEAT_NAMES)
)
