"""What is said of a deciding match: in the console, on pages, in MLflow and in the model registry, for all games alike.

The figures are those of ``decision.json`` (docs/result_files.md), whose ``test`` is the match that decided and whose
``match`` is the one on new deals. The match that was stopped has no mean: it would be too good.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from suphx.evaluation.match_config import chosen_seatings, widened_note
from suphx.evaluation.sequential import SequentialOutcome
from suphx.evaluation.sequential_test import FIRST_LOOK
from suphx_pipelines.charts.comparison_charts import Row as Line
from suphx_pipelines.charts.comparison_charts import interval_chart
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import (
    decimal,
    difference,
    interval,
    number,
    percent,
    widened_about,
    widened_mark,
)
from suphx_pipelines.runs.verdict import Outcome, Verdict
from suphx_pipelines.tournament.pages import LiveState, Row, rating_scale

DECISION, DECISION_NAME = "decision", "decision.json"
Decision: TypeAlias = Mapping[str, Any]
"""What ``decision.json`` says."""
_NOTE = (
    "The 95 % interval holds at all times of the match together. Where it has a dot, that is the mean of the games so "
    "far; the mean of a match that stops when the candidate looks good is too good, and is not shown."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A figure of a match, as JSON has it and as people read it."""

    title: str
    metric: str
    """In MLflow and in the tags of a version."""
    key: str
    """In the JSON of a match."""
    mean: str
    """Key of the mean in that."""
    unit: str
    measure: str = ""
    """Name of its always-valid interval; empty: it has none."""
    digits: int = 3
    equal: float = 0.0
    """Of equal agents."""
    fewer_is_better: bool = False

    def text(self, value: float) -> str:
        """Return a mean."""
        return difference(value, self.digits) if self.equal == 0 else percent(value)

    def bounds(self, ends: Sequence[float]) -> str:
        """Return an interval."""
        return interval(ends, self.digits) if self.equal == 0 else share_interval(ends)

    def amount(self, size: float) -> str:
        """Return how much better somebody is than an equal agent."""
        return f"{size:g} {self.unit}" if self.equal == 0 else f"{100 * size:g} % {self.unit}"

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
POINTS = Quantity(
    title="points per hanchan", metric="points", key="points_difference", mean="per_hanchan", measure="points",
    unit="points per hanchan", digits=1,
)  # fmt: skip
SHARE = Quantity(
    title="share of games won", metric="share", key="share", mean="mean", measure="share", unit="of the games won",
    equal=0.5,
)  # fmt: skip
POINTS_OF_GAME = Quantity(
    title="points per game", metric="points", key="points", mean="mean", unit="points per game"
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the deciding match says of the candidate, for its version in the model registry."""

    outcome: Outcome
    why: str = "It is the first candidate: there was no champion and no opponent to beat."
    """Why it was promoted or was not, in Markdown."""
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Figures of the match on new deals; they become tags too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchTexts:
    """The deciding matches of a game."""

    quantities: tuple[Quantity, ...]
    """The first one says who is better."""
    deals: str
    unit: str
    """What is counted: hanchans, or decks."""
    units_per_deal: int
    games_per_unit: int
    nothing_new: str
    """Why there is no candidate."""
    sides: Sequence[str] = ()

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
        candidate, opponent = decision["candidate"], decision["opponent"]
        if candidate is None:
            return f"no promotion: {self.nothing_new}, give pool.newest_from a folder or storage of runs"
        if not decision["is_won"]:
            return f"no promotion: {candidate} did not beat {opponent}: {self._stop_text(decision)}"
        if decision["test"] is None:
            won = f"{candidate} is the first that played"
        else:
            won = f"{candidate} beat {opponent}: {self._pass_text(decision)}"
        if is_promoted:
            return f"new champion: {won}"
        return f"no promotion, another promotion of this night was first or the alias was moved; {won}"

    def _stop_text(self, decision: Decision) -> str:
        """Return why a match ended without a pass."""
        test, found = decision["test"], self.outcome(decision)
        decides = self._deciding(test)
        bounds = f"always-valid 95 % interval {decides.bounds(_ends(test, decides))} {decides.unit}"
        played = f"{number(test[self.unit])} {self.unit} ({bounds})"
        if found == "worse":
            return f"it is worse, after {played}"
        if found == "undecided":
            return f"undecided after {played}, about {number(test[f'expected_{self.unit}'])} more are needed"
        return f"not better by {decides.amount(test['difference'])}, decided after {played}"

    def _pass_text(self, decision: Decision) -> str:
        contrary = self.contrary_seatings(decision)
        worse = f"; but it is worse than {decision['opponent']} in {' and '.join(contrary)}" if contrary else ""
        decided = f"decided after {number(decision['test'][self.unit])} {self.unit}"
        return f"{self._fresh_text(decision['match'])}; {decided}{worse}"

    def _fresh_text(self, match: Mapping[str, Any]) -> str:
        """Return the figures of the match on new deals."""
        figures = " and ".join(quantity.told(match, self.deals) for quantity in self.quantities)
        return f"{figures} over {number(match[self.unit])} new {self.unit}"

    def _deciding(self, test: Mapping[str, Any]) -> Quantity:
        measure = test.get("decides", self.quantities[0].measure)
        return next(quantity for quantity in self.quantities if quantity.measure == measure)

    def contrary_seatings(self, decision: Decision) -> list[str]:
        """Return the other seatings in which a candidate that has passed is worse: the whole 95 % interval says so.

        The measure is the one that decided.
        """
        decides = self._deciding(decision["test"])
        others = _other_seatings(decision)
        return [name for name, match in others.items() if decides.is_worse(match[decides.key]["interval"])]

    def warnings(self, decision: Decision) -> Iterator[str]:
        """Yield what a person should know of a decision."""
        for seating in self.contrary_seatings(decision) if decision["test"] else ():
            yield (
                f"{decision['candidate']} passes, but in {seating} it is worse than {decision['opponent']}: see the "
                "report"
            )

    def figures(self, decision: Decision) -> dict[str, float]:
        """Return the figures of the stage for MLflow."""
        test, match = decision["test"], decision["match"]
        figures = {f"decision_{self.unit}": test[self.unit], "log_likelihood_ratio": test["log_likelihood_ratio"]}
        for quantity in self.quantities:
            if quantity.measure:
                ends = _ends(test, quantity)
                names = (f"always_valid/{quantity.measure}{end}" for end in ("_low", "_high"))
                figures |= dict(zip(names, ends, strict=True))
        if match is not None:
            for quantity in self.quantities:
                figures |= _metrics(match, quantity)
            figures[self.unit] = match[self.unit]
        for name, other in _other_seatings(decision).items():
            figures |= _metrics(other, self.quantities[0], f"_{name}")
        return figures

    def evidence(self, decision: Decision, version: str | None) -> Evidence:
        """Return what the match says of the candidate; ``version``: of the champion in the registry."""
        test, match, outcome = decision["test"], decision["match"], self.outcome(decision)
        if test is None:
            return Evidence(outcome=outcome)
        opponent = f"{decision['opponent']} (version {version})" if version else decision["opponent"]
        decides, first = self._deciding(test), self.quantities[0]
        if match is None:
            why = (
                f'Not promoted: the match against {opponent} ended with "{outcome.replace("_", " ")}" after '
                f"{number(test[self.unit])} {self.unit}. Difference in {decides.title}: "
                f"{decides.bounds(_ends(test, decides))} (always-valid 95 % interval; "
                f"{'lower' if decides.fewer_is_better else 'higher'} is better)."
            )
            low, high = (f"{end:g}" for end in _ends(test, first))
            tags = {f"{first.metric}_low": low, f"{first.metric}_high": high}
            return Evidence(outcome=outcome, why=why, tags=tags | {f"decision_{self.unit}": str(test[self.unit])})
        others = _other_seatings(decision)
        why = f"Against {opponent}: {self._fresh_text(match)}."
        for name, other in others.items():
            why += f" With {name} at a table: {first.told(other, self.deals)} on the scale of 1v3."
        why += (
            f" Before, a sequential test had decided after {number(test[self.unit])} other {self.unit} that it is "
            f"better (difference {decides.amount(test['difference'])}, at most {100 * test['error']:g} % errors)."
        )
        metrics = _metrics(match, first)
        for name, other in others.items():
            metrics |= _metrics(other, first, f"_{name}")
        metrics |= {"points": match[self.quantities[1].key][self.quantities[1].mean], self.unit: match[self.unit]}
        metrics[f"decision_{self.unit}"] = test[self.unit]
        if "average_placement" in match:
            metrics["average_placement"] = match["average_placement"]
        named = {f"promotion/{name}": value for name, value in metrics.items()}
        return Evidence(outcome=outcome, why=why, metrics=named)

    def verdict(self, table: Row, decision: Decision, promotion: Row) -> Verdict:
        """Return what the tournament decided; if there was no candidate, who has the highest rating."""
        outcome, test, match = self.outcome(decision), decision["test"], decision["match"]
        if decision["candidate"] is None:
            return Verdict(outcome=outcome, sentence=_highest_rating(table))
        sentence = f"{promotion['reason'][:1].upper()}{promotion['reason'][1:]}."
        if test is None or self.quantities[0] is not PLACEMENT:
            return Verdict(outcome=outcome, sentence=sentence)
        if match is None:
            low, high = _ends(test, PLACEMENT)
            return Verdict(outcome=outcome, sentence=sentence, low=low, high=high, hanchans=test["hanchans"])
        found = match["paired_difference"]
        low, high = found["interval"]
        mean, hanchans = found["average_placement"], match["hanchans"]
        return Verdict(outcome=outcome, sentence=sentence, difference=mean, low=low, high=high, hanchans=hanchans)

    def title(self, test: Any, candidate: str, opponent: str) -> str:
        """Return who plays the deciding match; ``test``: the settings of the recipe."""
        seating = getattr(test, "deciding_seating", "")
        if seating in ("", "1v3"):
            return f"The deciding match: {candidate} against {'three ' if seating else ''}{opponent}."
        return f"The deciding match ({seating}): {candidate} against {opponent}."

    def live(self, test: Any, state: LiveState, *, most: int, fresh: int) -> str:
        """Return the state of the deciding match as HTML.

        ``test``: the settings of the recipe. ``most``, ``fresh``: units of the match, and of those on new deals.
        """
        outcome, unit = state.outcome, self.unit
        decides = self._deciding({"decides": getattr(test, "decides", self.quantities[0].measure)})
        claim = f"that the candidate is better by {decides.amount(test.difference)}"
        played, on_new = (number(math.floor(games / self.games_per_unit)) for games in (state.played, state.fresh))
        text = f"{played} of at most {number(most)} {unit} have been played. {self._state_of_test(state, claim)}"
        body = report_page.paragraph(text)
        if outcome is not None and outcome.decision == "better":
            text = f"{on_new} of {number(fresh)} {unit} have been played on new {self.deals}. "
            body += report_page.paragraph(f"{text}Their figures are those of the report.")
        if outcome is None or not outcome.deals:
            return body
        picture = report_page.figure(self._picture(outcome), "The deciding match so far", _NOTE)
        return body + picture + self._so_far(outcome)

    def _state_of_test(self, state: LiveState, claim: str) -> str:
        """Return what the sequential test says now, in words; ``claim``: what is tested."""
        look, unit, per_deal = state.outcome, self.unit, self.units_per_deal
        if look is None or math.isinf(look.expected_deals):
            return f"The sequential test looks at them for the first time after {per_deal * FIRST_LOOK} {unit}."
        ratio = look.log_likelihood_ratio
        played = f"{number(per_deal * look.deals)} {unit}"
        figures = f"log-likelihood ratio {decimal(ratio)}, the match ends at ±{decimal(look.bound)}"
        if look.decision == "better":
            return f"Decided after {played}: the candidate is better ({figures})."
        if look.decision == "not_better":
            return f"Decided after {played}: it is not true {claim} ({figures})."
        side = "for" if ratio > 0 else "against"
        begin = "The match ended before the test had decided" if state.is_over else "Not decided yet"
        expected = "would be needed" if state.is_over else "are expected"
        left = f"About {number(per_deal * look.expected_deals)} more {unit} {expected}."
        return f"{begin}: the first {played} speak {side} the claim {claim} ({figures}). {left}"

    def _picture(self, outcome: SequentialOutcome) -> str:
        first = self.quantities[0]
        found, mean = outcome.intervals[first.measure], _mean(outcome, first)
        ends = (found.low, found.high)
        bounds = first.bounds(ends)
        is_better = found.high < first.equal if first.fewer_is_better else found.low > first.equal
        note = bounds if mean is None else f"{first.text(mean)} ({bounds})"
        line = Line(value=mean, low=found.low, high=found.high, colour=2 if is_better else 0, note=note)
        return interval_chart(
            [line],
            "The deciding match so far",
            axis_title=first.title if first.equal else f"difference of the {first.title}",
            zero=first.equal,
            sides=("better", "worse") if first.fewer_is_better else ("worse", "better"),
        )

    def _so_far(self, outcome: SequentialOutcome) -> str:
        rows = []
        for quantity in self.quantities:
            if quantity.measure:
                found, mean = outcome.intervals[quantity.measure], _mean(outcome, quantity)
                shown = () if mean is None else (quantity.text(mean),)
                rows.append((quantity.title, *shown, quantity.bounds((found.low, found.high))))
        columns = ("so far",) if len(rows[0]) == 3 else ()
        return report_page.table(("difference", *columns, "always-valid 95 % interval"), rows)

    def section(self, decision: Decision) -> str:
        """Return the test of the deciding match and the figures that it gave; empty without a match."""
        test, match = decision["test"], decision["match"]
        if test is None:
            return ""
        seating = f" ({chosen_seatings(test['seating'])[0]})" if "seating" in test else ""
        text = (
            f"The match{seating} was played until it was decided whether the candidate is better by "
            f"{self._deciding(test).amount(test['difference'])}, with at most {100 * test['error']:g} % errors of each "
            f"kind: {test['verdict'].replace('_', ' ')} after {number(test[self.unit])} {self.unit} (log-likelihood "
            f"ratio {decimal(test['log_likelihood_ratio'])}; the match ends at ±{decimal(test['bound'])})."
        )
        about = "Candidate minus what an equal agent would reach."
        if "points" in test:
            about += f" Points for first to fourth place: {', '.join(map(str, test['points']))}."
        if self.sides:
            about = f"Each of the {self.deals} is played twice, with the sides swapped."
        rows = [
            (
                quantity.title,
                quantity.bounds(_ends(test, quantity)) if quantity.measure else "–",
                *quantity.cells(match),
            )
            for quantity in self.quantities
        ]
        for side in self.sides if match else ():
            for quantity, name in zip(self.quantities, ("wp", "adp"), strict=True):
                found = {quantity.key: match[f"{name}_{side}"]}
                rows.append((f"{quantity.title}, as {side}", "–", *quantity.cells(found)))
        columns = ("figure", "always-valid 95 % interval", f"on new {self.deals}", "95 % interval on them")
        shown = 4 if match else 2
        table = report_page.table(columns[:shown], [row[:shown] for row in rows], about=about + widened_about(rows))
        return report_page.paragraph(text) + table + self._seatings_table(decision)

    def _seatings_table(self, decision: Decision) -> str:
        """Return the matches on new deals in all seatings as a table; empty if there was only one."""
        others = _other_seatings(decision)
        if not others:
            return ""
        first = decision["match"]
        rows = [
            (name, number(match[self.unit]), *(cell for each in self.quantities for cell in each.cells(match)))
            for name, match in {first["seating"]: first, **others}.items()
        ]
        columns = [title for quantity in self.quantities for title in (quantity.title, "95 % interval")]
        about = f"On new {self.deals}, candidates against opponents at a table; all on the scale of 1v3."
        return report_page.table(("seating", self.unit, *columns), rows, about=about + widened_about(rows))


def share_interval(ends: Sequence[float]) -> str:
    """Return an interval of a share of games, such as ``49.2 to 51.0 %``."""
    low, high = ends
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def _ends(test: Mapping[str, Any], quantity: Quantity) -> Sequence[float]:
    """Return the always-valid interval of a figure; a test of one measure has only that of the measure."""
    ends: Sequence[float] = test.get("always_valid_intervals", {}).get(
        quantity.measure, test.get("always_valid_interval")
    )
    return ends


def _other_seatings(decision: Decision) -> Mapping[str, Any]:
    others: Mapping[str, Any] = decision.get("other_seatings", {})
    return others


def _metrics(match: Mapping[str, Any], quantity: Quantity, ending: str = "") -> dict[str, float]:
    """Return mean and interval of a figure by the names of metrics."""
    found, name = match[quantity.key], f"{quantity.metric}{ending}"
    low, high = found["interval"]
    return {name: found[quantity.mean], f"{name}_low": low, f"{name}_high": high}


def _mean(outcome: SequentialOutcome, quantity: Quantity) -> float | None:
    """Return the mean of the games so far, in the middle of the interval; None of a match that has stopped."""
    found = outcome.intervals[quantity.measure]
    return (found.low + found.high) / 2 if outcome.decision == "undecided" else None


def _highest_rating(table: Row) -> str:
    """Return who has it. The rating of the anchor is always the same, so then the next one is named too."""
    first, second, *_ = table["agents"]
    if first["name"] == table["anchor"]:
        return f"The highest rating: {first['name']} (always 1,000), then {_rated(second)}."
    return f"The highest rating: {_rated(first)}, where {rating_scale(table)}."


def _rated(row: Row) -> str:
    bounds = f"95 % interval {interval(row['interval'], 0)}" if row["interval"] else "one deal, no interval"
    return f"{row['name']} with {number(row['rating'])} ({bounds})"
