"""How samples reach the learner: the settings of dataset.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamConfig:
    """How samples are read. Only ``chunk_kyokus`` and ``buffer_bytes`` change the order of samples."""

    chunk_kyokus: int = 64
    """Kyokus that a worker encodes at once."""
    buffer_bytes: int = 256 * 2**20
    """Memory for packed samples. One half (a window) is shuffled and used while the other half is being encoded. Each
    worker encodes at least one chunk ahead, however small this value is."""
    num_workers: int = 1
    """Worker processes that encode samples; 0 = encode in the training process."""
    prefetch_batches: int = 2
    """Batches that a thread copies to the device ahead of the step that needs them; 0 = no thread."""

    def __post_init__(self) -> None:
        for name, least in (("chunk_kyokus", 1), ("buffer_bytes", 2), ("num_workers", 0), ("prefetch_batches", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least {least}")


FREE_KEYS = ("num_workers", "prefetch_batches")
"""What may differ when a training goes on: it does not change the numbers."""
