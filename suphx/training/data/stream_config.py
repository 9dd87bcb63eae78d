"""How samples reach the learner: the settings of dataset.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from suphx.number_range import Range, check_ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamConfig:
    """How samples are read. Only ``chunk_kyokus`` and ``buffer_bytes`` change the order of samples."""

    chunk_kyokus: Annotated[int, Range(1, 16_384)] = 64
    """Kyokus that a worker encodes at once."""
    buffer_bytes: Annotated[int, Range(2, 2**39)] = 256 * 2**20
    """Memory for packed samples. One half (a window) is shuffled and used while the other half is being encoded. Each
    worker encodes at least one chunk ahead, however small this value is."""
    num_workers: Annotated[int, Range(0, 256)] = 1
    """Worker processes that encode samples; 0 = encode in the training process."""
    prefetch_batches: Annotated[int, Range(0, 1024)] = 2
    """Batches that a thread copies to the device ahead of the step that needs them; 0 = no thread."""

    def __post_init__(self) -> None:
        check_ranges(self)


FREE_KEYS = ("num_workers", "prefetch_batches")
"""What may differ when a training goes on: it does not change the numbers."""
