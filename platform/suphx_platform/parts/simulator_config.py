"""How many games a simulator plays, and against whom: the settings of self_play_simulator.py."""

from __future__ import annotations

from dataclasses import dataclass, field

from suphx.experience.opponents import OpponentConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorConfig:
    """How many games a simulator plays at once, and against whom."""

    num_tables: int = 256
    """Hanchans played at once; an even number."""
    opponents: OpponentConfig = field(default_factory=OpponentConfig)
    """Policies at the other three seats."""

    def __post_init__(self) -> None:
        if self.num_tables < 2 or self.num_tables % 2:
            raise ValueError(f"num_tables is {self.num_tables}: use an even number of at least 2")
