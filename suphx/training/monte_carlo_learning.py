"""Deep Monte-Carlo: nets play a game against themselves, and learn the returns of their moves.

>>> trainer = ValueTrainer(MonteCarloConfig(max_minutes=30), candidate_game("doudizhu"), Rules(), Path("runs/doudizhu"))
>>> nets, progress = trainer.run()

The folder then has the best nets, ``metrics.json`` (the curve) and the state from which a killed training resumes with
the same numbers. Who plays and learns is a ``Backend``: ``LocalRounds`` in this process, or the parts over Ray.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Unpack

from torch import Tensor

from suphx.games.game import CandidateGame
from suphx.games.registry import decision_names
from suphx.selfplay.agents.policy_set import PolicySet, save_policy_set
from suphx.selfplay.backend import Backend, BackendState, Event, Learned
from suphx.selfplay.weights import Weights
from suphx.training.backend_state import BackendTrainer, from_arrays, to_arrays
from suphx.training.config import MonteCarloConfig, check_imitates, check_opponents
from suphx.training.monte_carlo import Figures, LocalRounds, ValueMatch, new_nets
from suphx.training.trainer import Hooks, TrainingProgress
from suphx.training.training_state import below, damage

STATE_FILE = "training_state.safetensors"
_WAIT_SECONDS = 1.0  # between two looks at whether to stop
_SAY_SECONDS = 30.0  # between two lines about what is waited for

_logger = logging.getLogger(__name__)
NewBackend = Callable[[BackendState | None], Backend]
"""Makes a backend that begins, or goes on from a state."""
Measured = Callable[[Mapping[str, Any], Path], None]
"""Gets the entry of an evaluation, and a folder of the nets that it has measured; takes the folder as it is at once."""
MEASURED_FOLDER = ".measured"


@dataclass(frozen=True, slots=True)
class _Pending:
    """A small match that may still be played."""

    entry: dict[str, Any]
    """Of the curve, without the figures of the match."""
    weights: Weights
    figures: Future[Figures]
    sums: dict[str, float]
    """Of the progress, that are in the entry."""


_SUMS = {"loss_sum": 0.0, "loss_samples": 0, "staleness_sum": 0.0, "staleness_rounds": 0}
"""Of the progress: they begin again with each entry of the curve."""


class ValueTrainer(BackendTrainer[TrainingProgress, tuple[PolicySet, TrainingProgress]]):
    """Consumes: rounds that its backend learned from. Produces: states and a curve. Waits for: its backend.

    A step of the loop is a round of ``batches`` optimizer steps. ``run`` returns the progress and the nets of the
    evaluation with the largest share of games won, which makes that share look a little better than it is.
    """

    def __init__(
        self,
        config: MonteCarloConfig,
        game: CandidateGame,
        rules: Any,
        folder: Path,
        *,
        new_backend: NewBackend | None = None,
        extra: Mapping[str, Any] = MappingProxyType({}),
        measured: Measured | None = None,
        **hooks: Unpack[Hooks],
    ) -> None:
        """Load the state in ``folder``, if there is one. ``new_backend``: who plays and learns (None: this process).
        ``extra`` goes into the headers of the nets. ``measured`` gets nets that are better than all before them.

        ``report`` gets each new entry of ``progress.history``: "step", "samples", "games", "seconds", "loss" and
        "staleness" (means since the entry before), and for each opponent the share of games won ("wp") and the mean
        points ("adp") on each side, with standard errors over deals. Raises ValueError for ``opponents`` and
        ``imitates`` that are no scripted agents of the game, and if the state belongs to another training. ``run``
        raises ChildProcessError, with the state saved, if the match at the end is lost with its process or node.
        """
        check_opponents(config.opponents, game.agents)
        check_imitates(config.imitates, game.agents)
        super().__init__(TrainingProgress(), folder, save_seconds=config.save_seconds, threads=config.threads, **hooks)
        self._config, self._game, self._rules, self._extra = config, game, rules, extra
        self._measured = measured
        # other processes play matches on the CPU
        self._match_config = config if new_backend is None else replace(config, device="cpu")
        self.make_backend = new_backend or partial(LocalRounds, config, game.name, rules)
        self.state_path = folder / STATE_FILE
        self._best: Weights = {}
        self._pending: _Pending | None = None
        self._checked_round = 0
        """The last one after which it was clear whether to evaluate."""
        if self.state_path.is_file():
            progress, tensors = self.read_state(TrainingProgress)
            with damage(self.state_path, ValueError):
                self._best = {kind: to_arrays(below(tensors, f"best/{kind}/")) for kind in decision_names(game.name)}
                self._checked_round = (int(progress.history[-1]["step"]) if progress.history else 0) // config.batches
            self.resume(progress)  # an evaluation that is owed is made up for

    def open(self) -> None:
        """Start who plays and learns, unless all is done."""
        if not self.is_finished:
            super().open()

    @property
    def _round(self) -> int:
        """Rounds that were learned from."""
        return self.progress.step // self._config.batches

    @property
    def share_done(self) -> float:
        """Of the rounds or of the minutes, whichever end first."""
        limit = 60 * self._config.max_minutes
        return max(self._round / self._config.max_rounds, self.progress.seconds / limit if limit else 0.0)

    @property
    def is_finished(self) -> bool:
        """Whether the nets at the end have been evaluated."""
        history = self.progress.history
        is_evaluated = self._pending is None and bool(history) and history[-1]["step"] == self.progress.step
        return self.share_done >= 1 and is_evaluated

    @property
    def _owes_evaluation(self) -> bool:
        """Whether a multiple of ``evaluate_rounds`` was reached since the last evaluation, or the end."""
        every = self._config.evaluate_rounds
        return self.share_done >= 1 or self._round // every > self._checked_round // every

    def step(self, share_done: float) -> None:
        """Have the backend play and learn, unless an evaluation comes first."""
        if not self._owes_evaluation:
            self._count(self.parts.advance())

    def _count(self, events: Sequence[Event]) -> None:
        progress, has_learned = self.progress, False
        for event in events:
            if isinstance(event, Learned):
                progress.step += self._config.batches
                samples = sum(event.num_decisions.values())
                progress.samples += samples
                progress.loss_samples += samples
                progress.loss_sum += event.figures["loss_sum"]
                progress.staleness_sum += event.figures["staleness"]
                progress.staleness_rounds += 1
                has_learned = True
        if has_learned:  # time is counted nowhere else, so that a training never ends without an evaluation
            self.clock.tick()
        elif self.parts.is_waiting_for_parts:
            self.clock.skip()

    def is_evaluation_due(self, before: float, share_done: float) -> bool:
        """Also while a match is played: it may have ended."""
        return self._owes_evaluation or self._pending is not None

    def evaluate(self) -> None:
        """Begin a match if it is time to; add an entry to the curve if one has ended."""
        if self._owes_evaluation:
            self._begin_evaluation()
            self._checked_round = self._round
        self._end_evaluation(waits=self.share_done >= 1)

    def _begin_evaluation(self) -> None:
        """Have the nets play against the opponents."""
        if self._pending is not None:
            self._end_evaluation(waits=True)
            if self._pending is not None:  # the training is to stop
                return
        if self.now().saves:  # in lockstep, what follows may wait for a node
            self.save()
        progress = self.progress
        entry: dict[str, Any] = {"step": progress.step, "samples": progress.samples}
        entry |= {"games": self._round * self._config.games, "loss": progress.mean_loss}
        entry |= {"staleness": progress.staleness_sum / max(1, progress.staleness_rounds), **self.parts.gauges}
        sums = {name: getattr(progress, name) for name in _SUMS}
        weights = self.parts.weights()
        order = ValueMatch(self._match_config, self._game.name, self._rules, weights)
        figures = self.parts.play_match(order, lambda games: None)
        self._pending = _Pending(entry, weights, figures, sums)
        self._set_sums(_SUMS)

    def _end_evaluation(self, *, waits: bool) -> None:
        """Add an entry to the curve if a small match has ended; ``waits``: wait for its end, or until a stop."""
        pending = self._pending
        if pending is None or not (pending.figures.done() or (waits and self._await_match(pending))):
            return
        try:
            entry = pending.entry | pending.figures.result()
        except InterruptedError:  # the training is to stop: the one that resumes plays the match
            return
        except ChildProcessError as error:
            self._lose_evaluation(pending, error)
            return
        self._pending = None
        won = [entry[opponent][f"wp_{side}"] for opponent in self._config.opponents for side in self._game.sides]
        if self.progress.is_best(1.0 - sum(won) / len(won), entry["step"]):
            self._best = pending.weights
            if self._measured is not None:
                self._write_best(self.folder / MEASURED_FOLDER)
                self._measured(entry, self.folder / MEASURED_FOLDER)
        entry["seconds"] = self.progress.seconds + self.clock.since_tick
        self.progress.history.append(entry)
        self.write_metrics({"best_step": self.progress.best_step, "curve": self.progress.history})
        self.send(entry)

    def _await_match(self, pending: _Pending) -> bool:
        """Wait for the end of the match; return whether it has ended, else the training is to stop."""
        if self.now().saves or self.share_done >= 1:  # it may take hours until a node has room for it
            self.save()
        said_at = time.monotonic()
        while not self.watch.is_stopping():
            with suppress(TimeoutError):
                pending.figures.exception(_WAIT_SECONDS)
                return True
            if time.monotonic() >= said_at + _SAY_SECONDS:
                said_at = time.monotonic()
                step = f"{pending.entry['step']:,}"
                _logger.info("waiting for the match after step %s: it is played, or no node has room for it", step)
        return pending.figures.done()

    def _lose_evaluation(self, pending: _Pending, error: ChildProcessError) -> None:
        """Go on without a match that was lost; at the end of the training save the state, and raise the error."""
        step = pending.entry["step"]
        self._set_sums(self._owed_sums())
        self._pending = None
        if self.share_done >= 1 and step == self.progress.step:
            self.save()
            raise ChildProcessError(f"{error}; the training is saved, and the same command plays the match") from error
        _logger.warning("the match after step %s was lost, the training continues: %s", f"{step:,}", error)

    def _owed_sums(self) -> dict[str, Any]:
        """Return the sums as if no match were under way: a training that resumes owes it."""
        sums = self._pending.sums if self._pending else {}
        return {name: getattr(self.progress, name) + own for name, own in sums.items()}

    def _set_sums(self, sums: Mapping[str, float]) -> None:
        """Change the progress in place: the clock adds to it."""
        for name, value in sums.items():
            setattr(self.progress, name, value)

    def write_state(self) -> None:
        """Write the state after all rounds that learning from has begun."""
        self._count(self.parts.settle())
        best: dict[str, Tensor] = {}
        for kind, weights in self._best.items():
            best |= from_arrays(f"best/{kind}", weights)
        seconds = self.progress.seconds + self.clock.since_tick  # an evaluation may have followed the round
        progress = replace(self.progress, seconds=seconds, **self._owed_sums())
        self.write_backend(self.parts.state(), progress, **best)

    def finish(self) -> tuple[PolicySet, TrainingProgress]:
        """Write the best nets: the folder is an agent then. Return them and the progress."""
        return self._write_best(self.folder), self.progress

    def _write_best(self, folder: Path) -> PolicySet:
        """Write the best nets so far into ``folder``, and return them."""
        nets, step = new_nets(self._game, self._config.seed).with_weights(self._best), self.progress.best_step
        rules, encoder = self._game.rules_values(self._rules), self._game.learning.encoders[0]
        save_policy_set(folder, nets, encoder, rules=rules, extra={**self._extra, "step": step})
        return nets

    def identity(self) -> dict[str, Any]:
        """Return all that must be the same for the training to resume, as JSON can hold it."""
        settings = asdict(self._config) | {"opponents": list(self._config.opponents), "game": self._game.name}
        kept: dict[str, Any] = {k: value for k, value in settings.items() if k not in self._config.FREE_KEYS}
        return kept | self._game.rules_values(self._rules)
