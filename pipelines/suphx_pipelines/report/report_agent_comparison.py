"""The report's section on the agents of the paper's Figure 8; the keys that it reads are in agent_comparison.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suphx_pipelines.charts.interval_chart import Row, interval_chart
from suphx_pipelines.charts.placement_chart import PLACES, placement_chart
from suphx_pipelines.recipe.recipe import AGENT_TITLES, relation
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_match import PLACE_LEGEND
from suphx_pipelines.report.report_page import (
    decimal,
    difference,
    found_interval,
    interval,
    number,
    percent,
    widened_about,
)

_NOTE = (
    "Difference: average placement minus that of the other agent, on the same walls and seats, with a 95 % interval by "
    "bootstrap over walls. The paper's agents are nets of 20 million weights after 1.5 million games each."
)
_PLAY_NOTE = (
    "As in the paper's Table 5, where Suphx has 29.3, 27.5, 24.4 and 18.7 % against human players, wins 22.8 % of the "
    "deals and deals in with 10.1 %. Both rates are per deal, with 95 % intervals by bootstrap over walls."
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
    columns = ("agent", "average placement", "compared with", "difference", "95 % interval")
    lines = [_row(entry) for entry in agents]
    body += report_page.table(columns, lines, about=_NOTE + widened_about(lines))
    return body + _play_table([entry for entry in agents if "win_rate" in entry])  # not in runs of earlier versions


def _sentence(result: Mapping[str, Any]) -> str:
    agents = result["agents"]
    text = f"Each agent played {number(result['hanchans'])} hanchans against three SL-weak, all on the same walls. "
    found = [
        relation(entry["agent"], entry["compared_with"], low, high, sum(entry["placements"]))
        for entry in agents
        if entry["compared_with"]
        for low, high in [entry["difference_interval"]]
    ]
    return text + (", ".join(found) + "." if found else "")


def _row(entry: Mapping[str, Any]) -> tuple[str, ...]:
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
