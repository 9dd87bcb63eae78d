"""How many hanchans a match needs for the same standard error: with walls and draws as they are, and as they were.

A match knows the average placement of its candidate as well as its walls scatter: the number of hanchans for a given
standard error is proportional to the variance over walls. Three schemes are measured on the same seeds: the wall of a
deal by the number of deals before it, with ordinary draws; the wall by kyoku and honba, with ordinary draws; and the
same with draw lanes, as in every match.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import CANDIDATE, MatchSetup, play_deals
from suphx.evaluation.match_config import SEATS, check_hanchans
from suphx.evaluation.player_statistics import PLACE_COLUMN
from suphx.evaluation.stable_rank import F64
from suphx.evaluation.statistics import (
    LEVEL,
    expanded_level,
    mean_interval,
    percentile_interval,
    resample_sums,
)
from suphx.games.game import Agent
from suphx.games.riichi.benchmark import HABITS, Habit, OrdinalWallSimulator
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import I16, I64, Records
from suphx_platform.agents.agent_loading import load_any_agent

UKEIRE = "ukeire"
CHANGED = {f"{UKEIRE}-{word}": habit for word, habit in HABITS.items()}
"""Habits by the name of the agent."""


class ChangedUkeire:
    """``ukeire`` with a habit."""

    def __init__(self, name: str, habit: Habit) -> None:
        self.name = name
        self._habit = habit
        self._ukeire = ScriptedAgent(UKEIRE)

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each table."""
        actions = self._ukeire.act(self._habit.seen(tables[indices]), np.arange(len(indices)))
        self._habit.overrule(tables[indices], actions)
        return actions


def load_measured_agent(address: str) -> Agent:
    """Return one of ``CHANGED``, or any other agent; ValueError if there is none of that name."""
    habit = CHANGED.get(address)
    return load_any_agent(address) if habit is None else ChangedUkeire(address, habit)


SCRIPTED_PAIRS = tuple((name, UKEIRE) for name in CHANGED)
"""Candidate and opponent of the pairs that are measured by default."""
_MEAN_PLACE = 2.5


def bench_evaluation(
    pairs: Sequence[tuple[str, str]],
    *,
    num_hanchans: int,
    seed: int,
    workers: int,
    progress: Callable[[float, str], None] = lambda hanchans, match: None,
) -> dict[str, Any]:
    """Play each pair (candidate, opponent) three times on the same seeds; return how many hanchans are saved.

    ``pairs``: for each the difference in average placement in the last scheme with its 95 % interval, four times the
    variance of the candidate's average placement over the four games of a wall (``variance_before``,
    ``variance_of_walls`` and ``variance``: without draw lanes and with them), and how many times fewer hanchans give
    the same standard error: ``fewer_hanchans`` with its 95 % interval (bootstrap over walls), ``fewer_by_walls`` and
    its interval for the walls alone. None where all walls have the same result, or too few differ for an interval.
    1.25 would be the variance of independent games of equal players. ValueError for an unknown agent or a wrong number.
    """
    check_hanchans(num_hanchans)
    rows = []
    for pair in pairs:
        placements = [
            _wall_placements(pair, scheme, num_hanchans=num_hanchans, seed=seed, workers=workers, progress=progress)
            for scheme in _SCHEMES
        ]
        rows.append({"candidate": pair[0], "opponent": pair[1], **compare_schemes(*placements)})
    return {"hanchans": num_hanchans, "seed": seed, "pairs": rows}


@dataclass(frozen=True, slots=True)
class _Scheme:
    """How walls and draws follow from a seed."""

    title: str
    options: Mapping[str, Any]
    """Of ``RiichiTables``."""


_SCHEMES = (
    _Scheme("walls by the number of deals", {"has_draw_lanes": False, "simulator_type": OrdinalWallSimulator}),
    _Scheme("walls by kyoku and honba", {"has_draw_lanes": False}),
    _Scheme("draw lanes", {"has_draw_lanes": True}),
)
NUM_SCHEMES = len(_SCHEMES)


def _wall_placements(
    pair: tuple[str, str],
    scheme: _Scheme,
    *,
    num_hanchans: int,
    seed: int,
    workers: int,
    progress: Callable[[float, str], None],
) -> F64:
    """Return the average placement of the candidate over the four games of each wall: float64 [walls]."""
    title = f"{pair[0]} against {pair[1]}, {scheme.title}"
    setup = MatchSetup(*pair, seed=seed, options=scheme.options)
    runner = GameRunner(workers=workers, load=load_measured_agent, progress=partial(_tell, progress, title))
    blocks = sorted(play_deals(setup, num_hanchans // SEATS, runner=runner), key=lambda block: block.first)
    candidate = np.concatenate([block.rows[CANDIDATE] for block in blocks])
    placements: F64 = candidate[:, PLACE_COLUMN].reshape(-1, SEATS).mean(axis=1)
    return placements


def _tell(progress: Callable[[float, str], None], match: str, hanchans: float) -> None:
    progress(hanchans, match)


def compare_schemes(before: F64, by_walls: F64, now: F64) -> dict[str, Any]:
    """Return the figures of a pair from the average placements on each wall, float64 [walls] for each scheme.

    Walls are drawn together for all schemes: their first deals are the same.
    """
    columns = [np.ones(len(now)), *(each for values in (before, by_walls, now) for each in (values, values**2))]
    rows = np.stack(columns, axis=1)
    variances = _variances(rows.sum(axis=0, keepdims=True))[0]
    drawn = _variances(resample_sums(rows))
    difference = mean_interval(now - _MEAN_PLACE)
    return {
        "placement_difference": float(now.mean() - _MEAN_PLACE),
        "difference_interval": [difference.low, difference.high],
        "variance_before": float(variances[0]),
        "variance_of_walls": float(variances[1]),
        "variance": float(variances[2]),
        **_saving("fewer_hanchans", variances, drawn, 2, len(now)),
        **_saving("fewer_by_walls", variances, drawn, 1, len(now)),
    }


def _variances(sums: F64) -> F64:
    """Return four times the variance of each scheme, float64 [n, 3], from sums [n, 7] over walls.

    Columns of ``sums``: number of walls, then for each scheme the sum and the sum of squares.
    """
    number, means, squares = sums[:, :1], sums[:, 1::2] / sums[:, :1], sums[:, 2::2]
    variances: F64 = SEATS * (squares - number * means**2) / (number - 1)
    return np.where(np.abs(variances) < 1e-9, 0.0, variances)


def _saving(name: str, variances: F64, drawn: F64, scheme: int, num_walls: int) -> dict[str, Any]:
    """Return how many times fewer hanchans a scheme needs than the first, with an interval from drawn variances."""
    if not variances[scheme]:
        return {name: None, f"{name}_interval": None}
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = drawn[:, 0] / drawn[:, scheme]
    interval = percentile_interval(ratios, expanded_level(LEVEL, num_walls))
    ends = [interval.low, interval.high]
    # A draw of few walls may have no variance: then there is no interval.
    return {
        name: float(variances[0] / variances[scheme]),
        f"{name}_interval": ends if np.isfinite(ends).all() else None,
    }
