"""A match in a game of two sides: every deal is played twice, with the agents' sides swapped.

>>> game = candidate_game("doudizhu")
>>> players = game.scripted_player("rule"), game.scripted_player("random")
>>> report = play_side_match(game, Rules(), *players, num_deals=500)
>>> report.figures["wp_landlord"].mean  # the share of its games as landlord that the first agent wins

WP is the share of games won, ADP the mean points per game (DouZero, Zha et al. 2021, section 5.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.match_config import MIN_CLUSTERS
from suphx.evaluation.statistics import Interval, mean_interval, proportion_interval, reaching
from suphx.games.candidate_game import CandidateGame, KeptGames, Player, SideResults

MIN_DEALS = 2
_DEALS_AT_A_TIME = 250

Outcome = Literal["better", "worse", "undecided"]


@dataclass(frozen=True, slots=True)
class SideFigure:
    """A mean over deals."""

    mean: float
    interval: Interval
    """95 %."""

    def to_json(self) -> dict[str, Any]:
        """Return the keys that scripts read."""
        bounds = [self.interval.low, self.interval.high]
        return {"mean": self.mean, "interval": bounds, "is_widened": self.interval.is_widened}


@dataclass(frozen=True, slots=True, kw_only=True)
class SideReport:
    """What the first agent reached against the second."""

    deals: int
    figures: dict[str, SideFigure]
    """``share``: of all games won, half of them on each side, so that equal agents have 0.5; ``points``: the mean of
    both sides; ``wp_<side>`` and ``adp_<side>`` of each side."""

    @property
    def outcome(self) -> Outcome:
        """Whether the first agent wins more than half of the games, beyond doubt; few deals decide nothing."""
        if self.deals < MIN_CLUSTERS:
            return "undecided"
        interval = self.figures["share"].interval
        return "better" if interval.low > 0.5 else "worse" if interval.high < 0.5 else "undecided"

    def to_json(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {name: figure.to_json() for name, figure in self.figures.items()}


def play_side_match(
    game: CandidateGame,
    rules: Any,
    first: Player,
    second: Player,
    *,
    num_deals: int,
    first_seed: int = 0,
    progress: Callable[[int], None] = lambda deals: None,
    kept: KeptGames | None = None,
) -> SideReport:
    """Play the deals ``first_seed``, ``first_seed`` + 1, … on both sides; ``progress`` gets numbers of finished deals.

    ``kept`` gets the records of all games, those of a deal one after another.

    ValueError for fewer than two deals, which have no interval.
    """
    check_deals(num_deals)
    results = list[Mapping[str, SideResults]]()
    for start in range(0, num_deals, _DEALS_AT_A_TIME):
        count = min(_DEALS_AT_A_TIME, num_deals - start)
        results.append(game.play_match(count, rules, first, second, first_seed=first_seed + start, kept=kept))
        progress(count)
    return side_report(game.sides, results)


def check_deals(num_deals: int) -> None:
    """Raise ValueError for a number of deals that has no interval."""
    if num_deals < MIN_DEALS:
        raise ValueError(f"{num_deals} deals have no interval: play at least {MIN_DEALS}")


def side_report(sides: Sequence[str], results: Iterable[Mapping[str, SideResults]]) -> SideReport:
    """Return the figures of a match, of whose deals ``results`` has what the first agent reached, by side."""
    parts: dict[str, list[SideResults]] = {side: [] for side in sides}
    for found in results:
        for side, reached in found.items():
            parts[side].append(reached)
    columns: dict[str, NDArray[np.float64]] = {}
    for side, own in parts.items():
        columns[f"wp_{side}"] = np.concatenate([part.wins for part in own]).astype(np.float64)
        columns[f"adp_{side}"] = np.concatenate([part.points for part in own]).astype(np.float64)
    for name, measure in (("share", "wp"), ("points", "adp")):
        columns[name] = np.mean([columns[f"{measure}_{side}"] for side in sides], axis=0)
    figures = {name: SideFigure(float(column.mean()), _interval(name, column)) for name, column in columns.items()}
    return SideReport(deals=len(columns["share"]), figures=figures)


def _interval(name: str, column: NDArray[np.float64]) -> Interval:
    if name == "share":
        return reaching(0.5, proportion_interval(column), column)
    return proportion_interval(column) if name.startswith("wp_") else mean_interval(column)
