"""Supervised learning of one head from recorded decisions (paper, section 3.1; Table 3).

>>> data = head_data(store, DISCARD_HEAD, "mini", SplitConfig(), game="riichi")
>>> job = HeadTraining(data=data, rules_version="tenhou-1", net=NetConfig(size="small"), config=SupervisedConfig(),
...                    stream=StreamConfig())
>>> HeadTrainer(job, Path("runs/discard")).run()["test"]["accuracy"]

The folder then has the best weights (``discard.safetensors``), those of an early step (``discard-weak.safetensors``),
``metrics.json`` and the state from which a killed training resumes with the same numbers. Several workers
(worker_group.py) run the same loop side by side, each on its own games.
"""

from __future__ import annotations

import math
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel

from suphx.models.checkpoint import CheckpointHeader, LayoutVersion, save_checkpoint
from suphx.models.device import compared_algorithms, find_device, first_weights, uses_bf16
from suphx.models.inference import CompiledNet, compiled
from suphx.models.net_config import Calibration, NetConfig, checkpoint_name
from suphx.models.policy import PolicyNet, num_weights
from suphx.models.sampling import masked_logits
from suphx.models.tensor_file import read_header
from suphx.training.classification import (
    accuracy,
    calibrated_report,
    classification_report,
    cross_entropy,
    fit_calibration,
)
from suphx.training.config import StreamConfig, SupervisedConfig
from suphx.training.dataset import Encode, SampleStream, StreamPosition, first_samples
from suphx.training.feed import Batch, BatchFeed
from suphx.training.head_data import HeadData
from suphx.training.optimizer import LossWatch, StepLoss, net_logits, new_optimizer, predict, set_learning_rate
from suphx.training.trainer import DivergedError, Hooks, Now, Trainer, TrainingProgress
from suphx.training.training_state import load_training_state, save_training_state
from suphx.training.worker_group import ONE_WORKER, WorkerGroup


def supervised_loss(logits: Tensor, labels: Tensor, masks: Tensor) -> Tensor:
    """Return the mean cross-entropy of ``logits`` [n, k] against ``labels`` [n], in nats."""
    return functional.cross_entropy(masked_logits(logits, masks), labels.long())


_PREFETCHED_BATCHES = 2
_STEPS_BEFORE = 3  # in which torch compiles, cuDNN compares its algorithms, and memory is allocated


class LossGradients:
    """Consumes: batches of one size on the device. Produces: losses, and gradients in the net's parameters."""

    def __init__(self, net: nn.Module, *, is_bf16: bool, is_recorded: bool = False) -> None:
        """``net``: in training mode whenever a loss is asked for; its parameters stay where they are.

        ``is_recorded``: on a GPU, replay a CUDA graph from the fourth batch on.
        """
        self._net = net
        self._is_bf16, self._is_recorded = is_bf16, is_recorded
        self._num_steps = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._inputs: tuple[Tensor, ...] = ()
        self._loss = torch.empty(0)
        self._gradients: list[tuple[nn.Parameter, Tensor]] = []

    def __call__(self, batch: Batch) -> Tensor:
        """Return the loss of ``batch`` (0-d), which the next call may overwrite; older gradients are dropped."""
        inputs = (batch.planes, batch.masks, batch.labels)
        if self._is_recorded and self._num_steps == _STEPS_BEFORE:
            self._record(inputs)
        self._num_steps += 1
        if self._graph is None:
            with compared_algorithms():
                return self._loss_of(*inputs)
        for own, given in zip(self._inputs, inputs, strict=True):
            own.copy_(given)
        self._graph.replay()
        for parameter, gradient in self._gradients:  # whoever cleared them gets them back
            parameter.grad = gradient
        return self._loss

    def _record(self, inputs: tuple[Tensor, ...]) -> None:
        """Record without computing; the gradients get their places in the memory of the graph."""
        self._inputs = tuple(given.clone() for given in inputs)
        graph = torch.cuda.CUDAGraph()
        # thread_local: the thread of the feed allocates and copies meanwhile.
        with compared_algorithms(), torch.cuda.graph(graph, capture_error_mode="thread_local"):
            self._loss = self._loss_of(*self._inputs)
        self._gradients = [(each, each.grad) for each in self._net.parameters() if each.grad is not None]
        self._graph = graph

    def _loss_of(self, planes: Tensor, masks: Tensor, labels: Tensor) -> Tensor:
        self._net.zero_grad(set_to_none=True)
        loss = supervised_loss(net_logits(self._net, planes, self._is_bf16), labels, masks)
        torch.autograd.backward(loss)
        return loss.detach()


