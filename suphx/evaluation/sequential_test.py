"""When a match is decided: a generalised sequential probability ratio test over walls.

H0: the agents are equal. H1: the candidate is better by a given gain. After each look, the test compares how well the
two explain the walls so far: the logarithm of the ratio of their likelihoods, each with the variance that suits it
best (normal walls, unknown variance). Above a bound the candidate is better, below minus the bound it is not, between
them more walls are played. Wald, "Sequential Tests of Statistical Hypotheses", 1945; the generalised test is that of
Li, Liu and Ying, "Generalized Sequential Probability Ratio Test for Separate Families of Hypotheses", 2014, which
engine testing (fishtest) uses too.

Wald's bound is log((1 - error) / error), exact for a ratio that ends exactly there and a variance that is known. Two
corrections keep the errors at what is promised, and the matches short:

- Looked at every eighth wall, the ratio ends beyond the bound, by 0.583 standard deviations of its change between two
  looks on average. The bound is lower by that much: Siegmund, "Sequential Analysis", 1985, chapter X.
- The measured variance of n walls is off by a factor with the variance 2 / n. A ratio that is b by the measured
  variance is b times that factor by the true one, and the mean of exp(-b factor) is exp(-b + b^2 / n): the bound is
  higher by b^2 / n.

Walls are far from normal if the agents come out alike on most of them: what is 0 so far looks like no variance. So a
decision needs ``MIN_DIFFERING`` walls with a difference, or so many walls without one that walls with one are too rare
to bring the gain (an upper bound of a Poisson rate, for which k of them are as unlikely as the error allows).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.polynomial.hermite_e import hermegauss


@dataclass(frozen=True, slots=True)
class WallSums:
    """Number, sum and sum of squares of whole numbers, one for each wall; exact, in any order of walls."""

    walls: int = 0
    total: int = 0
    squares: int = 0
    differing: int = 0
    """Walls whose number is not 0: on the others the agents came out alike."""

    def with_walls(self, values: Iterable[int]) -> WallSums:
        """Return the sums with these walls added."""
        numbers = [int(value) for value in values]
        return WallSums(
            self.walls + len(numbers),
            self.total + sum(numbers),
            self.squares + sum(value * value for value in numbers),
            self.differing + sum(value != 0 for value in numbers),
        )


@dataclass(frozen=True, slots=True)
class WallScale:
    """How whole numbers of walls become a gain, for which more is better."""

    unit: float
    """The gain of a wall with the number 1; negative where fewer are better."""
    spread: float
    """Standard deviation that one wall, which is added to the measured ones, is assumed to have.

    Without it, agents that play the first walls exactly alike would have a variance of 0, and any test would end."""
    largest: float
    """The largest gain that a wall can have, or more."""

    def mean(self, sums: WallSums) -> float:
        """Return the mean gain; nan without any wall."""
        return self.unit * sums.total / sums.walls if sums.walls else math.nan

    def squares_around(self, sums: WallSums, gain: float) -> float:
        """Return the sum of squared deviations from ``gain``, with the wall that is added."""
        around = self.unit**2 * sums.squares - 2 * gain * self.unit * sums.total + sums.walls * gain**2
        return max(around, 0.0) + self.spread**2

    def variance(self, sums: WallSums) -> float:
        """Return the variance of a wall's gain."""
        return self.squares_around(sums, self.mean(sums)) / sums.walls


