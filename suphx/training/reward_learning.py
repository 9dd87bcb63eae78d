"""How the reward predictor learns from whole games (paper, section 3.2, equation 4): ``RewardTrainer(learning,
Path("runs/reward_predictor")).run()``.

The folder then has ``reward_predictor.safetensors`` (the best weights on validation games) and the state from which a
killed training resumes with the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from suphx.experience.observation import F32
from suphx.experience.segments import taken_segments
from suphx.games.riichi.archive.store import KyokuStore
from suphx.games.riichi.features.game_progress import (
    NUM_GAME_PROGRESS_INPUTS,
    NUM_KYOKU,
    GameProgress,
    encode_game_progress,
)
from suphx.games.riichi.table import places_of_scores
from suphx.kernel.record import I8, I32, I64
from suphx.models.device import find_device, first_weights
from suphx.models.net_config import RewardPredictorConfig
from suphx.models.reward_predictor import (
    REWARD_PREDICTOR_FILE,
    Points,
    RewardHeader,
    RewardPredictor,
    save_reward_predictor,
)
from suphx.training.config import RewardLearningConfig
from suphx.training.optimizer import make_step, new_optimizer, set_learning_rate
from suphx.training.trainer import Hooks, Now, Trainer, TrainingProgress
from suphx.training.training_state import load_training_state, save_training_state


def prefix_losses(predictions: Tensor, lengths: Tensor, rewards: Tensor) -> Tensor:
    """Return [n]: the mean squared error of a game's predictions [n, t], of which the first ``lengths`` [n] count,
    against what each was worth in the end, ``rewards`` [n]. Equation 4 is the mean over games.
    """
    errors = (predictions - rewards.unsqueeze(1)).square()
    counts = torch.arange(predictions.shape[1], device=predictions.device) < lengths.unsqueeze(1)
    return torch.where(counts, errors, 0.0).sum(dim=1) / lengths


HANCHAN_WINDS = 2


@dataclass(frozen=True, slots=True)
class HistoryBatch:
    """The four seats of some games, game by game, seat by seat."""

    lines: F32
    """float32 [4 * games, t, NUM_GAME_PROGRESS_INPUTS]; zeros behind the end of a game."""
    lengths: I64
    """int64 [4 * games]: lines of each, K + 1."""
    placements: I8
    """int8 [4 * games]: 1-4."""


@dataclass(frozen=True, slots=True)
class GameHistories:
    """Games one after another."""

    progress: GameProgress
    """Of all games: K + 1 lines for each, the first one at its start."""
    first_lines: I64
    """int64 [games + 1]: where each begins."""
    placements: I8
    """int8 [games, 4]: 1-4 by seat."""
    game_ids: list[str]
    num_left_out: int
    """Games of another length, and those that no record tells the end of."""

    def __len__(self) -> int:
        return len(self.placements)

    @property
    def lengths(self) -> I64:
        """int64 [games]: lines of each."""
        return np.diff(self.first_lines)

    def lines_of(self, games: NDArray[np.integer]) -> I64:
        """Return the lines [n] of ``games``, game by game."""
        return taken_segments(self.first_lines, games)[1]

    def batch(self, games: NDArray[np.integer]) -> HistoryBatch:
        """Return all seats of ``games`` side by side."""
        lengths = self.lengths[games]
        encoded = encode_game_progress(self.progress.take(self.lines_of(games)))
        lines = np.zeros((len(games), 4, int(lengths.max(initial=0)), NUM_GAME_PROGRESS_INPUTS), np.float32)
        row, column = _places(lengths)
        lines[row, :, column] = encoded
        return HistoryBatch(
            lines=lines.reshape(-1, *lines.shape[2:]),
            lengths=np.repeat(lengths, 4),
            placements=self.placements[games].reshape(-1),
        )


def game_histories(store: KyokuStore) -> GameHistories:
    """Return the hanchans of ``store`` that were played to their end.

    Raises ValueError if there are none, or if the store's deals contradict its games.
    """
    games, kyokus = store.games, store.kyokus
    finals = np.asarray(games["final_scores"], np.int32)
    counts = np.asarray(games["num_kyoku"], np.int64)
    firsts = np.asarray(games["first_kyoku"], np.int64)
    if games.size and not (counts.min() >= 1 and firsts.min() >= 0 and (firsts + counts).max() <= store.num_kyokus):
        raise ValueError(f"{store.folder} has games of deals that it does not have: run the records stage again")
    chosen = np.flatnonzero(finals.any(axis=1) & (np.asarray(games["num_winds"]) == HANCHAN_WINDS))
    if not chosen.size:
        raise ValueError(
            f"none of the {len(games):,} games in {store.folder} is a hanchan that was played to its end: "
            "give records of whole hanchans"
        )
    return GameHistories(
        progress=_standings(kyokus, firsts[chosen], counts[chosen], finals[chosen]),
        first_lines=np.concatenate([[0], np.cumsum(counts[chosen] + 1)]),
        placements=places_of_scores(finals[chosen]),
        game_ids=[store.game_ids[game] for game in chosen],
        num_left_out=len(games) - len(chosen),
    )


def _standings(kyokus: NDArray[np.void], firsts: I64, counts: I64, finals: I32) -> GameProgress:
    """Return how games stood: at the start of each deal, and at their end."""
    game, number = _places(counts + 1)
    is_over = number == counts[game]
    deal = firsts[game] + np.minimum(number, counts[game] - 1)  # at the end any deal will do
    scores = np.where(is_over[:, None], finals[game], kyokus["scores"][deal]).astype(np.int32)
    round_scores = np.diff(scores, axis=0, prepend=scores[:1])
    round_scores[number == 0] = 0
    columns = {name: np.asarray(kyokus[name][deal], np.int32) for name in ("kyoku", "honba", "kyotaku")}
    return GameProgress(round_scores=round_scores, scores=scores, is_over=is_over, **columns)


def _places(lengths: I64) -> tuple[I64, I64]:
    """Return for each of ``sum(lengths)`` items laid end to end which group it is of, and its number in that."""
    groups = np.repeat(np.arange(len(lengths)), lengths)
    numbers = np.arange(len(groups)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return groups, numbers


STATE_FILE = "training_state.safetensors"
_GAMES_AT_A_TIME = 512  # that are only predicted


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardLearning:
    """The data and the settings of the training of a reward predictor."""

    histories: GameHistories
    train: I64
    validation: I64
    points: Points
    net: RewardPredictorConfig
    config: RewardLearningConfig
    digest: str
    """Changes whenever the games or their split do."""
    rules_version: str
    extra: dict[str, Any] = field(default_factory=dict)
    """Goes into the header of the checkpoint."""

    def identity(self) -> dict[str, Any]:
        """Return all that must be the same for a training to go on, as JSON can hold it."""
        config = {name: value for name, value in asdict(self.config).items() if name not in self.config.FREE_KEYS}
        return {"games": self.digest, "points": list(self.points), "net": asdict(self.net), **config}


class RewardTrainer(Trainer[TrainingProgress, tuple[RewardPredictor, TrainingProgress]]):
    """Consumes games; produces weights and states. Waits for nothing. ``run`` returns the best predictor, and how it
    went.
    """

    def __init__(self, learning: RewardLearning, folder: Path, **hooks: Unpack[Hooks]) -> None:
        """Make a net, or load the state in ``folder``; ValueError if that belongs to another training.

        ``report`` gets the entry of each validation: after an epoch, and when time is up.
        """
        config = learning.config
        super().__init__(TrainingProgress(), folder, save_seconds=config.save_seconds, threads=config.threads, **hooks)
        self._learning, self._config = learning, config
        self._device = find_device(self._config.device)
        with first_weights(self._config.seed):
            self._net = RewardPredictor(learning.net, learning.points).to(self._device)
        self._optimizer = new_optimizer(self._net, self._config.learning_rate, self._config.weight_decay)
        self._best: dict[str, Tensor] = {}
        self._steps_of_epoch = -(-len(learning.train) // self._config.batch_games)
        self._order = (-1, learning.train)
        """The games in the order of an epoch."""
        path = folder / STATE_FILE
        if path.is_file():
            progress, self._best = load_training_state(path, self._net, self._optimizer, learning.identity())
            self.resume(progress)

    @property
    def share_done(self) -> float:
        """Of the epochs or of the minutes, whichever end first."""
        share = self.progress.step / (self._config.max_epochs * self._steps_of_epoch)
        minutes = self._config.max_minutes
        return max(share, self.progress.seconds / (60 * minutes)) if minutes else share

    @property
    def is_finished(self) -> bool:
        """Also if the validation loss has not fallen for long."""
        return 0 < self._config.patience <= self.progress.num_worse or self.share_done >= 1

    def step(self, share_done: float) -> None:
        """Learn from the next games of the epoch, each epoch in another order."""
        config, progress = self._config, self.progress
        epoch, done = divmod(progress.step, self._steps_of_epoch)
        if self._order[0] != epoch:
            random = np.random.default_rng([config.seed, epoch])
            self._order = (epoch, random.permutation(self._learning.train))
        games = self._order[1][done * config.batch_games : (done + 1) * config.batch_games]
        set_learning_rate(self._optimizer, config.learning_rate, progress.step, share_done, config.warmup_steps)
        self._net.train()
        losses = _losses(self._net, self._learning.histories.batch(games), self._device)
        loss = losses.mean() / self._net.spread**2
        make_step(self._net, self._optimizer, loss, config.max_grad_norm or math.inf, "the reward predictor")
        progress.step += 1
        progress.samples += len(games)
        progress.loss_sum += float(losses.detach().sum())
        progress.loss_samples += len(losses)
        self.clock.tick()

    def now(self) -> Now:
        """Return where the training stands; it is saved between two epochs only, unless it stops."""
        now = super().now()
        return replace(now, saves=now.saves and self.progress.step % self._steps_of_epoch == 0)

    def is_evaluation_due(self, before: float, share_done: float) -> bool:
        """After each epoch, and when time is up."""
        return share_done >= 1 or self.progress.step % self._steps_of_epoch == 0

    def evaluate(self) -> None:
        """Add an entry to the history; keep the weights if they are the best so far."""
        progress = self.progress
        loss = validation_loss(self._net, self._learning.histories, self._learning.validation)
        entry = {"step": progress.step, "seconds": progress.seconds, "train_loss": progress.mean_loss}
        progress.add_entry(entry | {"validation_loss": loss})
        if progress.is_best(loss, progress.step):
            self._best = {name: tensor.detach().cpu().clone() for name, tensor in self._net.state_dict().items()}
        self.send(progress.history[-1] | {"share_done": min(self.share_done, 1.0)})

    def write_state(self) -> None:
        """Write the state, and the predictor if there was a validation."""
        progress, learning = self.progress, self._learning
        if progress.best_loss is not None:
            header = RewardHeader(
                net=learning.net,
                points=learning.points,
                rules_version=learning.rules_version,
                step=progress.best_step,
                metrics={"validation_loss": progress.best_loss},
                extra=learning.extra,
            )
            save_reward_predictor(self.folder / REWARD_PREDICTOR_FILE, self._best, header)
        path = self.folder / STATE_FILE
        save_training_state(path, self._net, self._best, self._optimizer, progress, learning.identity())

    def finish(self) -> tuple[RewardPredictor, TrainingProgress]:
        """Return the predictor with the best weights, on the CPU."""
        self._net.load_state_dict(self._best)
        return self._net.eval().cpu(), self.progress


def validation_loss(predictor: RewardPredictor, histories: GameHistories, games: I64) -> float:
    """Return equation 4 over all seats of ``games``, in squared points."""
    device = next(predictor.parameters()).device
    predictor.eval()
    with torch.no_grad():
        parts = [_losses(predictor, histories.batch(part), device) for part in _parts(games)]
    return float(torch.cat(parts).mean())


def predict_games(predictor: RewardPredictor, histories: GameHistories, games: I64) -> NDArray[np.float64]:
    """Return [n, 4]: what ``predictor`` (on the CPU) says for each seat, for each of ``histories.lines_of(games)``."""
    predictor.eval()
    results = []
    for part in _parts(games):
        batch = histories.batch(part)
        with torch.no_grad():
            predictions = predictor(torch.from_numpy(batch.lines)).numpy()
        by_seat = predictions.reshape(len(part), 4, -1).transpose(0, 2, 1)
        counts = np.arange(by_seat.shape[1]) < histories.lengths[part][:, None]
        results.append(by_seat[counts].astype(np.float64))
    return np.concatenate(results)


def _parts(games: I64) -> Iterator[I64]:
    for first in range(0, len(games), _GAMES_AT_A_TIME):
        yield games[first : first + _GAMES_AT_A_TIME]


def _losses(predictor: RewardPredictor, batch: HistoryBatch, device: torch.device) -> Tensor:
    """Return [seats], in squared points."""
    rewards = np.array(predictor.points, np.float32)[batch.placements - 1]
    lines, lengths, rewards_there = (
        torch.from_numpy(part).to(device) for part in (batch.lines, batch.lengths, rewards)
    )
    return prefix_losses(predictor(lines), lengths, rewards_there)


F64: TypeAlias = NDArray[np.float64]

NUM_BINS = 10


def compared_predictions(
    predictor: RewardPredictor, histories: GameHistories, train: I64, test: I64
) -> Mapping[str, F64]:  # fmt: skip
    """Return what each predictor says for each seat at each of the lines of the ``test`` games, [n, 4]: the ``net``;
    ``mean`` of all places; ``place_now``, as if the game ended now; ``place_and_kyoku``, what seats with the same place
    before the same kyoku were paid on average in ``train``.
    """
    points = np.array(predictor.points)
    lines = histories.lines_of(test)
    places = places_of_scores(histories.progress.scores[lines])
    table = _paid_by_place_and_kyoku(histories, train, predictor.points)
    return {
        "net": predict_games(predictor, histories, test),
        "mean": np.full(places.shape, points.mean()),
        "place_now": points[places - 1],
        "place_and_kyoku": table[_kyoku_of(histories, lines)[:, None], places - 1],
    }


def paid(histories: GameHistories, games: I64, points: Points) -> F64:
    """Return [n, 4]: what each seat was paid in the end, for each of ``histories.lines_of(games)``."""
    by_game = np.array(points)[histories.placements[games] - 1]
    return np.repeat(by_game, histories.lengths[games], axis=0)


def game_losses(predictions: F64, rewards: F64, lengths: I64) -> F64:
    """Return [games]: equation 4 of each game, mean over its prefixes and seats."""
    errors = np.square(predictions - rewards).mean(axis=1)
    firsts = np.cumsum(lengths) - lengths
    sums: F64 = np.add.reduceat(errors, firsts)
    return sums / lengths


def calibration(predictions: F64, rewards: F64) -> list[list[float]]:
    """Return [mean prediction, mean of what was paid, predictions] of ten groups of equal size, ascending."""
    order = np.argsort(predictions, axis=None, kind="stable")
    groups = [group for group in np.array_split(order, NUM_BINS) if group.size]
    flat, paid_flat = predictions.reshape(-1), rewards.reshape(-1)
    return [[float(flat[g].mean()), float(paid_flat[g].mean()), float(g.size)] for g in groups]


def sum_gap(predictions: F64, points: Points) -> dict[str, float]:
    """Return how the predictions of a table's four seats add up; what they are paid always has the same sum."""
    gaps = predictions.sum(axis=1) - sum(points)
    return {"mean": float(gaps.mean()), "mean_absolute": float(np.abs(gaps).mean())}


