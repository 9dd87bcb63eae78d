"""Deep Monte-Carlo: nets play a game against themselves, and learn the returns of their moves.

>>> game = candidate_game("doudizhu")
>>> trained, progress = learn_values(MonteCarloConfig(max_minutes=30), game, Rules(), Path("runs/doudizhu"))
>>> progress.history[-1]["random"]["wp_landlord"]

The folder then has ``metrics.json`` (the curve) and the state from which a training that was killed resumes and ends
with the same numbers. ``RoundBackend`` plays and learns.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Protocol

from torch import Tensor

from suphx.atomic_file import write_atomically
from suphx.games.game import CandidateGame
from suphx.models.device import torch_threads
from suphx.training.config import (
    MonteCarloConfig,
    check_imitates,
    check_opponents,
)
from suphx.training.monte_carlo import LearnedRound, RoundLearner, RoundPlayer
from suphx.training.trainer import METRICS_FILE, PartAwayError, StoppedError, TrainingProgress, TrainingWatch
from suphx.training.training_state import load_training_state, save_training_state
from suphx.training.value_nets import Figures, ValueNets, evaluate_nets


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A small match of the nets, which may still be played."""

    figures: Future[Figures]
    """Has a ChildProcessError if the match was lost with its process or node."""
    weights: Callable[[], Mapping[str, Tensor]]
    """Returns the weights that play."""


class RoundBackend(Protocol):
    """Plays rounds and learns from them."""

    @property
    def dealt(self) -> int:
        """Number of the next round that somebody is given to play."""
        ...

    @property
    def gauges(self) -> Mapping[str, float]:
        """Current measurements for the curve, perhaps none."""
        ...

    @property
    def is_starting(self) -> bool:
        """Whether nobody could work yet, because nodes or processes are still missing."""
        ...

    def learn_round(self, seconds: float) -> LearnedRound | None:
        """Wait until one more round was learned from, at most for about ``seconds``, and then return None.

        DivergedError if a loss is not finite.
        """
        ...

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        """Have ``settle``, ``evaluate`` and ``update`` raise PartAwayError once a stop ``is_made`` and nobody is there
        for whom they would wait.
        """
        ...

    def settle(self) -> list[LearnedRound]:
        """Learn from all rounds that learning from has begun; return those that ``learn_round`` has not returned."""
        ...

    def evaluate(self) -> Evaluation:
        """Have the averaged nets as they are now play a small match, at once or while the other work goes on."""
        ...

    def update(self, learner: RoundLearner) -> None:
        """Give ``learner`` the weights and the optimizer's state after the rounds of ``settle``."""
        ...

    def close(self) -> None:
        """Stop all work."""
        ...


NewBackend = Callable[[RoundLearner, int], RoundBackend]
"""Makes a backend that goes on from a learner, with the number of the next round that somebody is given to play."""


class LocalRounds:
    """Consumes: nothing. Produces: rounds that were learned from. Waits for: nothing."""

    def __init__(
        self, config: MonteCarloConfig, game: CandidateGame, rules: Any, learner: RoundLearner, dealt: int
    ) -> None:
        """``learner`` is the one that learns, and its nets are those that play."""
        self._config, self._game, self._rules, self._learner = config, game, rules, learner
        self._player = RoundPlayer(config, game, rules, learner.nets, is_bf16=learner.is_bf16)
        self._dealt = dealt

    @property
    def dealt(self) -> int:
        """Number of the next round."""
        return self._dealt

    @property
    def gauges(self) -> Mapping[str, float]:
        """Nothing is measured."""
        return {}

    @property
    def is_starting(self) -> bool:
        """This process is here."""
        return False

    def learn_round(self, seconds: float) -> LearnedRound:
        """Play the next round and learn from it, however long that takes."""
        samples = self._player.play(self._dealt)
        self._dealt += 1
        return self._learner.learn(samples)

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        """Do nothing: this process is here."""

    def settle(self) -> list[LearnedRound]:
        """Return nothing: what was begun is finished."""
        return []

    def evaluate(self) -> Evaluation:
        """Play a small match."""
        nets = self._learner.averaged_nets()
        figures: Future[Figures] = Future()
        is_bf16 = self._learner.is_bf16
        figures.set_result(evaluate_nets(self._config, self._game, self._rules, nets, is_bf16=is_bf16))
        return Evaluation(figures, lambda: {name: t.detach().cpu().clone() for name, t in nets.state_dict().items()})

    def update(self, learner: RoundLearner) -> None:
        """Do nothing: ``learner`` is the one that learns."""
        assert learner is self._learner

    def close(self) -> None:
        """Do nothing."""