def averaged(net: nn.Module, num_steps: int) -> AveragedModel:
    """Return a copy of ``net`` whose ``update_parameters(net)`` makes its weights and statistics the mean of about the
    last ``num_steps``; of the first ones, the plain mean.
    """

    def moved(average: Tensor, newest: Tensor, num_before: Tensor | int) -> Tensor:
        return average + (newest - average) / min(int(num_before) + 1, num_steps)

    return AveragedModel(net, avg_fn=moved, use_buffers=True)


_HEADER_METRICS = ("samples", "loss", "accuracy", "balanced_accuracy")


_KYOKUS_AT_A_TIME = 128
_ENOUGH_SAMPLES = 500
_MOST_KYOKUS = 2048
_SMALLEST_BATCH = 64
_MOST_PASSES = 10
"""Times the passes of the settings: more would learn the samples by heart."""


def estimate_samples(encode: Encode, kyokus: NDArray[np.int64]) -> int:
    """Return about how many samples ``kyokus`` have: counted in some of them, which are always the same ones."""
    order = np.random.default_rng(0).permutation(kyokus)[:_MOST_KYOKUS]
    counted = found = 0
    while counted < len(order) and found < _ENOUGH_SAMPLES:
        part = np.sort(order[counted : counted + _KYOKUS_AT_A_TIME])
        found += len(encode(part))
        counted += len(part)
    return round(found / counted * len(kyokus)) if counted else 0


