"""Oracle guiding: what the learning nets see of the hidden state, and how it goes away (paper, section 3.3).

In equation 5 each element of the oracle planes stays with the keep probability; the mask is in
features/oracle_observation.py. Here is the schedule: the keep probability falls from its first value to 0, in equal
steps or in equal ratios.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from suphx.number_range import Interval, Range, Share, Steps, check_ranges

_SET_BY_DECAY = {"set_by": "the stage oracle_decay sets it: use the table oracle_decay"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleConfig:
    """Hidden tiles that the learning nets see."""

    policy: bool = False
    """Give the nets the oracle planes as additional inputs; each bit is kept with the keep probability."""
    keep_probability: Share = 1.0
    """Initial keep probability; 1 = everything is visible."""
    steps: Steps = field(default=0, metadata=_SET_BY_DECAY)
    """Number of steps in which the keep probability falls to 0, the first one at once: with 10 equal steps 0.9, 0.8,
    … 0. 0 = it is constant."""
    ratio: Annotated[float, Range(0, 1, "left")] = field(default=0.0, metadata=_SET_BY_DECAY)
    """Each step multiplies the keep probability by this, and the last one sets it to 0: with 0.7 and 10 steps 0.7,
    0.49, 0.34, … 0.04, 0. This spends more time on small values, at which a net depends on few hidden bits. 0 = equal
    steps, as in the paper."""
    updates_per_step: Interval = field(default=100, metadata=_SET_BY_DECAY)
    """Updates at each value of keep probability, a multiple of weight_sync_interval."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.keep_probability != 1 and not self.policy:
            raise ValueError(
                f"keep_probability is {self.keep_probability} with policy false, which sees nothing hidden: set policy "
                "to true, or keep_probability to 1"
            )

    @property
    def num_updates(self) -> int:
        """Updates until keep_probability is 0 and was learned at; 0 if it stays."""
        return self.steps * self.updates_per_step

    def keep_probability_after(self, num_updates: int) -> float:
        """Return the keep probability with which games are played after ``num_updates`` updates."""
        if not self.steps:
            return self.keep_probability
        step = 1 + num_updates // self.updates_per_step
        if step >= self.steps:
            return 0.0
        return self.keep_probability * (self.ratio**step if self.ratio else (self.steps - step) / self.steps)

    def keep_probability_of_update(self, number: int) -> float:
        """Return the keep probability at which the update ``number`` (1, 2, …) learned; 0: that of the first nets."""
        return self.keep_probability_after(number - 1) if number else self.keep_probability

    def figures_of_update(self, number: int) -> dict[str, float]:
        """Return ``keep_probability`` of the update ``number`` for curves and checkpoints; nothing without guiding."""
        return {"keep_probability": self.keep_probability_of_update(number)} if self.policy else {}

    def ends_step(self, num_updates: int) -> bool:
        """Tell whether the update number ``num_updates`` was the last one of a step."""
        return 0 < num_updates <= self.num_updates and num_updates % self.updates_per_step == 0