STATE_FILE = "training_state.safetensors"
_WAIT_SECONDS = 1.0  # between two looks at whether to stop
_SAY_SECONDS = 30.0  # between two lines about what is waited for

_logger = logging.getLogger(__name__)
Report = Callable[[dict[str, Any]], None]


def learn_values(
    config: MonteCarloConfig,
    game: CandidateGame,
    rules: Any,
    folder: Path,
    *,
    report: Report = lambda entry: None,
    keep: Callable[[int], None] = lambda step: None,
    watch: TrainingWatch | None = None,
    new_backend: NewBackend | None = None,
) -> tuple[ValueNets, TrainingProgress]:
    """Train one net for each seat, or resume from the state in ``folder``; return the best nets and the progress.

    The best are those of the evaluation with the largest share of games won, over opponents and sides. Choosing them
    makes that share look a little better than it is: measure them on other deals.
    ``report`` gets each new entry of ``progress.history``: "step", "samples", "games", "seconds", "loss" and
    "staleness" (means since the entry before), and for each opponent the share of games won ("wp") and the mean points
    ("adp") on each side, with standard errors over deals. ``keep`` is called with the step whenever a state was
    written. ``new_backend``: who plays and learns (None: this process). Raises ValueError for ``opponents`` and
    ``imitates`` that are no scripted agents of the game, and if the state belongs to another training, DivergedError if
    the loss is no longer a number, StoppedError, with the state saved, if ``watch`` wants the training to stop (if the
    learner is away then, the state is that of the last regular save), OSError if the disk is full, ChildProcessError,
    with the state saved, if the match at the end is lost with its process or node.
    """
    check_opponents(config.opponents, game.agents)
    check_imitates(config.imitates, game.agents)
    folder.mkdir(parents=True, exist_ok=True)
    with torch_threads(config.threads):
        # Where others learn, this process only keeps a copy of their state.
        learner = RoundLearner(config if new_backend is None else replace(config, device="cpu"), game)
        training = _Training(config, game, rules, learner, folder, report, keep, watch or TrainingWatch())
        training.run(new_backend or partial(LocalRounds, config, game, rules))
    nets = training.learner.nets.cpu()
    nets.load_state_dict(training.best)
    return ValueNets(game, rules, nets.eval()), training.progress


