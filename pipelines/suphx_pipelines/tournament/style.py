"""How the agents of a tournament play: wins, deal-ins, riichi and calls of tonight's games."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from suphx.evaluation.player_statistics import STATISTICS_COLUMNS, STATISTICS_RATIOS
from suphx_pipelines.charts.comparison_charts import Spoke, radar_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import decimal, percent
from suphx_pipelines.tournament.pages import MOST_LINES, Row

RATIOS = ("win_rate", "deal_in_rate", "riichi_rate", "call_rate", "average_win_turn")
"""Ratios of the counters of a game that say how an agent plays."""
_SPOKES = (
    Spoke(name="wins", inner=0.0, outer=0.35),
    Spoke(name="few deal-ins", inner=0.25, outer=0.0),
    Spoke(name="riichi", inner=0.0, outer=0.4),
    Spoke(name="calls", inner=0.0, outer=0.6),
    Spoke(name="early wins", inner=16.0, outer=8.0),
)


def style_of(row: Any) -> dict[str, float | None]:
    """Return the ratios of an agent's counters; None where there is nothing to divide by, or a game has no counters."""
    if row is None:
        return dict.fromkeys(RATIOS)
    sums = dict(zip(STATISTICS_COLUMNS, row.tolist(), strict=True))
    pairs = {name: STATISTICS_RATIOS[name] for name in RATIOS}
    return {name: sums[above] / sums[below] if sums[below] else None for name, (above, below) in pairs.items()}


def section(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Return picture and table; empty if no agent has counters of tonight."""
    styles = _styles(rows, names)
    if not styles:
        return ""
    columns = ("agent", "wins", "deal-ins", "riichi", "calls", "discards before a win")
    *shares, turn = RATIOS
    cells = [(name, *(percent(own[key]) for key in shares), decimal(own[turn], 1)) for name, own in styles]
    return report_page.figure(*figure(rows, names)) + report_page.table(columns, cells)


def figure(rows: Sequence[Row], names: Sequence[str]) -> Figure:
    """Return the picture of the strongest agents."""
    title, styles = "How the agents play", _styles(rows, names)[:MOST_LINES]
    edges = "Tonight's deals. Edge: 35 % wins, no deal-ins, 40 % riichi, 60 % calls, wins after 8 discards."
    legend = [(f"k{index}", name) for index, (name, _) in enumerate(styles)]
    drawn = [(name, [math.nan if own[key] is None else own[key] for key in RATIOS]) for name, own in styles]
    return Figure(radar_chart(_SPOKES, drawn, title), title, edges, legend)


def _styles(rows: Sequence[Row], names: Sequence[str]) -> list[tuple[str, Row]]:
    """Return name and style of the agents that have played tonight."""
    styles = [(name, row["style"]) for name, row in zip(names, rows, strict=True)]
    return [(name, own) for name, own in styles if own["win_rate"] is not None]
