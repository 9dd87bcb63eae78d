"""The live page of the deciding match: games played, the difference so far, and what the sequential test says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from suphx.evaluation.match_config import MeasureName, chosen_seatings
from suphx.evaluation.sequential.match_watch import SequentialOutcome
from suphx.evaluation.sequential.sequential_config import MIN_HANCHANS, SequentialConfig
from suphx.evaluation.statistics import Interval
from suphx_pipelines.charts.comparison_charts import Row, interval_chart
from suphx_pipelines.recipe.tournament_recipe import DecisionConfig
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import difference, interval, number
from suphx_pipelines.tournament import leaderboard_page
from suphx_pipelines.tournament.live_page import LiveMatch, Look, Sections, words_of_test
from suphx_pipelines.tournament.pool.tournament_pool import Context

_UNITS: Mapping[MeasureName, str] = {"placement": "places", "points": "points per hanchan"}
_ROWS: Mapping[MeasureName, tuple[str, int]] = {
    "placement": ("average placement", 3),
    "points": ("points per hanchan", 1),
}


_NOTE = (
    "Below zero the candidate is better: at −0.100 one candidate among three opponents comes 2.400th on average. The "
    "95 % interval holds at all times of the match together."
)
_NO_MEAN = (
    " The mean of these games is not shown: a match that stops when the candidate looks good has one that is too good."
)


class LiveDecision(LiveMatch[SequentialOutcome]):
    """The live page of the deciding match; it counts hanchans."""

    nothing_new = "no checkpoint is new"

    def __init__(self, context: Context, table: Mapping[str, Any], candidate: str | None, opponent: str | None) -> None:
        """``table``: the leaderboard of the night; None for a player that there is not."""
        super().__init__(context, candidate, opponent)
        self._config = context.recipe.decision
        self._table = table

    def _boards(self, has_links: bool) -> Sections:
        return leaderboard_page.sections(self._table, has_links=has_links)

    def _title(self) -> str:
        return match_title(self._config, self._candidate, self._opponent)

    def _body(self) -> str:
        games = {"played": self._played, "fresh": self._fresh}
        return match_section(self._config, self._outcome, is_over=self._is_over, **games)


def match_title(config: DecisionConfig, candidate: str | None, opponent: str | None) -> str:
    """Return who plays the match that decides, and in which seating if it is not one against three."""
    seating = chosen_seatings(config.test.seating)[0]
    if seating != "1v3":
        return f"The deciding match ({seating}): {candidate} against {opponent}."
    return f"The deciding match: {candidate} against three {opponent}."


def match_section(
    config: DecisionConfig, outcome: SequentialOutcome | None, *, played: float, fresh: float, is_over: bool = False
) -> str:
    """Return the state of the deciding match as HTML.

    ``played`` and ``fresh``: hanchans of the match that decides and of the one on new walls; ``outcome``: of the last
    look of the test, None before the first; ``is_over``: no more games are played.
    """
    text = f"{number(math.floor(played))} of at most {number(config.hanchans)} hanchans have been played. "
    body = report_page.paragraph(text + _words(config.test, outcome, is_over=is_over))
    if outcome is not None and outcome.decision == "better":
        num_fresh = config.fresh_hanchans * len(chosen_seatings(config.test.seating))
        text = (
            f"{number(math.floor(fresh))} of {number(num_fresh)} hanchans have been played on new walls. "
            "Their figures are those of the report."
        )
        body += report_page.paragraph(text)
    if outcome is None or not outcome.walls:
        return body
    note = _NOTE if _shows_mean(outcome) else _NOTE + _NO_MEAN
    return body + report_page.figure(_picture(outcome), "Difference of the average placement", note) + _table(outcome)


def _words(test: SequentialConfig, outcome: SequentialOutcome | None, *, is_over: bool) -> str:
    """Return what the sequential test says now, in words."""
    look = None
    if outcome is not None:
        figures = outcome.log_likelihood_ratio, outcome.bound
        look = Look(outcome.decision, outcome.hanchans, outcome.expected_hanchans, *figures)
    return words_of_test(
        look,
        claim=f"that the candidate is better by {test.difference:g} {_UNITS[test.decides]}",
        unit="hanchans",
        first_look=MIN_HANCHANS,
        is_over=is_over,
    )


def _picture(outcome: SequentialOutcome) -> str:
    found = outcome.intervals["placement"]
    mean = _middle(found) if _shows_mean(outcome) else None
    bounds = interval([found.low, found.high], 3)
    note = bounds if mean is None else f"{difference(mean)} ({bounds})"
    row = Row(value=mean, low=found.low, high=found.high, colour=2 if found.high < 0 else 0, note=note)
    return interval_chart(
        [row], "The deciding match so far", axis_title="difference of the average placement", zero=0.0,
        sides=("better", "worse"),
    )  # fmt: skip


def _table(outcome: SequentialOutcome) -> str:
    rows = []
    for name, (title, digits) in _ROWS.items():
        found = outcome.intervals[name]
        mean = (difference(_middle(found), digits),) if _shows_mean(outcome) else ()
        rows.append((title, *mean, interval([found.low, found.high], digits)))
    columns = ("so far",) if _shows_mean(outcome) else ()
    return report_page.table(("difference", *columns, "always-valid 95 % interval"), rows)


def _middle(found: Interval) -> float:
    """Return the mean of the games so far: the interval has the same length on both sides of it."""
    return (found.low + found.high) / 2


def _shows_mean(outcome: SequentialOutcome) -> bool:
    """Tell whether the mean so far is shown: that of a match that has stopped is too good."""
    return outcome.decision == "undecided"
