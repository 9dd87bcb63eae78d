"""The entropy coefficient alpha that follows a target entropy (paper, equation 3, and a proportional term).

>>> config = EntropyConfig()
>>> control = EntropyControl(target=1.0, alpha=config.alpha)
>>> control = control.after(0.7, config)  # below the target: alpha rises

Equation 3 alone sums up the missing entropy. Entropy answers late, and alpha moves it rather than sets it, so that it
swings around the target: alpha is 0 long before the entropy has come down, and rises too late when it has. The
proportional term answers at once; the sum waits while alpha is at a bound, so that nothing piles up in it there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from suphx.features.head import DISCARD


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyConfig:
    """Target and control of the policy's entropy, in nats."""

    target: float = 1.0
    """Target for the mean entropy of the discard net (at most 3.5, for 34 kinds)."""
    answer_target: float = 0.2
    """Target for the mean entropy of a two-output net (at most 0.69)."""
    alpha: float = 0.01
    """Initial coefficient of the entropy term."""
    rate: float = 0.002
    """Step size of alpha (beta of the paper's equation 3). With ``rate`` and ``gain`` 0, alpha is constant."""
    gain: float = 0.1
    """Proportional term: alpha per nat that is missing now, in addition to the sum of equation 3. 0 = equation 3 alone,
    as in the paper, which oscillates."""
    max_alpha: float = 0.5
    """Alpha is limited to the range from 0 to this value."""
    memory: float = 0.0
    """Weight of the past in the exponential mean of the entropy that is compared with the target; 0 = no averaging."""

    def __post_init__(self) -> None:
        for name in ("target", "answer_target", "alpha", "rate", "gain", "max_alpha"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}: use 0 or more")
        if self.alpha > self.max_alpha:
            raise ValueError(f"alpha is {self.alpha}: use at most max_alpha, which is {self.max_alpha}")
        if not 0 <= self.memory < 1:
            raise ValueError(f"memory is {self.memory}: use a share from 0 to below 1")

    def target_of(self, head: int) -> float:
        """Return the target of a head (head.py)."""
        return self.target if head == DISCARD else self.answer_target


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyControl:
    """Alpha of one net, and what it depends on."""

    target: float
    alpha: float
    summed: float | None = None
    """The part of alpha that equation 3 moves; None before the first update, when it is all of alpha."""
    recent: float | None = None
    """Exponential mean of the entropies so far; None before the first."""

    def after(self, entropy: float, config: EntropyConfig) -> EntropyControl:
        """Return the control after an update whose batch had the mean ``entropy``."""
        past = entropy if self.recent is None else self.recent
        recent = config.memory * past + (1 - config.memory) * entropy
        summed = self.alpha if self.summed is None else self.summed
        extra = config.gain * (self.target - recent)
        if not _is_held(summed + extra, extra, config.max_alpha):
            summed = next_alpha(summed, recent, self.target, config)
        alpha = min(max(summed + extra, 0.0), config.max_alpha)
        return replace(self, alpha=alpha, summed=summed, recent=recent)


def next_alpha(alpha: float, entropy: float, target: float, config: EntropyConfig) -> float:
    """Return alpha + beta * (target - entropy), kept in 0 … ``max_alpha`` (paper, equation 3)."""
    return min(max(alpha + config.rate * (target - entropy), 0.0), config.max_alpha)


def _is_held(alpha: float, extra: float, max_alpha: float) -> bool:
    """Tell whether ``alpha`` is beyond a bound to which the proportional term ``extra`` pushes it."""
    return (extra < 0 and alpha <= 0) or (extra > 0 and alpha >= max_alpha)
