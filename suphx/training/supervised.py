"""Supervised learning of one head from recorded decisions (paper, section 3.1; Table 3).

>>> metrics = train_head(head_data(store, DISCARD, "mini", SplitConfig()), "tenhou", NetConfig(size="small"),
...                      SupervisedConfig(max_epochs=2), StreamConfig(), Path("runs/discard"))
>>> metrics["test"]["accuracy"]

The folder then has ``discard.safetensors`` (the weights that were best on validation samples), ``metrics.json``, and
``training_state.safetensors``, from which a training that was killed goes on and ends with the same numbers.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import AdamW

from suphx.atomic_file import write_atomically
from suphx.features.head import HEAD_NAMES, NUM_OUTPUTS
from suphx.features.samples import Samples
from suphx.models.checkpoint import CheckpointHeader, PlanesVersion, save_checkpoint
from suphx.models.device import find_device, torch_threads, uses_bf16
from suphx.models.policy import NetConfig, PolicyNet, num_weights
from suphx.training.compute import net_logits, predict
from suphx.training.dataset import SampleStream, StreamConfig, first_samples, num_samples
from suphx.training.head_data import HeadData
from suphx.training.loss import supervised_loss
from suphx.training.metrics import accuracy, classification_report, cross_entropy
from suphx.training.schedule import learning_rate_factor
from suphx.training.supervised_config import SupervisedConfig
from suphx.training.training_state import TrainingProgress, load_training_state, save_training_state

STATE_FILE = "training_state.safetensors"
METRICS_FILE = "metrics.json"


_HEADER_METRICS = ("samples", "loss", "accuracy", "balanced_accuracy")


class DivergedError(Exception):
    """The loss or its gradient is no longer a finite number; the best weights before are on disk."""


# What may differ when a training goes on: it changes how fast the run is, not what it computes. Another number of
# threads may change the last digits.
_FREE_FIELDS = ("report_every", "save_seconds", "threads", "device", "num_workers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Progress since the last report."""

    step: int
    rows: int
    """Samples learned from so far."""
    share_done: float
    """0 to 1."""
    seconds: float
    """Time spent so far, over all starts."""
    train_loss: float
    """Mean since the last validation."""
    rows_per_second: float
    waiting_share: float
    """Share of the time in which the next batch was not ready."""
    learning_rate: float
    validation_loss: float | None
    """Of the last validation; None before the first."""
    validation_accuracy: float | None


