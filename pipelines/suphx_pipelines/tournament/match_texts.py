"""What is said of a deciding match: in the console, on pages, in MLflow and in the model registry, for all games alike.

The figures are those of ``decision.json`` (docs/result_files.md), whose ``test`` is the match that decided and whose
``match`` is the one on new deals. The match that was stopped has no mean: it would be too good.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from suphx.evaluation.match_config import widened_note
from suphx.evaluation.measures import decision_text, measure_of
from suphx.games.scoring import SeatScoring, SideScoring
from suphx_pipelines.charts.comparison_charts import Row as Line
from suphx_pipelines.charts.comparison_charts import interval_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.report.report_page import difference, interval, number, percent, piece, widened_mark
from suphx_pipelines.runs.verdict import Outcome, Verdict

DECISION, DECISION_NAME = "decision", "decision.json"
_TEMPLATE = "decision.md.jinja"
Decision: TypeAlias = Mapping[str, Any]
Row: TypeAlias = Mapping[str, Any]
"""A table of the leaderboard, or one of its rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A figure of a match, as JSON has it and as people read it."""

    title: str
    metric: str
    """In MLflow and in the tags of a version."""
    key: str
    """In the JSON of a match."""
    mean: str
    unit: str
    measure: str = ""
    """Name of its always-valid interval; empty: it has none."""
    digits: int = 3
    equal: float = 0.0
    fewer_is_better: bool = False

    def text(self, value: float) -> str:
        """Return a mean."""
        return difference(value, self.digits) if self.equal == 0 else percent(value)

    def bounds(self, ends: Sequence[float]) -> str:
        """Return an interval."""
        low, high = ends
        return interval(ends, self.digits) if self.equal == 0 else f"{100 * low:.1f} to {100 * high:.1f} %"

    def is_worse(self, ends: Sequence[float]) -> bool:
        """Tell whether the whole interval says that the candidate is worse."""
        low, high = ends
        return low > self.equal if self.fewer_is_better else high < self.equal

    def told(self, match: Mapping[str, Any], deals: str) -> str:
        """Return mean and interval of a match as part of a sentence."""
        found = match[self.key]
        widened = widened_note(found.get("is_widened", False), deals)
        return f"{self.text(found[self.mean])} {self.unit} (95 % interval {self.bounds(found['interval'])}{widened})"

    def cells(self, match: Mapping[str, Any] | None) -> tuple[str, str]:
        """Return mean and interval of a match for a table."""
        if match is None or self.key not in match:
            return "–", "–"
        found = match[self.key]
        return self.text(found[self.mean]), self.bounds(found["interval"]) + widened_mark(found)


PLACEMENT = Quantity(
    title="average placement", metric="difference", key="paired_difference", mean="average_placement",
    measure="placement", unit="places", fewer_is_better=True,
)  # fmt: skip
OF_SEATS = (
    PLACEMENT,
    Quantity(
        title="points per game", metric="points", key="points_difference", mean="per_game", measure="points",
        unit="points per game", digits=1,
    ),
)  # fmt: skip
OF_SIDES = (
    Quantity(
        title="share of games won", metric="share", key="share", mean="mean", measure="share", unit="of the games won",
        equal=0.5,
    ),
    Quantity(title="points per game", metric="points", key="points", mean="mean", unit="points per game"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the deciding match says of the candidate, for its version in the model registry."""

    outcome: Outcome
    why: str = "It is the first candidate: there was no champion and no opponent to beat."
    """Why it was promoted or was not, in Markdown."""
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)


