"""The deciding match of a tournament in a game of two sides, in words and as sections of a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from suphx.evaluation.match_config import widened_note
from suphx.evaluation.sequential.match_watch import SideOutcome
from suphx.evaluation.sequential.sequential_test import FIRST_LOOK
from suphx_pipelines.charts.comparison_charts import Row, interval_chart
from suphx_pipelines.recipe.tournament_recipe import SideDecisionConfig
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
from suphx_pipelines.tournament.candidate_promotion import outcome_of, promotion_reason
from suphx_pipelines.tournament.live_page import Look, words_of_test

_NOTE = (
    "Above 50 % the candidate is better. The 95 % interval holds at all times of the match together. Its middle is no "
    "result: a match that stops when the candidate looks good has a mean that is too good."
)


def reason(decision: Mapping[str, Any], *, is_promoted: bool) -> str:
    """Return one sentence that says why the champion's alias has moved or not."""
    test = decision["test"]
    return promotion_reason(
        decision,
        is_promoted=is_promoted,
        nothing_new="no nets are new, give pool.newest_from a folder or storage of runs",
        stopped=lambda: _stop_text(decision),
        figures=lambda: f"{fresh_text(decision['match'])}; decided after {number(test['decks'])} decks",
    )


def fresh_text(match: Mapping[str, Any]) -> str:
    """Return the figures of the match on new decks."""
    share, points = match["share"], match["points"]
    low, high = points["interval"]
    return (
        f"{percent(share['mean'], 1)} of the games won (95 % interval {share_interval(share['interval'])}"
        f"{widened_note(share.get('is_widened', False), 'decks')}) and "
        f"{points['mean']:+.3f} points per game ({low:+.3f} to {high:+.3f}) over {number(match['decks'])} new decks"
    )


def share_interval(bounds: list[float]) -> str:
    """Return an interval of a share of games, such as ``49.2 to 51.0 %``."""
    low, high = bounds
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def outcome(decision: Mapping[str, Any]) -> Outcome:
    """Return what came of the deciding match."""
    return outcome_of(decision, is_worse=lambda: decision["test"]["always_valid_interval"][1] < 0.5)


def _stop_text(decision: Mapping[str, Any]) -> str:
    """Return why a match ended without a pass."""
    test, found = decision["test"], outcome(decision)
    bounds = f"always-valid 95 % interval {share_interval(test['always_valid_interval'])} of the games won"
    played = f"{number(test['decks'])} decks ({bounds})"
    if found == "worse":
        return f"it is worse, after {played}"
    if found == "undecided":
        return f"undecided after {played}, about {number(test['expected_decks'])} more are needed"
    return f"it does not win {_wanted(test)} of the games, decided after {played}"


def _wanted(test: Mapping[str, Any]) -> str:
    return f"{100 * (0.5 + test['difference']):g} %"


def verdict(decision: Mapping[str, Any], promotion: Mapping[str, Any]) -> Verdict:
    """Return what was decided, in one sentence."""
    sentence = f"{promotion['reason'][:1].upper()}{promotion['reason'][1:]}."
    return Verdict(outcome=outcome(decision), sentence=sentence)


def decision_section(decision: Mapping[str, Any]) -> str:
    """Return the test of the deciding match and the figures that it gave; empty without a match."""
    test, match = decision["test"], decision["match"]
    if test is None:
        return ""
    text = (
        f"{decision['candidate']} played against {decision['opponent']} until it was decided whether it wins "
        f"{_wanted(test)} of the games, with at most {100 * test['error']:g} % errors of each kind: "
        f"{test['verdict'].replace('_', ' ')} after {number(test['decks'])} decks, each played twice with the sides "
        f"swapped (log-likelihood ratio {decimal(test['log_likelihood_ratio'])}; the match ends at "
        f"±{decimal(test['bound'])}). Always-valid 95 % interval of the share of games won: "
        f"{share_interval(test['always_valid_interval'])}."
    )
    if match is None:
        return report_page.paragraph(text)
    sides = [key.removeprefix("wp_") for key in match if key.startswith("wp_")]
    rows = [(side, match[f"wp_{side}"], match[f"adp_{side}"]) for side in sides]
    cells = [
        (
            name,
            percent(wins["mean"], 1),
            share_interval(wins["interval"]) + widened_mark(wins),
            difference(points["mean"]),
            interval(points["interval"], 3),
        )
        for name, wins, points in [*rows, ("both", match["share"], match["points"])]
    ]
    columns = ("candidate as", "games won", "95 % interval", "points per game", "95 % interval")
    about = f"On {number(match['decks'])} new decks, each played twice with the sides swapped."
    about += widened_about(cells)
    return report_page.paragraph(text) + report_page.table(columns, cells, about=about)


def live_section(
    config: SideDecisionConfig, outcome: SideOutcome | None, *, played: float, fresh: float, is_over: bool
) -> str:
    """Return the state of the deciding match as HTML.

    ``played`` and ``fresh``: decks of the match that decides and of the one on new decks; ``outcome``: of the last look
    of the test, None before the first; ``is_over``: no more decks are played.
    """
    text = f"{number(math.floor(played))} of at most {number(config.decks)} decks have been played. "
    body = report_page.paragraph(text + _words(config, outcome, is_over=is_over))
    if outcome is None:
        return body
    if outcome.decision == "better":
        text = f"{number(math.floor(fresh))} of {number(config.fresh_decks)} new decks have been played. "
        body += report_page.paragraph(text + "Their figures are those of the report.")
    low, high = outcome.interval.low, outcome.interval.high
    line = Row(value=None, low=low, high=high, colour=2 if low > 0.5 else 0, note=share_interval([low, high]))
    picture = interval_chart(
        [line], "The deciding match so far", axis_title="share of games won", zero=0.5, sides=("worse", "better")
    )
    return body + report_page.figure(picture, "Share of games that the candidate wins", _NOTE)


def _words(config: SideDecisionConfig, outcome: SideOutcome | None, *, is_over: bool) -> str:
    """Return what the sequential test says now, in words."""
    look = None
    if outcome is not None:
        figures = outcome.log_likelihood_ratio, outcome.bound
        look = Look(outcome.decision, outcome.decks, outcome.expected_decks, *figures)
    return words_of_test(
        look,
        claim=f"that the candidate wins {100 * (0.5 + config.test.difference):g} % of the games",
        unit="decks",
        first_look=FIRST_LOOK,
        is_over=is_over,
    )
