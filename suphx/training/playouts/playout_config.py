"""The settings of learning from playouts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from suphx.evaluation.match_config import HANCHANS_OR_NONE
from suphx.games.riichi import DISCARD_HEAD, HEAD_NAMES, PLAYOUT_HEADS, check_heads, head_index
from suphx.models.computation import DeviceName
from suphx.number_range import (
    Interval,
    LearningRate,
    Positive,
    PositiveShare,
    Range,
    Seconds,
    Steps,
    Threads,
    Weight,
    check_ranges,
)
from suphx.selfplay.playouts.branch_config import BranchConfig

MAX_COLLECTORS = 16
"""So many have seeds of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayoutConfig:
    """Self-play of the supervised nets in which several actions of uncertain decisions are played out."""

    num_decisions: Steps = 0
    """Number of decisions that are played out; the nets learn from each once. 0 = skip this stage."""
    heads: tuple[str, ...] = ("discard", "chow", "pong")
    """Heads that learn; the other nets stay unchanged: discard, riichi, chow and pong are possible."""
    branches: BranchConfig = field(default_factory=BranchConfig)
    """Which decisions are played out."""
    num_collectors: Annotated[int, Range(1, MAX_COLLECTORS)] = 2
    """Number of threads that play games, each with its own group of games."""
    round_decisions: Annotated[int, Range(1, 1_000_000)] = 8192
    """Decisions per round. While the nets learn from one round, the games of the next round are played with the nets
    that existed before this learning."""
    batch_size: Annotated[int, Range(1, 65_536)] = 256
    """Approximate number of decisions of a head in one step of its optimizer."""
    learning_rate: LearningRate = 1e-3
    """Learning rate of AdamW after the warm-up. It falls linearly over the stage to ``last_rate_share`` of it."""
    last_rate_share: PositiveShare = 0.05
    """Learning rate at the end, as a share of ``learning_rate``."""
    warmup_steps: Steps = 20
    """Steps of a head in which its learning rate rises linearly; 0 = no warm-up."""
    max_grad_norm: Positive = 1.0
    """Maximum norm of the gradient of each net."""
    reward_unit: Positive = 3000.0
    """Points that count as 1 in the loss."""
    kl_coeff: Weight = 0.03
    """Weight in the loss of KL(initial net || policy), the mean over a batch in nats. It keeps the nets close
    to the supervised ones in rare kinds of decisions."""
    permute_points: bool = False
    """Exchange the points among the actions of each decision at random: a control run, in which no net can become
    stronger. A gain that is claimed must be larger than that of this run."""
    final_hanchans: Annotated[int, HANCHANS_OR_NONE] = 2000
    """Games of the match between the final and the supervised nets, a multiple of 4; 0 = no match. If self-play
    follows, its first match measures the same nets."""
    device: DeviceName = "auto"
    """cpu; cuda; auto: cuda if available. The games are played on the CPU."""
    threads: Threads = 1
    """Threads of torch for the nets that learn; 0 = as many as torch uses by default. Each collector has one."""
    report_every: Interval = 4
    """Rounds between two points of the curves."""
    save_seconds: Seconds = 60.0
    """Seconds between saved states; the state is also saved at the end."""

    def __post_init__(self) -> None:
        check_heads(self.heads)
        known = [name for name in HEAD_NAMES if head_index(name) in PLAYOUT_HEADS]
        for head in self.heads:
            if head not in known:
                raise ValueError(
                    f"heads is {list(self.heads)}: the actions of {head} cannot be played out; use {', '.join(known)}"
                )
        check_ranges(self)
        if self.head_numbers == (DISCARD_HEAD,) and not self.branches.discard_share:
            raise ValueError("branches.discard_share is 0, but only discard learns: use a larger share")
        if self.final_hanchans and (self.final_hanchans < 8 or self.final_hanchans % 4):
            raise ValueError(f"final_hanchans is {self.final_hanchans}: use 0, or a multiple of 4, at least 8")

    @property
    def head_numbers(self) -> tuple[int, ...]:
        """The heads that learn, as numbers, ascending."""
        return tuple(sorted(head_index(head) for head in self.heads))


FREE_KEYS = ("device", "threads", "report_every", "save_seconds")
"""What may differ when the stage goes on: it does not change the numbers, up to rounding."""