class _Training:
    """Consumes: rounds that were learned from. Produces: states and a curve. Waits for: its backend."""

    def __init__(
        self,
        config: MonteCarloConfig,
        game: CandidateGame,
        rules: Any,
        learner: RoundLearner,
        folder: Path,
        report: Report,
        keep: Callable[[int], None],
        watch: TrainingWatch,
    ) -> None:
        self.config, self.game, self.rules, self.folder = config, game, rules, folder
        self.report, self.keep, self.watch = report, keep, watch
        self.learner = learner
        self.progress = TrainingProgress()
        self.best: Mapping[str, Tensor] = {}
        self.pending: tuple[dict[str, Any], Evaluation] | None = None
        self.pending_sums = (0.0, 0, 0.0, 0)
        """Sums of the progress that are in the entry of ``pending``."""
        if (folder / STATE_FILE).is_file():
            loaded = load_training_state(
                folder / STATE_FILE, self.learner.nets, self.learner.optimizer, self._identity()
            )
            self.progress, self.best = loaded
            self.learner.resume(self.round)
            self.watch.resumed(self.progress.step, self.share_done)
        try:
            self.checked_round = self._evaluated_step // config.batches  # an evaluation that is owed is made up for
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{folder / STATE_FILE} is damaged ({error!r}): delete it to start over") from error
        self.saved_step = self.progress.step
        self.saved_at = self.ticked_at = time.monotonic()
        self.backend: RoundBackend

    @property
    def round(self) -> int:
        """Rounds that were learned from."""
        return self.progress.step // self.config.batches

    @property
    def share_done(self) -> float:
        """Of the rounds or of the minutes, whichever end first."""
        limit = 60 * self.config.max_minutes
        return max(self.round / self.config.max_rounds, self.progress.seconds / limit if limit else 0.0)

    @property
    def is_finished(self) -> bool:
        """Whether one of the limits is reached."""
        return self.share_done >= 1

    @property
    def _owes_evaluation(self) -> bool:
        """Whether a multiple of ``evaluate_rounds`` was reached since the last evaluation."""
        every = self.config.evaluate_rounds
        return self.round // every > self.checked_round // every

    @property
    def _is_save_due(self) -> bool:
        return time.monotonic() - self.saved_at >= self.config.save_seconds

    @property
    def _evaluated_step(self) -> int:
        """Step of the last evaluation; 0 without one."""
        history = self.progress.history
        return int(history[-1]["step"]) if history else 0

    @property
    def _is_complete(self) -> bool:
        """Whether the nets at the end have been evaluated."""
        return self.is_finished and self.pending is None and self._evaluated_step == self.progress.step

    def run(self, new_backend: NewBackend) -> None:
        """Play and learn round by round; StoppedError after a round if the watch wants it."""
        if self.is_finished and self._evaluated_step == self.progress.step:
            return
        self.backend = new_backend(self.learner, self.progress.dealt)
        self.ticked_at = time.monotonic()  # here and below: time to start others does not count
        self.backend.watch_stop(self.watch.is_stopping)
        try:
            self._learn_rounds()
        except PartAwayError as error:
            self._end_with_last_save(error)
        finally:
            self.backend.close()

    def _learn_rounds(self) -> None:
        while not self.is_finished:
            if not self._owes_evaluation:
                learned = self.backend.learn_round(_WAIT_SECONDS)
                if learned is not None:
                    self._count(learned)
                elif self.backend.is_starting:
                    self.ticked_at = time.monotonic()
            self._end_round()
        if self.checked_round < self.round:  # others were still learning when the time was over
            self._end_round()

    def _end_with_last_save(self, error: PartAwayError) -> NoReturn:
        """Stop without saving; a training that resumes learns again what was learned since the last save."""
        saved = f"the state saved at step {self.saved_step:,}" if self.saved_step else "no saved state"
        _logger.warning("%s: the training ends with %s; steps since then are repeated", error, saved)
        raise StoppedError(self.saved_step) from error

    def _count(self, learned: LearnedRound) -> None:
        progress = self.progress
        progress.step += self.config.batches
        progress.samples += learned.samples
        progress.loss_samples += learned.samples
        progress.loss_sum += learned.loss_sum
        progress.staleness_sum += learned.staleness
        progress.staleness_rounds += 1
        now = time.monotonic()  # nowhere else, so that a training never ends without an evaluation
        progress.seconds += now - self.ticked_at
        self.ticked_at = now

    def _end_round(self) -> None:
        """Evaluate and save if it is time to; StoppedError, after saving, if the watch wants it."""
        if self._owes_evaluation or self.is_finished:
            self._begin_evaluation()
        self.checked_round = self.round
        self._end_evaluation(waits=self.is_finished)
        stops = self.watch.is_stopping() and not self._is_complete
        if stops:
            self._drop_evaluation()
        if stops or self.is_finished or self._is_save_due:
            self._save()
        if stops:
            raise StoppedError(self.progress.step)
        self.watch.progress(min(1.0, self.share_done))

    def _begin_evaluation(self) -> None:
        """Have the nets play against the opponents."""
        if self.pending is not None:
            self._end_evaluation(waits=True)
            if self.pending is not None:  # the training is to stop
                return
        if self._is_save_due:  # in lockstep, what follows may wait for a node
            self._save()
        progress = self.progress
        entry: dict[str, Any] = {"step": progress.step, "samples": progress.samples}
        entry |= {"games": self.round * self.config.games, "loss": progress.loss_sum / max(1, progress.loss_samples)}
        entry |= {"staleness": progress.staleness_sum / max(1, progress.staleness_rounds)}
        entry |= self.backend.gauges
        self.pending_sums = (
            progress.loss_sum, progress.loss_samples, progress.staleness_sum, progress.staleness_rounds
        )  # fmt: skip
        progress.loss_sum, progress.loss_samples = 0.0, 0
        progress.staleness_sum, progress.staleness_rounds = 0.0, 0
        self.pending = (entry, self.backend.evaluate())

    def _end_evaluation(self, *, waits: bool) -> None:
        """Add an entry to the curve if a small match has ended; ``waits``: wait for its end, or until a stop."""
        if self.pending is None or not (self.pending[1].figures.done() or (waits and self._await_match())):
            return
        entry, evaluation = self.pending
        try:
            entry |= evaluation.figures.result()
        except ChildProcessError as error:
            self._lose_evaluation(entry["step"], error)
            return
        self.pending = None
        self._keep_best(entry, evaluation)
        progress = self.progress
        entry["seconds"] = progress.seconds + time.monotonic() - self.ticked_at
        progress.history.append(entry)
        metrics = {"best_step": progress.best_step, "curve": progress.history}
        write_atomically(self.folder / METRICS_FILE, [json.dumps(metrics, indent=1).encode()])
        self.report(entry)

    def _await_match(self) -> bool:
        """Wait for the end of the match; return whether it has ended, else the training is to stop."""
        assert self.pending is not None
        if self._is_save_due or self.is_finished:  # it may take hours until a node has room for it
            self._save()
        figures = self.pending[1].figures
        said_at = time.monotonic()
        while not self.watch.is_stopping():
            with suppress(TimeoutError):
                figures.exception(_WAIT_SECONDS)
                return True
            if time.monotonic() >= said_at + _SAY_SECONDS:
                said_at = time.monotonic()
                step = f"{self.pending[0]['step']:,}"
                _logger.info("waiting for the match after step %s: it is played, or no node has room for it", step)
        return figures.done()

    def _lose_evaluation(self, step: int, error: ChildProcessError) -> None:
        """Go on without a match that was lost; at the end of the training save the state, and raise the error."""
        is_last = self.is_finished and step == self.progress.step
        self._drop_evaluation()
        if is_last:
            self._save()
            raise ChildProcessError(f"{error}; the training is saved, and the same command plays the match") from error
        _logger.warning("the match after step %s was lost, the training goes on: %s", f"{step:,}", error)

    def _drop_evaluation(self) -> None:
        """Forget a match that has not ended: the training that resumes owes it."""
        self.progress, self.pending = self._owing_progress(), None

    def _owing_progress(self) -> TrainingProgress:
        """Return the progress as if no match were under way."""
        if self.pending is None:
            return self.progress
        loss_sum, loss_samples, staleness_sum, staleness_rounds = self.pending_sums
        return replace(
            self.progress,
            loss_sum=self.progress.loss_sum + loss_sum,
            loss_samples=self.progress.loss_samples + loss_samples,
            staleness_sum=self.progress.staleness_sum + staleness_sum,
            staleness_rounds=self.progress.staleness_rounds + staleness_rounds,
        )

    def _keep_best(self, entry: dict[str, Any], evaluation: Evaluation) -> None:
        """Keep the weights if they lose fewer games than those of all evaluations before."""
        config, progress = self.config, self.progress
        won = [entry[opponent][f"wp_{side}"] for opponent in config.opponents for side in self.game.sides]
        lost = 1.0 - sum(won) / len(won)
        if progress.best_loss is None or lost < progress.best_loss:
            progress.best_step, progress.best_loss = entry["step"], lost
            self.best = evaluation.weights()

    def _save(self) -> None:
        for learned in self.backend.settle():
            self._count(learned)
        self.backend.update(self.learner)
        self.progress.dealt = self.backend.dealt
        path, learner = self.folder / STATE_FILE, self.learner
        seconds = self.progress.seconds + time.monotonic() - self.ticked_at  # an evaluation may have followed the round
        progress = replace(self._owing_progress(), seconds=seconds)
        save_training_state(path, learner.nets, dict(self.best), learner.optimizer, progress, self._identity())
        self.saved_at, self.saved_step = time.monotonic(), self.progress.step
        self.keep(self.progress.step)

    def _identity(self) -> dict[str, Any]:
        """Return all that must be the same for the training to resume, as JSON can hold it."""
        settings = asdict(self.config) | {"opponents": list(self.config.opponents), "game": self.game.name}
        kept = {name: value for name, value in settings.items() if name not in self.config.FREE_KEYS}
        return kept | self.game.rules_values(self.rules)
