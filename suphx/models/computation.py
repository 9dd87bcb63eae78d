"""Names that settings choose from: where and how nets are computed; device.py and resnet.py carry it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Fitted on validation samples (training/classification.py), stored in the checkpoint, applied in play."""

    temperature: float = 1.0
    """Logits are divided by it: above 1 the net was too sure of itself."""
    yes_threshold: float = 0.5
    """Of the corrected probability: the answers above it are as often yes as the recorded ones. 0.5 for other heads."""

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature is {self.temperature}: use a positive number")
        if not 0 < self.yes_threshold < 1:
            raise ValueError(f"yes_threshold is {self.yes_threshold}: use a probability between 0 and 1")


DeviceName = Literal["auto", "cpu", "cuda"]

Precision = Literal["auto", "bf16", "fp32"]

Compilation = Literal["auto", "none", "default", "max-autotune"]

Convolution = Literal["conv1d", "channels_last", "matmul"]

FASTEST: Convolution = "channels_last"
"""Measured on a CPU with bf16; on a GPU it is the arrangement that the tensor cores of cuDNN want."""


def check_convolution(name: str) -> None:
    """Raise ValueError unless ``name`` is a convolution."""
    if name not in get_args(Convolution):
        raise ValueError(f"convolution is {name!r}: use one of {', '.join(get_args(Convolution))}")


def check_batch_sizes(sizes: Sequence[int]) -> None:
    """Raise ValueError unless batches can be padded to these ``sizes``."""
    if list(sizes) != sorted({size for size in sizes if size > 0}):
        raise ValueError(f"batch_sizes is {list(sizes)}: use different numbers of at least 1, ascending")
