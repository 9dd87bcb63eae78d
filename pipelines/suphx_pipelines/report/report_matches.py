"""The report's sections on matches: placements and style of an agent, and the agents of the paper's Figure 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suphx.evaluation.match_config import few_games_note, widened_note
from suphx_pipelines.charts.comparison_charts import PLACES, Row, interval_chart, placement_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.recipe.recipe import AGENT_TITLES, relation
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import (
    decimal,
    difference,
    found_interval,
    interval,
    number,
    percent,
    short_names,
    widened_about,
)
from suphx_platform.console.table_text import count_text

PLACE_LEGEND = [(f"place{place}", name) for place, name in enumerate(PLACES)]


def match_section(match: Mapping[str, Any]) -> str:
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
        f"{_match_points(match.get('points_difference'))}"
    )
    return body + report_page.side_by_side(report_page.figure(*placements_figure(match)), _match_table(match, names))


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


def _match_points(found: Mapping[str, Any] | None) -> str:
    """Return a sentence with the difference in points; none for a match of an earlier version."""
    if not found:
        return ""
    points = ", ".join(map(str, found["points"]))
    return (
        f" In points ({points} for first to fourth place): {difference(found['per_hanchan'], 1)} per hanchan "
        f"({interval(found['interval'], 1)}). Above zero is better."
    )


def _match_table(match: Mapping[str, Any], names: list[str]) -> str:
    figures = [_match_figures(player) for player in match["players"]]
    rows = [(name, *(column[name] for column in figures)) for name in figures[0]]
    about = f"Rates are per deal, points per win or deal-in. Wall seed {match.get('seed')}."
    rows = [row for row in rows if any(value != "–" for value in row[1:])]
    return "<div>" + report_page.table(("", *names), rows, about=about) + "</div>"


def _match_figures(player: Mapping[str, Any]) -> dict[str, str]:
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


_NOTE = (
    "Difference: average placement minus that of the other agent, on the same walls and seats, with a 95 % interval by "
    "bootstrap over walls. The paper's agents are nets of 20 million weights after 1.5 million games each."
)
_PLAY_NOTE = (
    "As in the paper's Table 5, where Suphx has 29.3, 27.5, 24.4 and 18.7 % against human players, wins 22.8 % of the "
    "deals and deals in with 10.1 %. Both rates are per deal, with 95 % intervals by bootstrap over walls."
)


def comparison_section(result: Mapping[str, Any]) -> str:
    """Return the section; empty without a result."""
    if not result:
        return ""
    agents = result["agents"]
    body = report_page.paragraph(_comparison_sentence(result))
    rows = [
        Row(name=AGENT_TITLES[entry["agent"]], value=entry["average_placement"], low=entry["interval"][0],
            high=entry["interval"][1], note=f"{decimal(entry['average_placement'])} ({interval(entry['interval'])})")
        for entry in agents
    ]  # fmt: skip
    title = "Average placement against three SL-weak"
    picture = interval_chart(rows, title, axis_title="average placement", zero=2.5, sides=("better", "worse"))
    counts = [(AGENT_TITLES[entry["agent"]], entry["placements"]) for entry in agents]
    places = placement_chart(counts, "Placements of the agents")
    body += report_page.side_by_side(
        report_page.figure(picture, title, "With 95 % intervals; 2.50 is as strong as SL-weak."),
        report_page.figure(places, "Placements", "Dashed: equal players.", PLACE_LEGEND),
    )
    columns = ("agent", "average placement", "compared with", "difference", "95 % interval")
    lines = [_comparison_row(entry) for entry in agents]
    body += report_page.table(columns, lines, about=_NOTE + widened_about(lines))
    return body + _play_table([entry for entry in agents if "win_rate" in entry])  # not in runs of earlier versions


def _comparison_sentence(result: Mapping[str, Any]) -> str:
    agents = result["agents"]
    text = f"Each agent played {number(result['hanchans'])} hanchans against three SL-weak, all on the same walls. "
    found = [
        relation(entry["agent"], entry["compared_with"], low, high, sum(entry["placements"]))
        for entry in agents
        if entry["compared_with"]
        for low, high in [entry["difference_interval"]]
    ]
    return text + (", ".join(found) + "." if found else "")


def _comparison_row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        AGENT_TITLES[entry["agent"]],
        decimal(entry["average_placement"], 3),
        AGENT_TITLES.get(entry["compared_with"], "–"),
        difference(entry["difference"]),
        found_interval(entry, 3, "difference_"),
    )


def _play_table(agents: Sequence[Mapping[str, Any]]) -> str:
    columns = ("agent", *PLACES, "deals won", "95 % interval", "deals dealt in", "95 % interval")
    return report_page.table(columns, [_play_row(entry) for entry in agents], about=_PLAY_NOTE) if agents else ""


def _play_row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    games = sum(entry["placements"])
    return (
        AGENT_TITLES[entry["agent"]],
        *(percent(count / games) for count in entry["placements"]),
        *(text for rate in ("win_rate", "deal_in_rate") for text in _rate(entry, rate)),
    )


def _rate(entry: Mapping[str, Any], rate: str) -> tuple[str, str]:
    low, high = entry[f"{rate}_interval"]
    return percent(entry[rate]), f"{decimal(100 * low, 1)}\u00a0to\u00a0{percent(high)}"


def match_links(shown: Mapping[str, Any]) -> str:
    """Return links to the pages of the best and the worst games of a match, all in the report's folder.

    ``shown``: ``{"opponent", "hanchans", "games": what riichi_games.py returns}``; empty without games.
    """
    if not shown.get("games"):
        return ""
    text = f"The best and the worst games of the last match against {shown['opponent']}"
    text += f" ({count_text(shown['hanchans'], 'hanchan')}), with the nets' probabilities at their own decisions:"
    lines = [report_page.link(_game_text(game), game["page"]) for game in shown["games"]]
    return report_page.paragraph(text) + "".join(lines)


def _game_text(game: Mapping[str, Any]) -> str:
    """Return ``One of the best games: 1st with 52,300 points``."""
    results = [
        f"{PLACES[place - 1]} with {number(points)} points"
        for place, points in zip(game["places"], game["points"], strict=True)
    ]
    return f"One of the {game['kind']} games: {' and '.join(results)}"
