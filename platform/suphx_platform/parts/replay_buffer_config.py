"""How many decisions wait to be learned from, and how long: the settings of replay_buffer.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayBufferConfig:
    """Size of the buffer, and the age and reuse of its decisions."""

    batch_size: int = 1024
    """Decisions of a head per update; a batch is a few larger, so that it has whole trajectories. A head that decides
    rarely learns from fewer, but at least an eighth, before they become too stale."""
    capacity_bytes: int = 256 * 2**20
    """Memory for waiting decisions (about 1 kB each with the paper's planes)."""
    max_staleness: int = 20
    """Decisions are dropped when their policy is more than this many versions old."""
    reuse: int = 1
    """Number of times that each decision is learned from."""

    def __post_init__(self) -> None:
        for name, least in (("batch_size", 1), ("capacity_bytes", 2**20), ("max_staleness", 0), ("reuse", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least {least:,}")
