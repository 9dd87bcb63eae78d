"""What the report shows of matches: placements and style of an agent, and the agents of the paper's Figure 8."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from suphx.evaluation.measures import PLACEMENT, measure_of
from suphx_pipelines.charts.comparison_charts import PLACES, Row, interval_chart, placement_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.recipe.recipe import AGENT_TITLES, relation
from suphx_pipelines.report.report_page import decimal, difference, interval, number, percent, short_names

_PLACE_LEGEND = [(f"place{place}", name) for place, name in enumerate(PLACES)]


def places_figure(counts: Sequence[tuple[str, Sequence[int]]], label: str, note: str) -> Figure:
    """Return how often each player came first to fourth; ``counts``: name and number of each place."""
    return Figure(placement_chart(counts, label), "Placements", note, _PLACE_LEGEND)


def main_figure(match: Mapping[str, Any]) -> tuple[str, str]:
    """Return how our agent did in a match, and what that is."""
    if measure_of(match) is PLACEMENT:
        placement = match["players"][0].get("average_placement")
        return decimal(placement, 2), "average placement in the match (2.50 is equal)"
    return difference(match["points_difference"]["per_game"], 2), "points per game in the match; positive is better"


def placements_figure(match: Mapping[str, Any]) -> Figure:
    """Return how often the players of a match came first to fourth; without a picture if no placement decided one."""
    if measure_of(match) is not PLACEMENT:
        return Figure("", "Placements")
    names = short_names([player["name"] for player in match.get("players", ())])
    counts = [(name, player["placements"]) for name, player in zip(names, match.get("players", ()), strict=True)]
    note = "Equal players come first to fourth in 25 % of the games each (dashed lines)."
    return places_figure(counts, f"How often {', '.join(names)} came first to fourth", note)


def player_rows(match: Mapping[str, Any]) -> list[list[str]]:
    """Return the figures of the players of a match, a row each, as far as a player has them and they matter."""
    written: dict[str, tuple[str, Callable[[float | None], str]]] = {
        "games": ("games", number),
        "average placement": ("average_placement", lambda value: decimal(value, 3)),
        "points per game": ("average_score", lambda value: difference(value, 2)),
        "deals won": ("win_rate", percent),
        "deals dealt in": ("deal_in_rate", percent),
        "deals with riichi": ("riichi_rate", percent),
        "deals with ting": ("ting_rate", percent),
        "deals with a call": ("call_rate", percent),
        "points of a win": ("average_win", number),
        "points of a deal-in": ("average_deal_in", number),
        "fan per hand": ("average_fan", lambda value: decimal(value, 3)),
    }
    if measure_of(match) is not PLACEMENT:
        del written["average placement"]
    rows = [[name, *(text(player.get(key)) for player in match["players"])] for name, (key, text) in written.items()]
    return [row for row in rows if any(value != "–" for value in row[1:])]


def relations(agents: Sequence[Mapping[str, Any]]) -> str:
    """Return in words which of the compared agents are better than which."""
    found = [
        relation(entry["agent"], entry["compared_with"], low, high, sum(entry["placements"]))
        for entry in agents
        if entry["compared_with"]
        for low, high in [entry["difference_interval"]]
    ]
    return f"{', '.join(found)}." if found else ""


def comparison_figures(agents: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Return average placements and placements of the compared agents."""
    rows = [
        Row(name=AGENT_TITLES[entry["agent"]], value=entry["average_placement"], low=entry["interval"][0],
            high=entry["interval"][1], note=f"{decimal(entry['average_placement'])} ({interval(entry['interval'])})")
        for entry in agents
    ]  # fmt: skip
    title = "Average placement against three SL-weak"
    picture = interval_chart(rows, title, axis_title="average placement", zero=2.5, sides=("better", "worse"))
    counts = [(AGENT_TITLES[entry["agent"]], entry["placements"]) for entry in agents]
    return [
        Figure(picture, title, "With 95 % intervals; 2.50 is as strong as SL-weak."),
        places_figure(counts, "Placements of the agents", "Dashed: equal players."),
    ]
