"""Fits a Calibration on validation samples: temperature scaling, and a threshold that says yes as often as the records.

A net that always takes the more probable choice says yes too rarely wherever yes is rare: what is 30 % yes is never
done, though the players whom it learned from do it in 30 % of the cases.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.models.computation import Calibration
from suphx.training.supervised.metrics import Floats, Labels, cross_entropy, log_probabilities

_STEPS = 60
_SMALLEST, _LARGEST = 0.05, 20.0
_GOLDEN = (5**0.5 - 1) / 2
_PRIOR = 2.0
"""Nats over all samples that the squared logarithm of the temperature costs: a normal prior of deviation 0.5."""


def fit_calibration(logits: Floats, labels: Labels) -> Calibration:
    """Return the calibration for ``logits`` [n, k] (minus infinity = illegal) and ``labels`` [n]; the neutral one for
    no samples. The threshold is fitted for two outputs only.
    """  # fmt: skip
    if len(labels) == 0:
        return Calibration()
    temperature = fit_temperature(logits, labels)
    if logits.shape[1] != 2:
        return Calibration(temperature=temperature)
    yes = np.exp(log_probabilities(logits / temperature)[:, 1])
    return Calibration(temperature=temperature, yes_threshold=matching_threshold(yes, labels))


def fit_temperature(logits: Floats, labels: Labels) -> float:
    """Return the temperature (0.05 to 20) with the least cross-entropy, which is convex in its inverse.

    A temperature other than 1 has to be worth it: a hundred samples that a net predicts all correctly do not show that
    it is never wrong.
    """

    def cost(inverse: float) -> float:
        doubt = _PRIOR * np.log(inverse) ** 2 / len(labels)
        return float(cross_entropy(logits * inverse, labels) + doubt)

    low, high = 1 / _LARGEST, 1 / _SMALLEST
    for _ in range(_STEPS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if cost(left) < cost(right):
            high = right
        else:
            low = left
    return 2 / (low + high)


def matching_threshold(yes: NDArray[np.float64], labels: Labels) -> float:
    """Return the border above which there are as many probabilities ``yes`` [n] as labels that are 1.

    0.5 if all labels are the same: then nothing can be learned of the border.
    """
    count = int(np.sum(labels == 1))
    if count in (0, len(labels)):
        return 0.5
    descending = np.sort(yes)[::-1]
    middle = float(descending[count - 1] + descending[count]) / 2
    return min(max(middle, 1e-6), 1 - 1e-6)
