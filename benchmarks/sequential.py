"""How many hanchans ``suphx evaluate --sequential`` takes, and how often it is wrong, simulated from a real match.

``python benchmarks/sequential.py --candidate A --opponent B``. From the results of the walls of the match, many matches
are simulated between agents that are equal, that differ by the tested difference and by twice as much.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import MatchSetup, play_match
from suphx.evaluation.match_config import SEATS
from suphx.evaluation.measures import PLACEMENT, SequentialConfig
from suphx.evaluation.sequential_test import FIRST_LOOK, LOOK_EVERY, Decision, SequentialTest, WallScale, WallSums
from suphx.kernel.record import I64
from suphx.usable_cores import usable_cores
from suphx_platform.agents.agent_loading import load_any_agent

EFFECTS = (0.0, 1.0, 2.0)
"""True differences that are simulated, in multiples of the one that is tested."""
LOOKS_AT_ONCE = 64
STEEPEST = 700.0
"""Largest exponent of a weight."""


@dataclass(frozen=True, slots=True)
class WallDistribution:
    """How often a wall has each value."""

    values: I64
    probabilities: NDArray[np.float64]

    def draw(self, size: tuple[int, int], rng: np.random.Generator) -> I64:
        """Return independent walls, int64 of the shape ``size``."""
        return rng.choice(self.values, size, p=self.probabilities)


class MeasuredWalls:
    """The walls of a real match, from which walls of other differences are drawn."""

    def __init__(self, walls: I64, scale: WallScale) -> None:
        """``walls`` as in ``WallSums``. ValueError unless they differ."""
        if len(np.unique(walls)) < 2:
            raise ValueError(
                "all walls have the same result, so no other match can be simulated from them: "
                "play more hanchans, or agents that play differently"
            )
        self._values, counts = np.unique(np.asarray(walls, np.int64), return_counts=True)
        self._shares = counts / counts.sum()
        self._gains = scale.unit * self._values

    @property
    def gain(self) -> float:
        """The mean gain that was measured."""
        return float(self._shares @ self._gains)

    @property
    def standard_deviation(self) -> float:
        """Of a wall's gain."""
        return math.sqrt(float(self._shares @ (self._gains - self.gain) ** 2))

    def with_gain(self, gain: float) -> WallDistribution:
        """Return the distribution with this mean that is nearest to the measured one.

        Each value keeps its share times exp(t gain), with the t that gives the mean: of all distributions with this
        mean on the same values it has the smallest relative entropy (exponential tilting; Efron, "Nonparametric
        Standard Errors and Confidence Intervals", 1981). ValueError for a mean that the values do not allow.
        """
        low, high = 0.0 + float(self._gains.min()), 0.0 + float(self._gains.max())
        if not low < gain < high:
            raise ValueError(
                f"walls with results from {low:+.3f} to {high:+.3f} cannot have the mean {gain:+.3f}: "
                "measure agents of similar strength, such as two checkpoints of a run"
            )
        steepest = STEEPEST / max(abs(low - gain), abs(high - gain))
        tilt = brentq(lambda t: float(self._tilted(t, gain) @ self._gains) - gain, -steepest, steepest)
        return WallDistribution(self._values, self._tilted(tilt, gain))

    def _tilted(self, tilt: float, center: float) -> NDArray[np.float64]:
        exponents = tilt * (self._gains - center)
        weights: NDArray[np.float64] = self._shares * np.exp(exponents - exponents.max())
        weights /= weights.sum()
        return weights


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedMatches:
    """What many matches of the same kind decided."""

    matches: int
    better: float
    """Share of the matches in which the candidate was called better; the others called it not better."""
    mean_hanchans: float
    standard_error: float
    """Of ``mean_hanchans``."""


def simulate_matches(
    test: SequentialTest, walls: WallDistribution, *, matches: int, rng: np.random.Generator
) -> SimulatedMatches:
    """Play ``matches`` (at least 2) matches on walls drawn from ``walls``, each until ``test`` decides it."""
    results = [simulate_match(test, walls, rng) for _ in range(matches)]
    hanchans = SEATS * np.array([number for _, number in results], np.float64)
    return SimulatedMatches(
        matches=matches,
        better=sum(decision == "better" for decision, _ in results) / matches,
        mean_hanchans=float(hanchans.mean()),
        standard_error=float(hanchans.std(ddof=1)) / math.sqrt(matches),
    )


def simulate_match(test: SequentialTest, walls: WallDistribution, rng: np.random.Generator) -> tuple[Decision, int]:
    """Return the decision of one match, and after how many walls it fell."""
    sums = _added(WallSums(), walls.draw((1, FIRST_LOOK), rng))[0]
    while (decision := test.decide(sums)) == "undecided":
        for later in _added(sums, walls.draw((LOOKS_AT_ONCE, LOOK_EVERY), rng)):
            sums = later
            if test.decide(sums) != "undecided":
                break
    return decision, sums.walls


def _added(sums: WallSums, walls: I64) -> list[WallSums]:
    """Return the sums after each line of ``walls`` [looks, walls]."""
    totals = sums.total + walls.sum(axis=1).cumsum()
    squares = sums.squares + (walls**2).sum(axis=1).cumsum()
    numbers = sums.walls + walls.shape[1] * np.arange(1, len(walls) + 1)
    differing = sums.differing + (walls != 0).sum(axis=1).cumsum()
    columns = (numbers.tolist(), totals.tolist(), squares.tolist(), differing.tolist())
    return [WallSums(*values) for values in zip(*columns, strict=True)]


def simulate(
    values: I64, *, differences: Sequence[float], errors: Sequence[float], matches: int, seed: int
) -> dict[str, Any]:
    """Return what sequential tests of walls with these results (in quarters of a place) would decide.

    ``rows``: the share of ``matches`` that call the candidate better, the mean number of hanchans and its standard
    error. ValueError for a wrong number, or agents that play alike.
    """
    measured = MeasuredWalls(values, SequentialConfig().gains()[0].scale)
    rows = []
    for number, (difference, error) in enumerate((each, error) for each in differences for error in errors):
        rng = np.random.default_rng([seed, number])
        test = SequentialConfig(difference=difference, error=error).test()
        for effect in EFFECTS:
            result = simulate_matches(test, measured.with_gain(effect * difference), matches=matches, rng=rng)
            tested = {"difference": difference, "error": error, "true_difference": -effect * difference}
            rows.append(tested | asdict(result))
    return {"difference": -measured.gain, "standard_deviation_of_walls": measured.standard_deviation, "rows": rows}


def main() -> None:
    """Play, simulate and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidate", required=True)
    parser.add_argument("--opponent", required=True, help="an agent of similar strength")
    parser.add_argument("--difference", type=float, nargs="+", default=[0.1, 0.05, 0.02], help="to test, in places")
    parser.add_argument("--error", type=float, nargs="+", default=[0.05, 0.01], help="shares of wrong decisions")
    parser.add_argument("--hanchans", type=int, default=2000, help="of the real match")
    parser.add_argument("--matches", type=int, default=2000, help="simulated matches of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=usable_cores())
    args = parser.parse_args()
    runner = GameRunner(workers=args.workers, load=partial(load_any_agent, game="riichi"))
    report = play_match(MatchSetup(args.candidate, args.opponent, seed=args.seed), args.hanchans, runner=runner)
    walls = np.array(report.placements, np.int64).reshape(-1, SEATS).sum(axis=1) - sum(PLACEMENT.by_place)
    values = simulate(walls, differences=args.difference, errors=args.error, matches=args.matches, seed=args.seed)
    print(json.dumps(values, indent=2))


if __name__ == "__main__":
    main()
