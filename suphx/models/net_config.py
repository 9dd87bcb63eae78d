"""The settings of nets, without torch: where and how they are computed, and the sizes of each architecture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from suphx.number_range import Checked, Range, check_ranges


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


ActionSelection = Literal["probable", "matched", "sampled"]
"""How a net's probability of yes becomes an action: yes above one half; yes above the threshold that makes yes as
frequent as in the records; yes as often as the probability says. A ``sampled`` agent draws its discards too."""

DeviceName = Literal["auto", "cpu", "cuda"]

Precision = Literal["auto", "bf16", "fp32"]

Compilation = Literal["auto", "none", "default", "max-autotune"]


def check_batch_sizes(sizes: Sequence[int]) -> None:
    """Raise ValueError unless batches can be padded to these ``sizes``."""
    if list(sizes) != sorted({size for size in sizes if size > 0}):
        raise ValueError(f"batch_sizes is {list(sizes)}: use different numbers of at least 1, ascending")


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardPredictorConfig(Checked):
    """Sizes of the net."""

    gru_units: Annotated[int, Range(1, 4096)] = 64
    """Units of each of the two GRU layers."""
    hidden_units: Annotated[int, Range(1, 4096)] = 64
    """Units between the two fully connected layers."""


def checkpoint_name(decision: str, *, is_weak: bool = False) -> str:
    """Return the file name of the checkpoint of a decision's net: its best weights, or the weak ones of an early
    step."""
    return f"{decision}-weak.safetensors" if is_weak else f"{decision}.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateNetConfig(Checked):
    """Sizes of a net that values candidates; the defaults are DouZero's."""

    units: Annotated[int, Range(1, 4096)] = 128
    """Units of the LSTM."""
    hidden: Annotated[int, Range(1, 4096)] = 512
    """Width of each fully connected layer."""
    layers: Annotated[int, Range(1, 1024)] = 5
    """Fully connected layers before the output."""


Normalization = Literal["batch", "none"]

Grid = Literal["34x1", "4x9"]

ChoiceHead = Literal["columns", "connected"]

Size = Literal["tiny", "small", "medium", "paper"]

MAX_WEIGHTS = 1_000_000_000
"""Of a net, about: 4 GB, and 16 GB in training. That of the paper has 20 million."""

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
    channels: Annotated[int, Range(0, 4096)] = 0
    """Channels of the trunk."""
    num_blocks: Annotated[int, Range(0, 1024)] = 0
    """Residual blocks of the trunk."""
    head_channels: Annotated[int, Range(0, 4096)] = 0
    """Channels of the last convolution before fully connected layers (riichi: the riichi, chow, pong and kong nets)."""
    head_hidden_1: Annotated[int, Range(0, 16_384)] = 0
    """Width of the first fully connected layer."""
    head_hidden_2: Annotated[int, Range(0, 16_384)] = 0
    """Width of the second fully connected layer."""
    grid: Grid = "34x1"
    """34x1: 3x1 convolutions along a line of the kinds of tiles; 4x9: 3x3 convolutions on a row for each suit and one
    for the honours with two empty cells, and a 1x1 convolution before the fully connected layers."""
    choice_head: ChoiceHead = "columns"
    """Of nets that choose a kind of tile. columns: a 1x1 convolution gives each kind its logit; connected: fully
    connected layers, as in the other nets."""
    normalization: Normalization = "batch"
    """batch: BatchNorm after every convolution (folded away for inference); none: biases instead. Critics never have
    BatchNorm and ignore this."""
    num_oracle_planes: Annotated[int, Range(0, 65_536)] = field(
        default=0, metadata={"set_by": "oracle guiding sets it (tables oracle and oracle_decay)"}
    )
    """Additional planes with hidden tiles (paper, section 3.3); 0 for every net that plays fairly."""

    def __post_init__(self) -> None:
        check_ranges(self)
        channels, num_blocks, head_channels, hidden_1, hidden_2 = self._widths()
        num_taps = 9 if self.grid == "4x9" else 3
        num_weights = 2 * num_taps * num_blocks * channels**2 + hidden_1 * (34 * head_channels + hidden_2)
        if num_weights > MAX_WEIGHTS:
            raise ValueError(
                f"the net has about {num_weights / 1e6:,.0f} million weights with channels {channels:,}, num_blocks "
                f"{num_blocks:,}, head_channels {head_channels:,}, head_hidden_1 {hidden_1:,} and head_hidden_2 "
                f"{hidden_2:,}: use smaller ones, for at most {MAX_WEIGHTS // 10**6:,} million"
            )

    def resolved(self) -> NetConfig:
        """Return the same net with every 0 replaced by the number that ``size`` stands for."""
        widths: dict[str, Any] = dict(zip(_WIDTHS, self._widths(), strict=True))
        return replace(self, **widths)

    def _widths(self) -> list[int]:
        return [getattr(self, name) or default for name, default in zip(_WIDTHS, _SIZES[self.size], strict=True)]


_WIDTHS = ("channels", "num_blocks", "head_channels", "head_hidden_1", "head_hidden_2")
