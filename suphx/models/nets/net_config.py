"""Width, depth and normalisation of the policy nets (paper, Figures 4 and 5), sized by one dial."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from suphx.games.riichi import HEAD_NAMES as HEAD_NAMES
from suphx.games.riichi import check_heads as check_heads
from suphx.games.riichi import head_index as head_index


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardPredictorConfig:
    """Sizes of the net."""

    gru_units: int = 64
    """Units of each of the two GRU layers."""
    hidden_units: int = 64
    """Units between the two fully connected layers."""

    def __post_init__(self) -> None:
        for name in ("gru_units", "hidden_units"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least 1")


def checkpoint_name(head: str, *, is_weak: bool = False) -> str:
    """Return the file name of a head's checkpoint: of its best weights, or of the weak ones of an early step."""
    return f"{head}-weak.safetensors" if is_weak else f"{head}.safetensors"


Normalization = Literal["batch", "none"]

Size = Literal["tiny", "small", "medium", "paper"]

MAX_WIDTH = 65_536
"""Of everything that a net has many of."""

# size: channels, blocks, channels of the call head, its two fully connected layers
_SIZES: dict[str, tuple[int, int, int, int, int]] = {
    "tiny": (32, 3, 8, 64, 32),
    "small": (64, 8, 16, 256, 64),
    "medium": (128, 20, 32, 512, 128),
    "paper": (256, 50, 32, 1024, 256),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NetConfig:
    """Width, depth and normalisation of a net. A value of 0 is derived from ``size``."""

    size: Size = "small"
    """tiny, small, medium, or paper (the published widths and depth)."""
    channels: int = 0
    """Channels of the trunk."""
    num_blocks: int = 0
    """Residual blocks of the trunk."""
    head_channels: int = 0
    """Channels of the last 3x1 convolution of the riichi, chow, pong and kong nets."""
    head_hidden_1: int = 0
    """Width of the first fully connected layer of those nets."""
    head_hidden_2: int = 0
    """Width of the second fully connected layer of those nets."""
    normalization: Normalization = "batch"
    """batch: BatchNorm after every convolution (folded away for inference); none: biases instead. Critics never have
    BatchNorm and ignore this."""
    num_oracle_planes: int = field(
        default=0, metadata={"set_by": "oracle guiding sets it (tables oracle and oracle_decay)"}
    )
    """Additional planes with hidden tiles (paper, section 3.3); 0 for every net that plays fairly."""

    def __post_init__(self) -> None:
        if self.size not in _SIZES:
            raise ValueError(f"net size is {self.size!r}: use one of {', '.join(_SIZES)}")
        if self.normalization not in get_args(Normalization):
            allowed = ", ".join(get_args(Normalization))
            raise ValueError(f"net normalization is {self.normalization!r}: use one of {allowed}")
        for name in (*_WIDTHS, "num_oracle_planes"):
            width = getattr(self, name)
            if type(width) is not int or not 0 <= width <= MAX_WIDTH:
                raise ValueError(f"net {name} is {width!r}: use 0 (from size {self.size!r}) to {MAX_WIDTH:,}")

    def resolved(self) -> NetConfig:
        """Return the same net with every 0 replaced by the number that ``size`` stands for."""
        widths: dict[str, Any] = {
            name: getattr(self, name) or default for name, default in zip(_WIDTHS, _SIZES[self.size], strict=True)
        }
        return replace(self, **widths)


_WIDTHS = ("channels", "num_blocks", "head_channels", "head_hidden_1", "head_hidden_2")
