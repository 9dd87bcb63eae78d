"""How good a classifier is: accuracy, balanced accuracy, recall, confusion and calibration, from logits and labels.

Logits are float [n, k] with minus infinity for illegal outputs, labels are integers [n]. Of equal logits the lowest
index counts as the prediction. With no samples every share is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.models.net_config import Calibration

Floats = NDArray[np.floating]
Labels = NDArray[np.integer]

NUM_BINS = 15


def log_probabilities(logits: Floats) -> NDArray[np.float64]:
    """Return the log-softmax [n, k] in double precision; minus infinity stays."""
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    result: NDArray[np.float64] = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return result


def cross_entropy(logits: Floats, labels: Labels) -> float:
    """Return the mean negative log-probability of the labels, in nats."""
    picked = log_probabilities(logits)[np.arange(len(labels)), labels]
    return -_mean(picked)


def accuracy(logits: Floats, labels: Labels) -> float:
    """Return the share of samples whose largest logit is the label's."""
    return _mean(logits.argmax(axis=1) == labels)


def top_accuracy(logits: Floats, labels: Labels, count: int) -> float:
    """Return the share of samples whose label is among the ``count`` largest logits."""
    own = logits[np.arange(len(labels)), labels][:, None]
    is_before = np.arange(logits.shape[1]) < labels[:, None]
    ahead = (logits > own) | ((logits == own) & is_before)
    return _mean(ahead.sum(axis=1) < count)


def confusion_matrix(predictions: Labels, labels: Labels, num_classes: int) -> NDArray[np.int64]:
    """Return counts [num_classes, num_classes]: the row is the label, the column the prediction."""
    cells = labels.astype(np.int64) * num_classes + predictions
    return np.bincount(cells, minlength=num_classes * num_classes).reshape(num_classes, num_classes)


def recalls(confusion: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for each class the share of its samples that are predicted so; NaN for a class without samples."""
    return _shares(np.diagonal(confusion), confusion.sum(axis=1))


def precisions(confusion: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return for each class the share of its predictions that are right; NaN for a class that is never predicted."""
    return _shares(np.diagonal(confusion), confusion.sum(axis=0))


def balanced_accuracy(confusion: NDArray[np.int64]) -> float:
    """Return the mean recall over the classes that have samples."""
    present = recalls(confusion)
    return _mean(present[~np.isnan(present)])


def majority_accuracy(confusion: NDArray[np.int64]) -> float:
    """Return the accuracy of always giving the most frequent label; NaN without samples.

    An accuracy means something only above it (DummyClassifier of scikit-learn, ``most_frequent``).
    """
    labels = confusion.sum(axis=1)
    return float(labels.max() / labels.sum()) if labels.any() else float("nan")


CalibrationBin = tuple[float, float, int]
"""Mean confidence (largest probability) of some samples, share of right predictions, and number of samples."""


def calibration_bins(logits: Floats, labels: Labels, num_bins: int = NUM_BINS) -> list[CalibrationBin]:
    """Return the filled ones of ``num_bins`` equally wide bins of confidence over (0, 1], ascending."""
    confidence = np.exp(log_probabilities(logits).max(axis=1))
    is_right = logits.argmax(axis=1) == labels
    index = np.clip(np.ceil(confidence * num_bins).astype(np.int64) - 1, 0, num_bins - 1)
    count = np.bincount(index, minlength=num_bins)
    confidence_sum = np.bincount(index, weights=confidence, minlength=num_bins)
    right_sum = np.bincount(index, weights=is_right, minlength=num_bins)
    return [
        (float(confidence_sum[b] / count[b]), float(right_sum[b] / count[b]), int(count[b]))
        for b in np.flatnonzero(count)
    ]


def expected_calibration_error(bins: list[CalibrationBin]) -> float:
    """Return the mean gap between confidence and accuracy, each bin weighted by its samples."""
    total = sum(count for _, _, count in bins)
    if total == 0:
        return float("nan")
    return sum(count * abs(confidence - right) for confidence, right, count in bins) / total


def prior_loss(logits: Floats, labels: Labels) -> float:
    """Return the loss of a net that has not learned; NaN without samples.

    It answers the shares of the labels, or all legal classes alike if that is better; illegal ones have the logit minus
    infinity.
    """
    if not labels.size:
        return float("nan")
    shares = np.bincount(labels) / labels.size
    shares = shares[shares > 0]
    entropy = max(0.0, -(shares * np.log(shares)).sum())
    return float(min(entropy, np.log(np.isfinite(logits).sum(axis=1)).mean()))


def classification_report(logits: Floats, labels: Labels) -> dict[str, Any]:
    """Return every figure of this module for one head as JSON can hold it; None where there is nothing to count.

    Two-output heads have recall and precision of yes (label 1), the others top-3 accuracy.
    """
    num_classes = logits.shape[1]
    confusion = confusion_matrix(logits.argmax(axis=1), labels, num_classes)
    bins = calibration_bins(logits, labels)
    is_yes_no = num_classes == 2
    return {
        "samples": len(labels),
        "loss": _json(cross_entropy(logits, labels)),
        "accuracy": _json(accuracy(logits, labels)),
        "majority_accuracy": _json(majority_accuracy(confusion)),
        "balanced_accuracy": _json(balanced_accuracy(confusion)),
        "recall_yes": _json(recalls(confusion)[1]) if is_yes_no else None,
        "precision_yes": _json(precisions(confusion)[1]) if is_yes_no else None,
        "top3": None if is_yes_no else _json(top_accuracy(logits, labels, 3)),
        "calibration": [list(each) for each in bins],
        "ece": _json(expected_calibration_error(bins)),
        "confusion": confusion.tolist(),
        "prior_loss": _json(prior_loss(logits, labels)),
    }


def calibrated_report(logits: Floats, labels: Labels, calibration: Calibration) -> dict[str, Any]:
    """Return what a calibration does to samples that it was not fitted on, as JSON can hold it.

    ``temperature``, ``loss`` and ``ece`` after it, ``calibration`` bins; of two-output heads also ``yes_threshold``,
    the shares of yes in the record (``yes``), by the more probable answer (``yes_probable``), above the threshold
    (``yes_matched``), and the accuracy with it.
    """
    corrected = logits / calibration.temperature
    bins = calibration_bins(corrected, labels)
    report: dict[str, Any] = {
        "temperature": calibration.temperature,
        "loss": _json(cross_entropy(corrected, labels)),
        "ece": _json(expected_calibration_error(bins)),
        "calibration": [list(each) for each in bins],
    }
    if logits.shape[1] == 2:
        yes = np.exp(log_probabilities(corrected)[:, 1])
        says_yes = yes > calibration.yes_threshold
        report |= {
            "yes_threshold": calibration.yes_threshold,
            "yes": _json(_mean(labels == 1)),
            "yes_probable": _json(_mean(yes > 0.5)),
            "yes_matched": _json(_mean(says_yes)),
            "accuracy_matched": _json(_mean(says_yes == (labels == 1))),
        }
    return report


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if values.size else float("nan")


def _shares(parts: NDArray[np.int64], totals: NDArray[np.int64]) -> NDArray[np.float64]:
    shares = np.full(len(totals), np.nan)
    np.divide(parts, totals, out=shares, where=totals > 0)
    return shares


def _json(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


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
