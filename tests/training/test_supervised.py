from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from suphx.experience.observation import Samples
from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD, RIICHI_HEAD
from suphx.models.checkpoint import load_checkpoint, load_header
from suphx.models.net_config import NetConfig
from suphx.training import supervised
from suphx.training.config import SupervisedConfig
from suphx.training.optimizer import predict
from suphx.training.supervised import HeadTrainer, averaged, estimate_samples, plan_training, supervised_loss
from suphx.training.trainer import DivergedError, StoppedError, TrainingWatch
from suphx.training.worker_group import WorkerGroup
from tests.training.played_games import LAYOUT, NET, ROWS_A_KYOKU, SHORT, LowestLegal, head_data, job, untimed


@dataclass
class EveryTenth:
    """Has two samples in every tenth kyoku; counts what it was asked for."""

    asked: int = 0

    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        self.asked += len(kyokus)
        count = 2 * int((kyokus % 10 == 0).sum())
        return Samples(np.zeros((count, 1), np.uint8), np.zeros((count, 0), np.uint8), np.zeros(count, np.int8))


def test_samples_are_estimated_from_a_part_of_the_kyokus() -> None:
    encode = EveryTenth()
    estimate = estimate_samples(encode, np.arange(100_000))
    assert estimate == pytest.approx(20_000, rel=0.2)
    assert encode.asked < 4000
    assert estimate_samples(EveryTenth(), np.arange(100_000)) == estimate


@pytest.mark.parametrize(
    ("samples", "batch_size", "max_epochs"),
    [
        (500_000, 512, 4),  # many: its settings
        (12_000, 128, 4),  # fewer: smaller batches
        (4_000, 64, 4.8),  # very few: more passes too
        (50, 64, 40),  # but not endlessly
    ],
)
def test_a_head_with_few_samples_takes_smaller_batches_and_more_passes(
    samples: int, batch_size: int, max_epochs: float
) -> None:
    plan = plan_training(SupervisedConfig(batch_size=512, max_epochs=4, min_steps=300), samples)
    assert (plan.batch_size, plan.max_epochs) == (batch_size, max_epochs)


def test_batches_are_a_multiple_of_the_workers_and_passes_do_not_depend_on_them() -> None:
    config = SupervisedConfig(batch_size=1000, max_epochs=4, min_steps=300)
    plans = [plan_training(config, 8000, num_workers) for num_workers in (1, 2, 8, 40)]
    assert [plan.batch_size for plan in plans] == [125, 126, 128, 160]
    assert {plan.max_epochs for plan in plans} == {4.688}


class KilledError(Exception):
    """Stands for whatever ends a training from outside."""


def train(folder: Path, config: SupervisedConfig = SHORT, stop_at: int = 0, **fields: Any) -> dict[str, Any]:
    def report(point: Mapping[str, Any]) -> None:
        if point["step"] == stop_at:
            raise KilledError

    return HeadTrainer(job(config, **fields), folder, report=report).run()


def test_a_tiny_net_learns_to_discard_the_lowest_legal_kind(tmp_path: Path) -> None:
    config = SupervisedConfig(batch_size=128, max_steps=250, validate_every=125, warmup_steps=20, learning_rate=5e-3)
    net = NetConfig(size="tiny")
    metrics = train(tmp_path, replace(config, threads=1), data=head_data(num_kyokus=1000), net=net)
    assert metrics["test"]["accuracy"] > 0.95
    assert metrics["test"]["top3"] > 0.99
    assert metrics["test"]["samples"] == 20 * ROWS_A_KYOKU


def test_a_yes_no_head_learns_and_its_checkpoint_has_what_the_metrics_show(tmp_path: Path) -> None:
    config = replace(SHORT, learning_rate=1e-2, max_steps=120)
    metrics = train(tmp_path, config, data=head_data(RIICHI_HEAD, num_validation=40))
    assert metrics["test"]["balanced_accuracy"] > 0.9
    assert metrics["test"]["recall_yes"] > 0.85
    fit = load_header(tmp_path / "riichi.safetensors").calibration
    assert fit is not None
    assert fit.temperature == metrics["calibrated"]["temperature"]
    assert fit.yes_threshold == metrics["calibrated"]["yes_threshold"]
    assert metrics["calibrated"]["yes_matched"] == pytest.approx(metrics["calibrated"]["yes"], abs=0.1)


