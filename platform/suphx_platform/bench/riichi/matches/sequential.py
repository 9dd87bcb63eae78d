"""How many hanchans a sequential match takes and how often it is wrong, simulated from the walls of a real match."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from suphx.evaluation.match import play_match
from suphx.evaluation.match_config import SEATS
from suphx.evaluation.match_setup import MatchSetup
from suphx.evaluation.sequential.sequential_config import SequentialConfig
from suphx.evaluation.sequential.simulated_matches import MeasuredWalls, simulate_matches
from suphx.evaluation.wall_difference import PLACEMENT
from suphx.evaluation.workers.game_runner import GameRunner
from suphx.kernel.record import I64
from suphx_platform.agents.agent_loading import load_any_agent

EFFECTS = (0.0, 1.0, 2.0)
"""True differences that are simulated, in multiples of the one that is tested."""


def measure_walls(
    candidate: str,
    opponent: str,
    *,
    num_hanchans: int,
    seed: int,
    workers: int,
    progress: Callable[[float], None] = lambda hanchans: None,
) -> I64:
    """Play a match and return the result of each wall, in quarters of a place; ValueError for an unknown agent."""
    runner = GameRunner(workers=workers, load=load_any_agent, progress=progress)
    report = play_match(MatchSetup(candidate, opponent, seed=seed), num_hanchans, runner=runner)
    placements = np.array(report.placements, np.int64).reshape(-1, SEATS)
    sums: I64 = placements.sum(axis=1)
    return sums - sum(PLACEMENT.by_place)


def bench_sequential(
    values: I64,
    *,
    differences: Sequence[float],
    errors: Sequence[float],
    matches: int,
    seed: int,
    progress: Callable[[float], object] = lambda matches: None,
) -> dict[str, Any]:
    """Return what sequential tests of walls with these results, moved to other differences, would decide.

    ``measured``: the difference in places and the standard deviation of a wall, with ``walls`` {value: number}, in
    quarters of a place. ``rows``: for each of ``differences``, ``errors`` and ``EFFECTS`` the share of ``matches`` that
    call the candidate better, the mean number of hanchans and its standard error. ValueError for a wrong number, or
    agents that play alike.
    """
    measured = MeasuredWalls(values, SequentialConfig().scale(PLACEMENT))
    rows = []
    for number, (difference, error) in enumerate((each, error) for each in differences for error in errors):
        rng = np.random.default_rng([seed, number])
        test = SequentialConfig(difference=difference, error=error).test()
        for effect in EFFECTS:
            walls = measured.with_gain(effect * difference)
            result = simulate_matches(test, walls, matches=matches, rng=rng)
            rows.append({"difference": difference, "error": error, "true_difference": -effect * difference})
            rows[-1] |= asdict(result)
            progress(matches)
    found, counts = np.unique(values, return_counts=True)
    return {
        "measured": {
            "difference": -measured.gain,
            "standard_deviation": measured.standard_deviation,
            "walls": {str(value): count for value, count in zip(found.tolist(), counts.tolist(), strict=True)},
        },
        "rows": rows,
    }
