"""The leaderboard as sections of a page: ratings, the nights so far, who beats whom, and how the agents play."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from suphx.evaluation.match_config import MIN_CLUSTERS
from suphx_pipelines.charts.comparison_charts import Spoke, placement_chart, radar_chart
from suphx_pipelines.charts.plot import Figure, files
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_matches import PLACE_LEGEND
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
from suphx_pipelines.tournament.leaderboard_table import STYLE
from suphx_pipelines.tournament.rating_figures import (
    MOST_LINES,
    Row,
    nights_figure,
    nights_section,
    pairings_figure,
    ratings_figure,
    titled,
)

_SPOKES = (
    Spoke(name="wins", inner=0.0, outer=0.35),
    Spoke(name="few deal-ins", inner=0.25, outer=0.0),
    Spoke(name="riichi", inner=0.0, outer=0.4),
    Spoke(name="calls", inner=0.0, outer=0.6),
    Spoke(name="early wins", inner=16.0, outer=8.0),
)


def sections(table: Mapping[str, Any], *, has_links: bool = True) -> list[tuple[str, str]]:
    """Return (heading, HTML) of a leaderboard's table (leaderboard_table.py); sections without content are empty.

    ``has_links``: earlier nights are links to their reports in the folder of runs.
    """
    rows = table["agents"]
    names = short_names([row["name"] for row in rows])
    return [
        ("Leaderboard", _leaderboard(table, names)),
        ("Nights", nights_section(table, names, has_links=has_links)),
        ("Pairings", report_page.figure(*pairings_figure(table, names))),
        ("Style", _style(rows, names)),
    ]


def pictures(table: Mapping[str, Any]) -> dict[str, bytes]:
    """Return file name -> content of the SVG files, of the pictures that the table has content for."""
    rows = table["agents"]
    names = short_names([row["name"] for row in rows])
    return files(
        {
            "leaderboard.svg": ratings_figure(table, names),
            "nights.svg": nights_figure(table, names),
            "pairings.svg": pairings_figure(table, names),
            "style.svg": _style_figure(_styles(rows, names)),
        }
    )


def _leaderboard(table: Mapping[str, Any], names: Sequence[str]) -> str:
    rows = table["agents"]
    text = (
        f"Lineups of four agents played {number(table['walls'])} walls tonight, with four rotations of the seats each. "
        f"The figures are from these games and from {number(table['earlier_hanchans'])} games of earlier nights. "
        f"{names[0]} has the highest rating."
    )
    places = placement_chart(
        [(name, row["placements"]) for name, row in zip(names, rows, strict=True)], "Placements of the agents"
    )
    body = report_page.paragraph(text) + report_page.side_by_side(
        report_page.figure(*ratings_figure(table, names)),
        report_page.figure(places, "Placements", "Dashed: equal players.", PLACE_LEGEND),
    )
    columns = {"rating": "rating", "interval": "95 % interval", "hanchans": "hanchans",
               "placement": "average placement",
               "champion": "against the champion", "forfeits": "forfeited games"}  # fmt: skip
    cells = [_cells(row) for row in rows]
    shown = [key for key in columns if any(row[key] != "–" for row in cells)]
    about = "Average placement: 2.50 is that of equal players, lower is better."
    if table["walls"] < MIN_CLUSTERS and not table["earlier_hanchans"]:
        about += f" Over so few walls the intervals mean little: play at least {MIN_CLUSTERS}."
    if "champion" in shown:
        about += " Against the champion: difference of placements in their common games, with a 95 % interval."
    if "forfeits" in shown:
        about += " Forfeited games: the agent's program crashed, was late or answered what cannot be played. "
        about += "They count as last place."
    return body + report_page.table(
        ("agent", *(columns[key] for key in shown)),
        [(name, *(row[key] for key in shown)) for name, row in zip(titled(rows, names), cells, strict=True)],
        about=about + widened_about([*row.values()] for row in cells),
    )


def _style(rows: Sequence[Row], names: Sequence[str]) -> str:
    styles = _styles(rows, names)
    if not styles:
        return ""
    columns = ("agent", "wins", "deal-ins", "riichi", "calls", "discards before a win")
    *shares, turn = STYLE
    cells = [(name, *(percent(style[key]) for key in shares), decimal(style[turn], 1)) for name, style in styles]
    return report_page.figure(*_style_figure(styles)) + report_page.table(columns, cells)


def _styles(rows: Sequence[Row], names: Sequence[str]) -> list[tuple[str, Row]]:
    """Return name and style of the agents that have played tonight."""
    styles = [(name, row["style"]) for name, row in zip(names, rows, strict=True)]
    return [(name, style) for name, style in styles if style["win_rate"] is not None]


def _style_figure(styles: Sequence[tuple[str, Row]]) -> Figure:
    """Return the picture of the strongest agents."""
    title = "How the agents play"
    edges = "Tonight's deals. Edge: 35 % wins, no deal-ins, 40 % riichi, 60 % calls, wins after 8 discards."
    legend = [(f"k{index}", name) for index, (name, _) in enumerate(styles[:MOST_LINES])]
    drawn = [(name, [math.nan if style[key] is None else style[key] for key in STYLE]) for name, style in styles]
    return Figure(radar_chart(_SPOKES, drawn[:MOST_LINES], title), title, edges, legend)


def _cells(row: Row) -> dict[str, str]:
    against = row["against_champion"]
    return {
        "rating": number(row["rating"]),
        "interval": interval(row["interval"], 0),
        "hanchans": number(row["hanchans"]),
        "placement": decimal(row["average_placement"], 3),
        "forfeits": number(row["forfeits"]) if row["forfeits"] else "–",
        "champion": f"{difference(against['difference'])} ({found_interval(against, 3)})" if against else "–",
    }