def test_results_are_reported_and_on_disk_and_a_finished_training_is_not_trained_again(tmp_path: Path) -> None:
    points: list[Mapping[str, Any]] = []
    metrics = HeadTrainer(job(replace(SHORT, report_every=7)), tmp_path, report=points.append).run()
    assert [point["step"] for point in points] == [7, 14, 21, 28, 35, 42, 49, 56, 60]
    assert all(0 <= point["waiting_share"] <= 1 and point["samples_per_second"] > 0 for point in points)
    assert "validation_loss" not in points[0]
    assert points[-1]["validation_loss"] > 0
    assert points[-1]["share_done"] == 1
    assert json.loads((tmp_path / "metrics.json").read_text()) == metrics
    assert [entry["step"] for entry in metrics["history"]] == [20, 40, 60]
    assert metrics["history"][-1]["samples"] == 60 * 64
    net, header = load_checkpoint(tmp_path / "discard.safetensors", DECISIONS[DISCARD_HEAD], LAYOUT)
    test = LowestLegal(DISCARD_HEAD)(np.arange(10, 30))
    right = predict(net, test, bf16=False).argmax(axis=1) == test.labels
    assert right.mean() == pytest.approx(metrics["test"]["accuracy"], abs=0.02)
    assert header.step == metrics["best_step"]
    assert header.metrics["test_accuracy"] == metrics["test"]["accuracy"]
    assert train(tmp_path, stop_at=1) == metrics


