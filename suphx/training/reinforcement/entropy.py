"""The entropy coefficient alpha that follows a target entropy (paper, equation 3, and a proportional term).

>>> config = EntropyConfig()
>>> control = EntropyControl(target=1.0, alpha=config.alpha)
>>> control = control.after(0.7, config)  # below the target: alpha rises

Equation 3 alone sums up the missing entropy. Entropy answers late, and alpha moves it rather than sets it, so that it
swings around the target: alpha is 0 long before the entropy has come down, and rises too late when it has. The
proportional term answers at once; the sum waits while alpha is at a bound, so that nothing piles up in it there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from suphx.games.riichi import DISCARD_HEAD

_MAX_ENTROPIES = {"target": math.log(34), "yes_no_target": math.log(2)}
"""In nats: of 34 kinds, and of two outputs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyConfig:
    """Target and control of the policy's entropy, in nats."""

    target: float = 0.0
    """Target for the mean entropy of the discard net (at most 3.5, for 34 kinds); 0 = a share of the entropy of the
    initial net, which is measured in its first games."""
    yes_no_target: float = 0.0
    """Target for the mean entropy of a two-output net (at most 0.69); 0 = as for ``target``."""
    first_share: float = 1.0
    """Target at the beginning, as a share of the initial entropy. Only without an absolute target."""
    last_share: float = 0.4
    """The same after ``anneal_updates``: with time the policy that plays in training becomes like the one that plays
    matches, which takes the most probable action."""
    anneal_updates: int = 0
    """Updates that move policies in which the share goes from ``first_share`` to ``last_share``, linearly; 0 = it stays
    at ``first_share``."""
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
    """Decay factor of the moving average of the entropy that is compared with the target; 0 = no averaging."""

    def __post_init__(self) -> None:
        for name in ("target", "yes_no_target", "first_share", "last_share", "anneal_updates", "alpha", "rate", "gain",
                     "max_alpha"):  # fmt: skip
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}: use 0 or more")
        for name, most in _MAX_ENTROPIES.items():
            if getattr(self, name) > most:
                shown = math.floor(100 * most) / 100
                raise ValueError(f"{name} is {getattr(self, name)}: no entropy is so large, use at most {shown}")
        if self.alpha > self.max_alpha:
            raise ValueError(f"alpha is {self.alpha}: use at most max_alpha, which is {self.max_alpha}")
        if not 0 <= self.memory < 1:
            raise ValueError(f"memory is {self.memory}: use a share from 0 to below 1")

    def target_of(self, head: int) -> float:
        """Return the absolute target of a head (head.py); 0 if it is a share of the initial entropy."""
        return self.target if head == DISCARD_HEAD else self.yes_no_target

    def share_after(self, num_updates: int) -> float:
        """Return the target after ``num_updates`` updates as a share of the initial entropy."""
        progress = min(1.0, num_updates / self.anneal_updates) if self.anneal_updates else 0.0
        return self.first_share + progress * (self.last_share - self.first_share)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyControl:
    """Alpha of one net, and what it depends on."""

    target: float
    """Absolute; 0: a share of ``initial``."""
    alpha: float
    summed: float | None = None
    """The part of alpha that equation 3 moves; None before the first update, when it is all of alpha."""
    recent: float | None = None
    """Exponential mean of the entropies so far; None before the first."""
    initial: float | None = None
    """Entropy of the initial policy; None before the first batch."""
    num_updates: int = 0
    """Updates that moved policies before the next one, those of earlier stages included: ``anneal_updates`` counts
    them."""

    def measured(self, entropy: float, num_updates: int | None = None) -> EntropyControl:
        """Return the control that knows the initial entropy; the first batch decides.

        ``num_updates``: those of the run, if they can be more than those of this policy.
        """
        initial = entropy if self.initial is None else self.initial
        return replace(self, initial=initial, num_updates=self.num_updates if num_updates is None else num_updates)

    def target_now(self, config: EntropyConfig) -> float | None:
        """Return the target of the next update; None if it is a share of an entropy that is not known yet."""
        if self.target or self.initial is None:
            return self.target or None
        return self.initial * config.share_after(self.num_updates)

    def after(self, entropy: float, config: EntropyConfig) -> EntropyControl:
        """Return the control after an update of the policy whose batch had the mean ``entropy``."""
        own = self.measured(entropy)
        target = own.target_now(config)
        assert target is not None
        return replace(own._moved(entropy, target, config), num_updates=self.num_updates + 1)

    def _moved(self, entropy: float, target: float, config: EntropyConfig) -> EntropyControl:
        past = entropy if self.recent is None else self.recent
        recent = config.memory * past + (1 - config.memory) * entropy
        summed = self.alpha if self.summed is None else self.summed
        extra = config.gain * (target - recent)
        if not _is_held(summed + extra, extra, config.max_alpha):
            summed = next_alpha(summed, recent, target, config)
        alpha = min(max(summed + extra, 0.0), config.max_alpha)
        return replace(self, alpha=alpha, summed=summed, recent=recent)


def next_alpha(alpha: float, entropy: float, target: float, config: EntropyConfig) -> float:
    """Return alpha + beta * (target - entropy), kept in 0 … ``max_alpha`` (paper, equation 3)."""
    return min(max(alpha + config.rate * (target - entropy), 0.0), config.max_alpha)


def _is_held(alpha: float, extra: float, max_alpha: float) -> bool:
    """Tell whether ``alpha`` is beyond a bound to which the proportional term ``extra`` pushes it."""
    return (extra < 0 and alpha <= 0) or (extra > 0 and alpha >= max_alpha)
