from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from suphx.training.supervised.metrics import (
    calibrated_report,
    cross_entropy,
    fit_calibration,
    fit_temperature,
    log_probabilities,
    matching_threshold,
)

Case = tuple[NDArray[np.float64], NDArray[np.int64]]


def drawn_samples(num_outputs: int, sharpness: float, bias: float = 0.0, count: int = 20_000) -> Case:
    """Labels drawn from honest probabilities; the logits are ``sharpness`` times too large."""
    random = np.random.default_rng(3)
    honest = random.normal(size=(count, num_outputs))
    honest[:, 0] += bias
    if num_outputs == 34:
        honest[:, 5] = -np.inf
    chances = np.exp(log_probabilities(honest))
    labels = (random.random((count, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    return sharpness * honest, np.minimum(labels, num_outputs - 1)


@pytest.mark.parametrize("num_outputs", [2, 34])
@pytest.mark.parametrize("sharpness", [0.5, 1.0, 3.0])
def test_the_temperature_undoes_what_made_the_logits_too_large(num_outputs: int, sharpness: float) -> None:
    logits, labels = drawn_samples(num_outputs, sharpness)
    assert fit_temperature(logits, labels) == pytest.approx(sharpness, rel=0.1)


def test_no_other_temperature_has_a_smaller_loss() -> None:
    logits, labels = drawn_samples(34, 2.5, count=2000)
    best = fit_temperature(logits, labels)
    losses = [cross_entropy(logits / temperature, labels) for temperature in np.geomspace(0.06, 19, 200)]
    assert cross_entropy(logits / best, labels) <= min(losses)


def test_the_threshold_says_yes_as_often_as_the_labels() -> None:
    logits, labels = drawn_samples(2, 2.0, bias=2.0)
    fit = fit_calibration(logits, labels)
    report = calibrated_report(logits, labels, fit)
    assert fit.yes_threshold < 0.5
    assert report["yes_matched"] == pytest.approx(report["yes"], abs=1e-3)
    assert report["yes_probable"] < 0.7 * report["yes"]
    assert report["ece"] < 0.02


def test_the_threshold_is_between_two_probabilities() -> None:
    assert matching_threshold(np.array([0.1, 0.9, 0.3, 0.6]), np.array([0, 1, 0, 1])) == pytest.approx(0.45)


@pytest.mark.parametrize("labels", [[0, 0, 0], [1, 1, 1]])
def test_labels_that_are_all_the_same_teach_no_threshold(labels: list[int]) -> None:
    assert matching_threshold(np.array([0.1, 0.2, 0.3]), np.array(labels)) == 0.5


def test_separable_and_missing_samples_give_a_usable_calibration() -> None:
    logits, labels = np.array([[0.5, -0.5], [-0.5, 0.5]]), np.array([0, 1])
    many = fit_calibration(np.tile(logits, (50_000, 1)), np.tile(labels, 50_000))
    assert 0.05 <= many.temperature < 0.2
    few = fit_calibration(logits, labels)
    assert 0.8 < few.temperature < 1
    none = fit_calibration(np.zeros((0, 2)), np.zeros(0, np.int64))
    assert (none.temperature, none.yes_threshold) == (1.0, 0.5)
    assert calibrated_report(np.zeros((0, 2)), np.zeros(0, np.int64), none)["yes"] is None
