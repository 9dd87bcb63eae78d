"""Names that settings choose from: where and how nets are computed; device.py and convolution.py carry it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

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