def train_head(
    data: HeadData,
    rules_version: str,
    net_config: NetConfig,
    config: SupervisedConfig,
    stream_config: StreamConfig,
    folder: Path,
    report: Callable[[Report], None] | None = None,
    extra: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Train one head and return its metrics; all results are written to ``folder`` (see the module).

    ``report`` is called every ``report_every`` steps; ``extra`` goes into the checkpoint's header. A training that was
    stopped goes on from its last saved state. Raises ValueError if there are no training samples or the state in
    ``folder`` belongs to another training, DivergedError if the loss becomes NaN, OSError if the disk is full.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with torch_threads(config.threads):
        trainer = _Trainer(data, rules_version, net_config, config, stream_config, folder, extra or {})
        trainer.resume()
        trainer.run(report)
        return trainer.finish()


class _Trainer:
    """Consumes batches of a SampleStream; produces weights, states, history. Waits for: the stream."""

    def __init__(
        self,
        data: HeadData,
        rules_version: str,
        net_config: NetConfig,
        config: SupervisedConfig,
        stream_config: StreamConfig,
        folder: Path,
        extra: dict[str, Any],
    ) -> None:
        self.data, self.config, self.stream_config, self.folder = data, config, stream_config, folder
        self.rules_version, self.extra = rules_version, extra
        self.device = find_device(config.device)
        self.bf16 = uses_bf16(config.precision, self.device)
        self.yes_weight = config.yes_weight if NUM_OUTPUTS[data.head] == 2 else 1.0
        self.checkpoint_path = folder / f"{HEAD_NAMES[data.head]}.safetensors"
        self.net = _new_net(data, net_config, config.seed).to(self.device)
        self.optimizer = _new_optimizer(self.net, config)
        self.progress = TrainingProgress()
        self.best: dict[str, Tensor] = {}
        # Fixed samples; the seed is not the run's, so that runs with different seeds can be compared.
        self.validation = first_samples(data.encode, data.split.validation, data.max_validation_samples, seed=0)
        self.saved_at = time.monotonic()
        self.identity = {
            "head": HEAD_NAMES[data.head],
            "planes": str(PlanesVersion.of(data.layout)),
            "data": data.digest,
            "rules": rules_version,
            **{f"net.{name}": value for name, value in asdict(self.net.config).items()},
            **{name: value for name, value in asdict(config).items() if name not in _FREE_FIELDS},
            **{name: value for name, value in asdict(stream_config).items() if name not in _FREE_FIELDS},
        }

    @property
    def is_finished(self) -> bool:
        progress, patience = self.progress, self.config.patience
        is_stuck = patience > 0 and progress.num_worse >= patience
        return is_stuck or self.share_done >= 1

    @property
    def share_done(self) -> float:
        progress = self.progress
        return self.config.share_done(progress.step, progress.position.epochs, progress.seconds)

    def resume(self) -> None:
        """Go on from the state in the folder, if there is one."""
        path = self.folder / STATE_FILE
        if path.is_file():
            self.progress, self.best = load_training_state(path, self.net, self.optimizer, self.identity)

    def run(self, report: Callable[[Report], None] | None) -> None:
        """Step until the end of the run; validate, save and report on the way."""
        if self.is_finished:
            return
        clock = _Clock(self.progress)
        with SampleStream(
            self.data.encode,
            self.data.split.train,
            batch_size=self.config.batch_size,
            seed=self.config.seed,
            config=self.stream_config,
            position=self.progress.position,
        ) as stream:
            while not self.is_finished:
                with clock.waiting():
                    batch = next(stream)
                self.step(batch)
                self.progress.position = stream.position
                clock.tick()
                self.after_step(clock, report)

    def step(self, batch: Samples) -> None:
        """Make one optimiser step; DivergedError before it if the loss or its gradient is not finite."""
        config, progress = self.config, self.progress
        factor = learning_rate_factor(
            progress.step, self.share_done, config.warmup_steps, config.final_learning_rate_factor
        )
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * factor
        self.net.train()
        logits = net_logits(self.net, batch.rows, self.bf16)
        loss = supervised_loss(logits, self.tensor(batch.labels), self.tensor(batch.masks), self.yes_weight)
        self.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss)
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), config.gradient_clip or math.inf)
        loss = loss.detach()
        if not math.isfinite(float(loss) + float(norm)):
            raise DivergedError(self.divergence(float(loss), float(norm)))
        self.optimizer.step()
        progress.step += 1
        progress.rows += num_samples(batch)
        progress.loss_sum += float(loss) * num_samples(batch)
        progress.loss_rows += num_samples(batch)

    def after_step(self, clock: _Clock, report: Callable[[Report], None] | None) -> None:
        """Validate, save and report when it is time."""
        config, step = self.config, self.progress.step
        is_last = self.share_done >= 1
        if step % config.validate_every == 0 or is_last:
            self.validate()
            clock.tick()
            self.save()
        elif time.monotonic() - self.saved_at > config.save_seconds:
            self.save()
        if report is not None and (step % config.report_every == 0 or is_last):
            report(self.make_report(clock))

    def validate(self) -> None:
        """Add an entry to the history; keep the weights, here and as the checkpoint, if they are the best so far."""
        progress = self.progress
        loss = share = None
        if self.validation is not None:
            logits = predict(self.net, self.validation, self.bf16)
            loss = cross_entropy(logits, self.validation.labels)
            share = accuracy(logits, self.validation.labels)
        entry = {
            "step": progress.step,
            "rows": progress.rows,
            "seconds": progress.seconds,
            "train_loss": progress.loss_sum / progress.loss_rows,
            "validation_loss": loss,
            "validation_accuracy": share,
        }
        progress.history.append(entry)
        progress.loss_sum, progress.loss_rows = 0.0, 0
        if loss is None or progress.best_loss is None or loss < progress.best_loss:
            progress.best_step, progress.best_loss, progress.num_worse = progress.step, loss, 0
            self.best = {name: tensor.detach().cpu().clone() for name, tensor in self.net.state_dict().items()}
            self.write_checkpoint({"validation_loss": loss, "validation_accuracy": share})
        else:
            progress.num_worse += 1

    def save(self) -> None:
        """Write the training state."""
        path = self.folder / STATE_FILE
        save_training_state(path, self.net, self.best, self.optimizer, self.progress, self.identity)
        self.saved_at = time.monotonic()

    def finish(self) -> dict[str, Any]:
        """Test the best weights; write the checkpoint and, last, the metrics."""
        self.net.load_state_dict(self.best)
        test = first_samples(self.data.encode, self.data.split.test, self.data.max_test_samples, seed=0)
        if test is None:
            num_outputs = NUM_OUTPUTS[self.data.head]
            report = classification_report(np.zeros((0, num_outputs), np.float32), np.zeros(0, np.int8))
        else:
            report = classification_report(predict(self.net, test, self.bf16), test.labels)
        best = next(entry for entry in self.progress.history if entry["step"] == self.progress.best_step)
        validation = {name: best[name] for name in ("validation_loss", "validation_accuracy")}
        self.write_checkpoint(validation | {f"test_{name}": report[name] for name in _HEADER_METRICS})
        metrics = {
            "head": HEAD_NAMES[self.data.head],
            "net": asdict(self.net.config),
            "num_weights": num_weights(self.net),
            "best_step": self.progress.best_step,
            "history": self.progress.history,
            "test": report,
        }
        write_atomically(self.folder / METRICS_FILE, [json.dumps(metrics, indent=1, allow_nan=False).encode()])
        return metrics

    def write_checkpoint(self, metrics: dict[str, float | None]) -> None:
        """Write the best weights as the head's checkpoint."""
        header = CheckpointHeader(
            head=HEAD_NAMES[self.data.head],
            planes=PlanesVersion.of(self.data.layout),
            rules_version=self.rules_version,
            net=self.net.config,
            step=self.progress.best_step,
            metrics=metrics,
            extra=self.extra,
        )
        save_checkpoint(self.checkpoint_path, self.best, header)

    def make_report(self, clock: _Clock) -> Report:
        progress = self.progress
        rows_per_second, waiting_share = clock.lap()
        last = progress.history[-1] if progress.history else {}
        mean_loss = progress.loss_sum / progress.loss_rows if progress.loss_rows else last["train_loss"]
        return Report(
            step=progress.step,
            rows=progress.rows,
            share_done=min(1.0, self.share_done),
            seconds=progress.seconds,
            train_loss=mean_loss,
            rows_per_second=rows_per_second,
            waiting_share=waiting_share,
            learning_rate=float(self.optimizer.param_groups[0]["lr"]),
            validation_loss=last.get("validation_loss"),
            validation_accuracy=last.get("validation_accuracy"),
        )

    def divergence(self, loss: float, norm: float) -> str:
        kept = f"the weights of step {self.progress.best_step} are in {self.checkpoint_path}"
        if not self.best:
            kept = "no weights were validated yet"
        return (
            f"training of the {HEAD_NAMES[self.data.head]} net diverged at step {self.progress.step + 1} "
            f"(loss {loss}, gradient norm {norm}); {kept}: lower learning_rate (now {self.config.learning_rate})"
        )

    def tensor(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(self.device, non_blocking=True)


class _Clock:
    """Adds the time that passes to ``progress.seconds``; knows how fast rows go and how long was waited for them."""

    def __init__(self, progress: TrainingProgress) -> None:
        self._progress = progress
        self._last_tick = self._lap_start = time.monotonic()
        self._lap_rows = progress.rows
        self._waited = 0.0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        start = time.monotonic()
        yield
        self._waited += time.monotonic() - start

    def tick(self) -> None:
        now = time.monotonic()
        self._progress.seconds += now - self._last_tick
        self._last_tick = now

    def lap(self) -> tuple[float, float]:
        """Return rows a second and the share of waiting since the last lap, and start a new one."""
        now = time.monotonic()
        elapsed = max(now - self._lap_start, 1e-9)
        result = (self._progress.rows - self._lap_rows) / elapsed, self._waited / elapsed
        self._lap_start, self._lap_rows, self._waited = now, self._progress.rows, 0.0
        return result


def _new_net(data: HeadData, config: NetConfig, seed: int) -> PolicyNet:
    """Return a net whose first weights follow from the seed, leaving torch's own random state as it was."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return PolicyNet(data.head, data.layout.num_planes, config)


def _new_optimizer(net: nn.Module, config: SupervisedConfig) -> AdamW:
    parameters = list(net.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return AdamW(groups, lr=config.learning_rate, fused=True)
