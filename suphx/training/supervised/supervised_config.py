"""The settings of supervised learning; the same for all heads unless a recipe says otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, get_args

from suphx.models.computation import FASTEST, Compilation, Convolution, DeviceName, Precision
from suphx.number_range import (
    Interval,
    LearningRate,
    Minutes,
    PositiveShare,
    Range,
    Seconds,
    Seed,
    Share,
    Steps,
    Threads,
    Weight,
    check_ranges,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisedConfig:
    """How one head is trained. Training ends at the first of the limits ``max_epochs``, ``max_steps``, ``max_minutes``,
    ``total_minutes`` and ``patience``."""

    batch_size: Annotated[int, Range(2, 65_536)] = 512
    """Samples per optimizer step, over all workers together."""
    learning_rate: LearningRate = 2e-3
    """Peak learning rate of AdamW, after a linear warm-up and before half a cosine."""
    final_learning_rate_factor: Share = 0.01
    """Learning rate at the end, as a share of the peak."""
    warmup_steps: Steps = 200
    """Maximum steps of linear warm-up."""
    warmup_share: Share = 0.1
    """Maximum share of the training for the warm-up, so that a short training learns too; 0 = no warm-up."""
    weight_decay: Weight = 0.01
    """Weight decay of AdamW for matrices and convolutions; biases and normalisation have none."""
    max_grad_norm: Annotated[float, Range(0, 1_000_000)] = 1.0
    """Maximum norm of the gradient; 0 = no limit."""
    yes_weight: Annotated[float, Range(0, 10_000, "right")] = 1.0
    """Weight of the samples labelled yes in the training loss of the two-output heads. 1 keeps probabilities
    calibrated. Losses of validation and test are without it, also where they choose the best weights or end the
    training."""
    suit_permutation: bool = False
    """Permute the suits of each training sample at random, differently in every epoch."""
    weak_share: PositiveShare = 0.2
    """Share of the training after which the weights are saved a second time, as a weaker agent (the paper's SL-weak):
    ``<head>-weak.safetensors``."""
    max_epochs: Annotated[float, Range(0, 1_000_000)] = 4.0
    """Stop after this many passes over the training kyokus; 0 = no limit."""
    min_steps: Steps = 300
    """A net with few samples takes smaller batches and up to ten times ``max_epochs`` passes to make this many
    steps; 0 = the same settings for all nets."""
    max_steps: Steps = 0
    """Stop after this many steps; 0 = no limit."""
    max_minutes: Minutes = 0.0
    """Stop after this many minutes; 0 = no limit. The result then depends on the machine's speed and cannot be
    reproduced exactly."""
    total_minutes: Minutes = 0.0
    """Stop when the run's five nets together have taken this many minutes; 0 = no limit. A net of a learning curve
    stops after the share of its final net, which comes on top. A net that is finished early
    leaves its time to the next ones; the discard net, which has most to learn, comes last. Every net makes
    ``min_steps`` steps (or all its passes, if these are fewer), even if that takes longer on a slow machine."""
    shares_statistics: bool = True
    """With several workers: compute the statistics of BatchNorm over all workers, so that the net learns as with one
    worker. When false, each worker uses its own and inference uses those of the first worker, which saves two messages
    per layer."""
    validate_every: Interval = 500
    """Maximum steps between validations. The last step is always validated."""
    min_validations: Annotated[int, Range(0, 1_000_000)] = 10
    """Minimum number of validations in a training, evenly spread; 0 = only every ``validate_every`` steps."""
    patience: Annotated[int, Range(0, 1_000_000)] = 10
    """Stop after this many validations in a row without a lower loss; 0 = never."""
    report_every: Interval = 50
    """Steps between progress reports."""
    save_seconds: Seconds = 60.0
    """Maximum time between saved training states; every validation saves one too."""
    threads: Threads = 0
    """Threads of torch; 0 = torch's default."""
    precision: Precision = "auto"
    """fp32; bf16 (autocast, weights stay float32); auto: bf16 where the hardware supports it, which is twice as fast
    there."""
    convolution: Convolution = FASTEST
    """How convolutions are computed (models/nets/resnet.py): conv1d, channels_last or matmul. The results are the
    same."""
    compilation: Compilation = "auto"
    """Mode of torch.compile: none, default or max-autotune; auto: default on a GPU, none elsewhere. Unless it is none,
    the steps of a single worker on a GPU are also recorded as a CUDA graph."""
    device: DeviceName = "auto"
    """cpu; cuda; auto: cuda if available."""
    seed: Seed = 1
    """Seed of the initial weights and of the order of samples."""

    def __post_init__(self) -> None:
        check_ranges(self)
        self._check("precision", self.precision in get_args(Precision), "use auto, bf16 or fp32")
        self._check("convolution", self.convolution in get_args(Convolution), "use conv1d, channels_last or matmul")
        self._check("compilation", self.compilation in get_args(Compilation), "use auto, none, default or max-autotune")
        self._check("device", self.device in get_args(DeviceName), "use auto, cpu or cuda")
        if not (self.max_epochs or self.max_steps or self.max_minutes or self.total_minutes):
            names = "max_epochs, max_steps, max_minutes and total_minutes"
            raise ValueError(f"{names} are all 0: set one of them, or training never ends")

    def _check(self, name: str, is_right: bool, remedy: str) -> None:
        if not is_right:
            raise ValueError(f"{name} is {getattr(self, name)}: {remedy}")

    def share_done(self, step: int, epochs: float, seconds: float) -> float:
        """Return how much of the run is done: 1 or more at its end."""
        shares = [0.0]
        if self.max_steps:
            shares.append(step / self.max_steps)
        if self.max_epochs:
            shares.append(epochs / self.max_epochs)
        if self.max_minutes:
            shares.append(seconds / (60 * self.max_minutes))
        if self.total_minutes:
            share = seconds / (60 * self.total_minutes)
            shares.append(min(share, step / self.min_steps) if self.min_steps else share)
        return max(shares)


FREE_KEYS = ("report_every", "save_seconds", "threads", "device", "convolution", "compilation")
"""What may differ when a training goes on: it does not change the numbers, up to rounding."""
