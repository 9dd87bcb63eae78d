"""The report's section on the agents of the paper's Figure 8; the keys that it reads are in agent_comparison.py."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from suphx_pipelines.charts.interval_chart import Row, interval_chart
from suphx_pipelines.charts.placement_chart import placement_chart
from suphx_pipelines.recipe.recipe import AGENT_TITLES
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_match import PLACE_LEGEND
from suphx_pipelines.report.report_number import decimal, difference, interval, number, stable_rank

# Paper, Figure 8: medians, against three SL-weak.
_PAPER_STABLE_RANKS = {"sl": 7.659, "rl_basic": 8.064, "rl_1": 8.242, "rl_2": 8.305}

_NOTE = (
    "Difference: average placement minus that of the agent above, on the same walls and seats, with a 95 % interval by "
    "bootstrap over walls. The paper's agents are nets of 20 million weights after 1.5 million games each."
)


def section(result: Mapping[str, Any]) -> str:
    """Return the section; empty without a result."""
    if not result:
        return ""
    agents = result["agents"]
    body = report_page.paragraph(_sentence(result))
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
    columns = ("agent", "average placement", "stable rank (dan)", "paper's stable rank", "difference", "95 % interval")
    return body + report_page.table(columns, [_row(entry) for entry in agents], about=_NOTE)


def _sentence(result: Mapping[str, Any]) -> str:
    agents = result["agents"]
    text = f"Each agent played {number(result['hanchans'])} hanchans against three SL-weak, all on the same walls. "
    found = []
    for before, entry in pairwise(agents):
        low, high = entry["difference_interval"]
        how = "better than" if high < 0 else "worse than" if low > 0 else "not clearly different from"
        found.append(f"{AGENT_TITLES[entry['agent']]} is {how} {AGENT_TITLES[before['agent']]}")
    return text + (", ".join(found) + "." if found else "")


def _row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        AGENT_TITLES[entry["agent"]],
        decimal(entry["average_placement"], 3),
        stable_rank(entry["stable_rank"], entry["stable_rank_interval"]),
        decimal(_PAPER_STABLE_RANKS.get(entry["agent"])),
        difference(entry["difference"]),
        interval(entry["difference_interval"], 3),
    )
