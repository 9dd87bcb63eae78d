"""How sure a result is: bootstrap intervals over games or over groups of games, and paired differences.

Games are drawn with replacement; games that share a wall (duplicate) are drawn together, as one cluster. Every number
that we report is a ratio of two sums over games, so that one kernel, ``resample_sums``, serves them all.

Percentiles of few clusters are too narrow: of 6 independent clusters a 95 % interval would hold the truth in 86 of 100
cases, of 25 in 93. Intervals of means therefore take percentiles further out (Hesterberg, "What Teachers Should Know
About the Bootstrap", 2015, section 4.3.3: the expanded percentile interval), which brings them to 93 and 95.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtrit

from suphx.evaluation.match_config import MIN_CLUSTERS
from suphx.evaluation.stable_rank import F64, ranks_of

NUM_SAMPLES = 2_000
LEVEL = 0.95
_MAX_LINES = 4_000  # different lines that are drawn one by one
_CHUNK = 4_000_000  # numbers that one piece of the work may hold


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float
    is_widened: bool = False
    """It was extended to "no difference", because too few of the units differ (``reaching``)."""

    @property
    def ends(self) -> list[float]:
        """Both ends, for JSON."""
        return [self.low, self.high]

    def to_json(self) -> list[float | None]:
        """Return both ends, null where one is not a number or infinite."""
        return [end if math.isfinite(end) else None for end in self.ends]

    def excludes(self, value: float) -> bool:
        """Tell whether ``value`` lies outside; nothing does if the ends are nan."""
        return value < self.low or value > self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """The mean of candidate minus opponent over pairs of games, and how sure it is."""

    mean: float
    interval: Interval
    num_pairs: int
    num_clusters: int

    def to_json(self, mean: str) -> dict[str, object]:
        """Return the keys that scripts read; ``mean``: that of the mean."""
        return {
            mean: self.mean,
            "interval": self.interval.ends,
            "is_widened": self.interval.is_widened,
            "is_significant": self.is_significant,
        }

    @property
    def is_significant(self) -> bool:
        """True if the interval excludes zero, of at least six clusters: only then one may be called better."""
        return self.num_clusters >= MIN_CLUSTERS and self.interval.excludes(0.0)


def average_placement(counts: Sequence[int]) -> float:
    """Return the mean placement (1-4) of four placement counts; ValueError without any game."""
    total = sum(counts)
    if len(counts) != 4 or total <= 0 or min(counts) < 0:
        raise ValueError(f"counts are {list(counts)}: give four numbers >= 0, at least one of them above 0")
    return sum(place * count for place, count in enumerate(counts, 1)) / total


def percentile_interval(samples: ArrayLike, level: float = LEVEL) -> Interval:
    """Return the middle ``level`` of bootstrap samples [n]; samples that are not a number count as missing.

    Both ends are nan when no sample is a number. ValueError for a level outside 0 … 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}: use a number between 0 and 1, such as 0.95")
    values = np.asarray(samples, np.float64)
    values = values[~np.isnan(values)]
    if values.size == 0:
        return Interval(float("nan"), float("nan"))
    tails = [(1 - level) / 2, (1 + level) / 2]
    # No interpolation: between an infinite stable rank and a finite one there is no number.
    low, high = np.quantile(values, tails, method="nearest")
    return Interval(float(low), float(high))


def expanded_level(level: float, num_clusters: int) -> float:
    """Return the share of bootstrap samples of so many clusters that makes an interval of ``level``, for example 0.95.

    ``level`` itself for one cluster, which says nothing of how much results scatter.
    """
    if num_clusters < 2 or not 0 < level < 1:
        return level  # percentile_interval refuses what is not a level
    freedom = num_clusters - 1
    quantile = stdtrit(freedom, (1 + level) / 2)
    return min(1 - 2 * float(ndtr(-quantile * math.sqrt(num_clusters / freedom))), 1 - 1e-9)


