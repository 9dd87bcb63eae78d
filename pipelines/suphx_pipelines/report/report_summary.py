"""The top of the report: the verdict with its interval, what the run was, what needs attention, the main figures."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from suphx_pipelines.charts.interval_chart import Row, interval_chart
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.report import report_page, report_self_play
from suphx_pipelines.report.report_page import decimal, difference, duration, interval, number, percent
from suphx_pipelines.runs.run_summary import RunSummary
from suphx_pipelines.runs.verdict import Verdict
from suphx_platform.console.table_text import count_text

_COLOURS = {"better": 2, "worse": 4, "not_better": 6, "undecided": 6, "none": 6}
_OF_SELF_PLAY = {"start": "placements against their start",
                 "start, both sampled": "placements against their start, both sampled"}  # fmt: skip
_LONGEST_COMMAND = 120
"""Characters; a longer one opens with a click."""
_HYPHEN = re.compile(r"(?<![\w.])-(?=\d)")
"""A minus sign as a terminal shows it."""
_FEWEST_LEARNED = 0.52
"""Of the balanced accuracy of a yes-or-no net; 0.5 is that of a net that always gives the same answer."""


def verdict_card(verdict: Verdict) -> str:
    """Return the verdict in the colour of its outcome, with the interval of the difference if there is one."""
    sentence = _HYPHEN.sub("−", verdict.sentence)
    text = f"<div><strong>{report_page.escape(sentence)}</strong></div>"
    picture = verdict_figure(verdict).picture
    bar = f"<div>{picture}</div>" if picture else ""
    return f'<div class="verdict {verdict.outcome}">{text}{bar}</div>\n'


def run_head(folder: Path, machine: Mapping[str, str]) -> str:
    """Return what the stages of the run in ``folder`` warned of, and the facts of the run."""
    summary = RunSummary.read(folder)
    return report_page.flags("Needs attention", summary.warnings if summary else []) + run_facts(summary, machine)


def run_facts(summary: RunSummary | None, machine: Mapping[str, str]) -> str:
    """Return when, where and how the run was made, with its page in MLflow."""
    commit = machine.get("commit", "unknown")
    if summary is None:
        return report_page.facts({"commit": _short(commit)})
    values = {
        "run": summary.run_id,
        "started": _date(summary.started),
        "time spent": duration(summary.seconds),
        "machine": summary.machine or machine.get("processor", "–"),
        "version": f"{summary.version or machine.get('suphx', '')} ({_short(summary.commit or commit)})",
    }
    page = summary.tracking_page
    command = shlex.join(summary.command)
    commands = {"MLflow": "" if page.startswith("http") else page}
    is_folded = len(command) > _LONGEST_COMMAND
    if not is_folded:
        commands = {"command": command, **commands}
    links = {"MLflow": page} if page.startswith("http") else {}
    shown = report_page.facts(values, whole={name: text for name, text in commands.items() if text}, links=links)
    return shown + (report_page.folded("The command of this run", report_page.code(command)) if is_folded else "")


def warnings(results: Any, summary: RunSummary | None) -> list[str]:
    """Return a sentence for everything that needs attention: what the stages warned of, and what the results show."""
    found = list(summary.warnings) if summary else []
    for head, metrics in results.supervised.items():
        balanced = metrics["test"].get("balanced_accuracy")
        is_named = any(head in text for text in found)
        has_answers = metrics["test"].get("recall_yes") is not None and balanced is not None
        if has_answers and balanced < _FEWEST_LEARNED and not is_named:
            found.append(f"The {head} net nearly always gives the same answer (balanced accuracy {percent(balanced)}).")
    aside = results.records.get("quarantined")
    if aside:
        found.append(f"{count_text(aside, 'record was', 'records were')} set aside: see Data.")
    for result in (results.self_play, *results.agents.values(), *results.oracle):
        faults = [
            f"{name.replace('_', ' ')} {count_text(count, 'time')}"
            for name, count in sorted(result.get("faults", {}).items())
        ]
        if faults:
            found.append(f"Faults during self-play: {', '.join(faults)}.")
    return found


def next_steps(commands: Mapping[str, Sequence[str]]) -> str:
    """Return the commands for a person who wants to try the agent of the run; empty without any."""
    if not commands:
        return ""
    shown = {what: shlex.join(command) for what, command in commands.items()}
    return report_page.heading("Next steps") + report_page.facts({}, whole=shown)


def main_figures(results: Any) -> list[tuple[str, str]]:
    """Return the figures of the run as (figure, what it is): first how strong its agent is, then what it learned."""
    figures = [
        (
            difference(match["difference"], 2),
            f"{_OF_SELF_PLAY.get(name, f'placements against {name}')}; negative is better",
        )
        for name, match in report_self_play.last_matches(results.self_play).items()
    ]
    if not results.supervised:
        return figures  # the other sections begin with their own figures
    figures += [(number(results.records.get("games")), "games learned from"),
               (number(results.records.get("decisions")), "decisions in them")]  # fmt: skip
    for player in [] if results.has_later_nets else results.match.get("players", [])[:1]:
        figures.append((decimal(player.get("average_placement"), 2), "average placement in the match (2.50 is equal)"))
    figures += [
        (percent(net["test"].get("accuracy")), f"{head}: test accuracy{_majority(net['test'])}")
        for head, net in results.supervised.items()
        if not _is_always_right(net["test"])
    ]
    return figures


def _is_always_right(test: Mapping[str, Any]) -> bool:
    """Tell whether one answer alone is right for all samples: then the accuracy says nothing about the net."""
    return percent(test.get("majority_accuracy")) == percent(1.0)


def _majority(test: Mapping[str, Any]) -> str:
    """Return what the most frequent answer alone reaches, in brackets; empty if that is not known."""
    share = test.get("majority_accuracy")
    return "" if share is None else f" (most frequent answer: {percent(share)})"


def verdict_figure(verdict: Verdict) -> Figure:
    """Return the difference behind the verdict with its interval; without a picture if there was no match."""
    title = "Difference in average placement"
    if verdict.difference is None or verdict.low is None or verdict.high is None:
        return Figure("", title)
    row = Row(value=verdict.difference, low=verdict.low, high=verdict.high, colour=_COLOURS[verdict.outcome])
    picture = interval_chart(
        [row],
        f"{title} {difference(verdict.difference)}, 95 % interval {interval((verdict.low, verdict.high), 3)}",
        axis_title="difference in average placement, with 95 % interval",
        zero=0.0,
        sides=("better", "worse"),
    )
    return Figure(picture, title)


def _date(started: str) -> str:
    """Return an ISO time as "2026-11-22 04:05 UTC"; other texts as they are."""
    try:
        return datetime.fromisoformat(started).strftime("%Y-%m-%d %H:%M %Z").strip()
    except ValueError:
        return started


def _short(commit: str) -> str:
    name, _, mark = commit.partition("-")
    return name[:10] + (f"-{mark}" if mark else "")
