"""The loop of every training, whatever it learns from: records, playouts, self-play, or the returns of whole games.

Each kind of training is one subclass of ``Trainer``: it says what a step is (a batch, its loss, backward, optimizer),
what is measured on the way, and what its state is. ``Trainer.run`` reads in the order of time.

====================  =============================  =======================================================
subclass              file                           a step
====================  =============================  =======================================================
HeadTrainer           supervised.py                  a batch of recorded decisions
RewardTrainer         reward_learning.py             a batch of whole games
PlayoutTrainer        playouts.py                    a round of decisions that were played out
PolicyTrainer         platform: policy_trainer.py    what a backend does in a second: games, or an update
ValueTrainer          monte_carlo_learning.py        a round of whole games (Deep Monte-Carlo)
====================  =============================  =======================================================

No torch here: the stages of a recipe are read without it.
"""

from __future__ import annotations

import json
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypedDict, TypeVar, Unpack

from suphx.atomic_file import write_atomically

if TYPE_CHECKING:
    from suphx.training.dataset import StreamPosition

METRICS_FILE = "metrics.json"

_logger = logging.getLogger(__name__)


class TrainingWatch:
    """Callbacks of a training. This base class ignores all messages and never stops the training."""

    def __enter__(self) -> Self:
        """Called before the first step, and ``__exit__`` after the last: between them a stop is waited for."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def phase(self, text: str) -> None:
        """Called when a phase begins, such as ``validation``."""

    def resumed(self, step: int, share_done: float) -> None:
        """Called when the training resumes from a saved state."""

    def progress(self, share_done: float) -> None:
        """Called after every step; ``share_done``: 0 to 1."""

    def is_stopping(self) -> bool:
        """Return whether to save the state and stop the training."""
        return False


class StoppedError(Exception):
    """A training was asked to stop; its last state, at ``step``, is saved, unless there was none to save."""

    def __init__(self, step: int) -> None:
        super().__init__(f"the training was stopped at step {step}")
        self.step = step


class DivergedError(Exception):
    """The loss or its gradient is no longer a finite number; the best weights before are on disk."""


class PartUnavailableError(Exception):
    """A training is to stop while a process is missing for which it would wait; the text names it."""


@dataclass(slots=True, kw_only=True)
class TrainingProgress:
    """The progress of a training: all of its state except the tensors."""

    step: int = 0
    """Optimizer steps done; rounds, of playouts."""
    samples: int = 0
    """Samples learned from, by all workers."""
    seconds: float = 0.0
    """Time spent, over all starts."""
    waited_seconds: float = 0.0
    """Part of it in which the next batch was not ready."""
    positions: list[StreamPosition] = field(default_factory=list)
    """Position of each worker's next batch, by rank; empty before the first save."""
    history: list[dict[str, Any]] = field(default_factory=list)
    """One entry for each validation."""
    loss_sum: float = 0.0
    """Of the training loss over the ``loss_samples`` since the last validation."""
    loss_samples: int = 0
    staleness_sum: float = 0.0
    """Of the ``staleness_rounds`` of self-play since the last validation (Deep Monte-Carlo)."""
    staleness_rounds: int = 0
    weak_step: int = 0
    """Step of the weights that were kept as the weak ones; 0 before."""
    best_step: int = 0
    """Step of the best weights; 0 before the first validation."""
    best_loss: float | None = None
    """Validation loss of the best weights, or the share of games that they lost; None without validation samples."""
    num_worse: int = 0
    """Validations since the best one."""

    @property
    def mean_loss(self) -> float:
        """Mean training loss since the last validation."""
        return self.loss_sum / max(1, self.loss_samples)

    def add_loss(self, loss: float, num_samples: int) -> None:
        """Count a step: the mean loss of ``num_samples`` samples."""
        self.loss_sum += loss * num_samples
        self.loss_samples += num_samples

    def add_entry(self, entry: dict[str, Any]) -> None:
        """Add the entry of a validation; the mean loss begins anew."""
        self.history.append(entry)
        self.loss_sum, self.loss_samples = 0.0, 0

    def is_best(self, loss: float | None, step: int) -> bool:
        """Note the ``loss`` of a validation of the weights of ``step``; return whether they are the best so far."""
        if loss is not None and self.best_loss is not None and loss >= self.best_loss:
            self.num_worse += 1
            return False
        self.best_step, self.best_loss, self.num_worse = step, loss, 0
        return True


