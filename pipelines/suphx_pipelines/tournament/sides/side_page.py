"""The leaderboard of a game of two sides as sections of a page: ratings, the nights so far, who beats whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suphx_pipelines.charts.plot import Figure, files
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import decimal, interval, number, percent, short_names
from suphx_pipelines.tournament.rating_figures import (
    Row,
    nights_figure,
    nights_section,
    pairings_figure,
    ratings_figure,
    titled,
)

_ABOUT = (
    "WP: share of games won on this side, in all nights. ADP: tonight's points per game on this side, negative for "
    "lost games. Opponents differ from agent to agent: compare agents by their ratings."
)


def sections(table: Mapping[str, Any], *, has_links: bool = True) -> list[tuple[str, str]]:
    """Return (heading, HTML) of a table (side_leaderboard.py); sections without content are empty.

    ``has_links``: earlier nights are links to their reports in the folder of runs.
    """
    names = short_names([row["name"] for row in table["agents"]])
    return [
        ("Leaderboard", _leaderboard(table, names)),
        ("Nights", nights_section(table, names, has_links=has_links)),
        ("Pairings", report_page.figure(*pairings_figure(table, names))),
    ]


def pictures(table: Mapping[str, Any]) -> dict[str, bytes]:
    """Return file name -> content of the SVG files, of the pictures that the table has content for."""
    names = short_names([row["name"] for row in table["agents"]])
    return files(
        {
            "leaderboard.svg": _ratings(table, names),
            "nights.svg": nights_figure(table, names),
            "pairings.svg": pairings_figure(table, names),
        }
    )


def _ratings(table: Mapping[str, Any], names: Sequence[str]) -> Figure:
    return ratings_figure(table, names, clusters="decks")


def _leaderboard(table: Mapping[str, Any], names: Sequence[str]) -> str:
    rows = table["agents"]
    text = (
        f"Pairs of agents played {number(table['decks'])} decks tonight, each twice, with the sides swapped. The "
        f"ratings are from these games and from {number(table['earlier_games'])} games of earlier nights. "
        f"{names[0]} has the highest rating."
    )
    sides = list(rows[0]["sides"])
    figures = [f"{measure} as {side}" for side in sides for measure in ("WP", "ADP")]
    columns = ("agent", "rating", "95 % interval", "games", *figures)
    cells: list[tuple[str | report_page.Titled, ...]] = [
        (name, *_cells(row, sides)) for name, row in zip(titled(rows, names), rows, strict=True)
    ]
    figure = report_page.figure(*_ratings(table, names))
    return report_page.paragraph(text) + figure + report_page.table(columns, cells, about=_ABOUT)


def _cells(row: Row, sides: Sequence[str]) -> list[str]:
    cells = [number(row["rating"]), interval(row["interval"], 0), number(row["games"])]
    for side in sides:
        wins, points = row["sides"][side]["wp"], row["sides"][side]["adp"]
        cells += ["–" if wins is None else percent(wins), "–" if points is None else decimal(points)]
    return cells
