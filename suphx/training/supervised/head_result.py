"""What the training of one head leaves: its checkpoint and its metrics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from suphx.atomic_file import write_atomically
from suphx.games.riichi import HEAD_NAMES, NUM_OUTPUTS
from suphx.models.checkpoints.checkpoint import CheckpointHeader, PlanesVersion, save_checkpoint
from suphx.models.computation import Calibration
from suphx.models.nets.net_config import NetConfig, checkpoint_name
from suphx.models.nets.policy import PolicyNet, num_weights
from suphx.training.data.dataset import first_samples
from suphx.training.data.head_data import HeadData
from suphx.training.loop.prediction import StepLoss, predict
from suphx.training.loop.training_state import TrainingProgress
from suphx.training.loop.training_watch import METRICS_FILE
from suphx.training.supervised.metrics import calibrated_report, classification_report

_HEADER_METRICS = ("samples", "loss", "accuracy", "balanced_accuracy")


class HeadResult:
    """Writes into ``folder`` what is known of a head's training; every file is whole or absent."""

    def __init__(
        self,
        folder: Path,
        data: HeadData,
        net: NetConfig,
        rules_version: str,
        extra: dict[str, Any],
        kept_in: str = "",
    ) -> None:
        """``kept_in``: where their copies are if ``folder`` does not stay."""
        self.checkpoint_path = folder / checkpoint_name(HEAD_NAMES[data.head])
        self._folder = folder
        self._data = data
        self._net_config = net
        self._rules_version = rules_version
        self._extra = extra
        self._kept_in = kept_in

    def write_best(self, weights: dict[str, Tensor], progress: TrainingProgress) -> None:
        """Write the weights of the best step so far."""
        self._write(self.checkpoint_path, weights, progress.best_step, _validation(progress), None)

    def write_weak(self, weights: dict[str, Tensor], step: int, calibration: Calibration | None) -> None:
        """Write the weights of an early ``step`` beside the best ones."""
        path = self._folder / checkpoint_name(HEAD_NAMES[self._data.head], is_weak=True)
        self._write(path, weights, step, {}, calibration)

    def finish(
        self,
        net: PolicyNet,
        progress: TrainingProgress,
        bf16: bool,
        calibration: Calibration | None,
        plan: Mapping[str, float],
    ) -> dict[str, Any]:
        """Test ``net``, which has the best weights; write the checkpoint and, last, the metrics; return these.

        ``plan``: batch size, passes, weight of yes and samples of the training.
        """
        logits, labels = self._test_logits(net, bf16)
        test = classification_report(logits, labels)
        figures = _validation(progress) | {f"test_{name}": test[name] for name in _HEADER_METRICS}
        self._write(self.checkpoint_path, net.state_dict(), progress.best_step, figures, calibration)
        metrics = {
            "head": HEAD_NAMES[self._data.head],
            "net": asdict(self._net_config),
            "num_weights": num_weights(net),
            "train_games": self._data.num_train_games,
            "train_kyokus": len(self._data.split.train),
            "best_step": progress.best_step,
            "weak_step": progress.weak_step,
            **plan,
            "seconds": progress.seconds,
            "samples_per_second": progress.samples / max(progress.seconds, 1e-9),
            "waiting_share": progress.waited_seconds / max(progress.seconds, 1e-9),
            "history": progress.history,
            "test": test,
            "calibrated": None if calibration is None else calibrated_report(logits, labels, calibration),
        }
        write_atomically(self._folder / METRICS_FILE, [json.dumps(metrics, indent=1, allow_nan=False).encode()])
        return metrics

    def divergence(self, loss: StepLoss, best_step: int, learning_rate: float) -> str:
        """Return what to tell about a training whose loss is no number any more."""
        kept = f"the weights of step {best_step} are in {self.checkpoint_path}"
        if self._kept_in:  # only the first of several workers knows the best step
            kept = f"the last weights that were stored are in the checkpoints in {self._kept_in}"
        elif best_step == 0:
            kept = "no weights were validated yet"
        return (
            f"training of the {HEAD_NAMES[self._data.head]} net diverged at step {loss.step} "
            f"(loss {loss.loss}, gradient norm {loss.norm}); {kept}: lower learning_rate (now {learning_rate})"
        )

    def _test_logits(self, net: PolicyNet, bf16: bool) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        data = self._data
        test = first_samples(data.encode, data.split.test, data.max_test_samples, seed=0)
        if test is None:
            return np.zeros((0, NUM_OUTPUTS[data.head]), np.float32), np.zeros(0, np.int8)
        return predict(net, test, bf16), test.labels

    def _write(
        self,
        path: Path,
        weights: dict[str, Tensor],
        step: int,
        metrics: dict[str, float | None],
        calibration: Calibration | None,
    ) -> None:
        header = CheckpointHeader(
            head=HEAD_NAMES[self._data.head],
            planes=PlanesVersion.of(self._data.layout),
            rules_version=self._rules_version,
            net=self._net_config,
            step=step,
            metrics=metrics,
            calibration=calibration,
            extra=self._extra,
        )
        save_checkpoint(path, weights, header)


def _validation(progress: TrainingProgress) -> dict[str, float | None]:
    best = next(entry for entry in progress.history if entry["step"] == progress.best_step)
    return {name: best[name] for name in ("validation_loss", "validation_accuracy")}
