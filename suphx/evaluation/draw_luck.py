"""How lucky a player's hands and draws were, and the player's results without that luck.

A draw is worth V(h, k): what a seat wins or loses on average in deals in which it has a hand of the state h (shanten
and dora) after a draw with k tiles left. The luck of a draw is this worth minus its mean over all tiles that were
undrawn then; the luck of a dealt hand is its worth minus the mean over all hands. Both are zero on average for any
player, so a result minus a constant times the luck has the same expectation, and scatters less. Of two
halves of the games, V and the constants of each come from the other: no game has a part in what its draws are worth.
The adjusted mean is only almost unbiased: the constants are fitted to the luck of the other half, whose V comes from
this one, so that a game has a small part in its own constants. More games make that part smaller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.stable_rank import F64
from suphx.evaluation.statistics import Interval, mean_interval
from suphx.games.riichi.records.draw_outcomes import NUM_HAND_STATES, DrawColumn, deal_draws
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.table import places_of_scores

MIN_GAMES = 40
_BAND = 5
_NUM_BANDS = 14
"""V knows the tiles left (0 to 69) in bands of five."""
_DRAWS = NUM_HAND_STATES * _NUM_BANDS
"""Values of V for draws; behind them stand those for dealt hands."""
_NUM_VALUES = _DRAWS + NUM_HAND_STATES
_HALVES = 2
_NUM_SAMPLES = 10_000
_MIN_INDEPENDENT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedMean:
    """The mean of a result over a player's games as it was, and without the luck of hands and draws.

    The intervals of one game alone are nan here and null in JSON.
    """

    mean: float
    interval: Interval
    adjusted: float
    adjusted_interval: Interval
    gain: float
    """How many times as many games would give the interval of ``adjusted`` without the adjustment."""

    def to_json(self) -> dict[str, object]:
        """Return plain JSON values: intervals as [low, high], missing ends as null."""
        return {
            "mean": self.mean,
            "interval": self.interval.to_json(),
            "adjusted": self.adjusted,
            "adjusted_interval": self.adjusted_interval.to_json(),
            "gain": self.gain,
        }


class DrawLuck:
    """Collects finished games of any players, then adjusts the results of one.

    >>> luck = DrawLuck()
    >>> for game in luck.collect(games):
    ...     pass
    >>> luck.of_player("A")["average_placement"].adjusted
    2.43
    """

    def __init__(self) -> None:
        self._names: list[tuple[str, ...]] = []
        self._results: list[F64] = []
        self._excess: list[NDArray[np.float32]] = []
        self._sums = np.zeros((_HALVES, 2, _NUM_VALUES))
        """Points and number of draws or hands at each value of V, by half."""

    def collect(self, games: Iterable[GameLog]) -> Iterator[GameLog]:
        """Yield ``games`` and note the draws of those that have a final score."""
        for game in games:
            if game.final_scores is not None:
                self._add(game, game.final_scores)
            yield game

    def _add(self, game: GameLog, final_scores: tuple[int, int, int, int]) -> None:
        scores = np.array([*(log.scores for log in game.kyokus), final_scores], np.float64)
        sums = self._sums[len(self._names) % _HALVES]
        excess = np.zeros((4, _NUM_VALUES), np.float32)
        for deal, points in zip(deal_draws(game), np.diff(scores, axis=0), strict=True):
            table = deal.draws.astype(np.int64)
            seat = table[:, DrawColumn.SEAT]
            band = np.minimum(table[:, DrawColumn.TILES_LEFT] // _BAND, _NUM_BANDS - 1)
            value = table[:, DrawColumn.STATE] * _NUM_BANDS + band
            states = np.arange(NUM_HAND_STATES) * _NUM_BANDS + band[:, None]
            outcomes = table[:, DrawColumn.OUTCOMES :].astype(np.float32)
            chances = outcomes / outcomes.sum(axis=1, keepdims=True)
            _count(sums, value, points[seat])
            np.add.at(excess, (seat, value), 1)
            np.add.at(excess, (seat[:, None], states), -chances)
            hands = _DRAWS + deal.hands.astype(np.int64)
            _count(sums, hands, points)
            np.add.at(excess, (np.arange(4), hands), 1)
        self._names.append(game.names)
        places = places_of_scores(np.array([final_scores]))[0]
        self._results.append(np.stack([places, scores[-1] - scores[0]], axis=1).astype(np.float64))
        self._excess.append(excess)

    def of_player(self, player: str) -> dict[str, AdjustedMean]:
        """Return ``average_placement`` and ``points_per_game`` of a player; ValueError for fewer than 40 games."""
        if len(self._names) < MIN_GAMES:
            raise ValueError(
                f"{len(self._names)} finished games are too few to learn what draws are worth: give records of at "
                f"least {MIN_GAMES}, of any players"
            )
        game, seat = np.nonzero(np.array(self._names) == player)
        if not game.size:
            raise ValueError(f"no finished game has a player called {player!r}")
        results, luck = np.stack(self._results), self._luck()
        without = results.copy()
        for half in range(_HALVES):  # the constants of the other half
            known, known_luck = (table[1 - half :: _HALVES].reshape(-1, table.shape[2]) for table in (results, luck))
            constants = np.linalg.lstsq(known_luck, known - known.mean(axis=0), rcond=None)[0]
            without[half::_HALVES] -= luck[half::_HALVES] @ constants
        means = {}
        for column, name in enumerate(("average_placement", "points_per_game")):
            raw, adjusted = results[game, seat, column], without[game, seat, column]
            means[name] = AdjustedMean(
                mean=float(raw.mean()),
                interval=_interval(raw, game),
                adjusted=float(adjusted.mean()),
                adjusted_interval=_interval(adjusted, game),
                gain=float(raw.var() / adjusted.var()) if adjusted.var() > 0 else 1.0,
            )
        return means

    def _luck(self) -> F64:
        """Return [games, 4, 4]: the luck of each seat's draws and hands, then of the other seats', in points."""
        half = np.arange(len(self._names)) % _HALVES
        points, counts = self._sums[::-1].transpose(1, 0, 2)  # those of the other half
        values = points / np.maximum(counts, 1)
        shares = counts[:, _DRAWS:] / counts[:, _DRAWS:].sum(axis=1, keepdims=True)
        values[:, _DRAWS:] -= (shares * values[:, _DRAWS:]).sum(axis=1, keepdims=True)
        excess = np.stack(self._excess)
        parts = (slice(None, _DRAWS), slice(_DRAWS, None))
        own = np.stack([np.einsum("gsv,gv->gs", excess[..., part], values[half, part]) for part in parts], axis=2)
        return np.concatenate([own, own.sum(axis=1, keepdims=True) - own], axis=2)


def _count(sums: F64, values: NDArray[np.int64], points: F64) -> None:
    sums[0] += np.bincount(values, points, minlength=_NUM_VALUES)
    sums[1] += np.bincount(values, minlength=_NUM_VALUES)


def _interval(values: F64, games: NDArray[np.int64]) -> Interval:
    """Return the interval of the mean; its ends are nan for one game, which does not show how results scatter."""
    if len(np.unique(games)) < _MIN_INDEPENDENT:
        return Interval(np.nan, np.nan)
    return mean_interval(values, games, num_samples=_NUM_SAMPLES)
