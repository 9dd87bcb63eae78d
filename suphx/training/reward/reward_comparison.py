"""How good a reward predictor is on games that it has not seen, beside predictors that need no learning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suphx.games.riichi import NUM_KYOKU, places_of_scores
from suphx.kernel.record import I64
from suphx.models.nets.reward_predictor import Points, RewardPredictor
from suphx.training.reward.reward_learning import GameHistories, predict_games

F64: TypeAlias = NDArray[np.float64]

NUM_BINS = 10


def compared_predictions(
    predictor: RewardPredictor, histories: GameHistories, train: I64, test: I64
) -> Mapping[str, F64]:  # fmt: skip
    """Return what each predictor says for each seat at each of the lines of the ``test`` games, [n, 4].

    ``net``; ``mean``: that of all places; ``place_now``: what the seat would be paid if the game ended now;
    ``place_and_kyoku``: what seats with the same place before the same kyoku were paid on average in ``train``.
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
