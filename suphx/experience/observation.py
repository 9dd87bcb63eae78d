"""What seats observe when they decide, and what the nets compute from it: columns of one head, for many tables at once.

All of it is plain numpy, so that simulators can send it to the processes that have the nets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.kernel.record import I16, I32, U8

F32 = NDArray[np.float32]

LATEST, WEAK, FIRST_OLDER = 0, 1, 2
"""Who plays a seat: the policy that learns, the weak one (SL-weak), and from 2 on older versions of the first."""


@dataclass(frozen=True, slots=True)
class Observations:
    """Rows for one head."""

    head: int
    planes: U8
    """uint8 [n, observation_bytes]: bit-packed planes."""
    masks: U8
    """uint8 [n, 34]: legal kinds of discards; [n, 0] for the other heads."""
    policies: I32
    """int32 [n]: which policy acts: LATEST, WEAK, or FIRST_OLDER + the number of an older version."""
    uniforms: F32
    """float32 [n] in 0 … 1: where in its distribution a sampled action lies. So the action of a row does not depend
    on what else is observed, nor on which process computes it."""


@dataclass(frozen=True, slots=True)
class PolicyOutputs:
    """The outputs of the nets for ``Observations``, row by row."""

    actions: I16
    """int16 [n]: a kind to discard; 1 = yes, 0 = no for the other heads."""
    scores: F32
    """float32 [n]: how sure a yes is, 0.5 … 1; of several at one table the highest counts. Unused for discards."""
    log_probs: F32
    """float32 [n]: log-probability of a sampled action; 0 for actions that were not sampled."""
    versions: I32
    """int32 [n]: policy version that computed it."""
