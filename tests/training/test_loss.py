from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from suphx.training.classification import (
    accuracy,
    balanced_accuracy,
    calibrated_report,
    calibration_bins,
    classification_report,
    confusion_matrix,
    cross_entropy,
    expected_calibration_error,
    fit_calibration,
    fit_temperature,
    log_probabilities,
    matching_threshold,
    precisions,
    prior_loss,
    top_accuracy,
)
from suphx.training.supervised import supervised_loss

CalibrationCase = tuple[NDArray[np.float64], NDArray[np.int64]]


def drawn_samples(num_outputs: int, sharpness: float, bias: float = 0.0, count: int = 20_000) -> CalibrationCase:
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


def test_the_threshold_says_yes_as_often_as_the_labels() -> None:
    logits, labels = drawn_samples(2, 2.0, bias=2.0)
    fit = fit_calibration(logits, labels)
    report = calibrated_report(logits, labels, fit)
    assert fit.yes_threshold < 0.5
    assert report["yes_matched"] == pytest.approx(report["yes"], abs=1e-3)
    assert report["yes_probable"] < 0.7 * report["yes"]
    assert report["ece"] < 0.02


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


Case = tuple[NDArray[np.float32], NDArray[np.int8]]


def case(num_classes: int, seed: int) -> Case:
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


def slow_figures(logits: list[list[float]], labels: list[int]) -> dict[str, float]:
    total = len(labels)
    num_classes = len(logits[0])
    predictions = [slow_order(row)[0] for row in logits]
    pairs = list(zip(predictions, labels, strict=True))
    recall = []
    for number in range(num_classes):
        own = [p == y for p, y in pairs if y == number]
        if own:
            recall.append(sum(own) / len(own))
    yes = [y == 1 for p, y in pairs if p == 1]
    return {
        "loss": -sum(math.log(slow_probabilities(row)[y]) for row, y in zip(logits, labels, strict=True)) / total,
        "accuracy": sum(p == y for p, y in pairs) / total,
        "top3": sum(y in slow_order(row)[:3] for row, y in zip(logits, labels, strict=True)) / total,
        "balanced": sum(recall) / len(recall),
        "precision_of_1": sum(yes) / len(yes),
    }


@pytest.mark.parametrize(("logits", "labels"), CASES)
def test_the_figures_agree_with_the_slow_twin(logits: NDArray[np.float32], labels: NDArray[np.int8]) -> None:
    slow = slow_figures(logits.tolist(), labels.tolist())
    confusion = confusion_matrix(logits.argmax(axis=1), labels, logits.shape[1])
    assert cross_entropy(logits, labels) == pytest.approx(slow["loss"])
    assert accuracy(logits, labels) == pytest.approx(slow["accuracy"])
    assert top_accuracy(logits, labels, 3) == pytest.approx(slow["top3"])
    assert balanced_accuracy(confusion) == pytest.approx(slow["balanced"])
    assert precisions(confusion)[1] == pytest.approx(slow["precision_of_1"])


@pytest.mark.parametrize(("logits", "labels"), CASES)
def test_calibration_agrees_with_the_slow_twin(logits: NDArray[np.float32], labels: NDArray[np.int8]) -> None:
    members: dict[int, list[tuple[float, bool]]] = {}
    for row, label in zip(logits.tolist(), labels.tolist(), strict=True):
        confidence = max(slow_probabilities(row))
        number = next(b for b in range(10) if confidence <= (b + 1) / 10 + 1e-12)
        members.setdefault(number, []).append((confidence, slow_order(row)[0] == label))
    bins = calibration_bins(logits, labels, num_bins=10)
    assert [count for _, _, count in bins] == [len(members[number]) for number in sorted(members)]
    gap = 0.0
    for (mean_confidence, right_share, _), number in zip(bins, sorted(members), strict=True):
        expected = np.array(members[number], float)
        assert mean_confidence == pytest.approx(expected[:, 0].mean())
        assert right_share == pytest.approx(expected[:, 1].mean())
        gap += len(expected) / len(labels) * abs(expected[:, 0].mean() - expected[:, 1].mean())
    assert expected_calibration_error(bins) == pytest.approx(gap)


@pytest.mark.parametrize("num_classes", [2, 34])
def test_the_report_of_no_samples_is_empty_but_whole(num_classes: int) -> None:
    report = classification_report(np.zeros((0, num_classes), np.float32), np.zeros(0, np.int8))
    assert report["samples"] == 0
    assert report["accuracy"] is None
    assert report["calibration"] == []
    json.dumps(report, allow_nan=False)


@pytest.mark.parametrize(("logits", "labels"), [CASES[0], CASES[3]])
def test_the_report_has_the_figures_of_its_kind_of_head(logits: NDArray[np.float32], labels: NDArray[np.int8]) -> None:
    report: dict[str, Any] = json.loads(json.dumps(classification_report(logits, labels), allow_nan=False))
    is_yes_no = logits.shape[1] == 2
    assert (report["recall_yes"] is None) != is_yes_no
    assert (report["top3"] is None) == is_yes_no
    assert np.array(report["confusion"]).sum() == report["samples"] == 300


def test_the_loss_without_learning_is_that_of_the_label_shares_or_of_all_legal_classes_alike() -> None:
    labels = np.array([0, 0, 0, 1], np.int8)
    shares = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert prior_loss(np.zeros((4, 2), np.float32), labels) == pytest.approx(shares)
    two_legal = np.full((4, 34), -np.inf, np.float32)
    two_legal[np.arange(4), [3, 9, 20, 33]] = two_legal[:, 0] = 0.0
    assert prior_loss(two_legal, np.array([3, 9, 20, 33], np.int8)) == pytest.approx(np.log(2))
    assert prior_loss(np.zeros((2, 2), np.float32), np.ones(2, np.int8)) == 0.0
    assert np.isnan(prior_loss(np.zeros((0, 2), np.float32), np.zeros(0, np.int8)))


def test_illegal_outputs_get_no_probability_and_no_gradient() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    masks = torch.tensor([[1, 1, 0]], dtype=torch.uint8)
    loss = supervised_loss(logits, torch.tensor([0], dtype=torch.int8), masks)
    torch.autograd.backward(loss)
    assert loss.item() == pytest.approx(math.log(1 + math.e))
    assert logits.grad is not None
    assert logits.grad[0, 2] == 0
