"""How good a classifier is: accuracy, recall, confusion and calibration, from logits and labels.

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
    return -_mean(log_probabilities(logits)[np.arange(len(labels)), labels])


def accuracy(logits: Floats, labels: Labels) -> float:
    """Return the share of samples whose largest logit is the label's."""
    return _mean(logits.argmax(axis=1) == labels)


def top_accuracy(logits: Floats, labels: Labels, count: int) -> float:
    """Return the share of samples whose label is among the ``count`` largest logits."""
    own = logits[np.arange(len(labels)), labels][:, None]
    is_before = np.arange(logits.shape[1]) < labels[:, None]
    ahead = (logits > own) | ((logits == own) & is_before)
    return _mean(ahead.sum(axis=1) < count)


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
    return sum(count * abs(mean - right) for mean, right, count in bins) / total if total else float("nan")


def prior_loss(logits: Floats, labels: Labels) -> float:
    """Return the loss of a net that has not learned: the shares of the labels, or all legal classes alike if better.

    NaN without samples. Illegal classes have the logit minus infinity.
    """
    if not labels.size:
        return float("nan")
    shares = np.bincount(labels) / labels.size
    shares = shares[shares > 0]
    entropy = max(0.0, -(shares * np.log(shares)).sum())
    return float(min(entropy, np.log(np.isfinite(logits).sum(axis=1)).mean()))


def classification_report(logits: Floats, labels: Labels) -> dict[str, Any]:
    """Return all figures of one head as JSON can hold it; None where there is nothing to count.

    Two-output heads have recall and precision of yes (label 1), the others top-3 accuracy. ``majority_accuracy``: of
    always giving the most frequent label; ``confusion``: counts, the row is the label, the column the prediction.
    """
    k = logits.shape[1]
    cells = labels.astype(np.int64) * k + logits.argmax(axis=1)
    confusion = np.bincount(cells, minlength=k * k).reshape(k, k)
    by_label, right = confusion.sum(axis=1), np.diagonal(confusion)
    recalls, precisions = _shares(right, by_label), _shares(right, confusion.sum(axis=0))
    bins = calibration_bins(logits, labels)
    is_yes_no = k == 2
    figures = {
        "loss": cross_entropy(logits, labels),
        "accuracy": accuracy(logits, labels),
        "majority_accuracy": by_label.max() / by_label.sum() if labels.size else float("nan"),
        "balanced_accuracy": _mean(recalls[~np.isnan(recalls)]),
        "recall_yes": recalls[1] if is_yes_no else float("nan"),
        "precision_yes": precisions[1] if is_yes_no else float("nan"),
        "top3": float("nan") if is_yes_no else top_accuracy(logits, labels, 3),
        "ece": expected_calibration_error(bins),
        "prior_loss": prior_loss(logits, labels),
    }
    others = {"samples": len(labels), "calibration": [list(each) for each in bins], "confusion": confusion.tolist()}
    return others | {name: _json(value) for name, value in figures.items()}


def calibrated_report(logits: Floats, labels: Labels, calibration: Calibration) -> dict[str, Any]:
    """Return what a calibration does to samples that it was not fitted on, as JSON can hold it.

    ``temperature``, ``loss`` and ``ece`` after it, ``calibration`` bins; of two-output heads also ``yes_threshold``,
    the shares of yes in the record (``yes``), by the more probable answer (``yes_probable``), above the threshold
    (``yes_matched``), and the accuracy with it.
    """
    corrected = logits / calibration.temperature
    bins = calibration_bins(corrected, labels)
    figures = {"loss": cross_entropy(corrected, labels), "ece": expected_calibration_error(bins)}
    report: dict[str, Any] = {"temperature": calibration.temperature, "calibration": [list(each) for each in bins]}
    if logits.shape[1] == 2:
        yes = np.exp(log_probabilities(corrected)[:, 1])
        says_yes = yes > calibration.yes_threshold
        report["yes_threshold"] = calibration.yes_threshold
        figures |= {
            "yes": _mean(labels == 1),
            "yes_probable": _mean(yes > 0.5),
            "yes_matched": _mean(says_yes),
            "accuracy_matched": _mean(says_yes == (labels == 1)),
        }
    return report | {name: _json(value) for name, value in figures.items()}


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if values.size else float("nan")


def _shares(parts: NDArray[np.int64], totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return NaN where the total is 0."""
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
    """Return the calibration for ``logits`` and ``labels``; the neutral one for no samples."""
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