def plan_training(config: SupervisedConfig, samples: int, num_workers: int = 1) -> SupervisedConfig:
    """Return ``config`` with the batch size and the passes that let a head of ``samples`` make ``min_steps`` steps.

    The passes do not depend on the number of workers; the batch size becomes a multiple of it.
    """
    wanted = min(config.min_steps, config.max_steps or config.min_steps)
    batch, epochs = config.batch_size, config.max_epochs
    if not samples or not epochs:
        return config
    while samples * epochs / batch < wanted and batch % 2 == 0 and batch // 2 >= _SMALLEST_BATCH:
        batch //= 2
    passes = min(_MOST_PASSES * epochs, wanted * batch / samples)
    whole = -(-batch // num_workers) * num_workers
    return replace(config, batch_size=whole, max_epochs=max(epochs, round(passes, 3)))


STATE_FILE = "training_state.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadTraining:
    """The data, the net and the settings of one training."""

    data: HeadData
    rules_version: str
    """Rules that the games followed."""
    net: NetConfig
    config: SupervisedConfig
    stream: StreamConfig
    extra: dict[str, Any] = field(default_factory=dict)
    """Goes into the header of the checkpoint."""

    def identity(self) -> dict[str, Any]:
        """Return the settings that must not change when a training resumes, as JSON values."""
        net, config, stream = (asdict(part) for part in (self.net.resolved(), self.config, self.stream))
        free = SupervisedConfig.FREE_KEYS + StreamConfig.FREE_KEYS
        return {
            "head": self.data.kind.name,
            "planes": str(LayoutVersion.of(self.data.layout)),
            "data": self.data.digest,
            "rules": self.rules_version,
            **{f"net.{name}": value for name, value in net.items()},
            **{name: value for name, value in (config | stream).items() if name not in free},
        }


def steps_so_far(folder: Path) -> int:
    """Return the steps of the state that a training has left in ``folder``; 0 without one. ValueError if damaged."""
    path = folder / STATE_FILE
    return int(read_header(path)["progress"]["step"]) if path.is_file() else 0


class HeadTrainer(Trainer[TrainingProgress, dict[str, Any]]):
    """Consumes batches of a BatchFeed; produces weights, states, history. Waits for: the feed, the other workers.

    In a ``group`` every worker runs it in a folder of its own, all with the same state or none; the first one writes,
    reports and returns the metrics (the others an empty dict).
    """

    def __init__(
        self,
        job: HeadTraining,
        folder: Path,
        group: WorkerGroup = ONE_WORKER,
        *,
        kept_in: str = "",
        **hooks: Unpack[Hooks],
    ) -> None:
        """Count the samples and make the net, or load the state in ``folder``.

        ``kept_in``: where ``keep`` copies the files to, for the text of DivergedError. Raises ValueError if there are
        no training samples or the state belongs to another training.
        """
        data, config = job.data, job.config
        super().__init__(TrainingProgress(), folder, save_seconds=config.save_seconds, threads=config.threads, **hooks)
        self._job, self._group, self._kept_in = job, group, kept_in
        if config.suit_permutation and data.random_suits is None:
            raise ValueError(f"suit_permutation is true, but {data.kind.game} has no suits that can be exchanged")
        if config.batch_size % group.size:
            raise ValueError(f"batch_size is {config.batch_size}: use a multiple of the {group.size} workers")
        self.watch.phase("counting samples")
        self._num_samples = estimate_samples(data.encode, data.split.train)
        self.config = plan_training(config, self._num_samples, group.size)
        self._own_data = data.shard(group.rank, group.size) if group.size > 1 else data
        self._state_path = folder / STATE_FILE
        self._device = find_device(config.device)
        if self._device.type == "cuda":  # by its number: the thread of the feed has another current device
            self._device = torch.device("cuda", torch.cuda.current_device())
        self._bf16 = uses_bf16(config.precision, self._device)
        with first_weights(config.seed):
            net = PolicyNet(data.kind, data.layout.num_planes, job.net)
        self._net = net.to(self._device)
        self._optimizer = new_optimizer(self._net, config.learning_rate, config.weight_decay)
        self._average = averaged(self._net, config.average_steps) if config.average_steps else None
        self._losses = LossWatch(self._device)
        self._position = StreamPosition()
        self._best: dict[str, Tensor] = {}
        self._feed: BatchFeed | None = None
        self._checkpoint = folder / checkpoint_name(data.kind.name)
        # Fixed samples; the seed is not the run's, so that runs with different seeds can be compared.
        self.watch.phase("encoding validation samples")
        # Only the first worker validates.
        self._validation = (
            first_samples(data.encode, data.split.validation, data.max_validation_samples, seed=0)
            if group.is_first
            else None
        )
        if self._state_path.is_file():
            self._load()

    def _load(self) -> None:
        identity = self._job.identity()
        progress, self._best = load_training_state(
            self._state_path, self._net, self._optimizer, identity, self._average
        )
        if len(progress.positions) == self._group.size:
            self._position = progress.positions[self._group.rank]
        else:  # other shares of the games: about as far in the epoch, in the new order
            num_kyokus, chunk = len(self._own_data.split.train), self._job.stream.chunk_kyokus
            self._position = StreamPosition.near(progress.positions[0].epochs, num_kyokus, chunk)
        self.resume(progress)

    @property
    def share_done(self) -> float:
        """As ``SupervisedConfig.share_done``."""
        return self.config.share_done(self.progress.step, self._position.epochs, self.progress.seconds)

    @property
    def is_finished(self) -> bool:
        """Also if the validation loss has not fallen for long."""
        return 0 < self.config.patience <= self.progress.num_worse or self.share_done >= 1

    def now(self) -> Now:
        """Return what the first worker decides for all."""
        share_done, *decided = self._group.from_first(astuple(super().now()))
        return Now(share_done, *map(bool, decided))

    def open(self) -> None:
        """Start the feed."""
        if self.is_finished:
            return
        # torch compiles in the first step, when join has already changed the net.
        net = compiled(self._net, self.config.compilation, self._device)
        self._gradients = LossGradients(
            self._group.join(net),
            is_bf16=self._bf16,
            is_recorded=self._device.type == "cuda" and self._group.size == 1 and isinstance(net, CompiledNet),
        )
        self.watch.phase("encoding the first samples")
        stream = SampleStream(
            self._own_data.encode,
            self._own_data.split.train,
            batch_size=self.config.batch_size // self._group.size,
            seed=self.config.seed,
            config=self._job.stream,
            position=self._position,
            augment=self._job.data.random_suits if self.config.suit_permutation else None,
        )
        self._feed = BatchFeed(stream, self._device, _PREFETCHED_BATCHES)

    def close(self) -> None:
        """End the feed."""
        if self._feed is not None:
            self._feed.close()

    def step(self, share_done: float) -> None:
        """Make one optimizer step; DivergedError if the loss or its gradient is not finite (on a GPU a step late)."""
        config, progress = self.config, self.progress
        assert self._feed is not None
        with self.clock.waiting():
            batch = next(self._feed)
        set_learning_rate(self._optimizer, config.learning_rate, progress.step, share_done, config.warmup_steps)
        self._net.train()
        loss = self._gradients(batch)
        norm = nn.utils.clip_grad_norm_(self._net.parameters(), config.max_grad_norm or math.inf)
        self._losses.add(progress.step + 1, batch.num_samples, loss, norm)
        self._count_losses()
        self._optimizer.step()
        if self._average is not None:
            self._average.update_parameters(self._net)
        progress.step += 1
        progress.samples += batch.num_samples * self._group.size
        self._position = batch.position
        self.clock.tick()

    def _count_losses(self, *, waits: bool = False) -> None:
        """Add the available losses to the sums; DivergedError if one is not finite."""
        for loss in self._losses.take(waits=waits):
            if not loss.is_finite:
                raise DivergedError(self._divergence(loss))
            self.progress.add_loss(loss.loss, loss.num_samples)

    def is_evaluation_due(self, before: float, share_done: float) -> bool:
        """At each part of the training, after so many steps, and at the end. The weak weights are kept on the way."""
        if share_done >= self.config.weak_share and not self.progress.weak_step:
            self._keep_weak()
        parts = self.config.min_validations
        is_part_done = parts > 0 and int(share_done * parts) > int(before * parts)
        return is_part_done or share_done >= 1 or self.progress.step % self.config.validate_every == 0

    def _keep_weak(self) -> None:
        """Write the weights of this step as those of the weaker agent."""
        self._count_losses(waits=True)
        self.progress.weak_step = self.progress.step
        if self._group.is_first:
            self._write_weak(self._kept_net.state_dict(), self.progress.step, self._calibrated())

    def evaluate(self) -> None:
        """Add an entry to the history; keep the weights, here and as the checkpoint, if they are the best so far."""
        self.watch.phase("validation")
        self._count_losses(waits=True)
        if self._group.is_first:
            self._validate()
        self.clock.tick()
        self.saved_at = -math.inf  # a save follows

    def _validate(self) -> None:
        progress = self.progress
        loss = share = None
        if self._validation is not None:
            logits = predict(self._kept_net, self._validation, self._bf16)
            loss = cross_entropy(logits, self._validation.labels)
            share = accuracy(logits, self._validation.labels)
        entry = {"step": progress.step, "samples": progress.samples, "seconds": progress.seconds}
        entry["train_loss"] = progress.mean_loss
        progress.add_entry(entry | {"validation_loss": loss, "validation_accuracy": share})
        if progress.is_best(loss, progress.step):
            self._best = {name: tensor.detach().cpu().clone() for name, tensor in self._kept_net.state_dict().items()}
            self._write(self._checkpoint, self._best, progress.best_step, self._best_validation(), None)

    @property
    def _kept_net(self) -> nn.Module:
        """The net whose weights are validated and kept: averaged if ``average_steps`` wants it."""
        return self._net if self._average is None else self._average.module

    def _calibrated(self) -> Calibration | None:
        """Return the calibration of the present weights; None without validation samples."""
        if self._validation is None:
            return None
        return fit_calibration(predict(self._kept_net, self._validation, self._bf16), self._validation.labels)

    def report(self, share_done: float) -> None:
        """Show the progress; report every ``report_every`` steps and at the end."""
        if not self._group.is_first:
            return
        super().report(share_done)
        progress = self.progress
        if not (progress.step % self.config.report_every == 0 or share_done >= 1):
            return
        samples_per_second, waiting_share = self.clock.lap()
        last = progress.history[-1] if progress.history else {}
        point = {
            "step": progress.step,
            "samples": progress.samples,
            "share_done": min(1.0, share_done),
            "seconds": progress.seconds,
            "train_loss": progress.mean_loss if progress.loss_samples else last.get("train_loss", math.nan),
            "samples_per_second": samples_per_second,
            "waiting_share": waiting_share,
            "learning_rate": float(self._optimizer.param_groups[0]["lr"]),
        }
        validation = {name: last.get(name) for name in ("validation_loss", "validation_accuracy")}
        self.send(point | {name: value for name, value in validation.items() if value is not None})

    def write_state(self) -> None:
        """Write the training state, after a check that all losses of this worker so far are finite."""
        self._count_losses(waits=True)
        self.progress.positions = self._group.gather(self._position)
        if self._group.is_first:
            identity = self._job.identity()
            save_training_state(
                self._state_path, self._net, self._best, self._optimizer, self.progress, identity, self._average
            )

    def finish(self) -> dict[str, Any]:
        """Test the best weights; write the checkpoint and, last, the metrics. Only the first worker does so."""
        if not self._group.is_first:
            return {}
        self.watch.phase("test")
        progress, data = self.progress, self._job.data
        self._kept_net.load_state_dict(self._best)
        calibration = self._calibrated()
        if not progress.weak_step:  # the run ended before it was due
            self._write_weak(self._best, progress.best_step, calibration)
        logits, labels = self._test_logits()
        test = classification_report(logits, labels)
        figures = self._best_validation() | {f"test_{name}": test[name] for name in _HEADER_METRICS}
        self._write(self._checkpoint, self._best, progress.best_step, figures, calibration)
        seconds = max(progress.seconds, 1e-9)
        metrics = {
            "head": data.kind.name,
            "net": asdict(self._net.config),
            "num_weights": num_weights(self._net),
            "train_games": data.num_train_games,
            "train_kyokus": len(data.split.train),
            "best_step": progress.best_step,
            "weak_step": progress.weak_step,
            "batch_size": self.config.batch_size,
            "max_epochs": self.config.max_epochs,
            "train_samples": self._num_samples,
            "epochs": self._position.epochs,
            "seconds": progress.seconds,
            "samples_per_second": progress.samples / seconds,
            "waiting_share": progress.waited_seconds / seconds,
            "history": progress.history,
            "test": test,
            "calibrated": None if calibration is None else calibrated_report(logits, labels, calibration),
        }
        self.write_metrics(metrics)
        return metrics

    def _test_logits(self) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        data = self._job.data
        test = first_samples(data.encode, data.split.test, data.max_test_samples, seed=0)
        if test is None:
            return np.zeros((0, data.kind.num_outputs), np.float32), np.zeros(0, np.int8)
        return predict(self._kept_net, test, self._bf16), test.labels

    def _best_validation(self) -> dict[str, float | None]:
        best = next(entry for entry in self.progress.history if entry["step"] == self.progress.best_step)
        return {name: best[name] for name in ("validation_loss", "validation_accuracy")}

    def _write_weak(self, weights: dict[str, Tensor], step: int, calibration: Calibration | None) -> None:
        """Write the weights of an early ``step`` beside the best ones."""
        path = self.folder / checkpoint_name(self._job.data.kind.name, is_weak=True)
        self._write(path, weights, step, {}, calibration)

    def _write(
        self,
        path: Path,
        weights: dict[str, Tensor],
        step: int,
        metrics: dict[str, float | None],
        calibration: Calibration | None,
    ) -> None:
        data = self._job.data
        header = CheckpointHeader(
            kind=data.kind,
            layout=LayoutVersion.of(data.layout),
            rules=self._job.rules_version,
            net=self._net.config,
            step=step,
            metrics=metrics,
            calibration=calibration,
            extra=self._job.extra,
        )
        save_checkpoint(path, weights, header)

    def _divergence(self, loss: StepLoss) -> str:
        """Return the message about a training whose loss is not a number any more."""
        best_step = self.progress.best_step
        kept = f"the weights of step {best_step} are in {self._checkpoint}"
        if self._kept_in:  # only the first of several workers knows the best step
            kept = f"the last weights that were stored are in the checkpoints in {self._kept_in}"
        elif best_step == 0:
            kept = "no weights were validated yet"
        return (
            f"training of the {self._job.data.kind.name} net diverged at step {loss.step} (loss {loss.loss}, "
            f"gradient norm {loss.norm}); {kept}: lower learning_rate (now {self.config.learning_rate})"
        )
