"""The report's section on the match: placements of our agent and of the opponent, and how they play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suphx.evaluation.match_config import few_games_note, widened_note
from suphx_pipelines.charts.placement_chart import PLACES, placement_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import decimal, difference, interval, number, percent, short_names

PLACE_LEGEND = [(f"place{place}", name) for place, name in enumerate(PLACES)]


def section(match: Mapping[str, Any]) -> str:
    """Return the section; empty without a match."""
    if not match:
        return ""
    found = match["paired_difference"]
    value, bounds = found["average_placement"], found["interval"]
    players = match["players"]
    names = short_names([player["name"] for player in players])
    us = names[0][:1].upper() + names[0][1:]
    body = report_page.paragraph(
        f"{us} played {number(match['hanchans'])} hanchans against three {names[-1]}. Every wall was played four times "
        "(once with our agent in each seat). The opponent in the same seats would average 2.5; our agent differs from "
        f"this by {difference(value)} (95 % interval {interval(bounds, 3)}{few_games_note(match['hanchans'])}"
        f"{widened_note(found.get('is_widened', False))}). Below zero is better."
        f"{_points(match.get('points_difference'))}"
    )
    return body + report_page.side_by_side(report_page.figure(*placements_figure(match)), _table(match, names))


def placements_figure(match: Mapping[str, Any]) -> Figure:
    """Return how often each player came first to fourth; without a picture if there was no match."""
    title = "Placements"
    if not match:
        return Figure("", title)
    names = short_names([player["name"] for player in match["players"]])
    counts = [(name, player["placements"]) for name, player in zip(names, match["players"], strict=True)]
    picture = placement_chart(counts, f"How often {', '.join(names)} came first to fourth")
    note = "Equal players come first to fourth in 25 % of the games each (dashed lines)."
    return Figure(picture, title, note, PLACE_LEGEND)


def _points(found: Mapping[str, Any] | None) -> str:
    """Return a sentence with the difference in points; none for a match of an earlier version."""
    if not found:
        return ""
    points = ", ".join(map(str, found["points"]))
    return (
        f" In points ({points} for first to fourth place): {difference(found['per_hanchan'], 1)} per hanchan "
        f"({interval(found['interval'], 1)}). Above zero is better."
    )


def _table(match: Mapping[str, Any], names: list[str]) -> str:
    figures = [_figures(player) for player in match["players"]]
    rows = [(name, *(column[name] for column in figures)) for name in figures[0]]
    about = f"Rates are per deal, points per win or deal-in. Wall seed {match.get('seed')}."
    rows = [row for row in rows if any(value != "–" for value in row[1:])]
    return "<div>" + report_page.table(("", *names), rows, about=about) + "</div>"


def _figures(player: Mapping[str, Any]) -> dict[str, str]:
    return {
        "games": number(player.get("hanchans")),
        "average placement": decimal(player.get("average_placement"), 3),
        "deals won": percent(player.get("win_rate")),
        "deals dealt in": percent(player.get("deal_in_rate")),
        "deals with riichi": percent(player.get("riichi_rate")),
        "deals with a call": percent(player.get("call_rate")),
        "points of a win": number(player.get("average_win")),
        "points of a deal-in": number(player.get("average_deal_in")),
    }