class Clock:
    """Adds the time that passes to ``progress``; measures samples a second and the share of waiting. On a GPU the
    device may be busy while the process waits.
    """

    def __init__(self, progress: TrainingProgress) -> None:
        self._progress = progress
        self._last_tick = self._lap_start = time.monotonic()
        self._lap_samples, self._lap_waited = progress.samples, progress.waited_seconds

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time inside the block as waiting."""
        start = time.monotonic()
        yield
        self._progress.waited_seconds += time.monotonic() - start

    def tick(self) -> None:
        """Add the time since the last tick."""
        self._progress.seconds += self.since_tick
        self._last_tick = time.monotonic()

    def skip(self) -> None:
        """Leave out the time since the last tick."""
        self._last_tick = time.monotonic()

    @property
    def since_tick(self) -> float:
        """Seconds since the last tick."""
        return time.monotonic() - self._last_tick

    def lap(self) -> tuple[float, float]:
        """Return samples a second and the share of waiting since the last lap, and start a new one."""
        now, progress = time.monotonic(), self._progress
        elapsed = max(now - self._lap_start, 1e-9)
        samples, waited = progress.samples - self._lap_samples, progress.waited_seconds - self._lap_waited
        self._lap_start, self._lap_samples, self._lap_waited = now, progress.samples, progress.waited_seconds
        return samples / elapsed, waited / elapsed


@dataclass(frozen=True, slots=True)
class Now:
    """Where a training stands between two steps."""

    share_done: float
    """1 or more at the end."""
    ends: bool
    saves: bool
    """The last save is long ago."""
    stops: bool


Keep = Callable[[int], None]
"""Gets the step of a state that was written."""
Report = Callable[[Mapping[str, Any]], None]
"""Gets a point of the curves: figures by name."""


class Hooks(TypedDict, total=False):
    """Callbacks of whoever starts a training; ``keep`` is called whenever a state was written."""

    report: Report | None
    keep: Keep | None
    watch: TrainingWatch | None


P = TypeVar("P", bound=TrainingProgress)
R = TypeVar("R")


class Trainer(ABC, Generic[P, R]):
    """Consumes: what ``step`` takes. Produces: weights, a curve, states. Waits for: ``step`` and ``evaluate``.

    The state is saved every ``save_seconds``, at a stop and at the end. A subclass loads it in its ``__init__``; the
    training then ends with the same numbers.
    """

    unit = "step"
    """What ``reached`` counts."""

    def __init__(
        self, progress: P, folder: Path, *, save_seconds: float, threads: int = 0, **hooks: Unpack[Hooks]
    ) -> None:
        """``progress``: of a training that begins; ``folder`` is created; ``threads`` of torch, 0: its default."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.send: Report = hooks.get("report") or (lambda point: None)
        self.watch = hooks.get("watch") or TrainingWatch()
        self.progress = progress
        self.clock = Clock(self.progress)
        self.saved_at = time.monotonic()
        self.saved_step = 0
        self._save_seconds, self._threads, self._keep = save_seconds, threads, hooks.get("keep")

    def resume(self, progress: P) -> None:
        """Go on from a state that was loaded: the ``progress`` in it."""
        self.progress = progress
        self.saved_step = self.reached
        self.watch.resumed(self.reached, min(1.0, self.share_done))

    def run(self) -> R:
        """Train to the end, and return what the training leaves.

        Raises StoppedError, with the state saved, as soon as the watch wants a stop; DivergedError if a loss is no
        longer a number; OSError if the disk is full.
        """
        from suphx.models.device import torch_threads

        try:
            with torch_threads(self._threads):
                self.open()
                with self.watch:
                    self.clock = Clock(self.progress)
                    now = self.now()
                    while not now.ends:
                        self.step(now.share_done)
                        before, now = now, self.now()
                        if self.is_evaluation_due(before.share_done, now.share_done):
                            self.evaluate()
                            now = self.now()  # the evaluation may have ended the training
                        if now.saves or now.ends:
                            self.save()
                        self.report(now.share_done)
                        if now.stops and not now.ends:
                            self.stop()
                return self.finish()
        except PartUnavailableError as error:
            self.stop_unsaved(error)
        except DivergedError as error:
            self.note_divergence(error)
            raise
        finally:
            self.close()

    def open(self) -> None:
        """Start what ``step`` needs."""

    def now(self) -> Now:
        """Return where the training stands, and what is to be done."""
        is_save_due = time.monotonic() - self.saved_at >= self._save_seconds
        return Now(self.share_done, self.is_finished, is_save_due, self.watch.is_stopping())

    @property
    def reached(self) -> int:
        """What messages count: steps, updates, decisions."""
        return self.progress.step

    @property
    @abstractmethod
    def share_done(self) -> float:
        """How much is done: 1 or more at the first of the limits (steps, passes, minutes)."""

    @property
    def is_finished(self) -> bool:
        """Whether the training ends."""
        return self.share_done >= 1

    @abstractmethod
    def step(self, share_done: float) -> None:
        """Take a batch, compute its loss and gradients, and move the weights; count it all in ``progress``."""

    def is_evaluation_due(self, before: float, share_done: float) -> bool:
        """Return whether to evaluate after the step that led from ``before`` to ``share_done``."""
        return share_done >= 1

    @abstractmethod
    def evaluate(self) -> None:
        """Measure the weights, add an entry to the curve, and keep the weights if they are the best."""

    def save(self) -> None:
        """Write the state, and pass it on."""
        self.write_state()
        self.saved_at, self.saved_step = time.monotonic(), self.reached
        if self._keep is not None:
            self._keep(self.progress.step)

    @abstractmethod
    def write_state(self) -> None:
        """Write all from which the training resumes, whole or not at all."""

    def report(self, share_done: float) -> None:
        """Show how much is done."""
        self.watch.progress(min(1.0, share_done))

    def stop(self) -> NoReturn:
        """Save the state, and end."""
        self.save()
        raise StoppedError(self.reached)

    @abstractmethod
    def finish(self) -> R:
        """Write and return what the training leaves, also if it had ended before. A stop is not waited for here."""

    def write_metrics(self, metrics: Mapping[str, Any]) -> None:
        """Write ``metrics.json``, whole or not at all."""
        write_atomically(self.folder / METRICS_FILE, [json.dumps(metrics, indent=1, allow_nan=False).encode()])

    def stop_unsaved(self, error: PartUnavailableError) -> NoReturn:
        """Stop without saving; a training that resumes learns again what was learned since the last save."""
        saved = f"the state saved at {self.unit} {self.saved_step:,}" if self.saved_step else "no saved state"
        _logger.warning("%s: the training ends with %s; %ss since then are repeated", error, saved, self.unit)
        raise StoppedError(self.saved_step) from error

    def note_divergence(self, error: DivergedError) -> None:
        """Write what helps to understand it; may raise an error that says more."""

    def close(self) -> None:
        """End it."""