@pytest.mark.parametrize(
    ("limit", "samples"), [({"max_epochs": 1}, 170 * ROWS_A_KYOKU // 64 * 64), ({"max_minutes": 1e-6}, 64)]
)
def test_epochs_and_minutes_end_a_training_too(tmp_path: Path, limit: dict[str, Any], samples: int) -> None:
    metrics = train(tmp_path, replace(SHORT, **{"max_steps": 0, "max_epochs": 0, **limit}))
    assert metrics["history"][-1]["samples"] == samples


def test_early_weights_are_kept_as_the_weaker_agents(tmp_path: Path) -> None:
    metrics = train(tmp_path, replace(SHORT, weak_share=0.4))
    weak, header = load_checkpoint(tmp_path / "discard-weak.safetensors", DECISIONS[DISCARD_HEAD], LAYOUT)
    best, _ = load_checkpoint(tmp_path / "discard.safetensors", DECISIONS[DISCARD_HEAD], LAYOUT)
    assert header.step == metrics["weak_step"] == 24
    test = LowestLegal(DISCARD_HEAD)(np.arange(10, 30))
    right = [(predict(net, test, bf16=False).argmax(axis=1) == test.labels).mean() for net in (weak, best)]
    assert right[0] < right[1]


def test_a_training_that_ends_before_its_early_weights_were_due_keeps_its_best_ones(tmp_path: Path) -> None:
    config = replace(SHORT, max_steps=2000, validate_every=10, patience=1, learning_rate=0.3)
    metrics = train(tmp_path, replace(config, weak_share=0.9))
    assert metrics["weak_step"] == 0
    assert load_header(tmp_path / "discard-weak.safetensors").step == metrics["best_step"]


@pytest.mark.parametrize(("stop_at", "average_steps"), [(1, 0), (33, 0), (40, 0), (59, 0), (60, 0), (33, 15)])
def test_a_stopped_training_ends_with_the_numbers_of_an_unstopped_one(
    tmp_path: Path, stop_at: int, average_steps: int
) -> None:
    config = replace(SHORT, average_steps=average_steps)
    whole = train(tmp_path / "whole", config)
    with pytest.raises(KilledError):
        train(tmp_path / "stopped", config, stop_at=stop_at)
    resumed = train(tmp_path / "stopped", config)
    assert untimed(resumed) == untimed(whole)
    for file in ("discard.safetensors", "discard-weak.safetensors"):
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "stopped" / file).read_bytes()


def test_averaged_weights_are_the_mean_of_the_first_steps_and_then_forget_the_oldest() -> None:
    net = nn.BatchNorm1d(1)
    average = averaged(net, num_steps=4)
    means = []
    for value in (1.0, 2.0, 3.0, 4.0, 8.0):
        net.load_state_dict(
            net.state_dict() | {"weight": torch.tensor([value]), "running_mean": torch.tensor([-value])}
        )
        average.update_parameters(net)
        state = average.module.state_dict()
        assert state["running_mean"] == -state["weight"]
        means.append(float(state["weight"]))
    assert means == pytest.approx([1, 1.5, 2, 2.5, 2.5 + (8 - 2.5) / 4])


def test_averaged_weights_are_kept_and_change_nothing_in_the_training(tmp_path: Path) -> None:
    rough = replace(SHORT, learning_rate=2e-2, validate_every=60)
    newest, average = (train(tmp_path / str(n), replace(rough, average_steps=n)) for n in (0, 30))
    assert average["history"][-1]["train_loss"] == newest["history"][-1]["train_loss"]
    assert average["test"]["loss"] != newest["test"]["loss"]
    net, header = load_checkpoint(tmp_path / "30" / "discard.safetensors", DECISIONS[DISCARD_HEAD], LAYOUT)
    test = LowestLegal(DISCARD_HEAD)(np.arange(10, 30))
    right = predict(net, test, bf16=False).argmax(axis=1) == test.labels
    assert right.mean() == pytest.approx(average["test"]["accuracy"], abs=0.02)
    assert header.step == 60


def test_a_state_of_another_training_is_refused_and_every_difference_named(tmp_path: Path) -> None:
    train(tmp_path)
    with pytest.raises(ValueError, match=r"learning_rate was 0.002, now 0.001; net.channels was 8, now 16"):
        train(tmp_path, replace(SHORT, learning_rate=1e-3), net=replace(NET, channels=16))


def test_training_stops_when_validation_no_longer_improves_and_keeps_the_best(tmp_path: Path) -> None:
    config = replace(SHORT, max_steps=2000, max_epochs=0, validate_every=10, patience=2, learning_rate=0.03)
    metrics = train(tmp_path, config, data=head_data(RIICHI_HEAD, num_kyokus=34))
    history = metrics["history"]
    losses = [entry["validation_loss"] for entry in history]
    assert history[-1]["step"] < 2000
    assert metrics["best_step"] == history[losses.index(min(losses))]["step"] == history[-3]["step"]


def diverge(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let the loss be no number after so many steps."""
    steps = count(1)

    def loss(logits: Tensor, labels: Tensor, masks: Tensor) -> Tensor:
        return supervised_loss(logits, labels, masks) * (math.nan if next(steps) > after else 1)

    monkeypatch.setattr(supervised, "supervised_loss", loss)


def test_a_loss_that_is_not_finite_stops_the_training_and_keeps_the_last_good_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diverge(monkeypatch, after=7)
    with pytest.raises(DivergedError, match=r"diverged at step 8 \(loss nan.*weights of step 5.*lower learning_rate"):
        train(tmp_path, replace(SHORT, validate_every=5))
    assert load_header(tmp_path / "discard.safetensors").step == 5


def test_missing_validation_and_test_samples_leave_figures_empty(tmp_path: Path) -> None:
    metrics = train(tmp_path, data=head_data(num_validation=0, num_test=0))
    assert metrics["best_step"] == 60
    assert metrics["history"][-1]["validation_loss"] is None
    assert metrics["test"]["samples"] == 0
    assert metrics["test"]["accuracy"] is None


def test_only_the_first_of_several_workers_encodes_validation_samples(tmp_path: Path) -> None:
    encoded = list[int]()

    def noted(kyokus: NDArray[np.int64]) -> Samples:
        encoded.extend(kyokus.tolist())
        return LowestLegal(DISCARD_HEAD)(kyokus)

    data = replace(head_data(), encode=noted)
    for rank in range(2):
        encoded.clear()
        group = WorkerGroup(rank=rank, size=2)
        HeadTrainer(job(data=data), tmp_path, group)
        assert bool(set(encoded) & set(data.split.validation.tolist())) == (rank == 0)


def test_workers_that_cannot_share_a_batch_are_refused_before_anything_is_encoded(tmp_path: Path) -> None:
    watch = Watch()
    with pytest.raises(ValueError, match="batch_size is 64: use a multiple of the 3 workers"):
        HeadTrainer(job(), tmp_path, group=WorkerGroup(size=3), watch=watch).run()
    assert watch.phases == []


class Watch(TrainingWatch):
    """Writes down what it is told, and stops the training at a step of its choice."""

    def __init__(self, stop_at: float = 2.0) -> None:
        self.phases: list[str] = []
        self.starts: list[tuple[int, float]] = []
        self.share = 0.0
        self._stop_at = stop_at

    def phase(self, text: str) -> None:
        self.phases.append(text)

    def resumed(self, step: int, share_done: float) -> None:
        self.starts.append((step, share_done))

    def progress(self, share_done: float) -> None:
        self.share = share_done

    def is_stopping(self) -> bool:
        return self.share >= self._stop_at


def test_a_training_that_is_asked_to_stop_saves_and_continues_with_the_same_numbers(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole")
    config = replace(SHORT, save_seconds=1000)
    with pytest.raises(StoppedError, match="step 31"):
        HeadTrainer(job(config), tmp_path / "stopped", watch=Watch(stop_at=0.5)).run()
    watch = Watch()
    continued = HeadTrainer(job(config), tmp_path / "stopped", watch=watch).run()
    ((step, share),) = watch.starts
    assert step == 31
    assert share == pytest.approx(31 / 60)
    assert untimed(continued) == untimed(whole)
