"""Supervised learning of one head from recorded decisions (paper, section 3.1; Table 3).

>>> job = HeadTraining(data=head_data(store, DISCARD_HEAD, "mini", SplitConfig()), rules_version="tenhou-1",
...                    net=NetConfig(size="small"), config=SupervisedConfig(max_epochs=2), stream=StreamConfig())
>>> train_head(job, Path("runs/discard"))["test"]["accuracy"]

The folder then has ``discard.safetensors`` (the weights that were best on validation samples), ``metrics.json``,
``discard-weak.safetensors`` (those of an early step) and ``training_state.safetensors``, from which a killed training
resumes. It ends with the same numbers.

Several workers (worker_group.py) run the same loop side by side, each on its own games: every step learns from
``batch_size`` samples of all of them together.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from suphx.atomic_file import write_atomically
from suphx.games.riichi import HEAD_NAMES, NUM_OUTPUTS
from suphx.models.checkpoints.checkpoint import CheckpointHeader, PlanesVersion, save_checkpoint
from suphx.models.checkpoints.tensor_file import read_header
from suphx.models.computation import Calibration
from suphx.models.device import compared_algorithms, find_device, first_weights, torch_threads, uses_bf16
from suphx.models.nets.compiled_net import CompiledNet, compiled
from suphx.models.nets.net_config import NetConfig, checkpoint_name
from suphx.models.nets.policy import PolicyNet, num_weights
from suphx.models.sampling import masked_logits
from suphx.training.classification import (
    accuracy,
    calibrated_report,
    classification_report,
    cross_entropy,
    fit_calibration,
)
from suphx.training.config import StreamConfig, SupervisedConfig
from suphx.training.dataset import Encode, SampleStream, StreamPosition, first_samples, num_samples
from suphx.training.feed import Batch, BatchFeed
from suphx.training.head_data import HeadData, exchange_suits
from suphx.training.optimizer import (
    DivergedError,
    LossWatch,
    StepLoss,
    learning_rate_factor,
    net_logits,
    new_optimizer,
    predict,
)
from suphx.training.trainer import METRICS_FILE, StoppedError, TrainingWatch
from suphx.training.training_state import Clock, TrainingProgress, load_training_state, save_training_state
from suphx.training.worker_group import ONE_WORKER, WorkerGroup


def supervised_loss(logits: Tensor, labels: Tensor, masks: Tensor, yes_weight: float = 1.0) -> Tensor:
    """Return the mean cross-entropy of ``logits`` [n, k] against ``labels`` [n], in nats.

    ``yes_weight`` is the weight of the label 1 of a two-output head against label 0 (1: none); the mean is taken over
    the weights. With 34 outputs it must be 1.
    """
    legal = masked_logits(logits, masks)
    weight = None
    if yes_weight != 1.0:
        one = legal.new_ones(1)
        weight = torch.cat([one, one * yes_weight])  # made on the device: a CUDA graph cannot copy from the host
    return functional.cross_entropy(legal, labels.long(), weight=weight)


def sum_of_weights(labels: Tensor, yes_weight: float) -> Tensor:
    """Return the sum of the weights (0-d) over which ``supervised_loss`` takes the mean."""
    return len(labels) + (yes_weight - 1) * labels.float().sum()


_STEPS_BEFORE = 3  # in which torch compiles, cuDNN compares its algorithms, and memory is allocated


class LossGradients:
    """Consumes: batches of one size on the device. Produces: losses, and gradients in the net's parameters."""

    def __init__(
        self,
        net: nn.Module,
        *,
        is_bf16: bool,
        yes_weight: float,
        is_recorded: bool = False,
        group: WorkerGroup = ONE_WORKER,
    ) -> None:
        """``net``: in training mode whenever a loss is asked for; its parameters stay where they are.

        ``group``: of the workers over which ``net`` takes the mean of gradients. ``is_recorded``: on a GPU, replay a
        CUDA graph from the fourth batch on.
        """
        self._net = net
        self._is_bf16, self._yes_weight = is_bf16, yes_weight
        self._is_recorded, self._group = is_recorded, group
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
        loss = supervised_loss(net_logits(self._net, planes, self._is_bf16), labels, masks, self._yes_weight)
        if self._group.size > 1 and self._yes_weight != 1:  # the mean is over the weights of all workers
            weights = sum_of_weights(labels, self._yes_weight)
            loss = loss * (weights * self._group.size / self._group.sum(weights))
        torch.autograd.backward(loss)
        return loss.detach()


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
        found += num_samples(encode(part))
        counted += len(part)
    return round(found / counted * len(kyokus)) if counted else 0


