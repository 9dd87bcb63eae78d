from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from suphx.training.classification import (
    calibrated_report,
    calibration_bins,
    classification_report,
    expected_calibration_error,
    fit_calibration,
    fit_temperature,
    log_probabilities,
    matching_threshold,
    prior_loss,
    top_accuracy,
)


def drawn_samples(num_outputs: int, sharpness: float, bias: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Labels drawn from honest probabilities; the logits are ``sharpness`` times too large."""
    random = np.random.default_rng(3)
    honest = random.normal(size=(20_000, num_outputs))
    honest[:, 0] += bias
    if num_outputs == 34:
        honest[:, 5] = -np.inf
    chances = np.exp(log_probabilities(honest))
    labels = (random.random((20_000, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    return sharpness * honest, np.minimum(labels, num_outputs - 1)


@pytest.mark.parametrize("num_outputs", [2, 34])
@pytest.mark.parametrize("sharpness", [0.5, 1.0, 3.0])
def test_the_temperature_undoes_what_made_the_logits_too_large(num_outputs: int, sharpness: float) -> None:
    logits, labels = drawn_samples(num_outputs, sharpness)
    assert fit_temperature(logits, labels) == pytest.approx(sharpness, rel=0.1)


def test_the_threshold_says_yes_as_often_as_the_labels() -> None:
    logits, labels = drawn_samples(2, 2.0, bias=2.0)
    fit = fit_calibration(logits, labels)
    report = calibrated_report(logits, labels, fit)
    assert fit.yes_threshold < 0.5
    assert report["yes_matched"] == pytest.approx(report["yes"], abs=1e-3)
    assert report["yes_probable"] < 0.7 * report["yes"]
    assert report["ece"] < 0.02
    for same in (0, 1):
        assert matching_threshold(np.array([0.1, 0.2, 0.3]), np.full(3, same)) == 0.5


def test_separable_and_missing_samples_give_a_usable_calibration() -> None:
    logits, labels = np.array([[0.5, -0.5], [-0.5, 0.5]]), np.array([0, 1])
    many = fit_calibration(np.tile(logits, (50_000, 1)), np.tile(labels, 50_000))
    assert 0.05 <= many.temperature < 0.2
    assert 0.8 < fit_calibration(logits, labels).temperature < 1
    none = fit_calibration(np.zeros((0, 2)), np.zeros(0, np.int64))
    assert (none.temperature, none.yes_threshold) == (1.0, 0.5)
    assert calibrated_report(np.zeros((0, 2)), np.zeros(0, np.int64), none)["yes"] is None


def case(num_classes: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Random logits, rounded so that some are equal; for 34 classes two thirds are illegal."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, num_classes, 300).astype(np.int8)
    logits = random.normal(size=(300, num_classes)).round(1).astype(np.float32)
    if num_classes > 2:
        illegal = random.random(logits.shape) < 0.66
        illegal[np.arange(300), labels] = False
        logits[illegal] = -np.inf
    return logits, labels


CASES = [case(num_classes, seed) for num_classes in (2, 34) for seed in range(3)]


def slow_probabilities(logits: list[float]) -> list[float]:
    total = sum(math.exp(value) for value in logits)
    return [math.exp(value) / total for value in logits]


def slow_order(logits: list[float]) -> list[int]:
    return sorted(range(len(logits)), key=lambda index: (-logits[index], index))


def slow_figures(logits: list[list[float]], labels: list[int]) -> dict[str, float | None]:
    total, is_yes_no = len(labels), len(logits[0]) == 2
    pairs = list(zip([slow_order(row)[0] for row in logits], labels, strict=True))
    right = {n: [p == y for p, y in pairs if y == n] for n in range(len(logits[0]))}
    recalls = {n: sum(own) / len(own) for n, own in right.items() if own}
    yes = [y == 1 for p, y in pairs if p == 1]
    return {
        "samples": total,
        "loss": -sum(math.log(slow_probabilities(row)[y]) for row, y in zip(logits, labels, strict=True)) / total,
        "accuracy": sum(p == y for p, y in pairs) / total,
        "majority_accuracy": max(map(len, right.values())) / total,
        "balanced_accuracy": sum(recalls.values()) / len(recalls),
        "recall_yes": recalls[1] if is_yes_no else None,
        "precision_yes": sum(yes) / len(yes) if is_yes_no else None,
        "top3": None if is_yes_no else sum(y in slow_order(r)[:3] for r, y in zip(logits, labels, strict=True)) / total,
    }


@pytest.mark.parametrize(("logits", "labels"), CASES)
def test_the_figures_agree_with_the_slow_twin(logits: NDArray[np.float32], labels: NDArray[np.int8]) -> None:
    report: dict[str, Any] = json.loads(json.dumps(classification_report(logits, labels), allow_nan=False))
    slow = slow_figures(logits.tolist(), labels.tolist())
    assert {name: report[name] for name in slow} == pytest.approx(slow)
    assert np.array(report["confusion"]).sum() == 300
    assert np.diagonal(report["confusion"]).sum() == pytest.approx(300 * report["accuracy"])
    assert top_accuracy(logits, labels, 1) == report["accuracy"]


@pytest.mark.parametrize(("logits", "labels"), CASES)
def test_calibration_agrees_with_the_slow_twin(logits: NDArray[np.float32], labels: NDArray[np.int8]) -> None:
    members: dict[int, list[tuple[float, bool]]] = {}
    for row, label in zip(logits.tolist(), labels.tolist(), strict=True):
        confidence = max(slow_probabilities(row))
        number = next(b for b in range(10) if confidence <= (b + 1) / 10 + 1e-12)
        members.setdefault(number, []).append((confidence, slow_order(row)[0] == label))
    expected = [(*np.mean(members[n], axis=0), len(members[n])) for n in sorted(members)]
    bins = calibration_bins(logits, labels, num_bins=10)
    np.testing.assert_allclose(bins, expected)
    gap = sum(count / len(labels) * abs(mean - right) for mean, right, count in expected)
    assert expected_calibration_error(bins) == pytest.approx(gap)


@pytest.mark.parametrize("num_classes", [2, 34])
def test_the_report_of_no_samples_is_empty_but_whole(num_classes: int) -> None:
    report = classification_report(np.zeros((0, num_classes), np.float32), np.zeros(0, np.int8))
    assert (report["samples"], report["accuracy"], report["calibration"]) == (0, None, [])
    json.dumps(report, allow_nan=False)


def test_the_loss_without_learning_is_that_of_the_label_shares_or_of_all_legal_classes_alike() -> None:
    labels = np.array([0, 0, 0, 1], np.int8)
    shares = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert prior_loss(np.zeros((4, 2), np.float32), labels) == pytest.approx(shares)
    two_legal = np.full((4, 34), -np.inf, np.float32)
    two_legal[np.arange(4), [3, 9, 20, 33]] = two_legal[:, 0] = 0.0
    assert prior_loss(two_legal, np.array([3, 9, 20, 33], np.int8)) == pytest.approx(np.log(2))
    assert prior_loss(np.zeros((2, 2), np.float32), np.ones(2, np.int8)) == 0.0
    assert np.isnan(prior_loss(np.zeros((0, 2), np.float32), np.zeros(0, np.int8)))
