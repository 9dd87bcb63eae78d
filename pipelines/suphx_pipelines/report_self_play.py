"""The report's sections on self-play: how it went, and what controlling the entropy is good for.

Both are made from ``metrics.json`` of self-play; its keys stand in report.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suphx_pipelines import report_figure, report_page
from suphx_pipelines.report_number import decimal, interval, number, percent

Result = Mapping[str, Any]

_MATCHES = "Matches on shared walls: average placement minus that of the baseline; lower is better."


def section(result: Result, targets: Mapping[str, float]) -> str:
    """Return the section on one self-play; ``targets`` of the entropy by head, as far as they are known."""
    if not result:
        return ""
    names = ("hanchans", "decisions", "updates", "version", "seconds")
    body = report_page.tiles([(number(result[name]), name) for name in names])
    matches = result["matches"]
    baselines = sorted({match["baseline"] for match in matches})
    curves = {f"against {name}": [match for match in matches if match["baseline"] == name] for name in baselines}
    body += report_page.figure(report_figure.paired_differences(curves), "Paired differences over the run.")
    rows = [
        (number(match["updates"]), match["baseline"], number(match["hanchans"]), decimal(match["difference"], 3),
         interval(match["interval"], 3)) for match in matches
    ]  # fmt: skip
    columns = ("updates", "baseline", "hanchans", "difference", "95 % interval")
    body += report_page.table(columns, rows, caption=_MATCHES)
    for head in learned_heads(result):
        picture = report_figure.self_play(result["history"], head, targets.get(head))
        body += report_page.figure(picture, f"The {head} net over the run." + _followed(result, head, targets))
    if any("simulator_memory_bytes" in point for point in result["history"]):
        picture = report_figure.memory(result["history"])
        body += report_page.figure(picture, "Private memory of the processes over the run." + _faults(result))
    counts = result["decisions_of_buffer"]
    told = ", ".join(f"{number(counts[name])} {name}" for name in ("added", "learned", "stale", "refused", "lost"))
    return body + report_page.paragraph(f"Decisions of the replay buffer: {told}.", is_soft=True)


def study(controlled: Result, fixed: Mapping[str, Result], targets: Mapping[str, float]) -> str:
    """Return the section that compares self-play with that in which alpha was ``fixed``, by its value."""
    if not fixed:
        return ""
    runs = {"follows its target": controlled} | {f"alpha {alpha}": result for alpha, result in fixed.items()}
    body = ""
    for head in learned_heads(controlled):
        histories = {name: result["history"] for name, result in runs.items()}
        picture = report_figure.entropies(histories, head, targets.get(head))
        body += report_page.figure(picture, f"Entropy of the {head} net, with alpha controlled and fixed.")
    ends = {name: _matches_with_start(result) for name, result in runs.items()}
    body += report_page.figure(report_figure.paired_differences(ends), "Paired differences to the common start.")
    rows = [
        (name, *(decimal(last_entropy(runs[name], head)) for head in learned_heads(controlled)),
         decimal(matches[-1]["difference"], 3), interval(matches[-1]["interval"], 3))
        for name, matches in ends.items() if matches
    ]  # fmt: skip
    heads = (f"last entropy of {head}" for head in learned_heads(controlled))
    columns = ("alpha", *heads, "difference to the start", "95 % interval")
    return body + report_page.table(columns, rows, caption=_MATCHES)


def _faults(result: Result) -> str:
    told = ", ".join(f"{name.replace('_', ' ')} {count} times" for name, count in sorted(result["faults"].items()))
    return f" Faults: {told or 'none'}."


def learned_heads(result: Result) -> list[str]:
    """Return the heads that have curves."""
    return [head for head in result["heads"] if any(f"{head}_entropy" in point for point in result["history"])]


def last_entropy(result: Result, head: str) -> float | None:
    """Return the entropy of the last point that has one."""
    known = _entropies(result, head)
    return known[-1] if known else None


def largest_distance(result: Result, head: str, target: float) -> float | None:
    """Return how far the entropy went from its target in the last half of the run, as a share of it."""
    known = _entropies(result, head, result["updates"] / 2)
    return max((abs(entropy - target) / target for entropy in known), default=None) if target else None


def _entropies(result: Result, head: str, first_update: float = 0) -> list[float]:
    name = f"{head}_entropy"
    return [point[name] for point in result["history"] if name in point and point["updates"] >= first_update]


def _followed(result: Result, head: str, targets: Mapping[str, float]) -> str:
    if head not in targets:
        return ""
    distance = percent(largest_distance(result, head, targets[head]))
    return f" Target entropy {decimal(targets[head])} (dotted); at most {distance} from it over the last half."


def _matches_with_start(result: Result) -> Sequence[Mapping[str, Any]]:
    return [match for match in result["matches"] if match["baseline"] == "start"]