def resample_sums(rows: ArrayLike, num_samples: int = NUM_SAMPLES, seed: int = 0) -> F64:
    """Return the column sums of bootstrap samples: float64 [num_samples, k].

    ``rows`` [n, k] is one line of numbers a game (or a cluster of games); a sample is n lines drawn with replacement.
    Equal lines are drawn together, as one multinomial number. Where more than 4,000 lines differ, games are first put
    into 4,000 groups of equal size: games are independent, so the spread stays, and a million games take seconds.
    ValueError for anything but a table with at least one line.
    """
    table = np.asarray(rows, np.float64)
    if table.ndim != 2 or len(table) == 0:
        raise ValueError(f"rows have the shape {list(table.shape)}: give at least one row of numbers for each game")
    different, counts = np.unique(table, axis=0, return_counts=True)
    if len(different) > _MAX_LINES:
        table = cluster_sums(table, np.arange(len(table)) % _MAX_LINES)
        different, counts = np.unique(table, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    sums = np.empty((num_samples, table.shape[1]))
    step = max(1, _CHUNK // len(different))
    for start in range(0, num_samples, step):
        size = min(step, num_samples - start)
        drawn = rng.multinomial(len(table), counts / len(table), size=size)
        sums[start : start + size] = drawn @ different
    return sums


def cluster_sums(rows: ArrayLike, clusters: ArrayLike) -> F64:
    """Return the sums of ``rows`` [n, k] over equal ``clusters`` [n]: float64 [number of clusters, k]."""
    table = np.asarray(rows, np.float64)
    names, index = np.unique(np.asarray(clusters), return_inverse=True)
    if table.ndim != 2 or index.shape != (len(table),):
        raise ValueError(f"{len(table)} rows, but {index.size} clusters: give one cluster for each row")
    sums = np.zeros((len(names), table.shape[1]))
    np.add.at(sums, index, table)
    return sums


def mean_interval(values: ArrayLike, clusters: ArrayLike | None = None, *, num_samples: int = NUM_SAMPLES) -> Interval:
    """Return the interval of the mean of ``values`` [n], one a game; games of one cluster are drawn together."""
    return _ratio_interval(_cluster_rows(np.asarray(values, np.float64), clusters), num_samples)


def proportion_interval(values: ArrayLike) -> Interval:
    """Return the interval of the mean of shares [n], each from 0 to 1, of independent games.

    If all are 0, or all 1, the bootstrap has nothing to draw from. Then it is the exact interval of a proportion
    (Clopper and Pearson, 1934).
    """
    shares = np.asarray(values, np.float64)
    rarest = 1 - ((1 - LEVEL) / 2) ** (1 / len(shares)) if len(shares) else 1.0
    if (shares == 0).all():
        return Interval(0.0, rarest)
    if (shares == 1).all():
        return Interval(1 - rarest, 1.0)
    return mean_interval(shares)


def stable_rank_interval(terms: F64) -> Interval:
    """Return the interval of the stable rank of games with the ``rank_terms`` [n, 2]; nan of fewer than two games."""
    if len(terms) < 2:
        return Interval(math.nan, math.nan)
    return percentile_interval(ranks_of(resample_sums(terms)), expanded_level(LEVEL, len(terms)))


def paired_difference(candidate: ArrayLike, opponent: ArrayLike, clusters: ArrayLike | None = None) -> PairedDifference:
    """Compare two agents on the same walls and seats: mean of ``candidate`` [n] - ``opponent`` [n], pair by pair.

    ``clusters`` [n] names the wall of each pair when several pairs share one (rotated seats). ValueError for different
    lengths or fewer than two clusters: one alone says nothing of how much results scatter. The interval is widened to
    zero if fewer than six clusters have a difference (``reaching``).
    """
    first, second = np.asarray(candidate, np.float64), np.asarray(opponent, np.float64)
    if first.ndim != 1 or first.shape != second.shape:
        raise ValueError(f"candidate has {first.size} results, opponent {second.size}: give one pair for each game")
    rows = _cluster_rows(first - second, clusters)
    if len(rows) < 2:
        raise ValueError(f"{len(rows)} independent pairs: a difference needs at least two walls")
    return PairedDifference(
        mean=float(np.mean(first - second)),
        interval=reaching(0.0, _ratio_interval(rows), rows[:, 0]),
        num_pairs=first.size,
        num_clusters=len(rows),
    )


def reaching(equal: float, interval: Interval, values: ArrayLike) -> Interval:
    """Return ``interval``, extended to ``equal`` if fewer than six of the independent ``values`` [n] differ from it.

    Five or fewer are all on one side of ``equal`` by chance in more than 5 of 100 cases (``MIN_CLUSTERS``). Whoever
    shows the interval says that it ``is_widened`` (``widened_note``).
    """
    if not interval.excludes(equal) or np.count_nonzero(np.asarray(values) != equal) >= MIN_CLUSTERS:
        return interval
    return Interval(min(interval.low, equal), max(interval.high, equal), is_widened=True)


def _ratio_interval(rows: F64, num_samples: int = NUM_SAMPLES) -> Interval:
    """Return the interval of the first column's sum over the second's; ``rows`` [n, 2] are independent."""
    sums = resample_sums(rows, num_samples)
    return percentile_interval(sums[:, 0] / sums[:, 1], expanded_level(LEVEL, len(rows)))


def _cluster_rows(values: F64, clusters: ArrayLike | None) -> F64:
    """Return [sum, number] of the values, one line a cluster."""
    rows: NDArray[np.float64] = np.stack([values, np.ones_like(values)], axis=1)
    return rows if clusters is None else cluster_sums(rows, clusters)