def example_games(predictor: RewardPredictor, histories: GameHistories, games: I64) -> list[dict[str, Any]]:
    """Return each game's predictions [K + 1, 4], scores, kyokus and what was paid, as JSON can hold it."""
    examples = []
    for game in games:
        lines = histories.lines_of(np.array([game]))
        progress = histories.progress.take(lines)
        examples.append(
            {
                "game": histories.game_ids[game],
                "kyoku": progress.kyoku[:-1].tolist(),
                "honba": progress.honba[:-1].tolist(),
                "scores": progress.scores.tolist(),
                "predictions": predict_games(predictor, histories, np.array([game])).tolist(),
                "paid": paid(histories, np.array([game]), predictor.points)[0].tolist(),
            }
        )
    return examples


def _kyoku_of(histories: GameHistories, lines: I64) -> I64:
    """Return the kyoku that comes next at each line, NUM_KYOKU where the game is over."""
    kyoku = np.minimum(histories.progress.kyoku[lines], NUM_KYOKU - 1)
    return np.where(histories.progress.is_over[lines], NUM_KYOKU, kyoku).astype(np.int64)


def _paid_by_place_and_kyoku(histories: GameHistories, games: I64, points: Points) -> F64:
    """Return [NUM_KYOKU + 1, 4]; where ``games`` tell nothing, as if the game ended now."""
    lines = histories.lines_of(games)
    places = places_of_scores(histories.progress.scores[lines])
    where = (np.repeat(_kyoku_of(histories, lines), 4), places.reshape(-1) - 1)
    sums, counts = np.zeros((NUM_KYOKU + 1, 4)), np.zeros((NUM_KYOKU + 1, 4))
    np.add.at(sums, where, paid(histories, games, points).reshape(-1))
    np.add.at(counts, where, 1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.array(points))
