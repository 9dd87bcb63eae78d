"""The report's section on the agents of the paper's Figure 8; the keys that it reads stand in figure_8.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suphx_pipelines import report_figure, report_page
from suphx_pipelines.report_number import decimal, interval, number, percent

NAMES = {"sl": "SL", "sl_weak": "SL-weak", "rl_basic": "RL-basic", "rl_1": "RL-1", "rl_2": "RL-2"}
# Paper, Figure 8: medians, against three SL-weak.
_PAPER_STABLE_RANKS = {"sl": 7.659, "rl_basic": 8.064, "rl_1": 8.242, "rl_2": 8.305}

_NOTE = (
    "Difference: average placement minus that of the agent above on the same walls and seats, interval by bootstrap "
    "over walls; better is claimed only where it excludes zero. The paper's agents are nets of 20 million weights "
    "after 1.5 million games each."
)


def section(result: Mapping[str, Any]) -> str:
    """Return the section; empty without a result."""
    if not result:
        return ""
    columns = ("agent", "1st", "2nd", "3rd", "4th", "average placement", "95 % interval", "stable rank",
               "95 % interval", "paper", "difference", "95 % interval")  # fmt: skip
    rows = [_row(entry) for entry in result["agents"]]
    caption = f"{number(result['hanchans'])} hanchans each against three SL-weak, all on the same walls."
    body = report_page.table(columns, rows, caption=caption)
    names = [NAMES[entry["agent"]] for entry in result["agents"]]
    values = [entry["average_placement"] for entry in result["agents"]]
    picture = report_figure.with_intervals(names, values, [entry["interval"] for entry in result["agents"]])
    return body + report_page.figure(picture, "With 95 % intervals.") + report_page.paragraph(_NOTE, is_soft=True)


def _row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    games = sum(entry["placements"]) or 1
    return (
        NAMES[entry["agent"]],
        *(percent(count / games) for count in entry["placements"]),
        decimal(entry["average_placement"], 3),
        interval(entry["interval"], 3),
        decimal(entry["stable_rank"]),
        interval(entry["stable_rank_interval"]),
        decimal(_PAPER_STABLE_RANKS.get(entry["agent"])),
        decimal(entry["difference"], 3),
        interval(entry["difference_interval"], 3),
    )