class MatchTexts:
    """The deciding matches of a game."""

    def __init__(self, scoring: SeatScoring | SideScoring) -> None:
        self.deals, self.games = f"{scoring.deal}s", scoring.games
        self.sides: Sequence[str] = scoring.sides if isinstance(scoring, SideScoring) else ()
        self.quantities = OF_SIDES if self.sides else OF_SEATS[:: -1 if scoring.decides == "points" else 1]
        """The first one says who is better."""
        self.nothing_new = "no nets are new" if self.sides else "no checkpoint is new"

    def outcome(self, decision: Decision) -> Outcome:
        """Return what came of the deciding match, for the run, its reports and the registry alike.

        The candidate may be worse although the test itself, which asks whether it is better by some difference, has not
        decided.
        """
        test, first = decision["test"], self.quantities[0]
        if test is None:
            return "none"  # the first champion has beaten nobody
        if decision["match"] is not None:
            return "better"
        if first.is_worse(_ends(test, first)):
            return "worse"
        return "not_better" if test["verdict"] == "not_better" else "undecided"

    def reason(self, decision: Decision, *, is_promoted: bool) -> str:
        """Return one sentence that says why the champion's alias has moved or not."""
        outcome = "none" if decision["candidate"] is None else self.outcome(decision)
        if decision["candidate"] is not None and not decision["is_won"]:
            names = decision["candidate"], decision["opponent"]
            sentence = decision_text(decision["test"], *names, self.games, is_worse=outcome == "worse")
            return f"no promotion: {sentence}"
        contrary = self.contrary_seatings(decision) if decision["match"] else []
        return piece("reason", self, decision, contrary, is_promoted, template=_TEMPLATE)

    def deciding(self, test: Mapping[str, Any]) -> Quantity:
        """Return the figure that a test asks about."""
        return next(quantity for quantity in self.quantities if quantity.measure == test["decides"])

    def valid_bounds(self, test: Mapping[str, Any]) -> str:
        """Return the always-valid interval of the figure that a test asks about."""
        decides = self.deciding(test)
        return decides.bounds(_ends(test, decides))

    def contrary_seatings(self, decision: Decision) -> list[str]:
        """Return the other seatings in which a candidate that has passed is worse: the whole 95 % interval says so.

        The measure is the one that decided.
        """
        decides = self.deciding(decision["test"])
        others = _other_seatings(decision)
        return [name for name, match in others.items() if decides.is_worse(match[decides.key]["interval"])]

    def warnings(self, decision: Decision) -> Iterator[str]:
        """Yield what a person should know of a decision."""
        candidate, opponent = decision["candidate"], decision["opponent"]
        for seating in self.contrary_seatings(decision) if decision["test"] else ():
            yield f"{candidate} passes, but in {seating} it is worse than {opponent}: see the report"

    def figures(self, decision: Decision) -> dict[str, float]:
        """Return the figures of the stage for MLflow."""
        test, match = decision["test"], decision["match"]
        figures = {"decision_games": test["games"], "log_likelihood_ratio": test["log_likelihood_ratio"]}
        for quantity in self.quantities:
            if quantity.measure:
                low, high = _ends(test, quantity)
                name = f"always_valid/{quantity.measure}"
                figures |= {f"{name}_low": low, f"{name}_high": high}
            figures |= _metrics(match, quantity) if match else {}
        figures |= {"games": match["games"]} if match else {}
        for name, other in _other_seatings(decision).items():
            figures |= _metrics(other, self.quantities[0], f"_{name}")
        return figures

    def evidence(self, decision: Decision, version: str | None) -> Evidence:
        """Return what the match says of the candidate; ``version``: of the champion in the registry."""
        test, match, outcome = decision["test"], decision["match"], self.outcome(decision)
        if test is None:
            return Evidence(outcome=outcome)
        opponent = f"{decision['opponent']} (version {version})" if version else decision["opponent"]
        first, others = self.quantities[0], _other_seatings(decision)
        why = piece("evidence", self, decision, outcome, opponent, others, template=_TEMPLATE)
        if match is None:
            low, high = (f"{end:g}" for end in _ends(test, first))
            tags = {f"{first.metric}_low": low, f"{first.metric}_high": high}
            return Evidence(outcome=outcome, why=why, tags=tags | {"decision_games": str(test["games"])})
        points = next(quantity for quantity in self.quantities if quantity.metric == "points")
        metrics = _metrics(match, first)
        for name, other in others.items():
            metrics |= _metrics(other, first, f"_{name}")
        metrics |= {"points": match[points.key][points.mean], "games": match["games"], "decision_games": test["games"]}
        metrics |= {name: match[name] for name in ("average_placement",) if name in match}
        return Evidence(outcome=outcome, why=why, metrics={f"promotion/{name}": each for name, each in metrics.items()})

    def verdict(self, table: Row, decision: Decision, promotion: Row) -> Verdict:
        """Return what the tournament decided; if there was no candidate, who has the highest rating."""
        outcome, test, match = self.outcome(decision), decision["test"], decision["match"]
        if decision["candidate"] is None:
            # the rating of the anchor is always the same, so then the next one is named too
            first, second, *_ = table["agents"]
            text = f"{first['name']} (always 1,000), then {_rated(second)}"
            if first["name"] != table["anchor"]:
                text = f"{_rated(first)}, where {rating_scale(table)}"
            return Verdict(outcome=outcome, sentence=f"The highest rating: {text}.")
        sentence = f"{promotion['reason'][:1].upper()}{promotion['reason'][1:]}."
        if test is None or self.quantities[0] is not PLACEMENT:
            return Verdict(outcome=outcome, sentence=sentence)
        mean, (low, high), games = None, _ends(test, PLACEMENT), test["games"]
        if match is not None:
            mean, games = match[PLACEMENT.key][PLACEMENT.mean], match["games"]
            low, high = match[PLACEMENT.key]["interval"]
        return Verdict(outcome=outcome, sentence=sentence, difference=mean, low=low, high=high, hanchans=games)

    def title(self, test: Any, candidate: str, opponent: str) -> str:
        """Return who plays the deciding match; ``test``: the settings of the recipe."""
        seating = test.deciding_seating  # None in a game of two sides
        if seating in (None, "1v3"):
            return f"The deciding match: {candidate} against {'three ' if seating else ''}{opponent}."
        return f"The deciding match ({seating}): {candidate} against {opponent}."

    def claim(self, test: Mapping[str, Any]) -> str:
        """Return by how much a test asks whether the candidate is better."""
        return measure_of(test).amount(test["difference"])

    def expected(self, test: Mapping[str, Any]) -> str:
        """Return how many more games a test takes on average that has not decided; empty for one that has."""
        more = test["expected_games"] if test["verdict"] == "undecided" else math.inf
        return "" if math.isinf(more) else f"About {number(more)} more {self.games} would decide it on average."

    def figure(self, test: Mapping[str, Any]) -> Figure:
        """Return the always-valid interval of the figure that says who is better."""
        first = self.quantities[0]
        low, high = _ends(test, first)
        is_better = high < first.equal if first.fewer_is_better else low > first.equal
        line = Line(value=None, low=low, high=high, colour=2 if is_better else 0, note=first.bounds((low, high)))
        axis = first.title if first.equal else f"difference of the {first.title}"
        sides = ("better", "worse") if first.fewer_is_better else ("worse", "better")
        picture = interval_chart([line], "The deciding match", axis_title=axis, zero=first.equal, sides=sides)
        note = "The 95 % interval holds at all times of the match together. A mean of its games would be too good."
        return Figure(picture, "The deciding match", note)

    def rows(self, decision: Decision) -> list[list[str]]:
        """Return the figures of a decision with their intervals, and on new deals if there was such a match."""
        test, match = decision["test"], decision["match"]
        rows = []
        for quantity in self.quantities:
            bounds = quantity.bounds(_ends(test, quantity)) if quantity.measure else "–"
            rows.append([quantity.title, bounds, *quantity.cells(match)])
        for side in self.sides if match else ():
            for quantity, name in zip(self.quantities, ("wp", "adp"), strict=True):
                found = {quantity.key: match[f"{name}_{side}"]}
                rows.append([f"{quantity.title}, as {side}", "–", *quantity.cells(found)])
        return [row[: 4 if match else 2] for row in rows]

    def seating_rows(self, decision: Decision) -> list[list[str]]:
        """Return the matches on new deals in all seatings; none if there was only one."""
        others, first = _other_seatings(decision), decision["match"]
        return [
            [name, number(match["games"]), *(cell for each in self.quantities for cell in each.cells(match))]
            for name, match in ({first["seating"]: first, **others} if others else {}).items()
        ]


def rating_scale(table: Row) -> str:
    """Return who has 1,000 points: the anchor, or without a game of it the mean of all agents."""
    if table["is_anchored"]:
        return f"{table['anchor']} has 1,000 points in all nights"
    return f"the mean of all agents has 1,000 points, because {table['anchor']} has not played"


def _ends(test: Mapping[str, Any], quantity: Quantity) -> Sequence[float]:
    """Return the always-valid interval of a figure."""
    ends: Sequence[float] = test["always_valid_intervals"][quantity.measure]
    return ends


def _other_seatings(decision: Decision) -> Mapping[str, Any]:
    others: Mapping[str, Any] = decision.get("other_seatings", {})
    return others


def _metrics(match: Mapping[str, Any], quantity: Quantity, ending: str = "") -> dict[str, float]:
    found, name = match[quantity.key], f"{quantity.metric}{ending}"
    low, high = found["interval"]
    return {name: found[quantity.mean], f"{name}_low": low, f"{name}_high": high}


def _rated(row: Row) -> str:
    bounds = f"95 % interval {interval(row['interval'], 0)}" if row["interval"] else "one deal, no interval"
    return f"{row['name']} with {number(row['rating'])} ({bounds})"
