"""Deep Monte-Carlo in one process: nets play DouDizhu against themselves, and learn the returns of their moves.

>>> nets, progress = learn_values(MonteCarloConfig(max_minutes=30), Rules(), Path("runs/doudizhu"))
>>> progress.history[-1]["random"]["wp_landlord"]

The folder then has ``metrics.json`` (the curve) and the state from which a training that was killed resumes and ends
with the same numbers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from suphx.atomic_file import write_atomically
from suphx.games.doudizhu import Rules, ScriptedPlayer, Simulator, move_columns, play_decks, play_games
from suphx.models.device import torch_threads, uses_bf16
from suphx.training.loop.metrics_file import METRICS_FILE
from suphx.training.loop.training_state import TrainingProgress, load_training_state, save_training_state
from suphx.training.loop.training_watch import StoppedError, TrainingWatch
from suphx.training.monte_carlo.monte_carlo_config import FREE_KEYS, MonteCarloConfig
from suphx.training.monte_carlo.monte_carlo_step import ValueSamples, learn_samples, new_value_optimizer
from suphx.training.monte_carlo.value_player import PlayedMoves, ValuePlayer, new_nets

STATE_FILE = "training_state.safetensors"
SIDES = ("landlord", "peasant")
_FIRST_SEED = 2**40  # of the decks to learn from; those of evaluations begin at 0

Report = Callable[[dict[str, Any]], None]


def learn_values(
    config: MonteCarloConfig,
    rules: Rules,
    folder: Path,
    *,
    report: Report = lambda entry: None,
    keep: Callable[[int], None] = lambda step: None,
    watch: TrainingWatch | None = None,
) -> tuple[nn.ModuleList, TrainingProgress]:
    """Train one net for each seat, or resume from the state in ``folder``; return the best nets and the progress.

    The best are those of the evaluation with the largest share of games won, over opponents and sides. Choosing them
    makes that share look a little better than it is: measure them on other decks.
    ``report`` gets each new entry of ``progress.history``: "step", "samples", "games", "seconds", "loss" (the mean
    since the entry before), and for each opponent the share of games won ("wp") and the mean points ("adp") on either
    side, with standard errors over decks. ``keep`` is called with the step whenever a state was written. Raises
    ValueError if the state belongs to another training, DivergedError if the loss is no longer a number, StoppedError,
    with the state saved, if ``watch`` wants the training to stop, OSError if the disk is full.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with torch_threads(config.threads):
        training = _Training(config, rules, folder, report, keep, watch or TrainingWatch())
        training.run()
    training.nets.load_state_dict(training.best)
    return training.nets.eval(), training.progress


