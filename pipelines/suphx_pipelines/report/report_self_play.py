"""The report's sections on self-play: strength of the nets, course of the training, effect of entropy control.

All are made from ``metrics.json`` of self-play; its keys are in docs/result_files.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suphx.evaluation.match_config import few_games_note, widened_note
from suphx.games.registry import agent_names
from suphx_pipelines.charts.comparison_charts import Row, interval_chart
from suphx_pipelines.charts.line_chart import Curve, curve_figure, curve_of
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import (
    decimal,
    difference,
    duration,
    found_interval,
    interval,
    number,
    percent,
    short_names,
    widened_about,
)
from suphx_platform.console.table_text import count_text

Result = Mapping[str, Any]

START = "start"
_MATCHES = (
    "Average placement of the nets minus 2.5, that of equal agents; negative is better. Change: this match minus the "
    "match before against the same opponent, with its 95 % interval, over the hanchans on walls that both matches "
    "played. Where these are fewer than the hanchans of the match, the difference is more exact than the change."
)
_ENDS = "Matches on shared walls: average placement of the nets minus 2.5, that of equal agents; negative is better."
_SAMPLED = ", both sampled"
_NEAR_TARGET = 0.1
"""Share of the target within which an entropy follows it."""
_ABOVE = (
    "Alpha is never negative: the control keeps the entropy from falling below the target, and only the rewards can "
    "bring it down to it. The net explores more than the target asks for."
)
_BELOW = (
    "The control raises alpha as long as this lasts. If the entropy stays below, the net explores too little: raise "
    "learner.entropy.rate, gain or max_alpha, or lower the target."
)
_MEMORY = "_memory_bytes"
_MIB = 2**20
_COLOURS = 6


def section(result: Result, targets: Mapping[str, float]) -> str:
    """Return the section on one self-play; ``targets`` of the entropy by head, as far as they are known."""
    if not result:
        return ""
    body = report_page.paragraph(strength(result))
    body += report_page.side_by_side(report_page.figure(*strength_figure(result)), _deals_chart(result))
    body += _matches_table(result)
    body += report_page.tiles(_figures(result, targets))
    for head in learned_heads(result):
        body += report_page.heading(f"The {head} net during self-play")
        body += report_page.side_by_side(*_head_charts(result, head, targets))
    body += report_page.heading("Throughput") + report_page.paragraph(_work(result), is_soft=True)
    return body + report_page.side_by_side(*_work_charts(result))


def last_matches(result: Result) -> dict[str, Mapping[str, Any]]:
    """Return the last match against each opponent, the start first."""
    return {name: matches[-1] for name, matches in _by_opponent(result).items()} if result else {}


def strength(result: Result) -> str:
    """Return in words whether the nets are stronger than those that self-play began with."""
    against = _by_opponent(result)
    if START not in against:
        opponents = ", ".join(short_names(list(against))) or "no opponent"
        return f"The nets made {number(result['updates'])} updates; they played matches against {opponents}."
    last = against[START][-1]
    others = [each[-1] for name, each in against.items() if name in (START + _SAMPLED, *agent_names())]
    low, high = last["interval"]
    few = few_games_note(last["hanchans"]) + widened_note(last.get("is_widened", False))
    how = "stronger than" if high < 0 else "weaker than" if low > 0 else "not clearly different from"
    how = "not yet comparable with" if few_games_note(last["hanchans"]) else how
    return (
        f"After {count_text(last['updates'], 'update')} the nets are {how} their start: the average placement "
        f"against three copies of it is {decimal(last['average_placement'])} (2.50 is equal), a difference of "
        f"{difference(last['difference'], 2)} (95 % interval {interval(last['interval'])}) over "
        f"{number(last['hanchans'])} hanchans{few}." + "".join(map(_other_match, others))
    )


def strength_figure(result: Result) -> Figure:
    """Return how strong the nets were over the updates, against their start and each scripted agent."""
    matches = _by_opponent(result) if result else {}
    return _strength_figure({f"against {name}": of for name, of in matches.items()})


def _other_match(match: Mapping[str, Any]) -> str:
    is_sampled = match["policy"] == "sampled"
    how = "With sampled actions on both sides, as in self-play," if is_sampled else f"Against {match['opponent']},"
    bounds = interval(match["interval"]) + widened_note(match.get("is_widened", False))
    return f" {how} the difference is {difference(match['difference'], 2)} ({bounds})."


def study(controlled: Result, fixed: Mapping[str, Result], targets: Mapping[str, float]) -> str:
    """Return the section that compares self-play with that in which alpha was ``fixed``, by its value."""
    if not fixed:
        return ""
    runs = {"alpha controlled": controlled} | {f"alpha {alpha}": result for alpha, result in fixed.items()}
    body = report_page.paragraph(
        "The same self-play with a fixed coefficient of the entropy (alpha), next to the one that adjusts alpha so "
        "that the entropy follows its target (dashed). A net whose entropy falls to zero no longer explores."
    )
    charts = []
    for head in learned_heads(controlled):
        curves = [curve_of(name, run["history"], "updates", f"{head}_entropy", place % _COLOURS)
                  for place, (name, run) in enumerate(runs.items())]  # fmt: skip
        title, levels = f"Entropy of the {head} net (nats)", _levels(targets, head)
        charts.append(report_page.figure(*curve_figure(title, curves, x_title="updates", levels=levels, least=0.0)))
    ends = {name: matches for name, run in runs.items() if (matches := _by_opponent(run).get(START))}
    body += report_page.side_by_side(
        *charts, report_page.figure(*_strength_figure(ends, "Strength against the common start"))
    )
    heads = learned_heads(controlled)
    rows = [
        (name, *(decimal(last_entropy(runs[name], head)) for head in heads),
         difference(matches[-1]["difference"]), found_interval(matches[-1], 3)) for name, matches in ends.items()
    ]  # fmt: skip
    columns = ("alpha", *(f"last entropy of {head}" for head in heads), "difference to the start", "95 % interval")
    return body + report_page.table(columns, rows, about=_ENDS)


def learned_heads(result: Result) -> list[str]:
    """Return the heads that have curves."""
    return [head for head in result["heads"] if any(f"{head}_entropy" in point for point in result["history"])]


def last_entropy(result: Result, head: str) -> float | None:
    """Return the entropy of the last point that has one."""
    known = _entropies(result, head)
    return known[-1] if known else None


def last_target(result: Result, head: str, targets: Mapping[str, float]) -> float | None:
    """Return the target of the last entropy; None if there is none. ``targets``: those that do not change."""
    known = [point[f"{head}_entropy_target"] for point in result["history"] if point.get(f"{head}_entropy_target")]
    return targets.get(head) or (known[-1] if known else None)


def entropy_comment(result: Result, head: str, targets: Mapping[str, float]) -> str:
    """Return a sentence on where the entropy ended, beside its target; empty without either."""
    entropy, target = last_entropy(result, head), last_target(result, head, targets)
    if entropy is None or target is None:
        return ""
    gap = entropy - target
    end = f"At the end the entropy is {decimal(entropy)}"
    if abs(gap) <= _NEAR_TARGET * target:
        return f" {end}, near its target {decimal(target)}."
    alpha = [point[f"{head}_alpha"] for point in result["history"] if f"{head}_alpha" in point]
    of_alpha = f" (alpha {decimal(alpha[-1], 4)})" if alpha else ""
    where = f"{end}{of_alpha}, {decimal(abs(gap))} {'above' if gap > 0 else 'below'} its target {decimal(target)}."
    return f" {where} {_ABOVE if gap > 0 else _BELOW}"


def largest_distance(result: Result, head: str, target: float) -> float | None:
    """Return how far the entropy went from its target in the last half of the run, as a share of it."""
    known = _entropies(result, head, result["updates"] / 2)
    return max((abs(entropy - target) / target for entropy in known), default=None) if target else None


def _entropies(result: Result, head: str, first_update: float = 0) -> list[float]:
    name = f"{head}_entropy"
    return [point[name] for point in result["history"] if name in point and point["updates"] >= first_update]


def _by_opponent(result: Result) -> dict[str, list[Mapping[str, Any]]]:
    """Return the matches by opponent, the start first; those with sampled actions apart."""
    names = sorted({_opponent(match) for match in result["matches"]}, key=lambda name: (name != START, name))
    return {name: [match for match in result["matches"] if _opponent(match) == name] for name in names}


def _opponent(match: Mapping[str, Any]) -> str:
    name: str = match["opponent"]
    return name + _SAMPLED if match.get("policy") == "sampled" else name


def _strength_figure(
    matches: Mapping[str, Sequence[Mapping[str, Any]]], title: str = "Strength over self-play"
) -> Figure:
    """Return the differences over the updates with intervals; one under the other where each has only one."""
    names = short_names(list(matches))
    curves = [_strength_curve(name, of, place % _COLOURS)
              for place, (name, of) in enumerate(zip(names, matches.values(), strict=True))]  # fmt: skip
    note = (
        "Average placement of the nets minus 2.5, that of equal agents, with 95 % intervals. Below zero: the nets are "
        "stronger. All checkpoints play on the same walls."
    )
    figure = curve_figure(title, curves, note, has_legend=True, x_title="updates", levels=(0.0,))
    if figure.picture:
        return figure
    rows = [
        Row(name=name, value=of[-1]["difference"], low=of[-1]["interval"][0], high=of[-1]["interval"][1],
            note=f"{difference(of[-1]['difference'], 2)} ({interval(of[-1]['interval'])})")
        for name, of in zip(names, matches.values(), strict=True)
    ]  # fmt: skip
    picture = interval_chart(
        rows, title, axis_title="difference in average placement", zero=0.0, sides=("stronger", "weaker")
    )
    return Figure(picture, title, note)


def _strength_curve(name: str, matches: Sequence[Mapping[str, Any]], colour: int) -> Curve:
    points = [(float(match["updates"]), float(match["difference"])) for match in matches]
    intervals = [(match["interval"][0], match["interval"][1]) for match in matches]
    return Curve(name=name, points=points, colour=colour, has_dots=True, intervals=intervals)


def _matches_table(result: Result) -> str:
    has_many = len(_by_opponent(result)) > 1
    rows = [
        (number(match["updates"]), *([_opponent(match)] if has_many else []), difference(match["difference"], 2),
         found_interval(match), number(match["hanchans"]), *_change(match, result["matches"]))
        for match in reversed(result["matches"])
    ]  # fmt: skip
    columns = ("updates", *(["opponent"] if has_many else []), "difference", "95 % interval", "hanchans",
               "change since the match before", "shared hanchans")  # fmt: skip
    return report_page.table(columns, rows, about=_MATCHES + widened_about(rows)) if rows else ""


def _change(match: Mapping[str, Any], matches: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return the difference to the match before with what its interval shows, and over how many shared hanchans."""
    change = match.get("change")
    if not change:
        return "–", "–"
    opponent = _opponent(match)
    before = next(each for each in matches if each["updates"] == change["since"] and _opponent(each) == opponent)
    low, high = change["interval"]
    shared = min(match["hanchans"], before["hanchans"])
    shown = "stronger" if high < 0 else "weaker" if low > 0 else "no clear change"
    shown = "too few hanchans to tell" if few_games_note(shared) else shown
    text = f"{difference(change['difference'], 2)} ({found_interval(change)}), {shown}"
    return text, number(shared)