def plan_training(config: SupervisedConfig, samples: int, num_workers: int = 1) -> SupervisedConfig:
    """Return ``config`` with the batch size and the passes that let a head of ``samples`` make ``min_steps`` steps.

    The passes are those of one worker, so that a training can go on with any number of them; the batch size becomes a
    multiple of ``num_workers``. Without a limit of passes there is nothing to change.
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
            "head": HEAD_NAMES[self.data.head],
            "planes": str(PlanesVersion.of(self.data.layout)),
            "data": self.data.digest,
            "rules": self.rules_version,
            **{f"net.{name}": value for name, value in net.items()},
            **{name: value for name, value in (config | stream).items() if name not in free},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadProgress:
    """Progress since the last report."""

    step: int
    samples: int
    """Samples learned from so far, by all workers."""
    share_done: float
    """0 to 1."""
    seconds: float
    """Time spent so far, over all starts."""
    train_loss: float
    """Mean since the last validation; of several workers, the first one's."""
    samples_per_second: float
    waiting_share: float
    """Share of the time in which the next batch was not ready."""
    learning_rate: float
    validation_loss: float | None
    """Of the last validation; None before the first."""
    validation_accuracy: float | None


def train_head(
    job: HeadTraining,
    folder: Path,
    *,
    group: WorkerGroup | None = None,
    report: Callable[[HeadProgress], None] | None = None,
    keep: Callable[[int], None] | None = None,
    watch: TrainingWatch | None = None,
    kept_in: str = "",
) -> dict[str, Any]:
    """Train one head and return its metrics; all results are written to ``folder`` (see the module).

    A training that was stopped continues from the state in ``folder``. ``report`` is called every ``report_every``
    steps; ``keep`` is called with the step whenever a state was written. In a ``group`` every worker calls this with
    its own folder, all with the same state in it or none; the first one writes, reports and gets the metrics
    (the others an empty dict), ``keep`` is called by all. ``kept_in``: where ``keep`` copies the files to, for the text
    of DivergedError, if ``folder`` does not stay. Raises ValueError if there are no training samples or the state in
    ``folder`` belongs to another training, DivergedError if the loss becomes NaN, OSError if the disk is full,
    WorkerDiedError if a process that encodes samples has died, StoppedError, with the state saved, if ``watch`` wants
    the training to stop.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with torch_threads(job.config.threads):
        trainer = _Trainer(job, folder, group or WorkerGroup(), report, keep, watch or TrainingWatch(), kept_in)
        trainer.resume()
        trainer.run()
        return trainer.finish() if trainer.group.is_first else {}


def steps_so_far(folder: Path) -> int:
    """Return the steps of the state that a training has left in ``folder``; 0 without one. ValueError if damaged."""
    path = folder / STATE_FILE
    return int(read_header(path)["progress"]["step"]) if path.is_file() else 0


@dataclass(frozen=True, slots=True)
class _NextActions:
    """What all workers do after a step, as the first worker decided."""

    share_done: float
    ends: bool
    saves: bool
    stops: bool


class _Trainer:
    """Consumes batches of a BatchFeed; produces weights, states, history. Waits for: the feed, the other workers."""

    def __init__(
        self,
        job: HeadTraining,
        folder: Path,
        group: WorkerGroup,
        report: Callable[[HeadProgress], None] | None,
        keep: Callable[[int], None] | None,
        watch: TrainingWatch,
        kept_in: str,
    ) -> None:
        self.job, self.group, self.report, self.keep, self.watch = job, group, report, keep, watch
        data = job.data
        if job.config.batch_size % group.size:
            raise ValueError(f"batch_size is {job.config.batch_size}: use a multiple of the {group.size} workers")
        watch.phase("counting samples")
        self.num_samples = estimate_samples(data.encode, data.split.train)
        self.config = plan_training(job.config, self.num_samples, group.size)
        self.own_data = data.shard(group.rank, group.size) if group.size > 1 else data
        self.state_path = folder / STATE_FILE
        self.device = find_device(job.config.device)
        if self.device.type == "cuda":  # by its number: the thread of the feed has another current device
            self.device = torch.device("cuda", torch.cuda.current_device())
        self.bf16 = uses_bf16(job.config.precision, self.device)
        self.yes_weight = job.config.yes_weight if NUM_OUTPUTS[data.head] == 2 else 1.0
        self.net = _new_net(data, job.net, job.config.seed).to(self.device).use(job.config.convolution)
        self.optimizer = new_optimizer(self.net, job.config.learning_rate, job.config.weight_decay)
        self.losses = LossWatch(self.device)
        self.progress = TrainingProgress()
        self.position = StreamPosition()
        self.best: dict[str, Tensor] = {}
        self.result = HeadResult(folder, data, self.net.config, job.rules_version, job.extra, kept_in)
        # Fixed samples; the seed is not the run's, so that runs with different seeds can be compared.
        watch.phase("encoding validation samples")
        # Only the first worker validates.
        self.validation = (
            first_samples(data.encode, data.split.validation, data.max_validation_samples, seed=0)
            if group.is_first
            else None
        )
        self.saved_at = time.monotonic()

    @property
    def is_finished(self) -> bool:
        progress, patience = self.progress, self.config.patience
        is_stuck = patience > 0 and progress.num_worse >= patience
        return is_stuck or self.share_done >= 1

    @property
    def share_done(self) -> float:
        return self.config.share_done(self.progress.step, self.position.epochs, self.progress.seconds)

    def resume(self) -> None:
        """Load the state in the folder, if there is one."""
        if not self.state_path.is_file():
            return
        identity = self.job.identity()
        self.progress, self.best = load_training_state(self.state_path, self.net, self.optimizer, identity)
        positions = self.progress.positions
        if len(positions) == self.group.size:
            self.position = positions[self.group.rank]
        else:  # other shares of the games: about as far in the epoch, in the new order
            num_kyokus = len(self.own_data.split.train)
            self.position = StreamPosition.near(positions[0].epochs, num_kyokus, self.job.stream.chunk_kyokus)
        self.watch.resumed(self.progress.step, min(1.0, self.share_done))

    def run(self) -> None:
        """Make steps until the training ends; validate, save and report when they are due."""
        next_actions = self.agree()
        if next_actions.ends:
            return
        clock = Clock(self.progress)
        gradients = self.make_gradients()
        self.watch.phase("encoding the first samples")
        with self.feed() as feed:
            while not next_actions.ends:
                with clock.waiting():
                    batch = next(feed)
                share_before = next_actions.share_done
                self.step(batch, gradients, share_before)
                self.position = batch.position
                clock.tick()
                next_actions = self.agree()
                if next_actions.share_done >= self.config.weak_share and not self.progress.weak_step:
                    self.keep_weak()
                if self.is_validation_due(share_before, next_actions.share_done):
                    self.watch.phase("validation")
                    self.validate()
                    clock.tick()
                    self.save()
                    next_actions = self.agree()  # the validation may have ended the run
                elif next_actions.saves or next_actions.stops:
                    self.save()
                self.report_progress(clock, next_actions.share_done)
                if next_actions.stops and not next_actions.ends:
                    raise StoppedError(self.progress.step)

    def is_validation_due(self, share_before: float, share_done: float) -> bool:
        """Return whether to validate after the step that led from ``share_before`` to ``share_done``."""
        parts = self.config.min_validations
        is_part_done = parts > 0 and int(share_done * parts) > int(share_before * parts)
        return is_part_done or share_done >= 1 or self.progress.step % self.config.validate_every == 0

    def agree(self) -> _NextActions:
        """Return how much is done and what to do next; the first worker decides for all."""
        saves = time.monotonic() - self.saved_at > self.config.save_seconds
        wishes = [self.share_done, self.is_finished, saves, self.watch.is_stopping()]
        share_done, ends, saves_all, stops = self.group.from_first(wishes)
        return _NextActions(share_done, bool(ends), bool(saves_all), bool(stops))

    def feed(self) -> BatchFeed:
        """Return the batches of this worker, from its position on."""
        stream = SampleStream(
            self.own_data.encode,
            self.own_data.split.train,
            batch_size=self.config.batch_size // self.group.size,
            seed=self.config.seed,
            config=self.job.stream,
            position=self.position,
            augment=exchange_suits if self.config.suit_permutation else None,
        )
        return BatchFeed(stream, self.device, self.job.stream.prefetch_batches)

    def make_gradients(self) -> LossGradients:
        """Return what computes losses and gradients, over all workers."""
        # torch compiles in the first step, when join has already changed the net.
        net = compiled(self.net, self.config.compilation, self.device)
        return LossGradients(
            self.group.join(net, shares_statistics=self.config.shares_statistics),
            is_bf16=self.bf16,
            yes_weight=self.yes_weight,
            group=self.group,
            is_recorded=self.device.type == "cuda" and self.group.size == 1 and isinstance(net, CompiledNet),
        )

    def step(self, batch: Batch, gradients: LossGradients, share_done: float) -> None:
        """Make one optimizer step; DivergedError if the loss or its gradient is not finite (on a GPU a step late)."""
        config, progress = self.config, self.progress
        final, share = config.final_learning_rate_factor, config.warmup_share
        factor = learning_rate_factor(progress.step, share_done, config.warmup_steps, final, share)
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * factor
        self.net.train()
        loss = gradients(batch)
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), config.max_grad_norm or math.inf)
        self.losses.add(progress.step + 1, batch.num_samples, loss, norm)
        self.count_losses()
        self.optimizer.step()
        progress.step += 1
        progress.samples += batch.num_samples * self.group.size

    def count_losses(self, *, waits: bool = False) -> None:
        """Add the available losses to the sums; DivergedError if one is not finite."""
        for loss in self.losses.take(waits=waits):
            if not loss.is_finite:
                raise DivergedError(self.result.divergence(loss, self.progress.best_step, self.config.learning_rate))
            self.progress.loss_sum += loss.loss * loss.num_samples
            self.progress.loss_samples += loss.num_samples

    def report_progress(self, clock: Clock, share_done: float) -> None:
        """Show the progress; report every ``report_every`` steps and at the end."""
        if self.group.is_first:
            self.watch.progress(min(1.0, share_done))
        is_time = self.progress.step % self.config.report_every == 0 or share_done >= 1
        if self.report is not None and self.group.is_first and is_time:
            self.report(self.make_report(clock, share_done))

    def keep_weak(self) -> None:
        """Write the weights of this step as those of the weaker agent."""
        self.count_losses(waits=True)
        self.progress.weak_step = self.progress.step
        if self.group.is_first:
            self.result.write_weak(self.net.state_dict(), self.progress.step, self.calibrated())

    def calibrated(self) -> Calibration | None:
        """Return the calibration of the present weights; None without validation samples."""
        if self.validation is None:
            return None
        return fit_calibration(predict(self.net, self.validation, self.bf16), self.validation.labels)

    def validate(self) -> None:
        """Add an entry to the history; keep the weights, here and as the checkpoint, if they are the best so far."""
        self.count_losses(waits=True)
        if not self.group.is_first:
            return
        progress = self.progress
        loss = share = None
        if self.validation is not None:
            logits = predict(self.net, self.validation, self.bf16)
            loss = cross_entropy(logits, self.validation.labels)
            share = accuracy(logits, self.validation.labels)
        entry = {
            "step": progress.step,
            "samples": progress.samples,
            "seconds": progress.seconds,
            "train_loss": progress.loss_sum / progress.loss_samples,
            "validation_loss": loss,
            "validation_accuracy": share,
        }
        progress.history.append(entry)
        progress.loss_sum, progress.loss_samples = 0.0, 0
        if loss is None or progress.best_loss is None or loss < progress.best_loss:
            progress.best_step, progress.best_loss, progress.num_worse = progress.step, loss, 0
            self.best = {name: tensor.detach().cpu().clone() for name, tensor in self.net.state_dict().items()}
            self.result.write_best(self.best, progress)
        else:
            progress.num_worse += 1

    def save(self) -> None:
        """Write the training state, after a check that all losses of this worker so far are finite."""
        self.count_losses(waits=True)
        self.progress.positions = self.group.gather(self.position)
        if self.group.is_first:
            identity = self.job.identity()
            save_training_state(self.state_path, self.net, self.best, self.optimizer, self.progress, identity)
        if self.keep is not None:
            self.keep(self.progress.step)
        self.saved_at = time.monotonic()

    def finish(self) -> dict[str, Any]:
        """Test the best weights; write the checkpoint and, last, the metrics."""
        self.watch.phase("test")
        self.net.load_state_dict(self.best)
        calibration = self.calibrated()
        if not self.progress.weak_step:  # the run ended before it was due
            self.result.write_weak(self.best, self.progress.best_step, calibration)
        plan = {"batch_size": self.config.batch_size, "max_epochs": self.config.max_epochs}
        plan |= {"yes_weight": self.yes_weight, "train_samples": self.num_samples, "epochs": self.position.epochs}
        return self.result.finish(self.net, self.progress, self.bf16, calibration, plan)

    def make_report(self, clock: Clock, share_done: float) -> HeadProgress:
        progress = self.progress
        samples_per_second, waiting_share = clock.lap()
        last = progress.history[-1] if progress.history else {}
        mean_loss = (
            progress.loss_sum / progress.loss_samples if progress.loss_samples else last.get("train_loss", math.nan)
        )
        return HeadProgress(
            step=progress.step,
            samples=progress.samples,
            share_done=min(1.0, share_done),
            seconds=progress.seconds,
            train_loss=mean_loss,
            samples_per_second=samples_per_second,
            waiting_share=waiting_share,
            learning_rate=float(self.optimizer.param_groups[0]["lr"]),
            validation_loss=last.get("validation_loss"),
            validation_accuracy=last.get("validation_accuracy"),
        )


def _new_net(data: HeadData, config: NetConfig, seed: int) -> PolicyNet:
    """Return a net whose first weights follow from the seed, leaving torch's own random state as it was."""
    with first_weights(seed):
        return PolicyNet(data.head, data.layout.num_planes, config)