class _Training:
    """Consumes decks; produces weights, states and a curve. Waits for nothing."""

    def __init__(
        self,
        config: MonteCarloConfig,
        rules: Rules,
        folder: Path,
        report: Report,
        keep: Callable[[int], None],
        watch: TrainingWatch,
    ) -> None:
        self.config, self.rules, self.folder = config, rules, folder
        self.report, self.keep, self.watch = report, keep, watch
        self.moves = rules.load_moves()
        self.columns = move_columns(self.moves)
        self.is_bf16 = uses_bf16(config.precision, torch.device("cpu"))
        self.nets = new_nets(config.seed)
        self.optimizer = new_value_optimizer(self.nets, config)
        self.progress = TrainingProgress()
        self.best: dict[str, Tensor] = {}
        if (folder / STATE_FILE).is_file():
            loaded = load_training_state(folder / STATE_FILE, self.nets, self.optimizer, self._identity())
            self.progress, self.best = loaded
            self.watch.resumed(self.progress.step, self.share_done)
        self.saved_at = self.ticked_at = time.monotonic()

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

    def run(self) -> None:
        """Play and learn round by round; StoppedError after a round if the watch wants it."""
        while not self.is_finished:
            rng = np.random.default_rng([self.config.seed, self.round])
            for seat, samples in enumerate(self._play(rng)):
                self._learn(seat, samples, rng)
            self.progress.step += self.config.batches
            self._tick()
            if self.round % self.config.evaluate_rounds == 0 or self.is_finished:
                self._evaluate()
            stops = not self.is_finished and self.watch.is_stopping()
            if stops or self.is_finished or time.monotonic() - self.saved_at >= self.config.save_seconds:
                self._save()
            if stops:
                raise StoppedError(self.progress.step)
            self.watch.progress(min(1.0, self.share_done))

    def _play(self, rng: np.random.Generator) -> list[ValueSamples]:
        """Return the samples of each seat from one round of self-play."""
        games = self.config.games
        simulator = Simulator(games, self.rules)
        first_seed = _FIRST_SEED * (1 + self.config.seed) + games * self.round
        simulator.reset(range(first_seed, first_seed + games))
        played: list[PlayedMoves] = []
        player = ValuePlayer(self.nets.eval(), self.moves, self.config.epsilon, rng, played, self.is_bf16)
        play_games(simulator, [player], np.zeros((games, len(self.nets)), np.int64))
        scores = simulator.scores()
        samples = []
        for seat in range(len(self.nets)):
            own = [part for part in played if part.seat == seat]
            states, history = (np.concatenate([getattr(part, name) for part in own]) for name in ("states", "history"))
            tables, moves = (np.concatenate([getattr(part, name) for part in own]) for name in ("tables", "moves"))
            samples.append(ValueSamples(states, history, self.columns[moves], scores[tables, seat]))
        return samples

    def _learn(self, seat: int, samples: ValueSamples, rng: np.random.Generator) -> None:
        net, progress = self.nets[seat].train(), self.progress
        for rows in np.array_split(rng.permutation(len(samples.returns)), self.config.batches):
            part, limit = samples.rows(rows), self.config.max_grad_norm
            loss = learn_samples(net, self.optimizer, part, limit, is_bf16=self.is_bf16)
            progress.rows += len(rows)
            progress.loss_rows += len(rows)
            progress.loss_sum += loss * len(rows)

    def _evaluate(self) -> None:
        """Play against the opponents; add an entry to the curve."""
        config, progress = self.config, self.progress
        entry: dict[str, Any] = {"step": progress.step, "samples": progress.rows, "games": self.round * config.games}
        entry["loss"] = progress.loss_sum / progress.loss_rows
        player = ValuePlayer(self.nets.eval(), self.moves, is_bf16=self.is_bf16)
        for opponent in config.opponents:
            results = play_decks(config.evaluate_decks, self.rules, player, ScriptedPlayer(opponent))
            entry[opponent] = {}
            for side in SIDES:
                for measure, name in (("wp", "wins"), ("adp", "points")):
                    values = getattr(results, f"{side}_{name}").astype(np.float64)
                    entry[opponent][f"{measure}_{side}"] = float(values.mean())
                    entry[opponent][f"{measure}_{side}_error"] = float(values.std() / np.sqrt(len(values)))
        self._keep_best(entry)
        self._tick()
        entry["seconds"] = progress.seconds
        progress.history.append(entry)
        progress.loss_sum, progress.loss_rows = 0.0, 0
        metrics = {"best_step": progress.best_step, "curve": progress.history}
        write_atomically(self.folder / METRICS_FILE, [json.dumps(metrics, indent=1).encode()])
        self.report(entry)

    def _keep_best(self, entry: dict[str, Any]) -> None:
        """Keep the weights if they lose fewer games than those of all evaluations before."""
        config, progress = self.config, self.progress
        won = [entry[opponent][f"wp_{side}"] for opponent in config.opponents for side in SIDES]
        lost = 1.0 - sum(won) / len(won)
        if progress.best_loss is None or lost < progress.best_loss:
            progress.best_step, progress.best_loss = progress.step, lost
            self.best = {name: tensor.detach().clone() for name, tensor in self.nets.state_dict().items()}

    def _save(self) -> None:
        path = self.folder / STATE_FILE
        save_training_state(path, self.nets, self.best, self.optimizer, self.progress, self._identity())
        self.saved_at = time.monotonic()
        self.keep(self.progress.step)

    def _identity(self) -> dict[str, Any]:
        """Return all that must be the same for the training to resume, as JSON can hold it."""
        settings = asdict(self.config) | {"opponents": list(self.config.opponents)}
        return {name: value for name, value in settings.items() if name not in FREE_KEYS} | asdict(self.rules)

    def _tick(self) -> None:
        now = time.monotonic()
        self.progress.seconds += now - self.ticked_at
        self.ticked_at = now
