"""What a learner learns from in one step of its optimizers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suphx.experience.decisions import Decisions


@dataclass(frozen=True, slots=True)
class HeadBatch:
    """The decisions of one head in one step, and the settings of that step."""

    decisions: Decisions
    """At least one."""
    alpha: float
    """Entropy coefficient."""
    weight: float
    """Its rows as a share of the rows of all learners; 0 if its row only keeps the learners in step."""
    learns_policy: bool = True
    """False: only the critic learns."""
    rate_share: float = 1.0
    """Learning rate of the policy as a share of ``learning_rate``."""
    kl_coeff: float = 0.0
    """Weight of the divergence from the initial net."""


Step = Mapping[str, HeadBatch]
"""One step of the optimizers of one learner: its batches by head name."""

Figures = dict[str, dict[str, float]]
"""Head name -> name of a figure -> its value."""