def _deals_chart(result: Result) -> str:
    """Return the points per kyoku over the updates; empty if no deals were played."""
    matches = [match for match in result["matches"] if "deals" in match and _opponent(match) == START]
    if not matches:
        return ""
    curve = _strength_curve("start", [match["deals"] | {"updates": match["updates"]} for match in matches], 0)
    last = matches[-1]["deals"]
    title = "Points per kyoku over self-play"
    note = (
        "Points per kyoku of the nets minus those of their start, in the same deals and seats, with 95 % intervals. "
        "Above zero: the nets are stronger. Deals show a gain earlier than places do. "
        f"After {number(matches[-1]['updates'])} updates: {difference(last['difference'], 1)} "
        f"({interval(last['interval'], 1)}) over {number(last['number'])} deals"
        f"{widened_note(last.get('is_widened', False), 'hanchans')}."
    )
    figure = report_page.figure(*curve_figure(title, [curve], note, x_title="updates", levels=(0.0,)))
    return figure or f"<div>{report_page.paragraph(f'{title}. {note}')}</div>"


def _figures(result: Result, targets: Mapping[str, float]) -> list[tuple[str, str]]:
    figures = [(number(result["updates"]), "updates"), (number(result["hanchans"]), "hanchans finished"),
               (number(result["decisions"]), "decisions played"),
               (duration(result["seconds"]), "of self-play")]  # fmt: skip
    stale = [point["staleness"] for point in result["history"] if point.get("staleness") is not None]
    if stale:
        figures.append((decimal(stale[-1], 1), "versions behind at the end (staleness)"))
    figures += [
        (
            decimal(last_entropy(result, head)),
            f"entropy of the {head} net at the end (nats{_of_target(last_target(result, head, targets))})",
        )
        for head in learned_heads(result)
    ]
    return figures