FIRST_LOOK, LOOK_EVERY = 24, 8
"""Walls: before the first look the variance is not known well enough."""
MIN_DIFFERING = 12
"""Walls on which the agents differ, before which the variance is not known either."""
OVERSHOOT = 0.583
"""Mean excess of a random walk of normal steps over a bound, in standard deviations of a step."""
_LARGEST_CORRECTION = 0.5
"""Share of Wald's bound: where a single look all but decides, the ratio must still be clear."""
Decision = Literal["better", "not_better", "undecided"]
_NUM_DRIFTS = 15
_SMALL_DRIFT = 1e-9


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """What is tested."""

    scale: WallScale
    gain: float
    """H1: by how much the candidate is better; above 0."""
    error: float
    """How often equal agents are called better, and agents that differ by ``gain`` not better; each at most."""

    def __post_init__(self) -> None:
        if not self.gain > 0 or not math.isfinite(self.gain):
            raise ValueError(f"gain is {self.gain}: use a number above 0")
        if not 0 < self.error < 0.5:
            raise ValueError(f"error is {self.error}: use a number between 0 and 0.5, such as 0.01")

    @property
    def wald_bound(self) -> float:
        """The log-likelihood ratio, above or below zero, for looks at all times and a known variance."""
        return math.log((1 - self.error) / self.error)

    def bound(self, sums: WallSums) -> float:
        """Return the log-likelihood ratio, above or below zero, at which a look at these walls ends the test."""
        wald = self.wald_bound
        if not sums.walls:
            return wald
        step = self.gain * math.sqrt(LOOK_EVERY / self.scale.variance(sums))
        return wald + wald**2 / sums.walls - min(OVERSHOOT * step, _LARGEST_CORRECTION * wald)

    def log_likelihood_ratio(self, sums: WallSums) -> float:
        """Return how much better H1 explains the walls than H0."""
        if not sums.walls:
            return 0.0
        equal, better = (self.scale.squares_around(sums, gain) for gain in (0.0, self.gain))
        return sums.walls / 2 * math.log(equal / better)

    def decide(self, sums: WallSums) -> Decision:
        """Return what these walls decide; the test is asked at looks only (``is_look``)."""
        ratio, bound = self.log_likelihood_ratio(sums), self.bound(sums)
        is_known = sums.differing >= MIN_DIFFERING
        if ratio >= bound and is_known:
            return "better"
        if ratio <= -bound and (is_known or sums.walls >= self._walls_if_rare(sums)):
            return "not_better"
        return "undecided"

    def _walls_if_rare(self, sums: WallSums) -> float:
        """Return of how many walls the differing ones would be too rare to bring the gain."""
        from scipy.special import gammaincinv  # here: commands that only read a recipe start without scipy

        most = float(gammaincinv(sums.differing + 1, 1 - self.error))  # expected ones, at most
        return most * self.scale.largest / self.gain

    def expected_walls(self, sums: WallSums) -> float:
        """Return how many more walls the decision takes on average; infinite before the first look.

        The ratio is taken for a Brownian motion between Wald's bounds, near which it ends on average (early, within the
        wider ones of a look), whose drift is as uncertain as the mean gain is now.
        """
        if sums.walls < FIRST_LOOK:
            return math.inf
        if self.decide(sums) != "undecided":
            return 0.0
        variance = self.scale.variance(sums)
        bound = max(self.wald_bound, self.bound(sums))
        ratio = min(max(self.log_likelihood_ratio(sums), -bound), bound)  # beyond it, too few walls differ
        nodes, weights = hermegauss(_NUM_DRIFTS)
        gains = self.scale.mean(sums) + nodes * math.sqrt(variance / sums.walls)
        drifts = self.gain * (2 * gains - self.gain) / (2 * variance)
        diffusion = self.gain**2 / variance
        times = [_exit_time(ratio, float(drift), diffusion, bound) for drift in drifts]
        until_known = max(self._walls_if_rare(sums) - sums.walls, 0.0)  # that those that differ are rare, or enough
        if sums.differing:
            missing = max(MIN_DIFFERING - sums.differing, 0)
            until_known = min(missing * sums.walls / sums.differing, until_known)
        return max(float(np.dot(weights, times) / weights.sum()), until_known)


def is_look(walls: int) -> bool:
    """Tell whether the test is asked after so many walls."""
    return walls >= FIRST_LOOK and (walls - FIRST_LOOK) % LOOK_EVERY == 0


def last_look_within(walls: int) -> int:
    """Return the last number of walls, at most ``walls``, after which the test is asked; 0 if there is none."""
    return 0 if walls < FIRST_LOOK else walls - (walls - FIRST_LOOK) % LOOK_EVERY


def _exit_time(start: float, drift: float, diffusion: float, bound: float) -> float:
    """Return the mean time until a Brownian motion with drift leaves (-bound, bound)."""
    below, above = start + bound, bound - start
    steepness = 2 * drift / diffusion
    if abs(steepness) * 2 * bound < _SMALL_DRIFT:
        return below * above / diffusion
    if steepness < 0:  # mirrored, so that no exponential overflows
        return _exit_time(-start, -drift, diffusion, bound)
    up = math.expm1(-steepness * below) / math.expm1(-steepness * 2 * bound)
    return (up * 2 * bound - below) / drift
