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
from suphx_platform.agents.agent_loading import load_any_agent

EFFECTS = (0.0, 1.0, 2.0)
"""True differences that are simulated, in multiples of the one that is tested."""


def bench_sequential(
    candidate: str,
    opponent: str,
    *,
    differences: Sequence[float],
    errors: Sequence[float],
    num_hanchans: int,
    matches: int,
    seed: int,
    workers: int,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Any]:
    """Play one match and return what sequential tests of its walls, moved to other differences, would decide.

    ``measured``: the difference in places and the standard deviation of a wall, with ``walls`` {value: number}, in
    quarters of a place. ``rows``: for each of ``differences``, ``errors`` and ``EFFECTS`` the share of ``matches`` that
    call the candidate better, the mean number of hanchans and its standard error. ValueError for an unknown agent, a
    wrong number, or agents that play alike.
    """
    say(f"{candidate} against three {opponent}, {num_hanchans:,} hanchans")
    runner = GameRunner(workers=workers, load=load_any_agent)
    report = play_match(MatchSetup(candidate, opponent, seed=seed), num_hanchans, runner=runner)
    placements = np.array(report.placements, np.int64).reshape(-1, SEATS)
    values = placements.sum(axis=1) - sum(PLACEMENT.by_place)
    measured = MeasuredWalls(values, SequentialConfig().scale(PLACEMENT))
    rows = []
    for number, (difference, error) in enumerate((each, error) for each in differences for error in errors):
        say(f"matches that test {difference:g} places with an error of {error:g}")
        rng = np.random.default_rng([seed, number])
        test = SequentialConfig(difference=difference, error=error).test()
        for effect in EFFECTS:
            walls = measured.with_gain(effect * difference)
            result = simulate_matches(test, walls, matches=matches, rng=rng)
            rows.append({"difference": difference, "error": error, "true_difference": -effect * difference})
            rows[-1] |= asdict(result)
    found, counts = np.unique(values, return_counts=True)
    return {
        "candidate": candidate,
        "opponent": opponent,
        "hanchans": num_hanchans,
        "seed": seed,
        "measured": {
            "difference": -measured.gain,
            "standard_deviation": measured.standard_deviation,
            "walls": {str(value): count for value, count in zip(found.tolist(), counts.tolist(), strict=True)},
        },
        "rows": rows,
    }