def _head_charts(result: Result, head: str, targets: Mapping[str, float]) -> list[str]:
    """Return entropy and its control, how far the net went, and what the critic knows."""
    charts = (
        ("kl_to_start", "Distance from the start (nats)", "KL divergence of the policy from the initial policy.", 3),
        (
            "teacher_distance",
            "Distance from the teacher (nats)",
            "KL divergence from the nets that see hidden tiles.",
            5,
        ),
        (
            "explained_variance",
            "Critic: explained variance",
            "Share of the variance of the rewards that the critic predicts.",
            2,
        ),
        ("alpha", "Alpha", "Coefficient of the entropy term in the loss.", 1),
        ("clipped_share", "Clipped decisions", "Share of the decisions that the clip excludes.", 4),
        ("stopped_share", "Stopped updates", "Share of updates too far from the net that played.", 4),
    )
    figures = [entropy_chart(result, head, targets)]
    for key, title, note, colour in charts:
        curve = curve_of(title, result["history"], "updates", f"{head}_{key}", colour, is_smoothed=True)
        if any(y for _, y in curve.points):  # else no part of this self-play
            label = f"{title} of the {head} net over the updates"
            figures.append(report_page.figure(*curve_figure(title, [curve], note, label=label, x_title="updates")))
    return figures


