"""How the critic learns before the policy does: its estimates are then useful from the policy's first update."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticWarmupConfig:
    """The first updates: games of the initial net, from which only the critic learns."""

    decisions: int = 0
    """Decisions from which only critics learn; 0 = policies learn from the first update on. This time ends for all
    heads together, when one of them has had this many decisions. These updates count as others do (max_updates)."""
    batch_size: int = 1024
    """Decisions per step of the critic during this time; later it makes one step per update."""

    def __post_init__(self) -> None:
        for name, least in (("decisions", 0), ("batch_size", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least {least}")
