"""How samples reach the learner: the settings of dataset.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamConfig:
    """How samples flow. ``chunk_kyokus`` and ``buffer_bytes`` decide the order of samples, the others do not."""

    chunk_kyokus: int = 64
    """Kyokus that a worker encodes at a time."""
    buffer_bytes: int = 256 * 2**20
    """Memory of packed samples: one half (a window) is shuffled and used while the other is being encoded. At least
    one chunk for each worker is encoded ahead, however small this is."""
    num_workers: int = 1
    """Worker processes that encode; 0 encodes in this process."""
    prefetch_batches: int = 2
    """Batches that a thread makes ready on the device ahead of the step that needs them; 0 = no thread."""

    def __post_init__(self) -> None:
        for name, least in (("chunk_kyokus", 1), ("buffer_bytes", 2), ("num_workers", 0), ("prefetch_batches", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least {least}")