def entropy_chart(result: Result, head: str, targets: Mapping[str, float]) -> str:
    """Return the entropy over the updates with its target, which is a line or a curve."""
    title, history = "Entropy (nats)", result["history"]
    curves = [curve_of("entropy", history, "updates", f"{head}_entropy", 0, is_smoothed=True)]
    note = _followed(result, head, targets)
    if head not in targets and any(point.get(f"{head}_entropy_target") for point in history):
        curves.append(curve_of("target", history, "updates", f"{head}_entropy_target", 4))
        note = "The target is a share of the entropy of the initial net."
    note = (note + entropy_comment(result, head, targets)).strip()
    label, levels = f"{title} of the {head} net over the updates", _levels(targets, head)
    return report_page.figure(*curve_figure(title, curves, note, label=label, x_title="updates", levels=levels))


def _work(result: Result) -> str:
    counts = result["decisions_of_buffer"]
    told = ", ".join(f"{number(counts[name])} {name}" for name in ("added", "learned", "stale", "refused", "lost"))
    faults = ", ".join(
        f"{name.replace('_', ' ')} {count_text(count, 'time')}" for name, count in sorted(result["faults"].items())
    )
    return f"Decisions in the replay buffer: {told}. Faults: {faults or 'none'}."


def _work_charts(result: Result) -> list[str]:
    history = result["history"]
    figures = []
    for key, title, note, colour in (
        ("staleness", "Staleness (versions)", "Age of the decisions when they are learned, in versions of the net.", 2),
        ("hanchans_per_second", "Hanchans per second", "Finished games per second since the last point.", 5),
    ):
        curve = curve_of(title, history, "updates", key, colour, is_smoothed=True)
        label = f"{title} over the updates"
        figures.append(curve_figure(title, [curve], note, label=label, x_title="updates", least=0.0))
    kinds = sorted({name for point in history for name in point if name.endswith(_MEMORY)})
    curves = [_memory_curve(history, kind, place % _COLOURS) for place, kind in enumerate(kinds)]
    note = "Private memory of the largest process of each kind."
    figures.append(curve_figure("Memory (MiB)", curves, note, has_legend=True, x_title="minutes", least=0.0))
    return [report_page.figure(*figure) for figure in figures]


def _memory_curve(history: Sequence[Mapping[str, Any]], kind: str, colour: int) -> Curve:
    points = [(point["seconds"] / 60, point[kind] / _MIB) for point in history if kind in point]
    return Curve(name=kind.removesuffix(_MEMORY), points=points, colour=colour)


def _followed(result: Result, head: str, targets: Mapping[str, float]) -> str:
    if head not in targets:
        return ""
    distance = percent(largest_distance(result, head, targets[head]))
    return f"Target {decimal(targets[head])} (dashed); deviates from the target by up to {distance} over the last half."


def _of_target(target: float | None) -> str:
    return "" if target is None else f"; target {decimal(target)}"


def _levels(targets: Mapping[str, float], head: str) -> tuple[float, ...]:
    return (targets[head],) if head in targets else ()
