"""What the report shows of self-play: strength of the nets, course of the training, effect of entropy control.

All is made from ``metrics.json`` of self-play; its keys are in docs/result_files.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suphx.evaluation.match_config import few_games_note, widened_note
from suphx.evaluation.measures import PLACEMENT, Measure, measure_of
from suphx.games.registry import GAMES, agent_names
from suphx_pipelines.charts.comparison_charts import Row, interval_chart
from suphx_pipelines.charts.line_chart import Curve, curve_figure, curve_of
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import decimal, difference, found_interval, interval, number, short_names
from suphx_platform.console.table_text import count_text

Result = Mapping[str, Any]
Matches = Sequence[Mapping[str, Any]]
Targets = Mapping[str, float]
"""Of the entropy by head, as far as they are known and do not change."""

START = "start"
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


def matches_by_opponent(result: Result) -> dict[str, Matches]:
    """Return the matches by opponent, the start first; those with sampled actions apart."""
    matches = result.get("matches", ())
    names = sorted({_opponent(match) for match in matches}, key=lambda name: (name != START, name))
    return {name: [match for match in matches if _opponent(match) == name] for name in names}


def measure(result: Result) -> Measure:
    """Return what decides the matches."""
    return measure_of(next(iter(result.get("matches", ())), {}))


def measured(result: Result) -> str:
    """Return what the differences of the matches are."""
    if measure(result) is PLACEMENT:
        return "Average placement of the nets minus 2.5, that of equal agents"
    return f"{measure(result).unit.capitalize()} of the nets, of which equal agents have 0"


def _opponent(match: Mapping[str, Any]) -> str:
    return f"{match['opponent']}{_SAMPLED if match.get('policy') == 'sampled' else ''}"


def strength(result: Result) -> str:
    """Return in words whether the nets are stronger than those that self-play began with."""
    against = matches_by_opponent(result)
    if START not in against:
        opponents = ", ".join(short_names(list(against))) or "no opponent"
        return f"The nets made {number(result['updates'])} updates; they played matches against {opponents}."
    last = against[START][-1]
    scripted = {name for game in GAMES for name in agent_names(game)}
    others = [each[-1] for name, each in against.items() if name in {START + _SAMPLED, *scripted}]
    told, decides = "", measure(result)
    unit = "" if decides is PLACEMENT else f" {decides.unit}"
    for match in others:
        how = f" Against {match['opponent']},"
        if match["policy"] == "sampled":
            how = " With sampled actions on both sides, as in self-play,"
        bounds = interval(match["interval"]) + widened_note(match.get("is_widened", False))
        told += f"{how} the difference is {difference(match['difference'], 2)}{unit} ({bounds})."
    low, high = last["interval"]
    few = few_games_note(last["hanchans"]) + widened_note(last.get("is_widened", False))
    how = _compared(decides, low, high, "stronger than", "weaker than", "not clearly different from")
    how = "not yet comparable with" if few_games_note(last["hanchans"]) else how
    found = f"against three copies of it they have {difference(last['difference'], 2)}{unit}"
    if decides is PLACEMENT:
        found = (
            f"the average placement against three copies of it is {decimal(last['average_placement'])} (2.50 is "
            f"equal), a difference of {difference(last['difference'], 2)}"
        )
    return (
        f"After {count_text(last['updates'], 'update')} the nets are {how} their start: {found} (95 % interval "
        f"{interval(last['interval'])}) over {number(last['hanchans'])} hanchans{few}.{told}"
    )


def _compared(measure: Measure, low: float, high: float, better: str, worse: str, equal: str) -> str:
    """Return what the interval of a difference says."""
    return better if measure.is_better(low, high) else worse if measure.is_worse(low, high) else equal


def strength_figure(result: Result) -> Figure:
    """Return how strong the nets were over the updates, against their start and each scripted agent.

    One under the other where each has only one match.
    """
    title, matches = "Strength over self-play", matches_by_opponent(result)
    names = short_names([f"against {name}" for name in matches])
    named = list(zip(names, matches.values(), strict=True))
    curves = [_strength_curve(name, of, place % _COLOURS) for place, (name, of) in enumerate(named)]
    decides = measure(result)
    note = (
        f"{measured(result)}, with 95 % intervals. {'Above' if decides.sign > 0 else 'Below'} zero: the nets are "
        "stronger. All checkpoints play on the same walls."
    )
    figure = curve_figure(title, curves, note, has_legend=True, x_title="updates", levels=(0.0,))
    if figure.picture:
        return figure
    rows = [
        Row(name=name, value=of[-1]["difference"], low=of[-1]["interval"][0], high=of[-1]["interval"][1],
            note=f"{difference(of[-1]['difference'], 2)} ({interval(of[-1]['interval'])})")
        for name, of in named
    ]  # fmt: skip
    axis, sides = decides.difference_name, report_page.sides(decides, "stronger", "weaker")
    return Figure(interval_chart(rows, title, axis_title=axis, zero=0.0, sides=sides), title, note)


def _strength_curve(name: str, matches: Matches, colour: int) -> Curve:
    points = [(float(match["updates"]), float(match["difference"])) for match in matches]
    intervals = [(match["interval"][0], match["interval"][1]) for match in matches]
    return Curve(name=name, points=points, colour=colour, has_dots=True, intervals=intervals)


def deals_figure(result: Result) -> Figure:
    """Return the points per kyoku over the updates; of one match only its figures, in the note."""
    title = "Points per kyoku over self-play"
    matches = [match for match in result["matches"] if "deals" in match and _opponent(match) == START]
    if not matches:
        return Figure("", title)
    curve = _strength_curve("start", [match["deals"] | {"updates": match["updates"]} for match in matches], 0)
    last = matches[-1]["deals"]
    note = (
        "Points per kyoku of the nets minus those of their start, in the same deals and seats, with 95 % intervals. "
        "Above zero: the nets are stronger. Deals show a gain earlier than places do. "
        f"After {number(matches[-1]['updates'])} updates: {difference(last['difference'], 1)} "
        f"({interval(last['interval'], 1)}) over {number(last['number'])} deals"
        f"{widened_note(last.get('is_widened', False), 'hanchans')}."
    )
    return curve_figure(title, [curve], note, x_title="updates", levels=(0.0,))


def matches_table(result: Result) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows of the matches, the last one first."""
    has_many = len(matches_by_opponent(result)) > 1
    rows = []
    for match in reversed(result["matches"]):
        opponent = [_opponent(match)] if has_many else []
        found = [difference(match["difference"], 2), found_interval(match), number(match["hanchans"])]
        rows.append([number(match["updates"]), *opponent, *found, *_change(match, result["matches"])])
    columns = ["updates", *(["opponent"] if has_many else []), "difference", "95 % interval", "hanchans"]
    return [*columns, "change since the match before", "shared hanchans"], rows


def _change(match: Mapping[str, Any], matches: Matches) -> tuple[str, str]:
    """Return the difference to the match before with what its interval shows, and over how many shared hanchans."""
    change = match.get("change")
    if not change:
        return "–", "–"
    opponent = _opponent(match)
    before = next(each for each in matches if each["updates"] == change["since"] and _opponent(each) == opponent)
    low, high = change["interval"]
    shared = min(match["hanchans"], before["hanchans"])
    shown = _compared(measure_of(match), low, high, "stronger", "weaker", "no clear change")
    shown = "too few hanchans to tell" if few_games_note(shared) else shown
    return f"{difference(change['difference'], 2)} ({found_interval(change)}), {shown}", number(shared)


def figures(result: Result, targets: Targets) -> list[tuple[str, str]]:
    """Return the main figures, each with what it is."""
    found = [
        (number(result["updates"]), "updates"),
        (number(result["hanchans"]), "hanchans finished"),
        (number(result["decisions"]), "decisions played"),
        (report_page.duration(result["seconds"]), "of self-play"),
    ]
    stale = [point["staleness"] for point in result["history"] if point.get("staleness") is not None]
    if stale:
        found.append((decimal(stale[-1], 1), "versions behind at the end (staleness)"))
    for head in learned_heads(result):
        for entropy in _entropies(result, head)[-1:]:
            target = last_target(result, head, targets)
            wanted = "" if target is None else f"; target {decimal(target)}"
            found.append((decimal(entropy), f"entropy of the {head} net at the end (nats{wanted})"))
    return found


def faults(result: Result) -> str:
    """Return how often each kind of fault occurred; empty without any."""
    counts = sorted(result.get("faults", {}).items())
    return ", ".join(f"{name.replace('_', ' ')} {count_text(count, 'time')}" for name, count in counts)


def learned_heads(result: Result) -> list[str]:
    """Return the heads that have curves: of the entropy, or of the loss where values are learned (Deep Monte-Carlo)."""
    known = set().union(*result["history"])
    return [head for head in result["heads"] if known & {f"{head}_entropy", f"{head}_policy_loss"}]


def last_target(result: Result, head: str, targets: Targets) -> float | None:
    """Return the target of the last entropy; None if there is none."""
    known = [point[f"{head}_entropy_target"] for point in result["history"] if point.get(f"{head}_entropy_target")]
    return targets.get(head) or (known[-1] if known else None)


def entropy_comment(result: Result, head: str, targets: Targets) -> str:
    """Return a sentence on where the entropy ended, beside its target; empty without either."""
    entropies, target = _entropies(result, head), last_target(result, head, targets)
    if not entropies or target is None:
        return ""
    gap = entropies[-1] - target
    end = f"At the end the entropy is {decimal(entropies[-1])}"
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


_HEAD_CURVES = (
    ("kl_to_start", "Distance from the start (nats)", "KL divergence of the policy from the initial policy.", 3),
    ("teacher_distance", "Distance from the teacher (nats)", "KL divergence from the nets that see hidden tiles.", 5),
    (
        "explained_variance",
        "Critic: explained variance",
        "Share of the variance of the rewards that the critic predicts.",
        2,
    ),
    ("alpha", "Alpha", "Coefficient of the entropy term in the loss.", 1),
    ("policy_loss", "Loss", "Of the policy, or of the values where the net learns values (Deep Monte-Carlo).", 0),
    ("value", "Value", "Mean value that the net gives to the actions that it chose.", 2),
    ("reward", "Reward", "Mean reward of these actions.", 5),
)
"""Key, title, note and colour."""


def head_figures(result: Result, head: str, targets: Targets) -> list[Figure]:
    """Return entropy and its control, how far the net went, and what the critic knows."""
    found = [entropy_figure(result, head, targets)]
    for key, title, note, colour in _HEAD_CURVES:
        curve = curve_of(title, result["history"], "updates", f"{head}_{key}", colour, is_smoothed=True)
        if any(y for _, y in curve.points):  # else no part of this self-play
            label = f"{title} of the {head} net over the updates"
            found.append(curve_figure(title, [curve], note, label=label, x_title="updates"))
    return found


def entropy_figure(result: Result, head: str, targets: Targets) -> Figure:
    """Return the entropy over the updates with its target, which is a line or a curve."""
    title, history, note = "Entropy (nats)", result["history"], ""
    curves = [curve_of("entropy", history, "updates", f"{head}_entropy", 0, is_smoothed=True)]
    if head in targets:
        gap = report_page.percent(largest_distance(result, head, targets[head]))
        note = f"Target {decimal(targets[head])} (dashed); deviates from the target by up to {gap} over the last half."
    elif any(point.get(f"{head}_entropy_target") for point in history):
        curves.append(curve_of("target", history, "updates", f"{head}_entropy_target", 4))
        note = "The target is a share of the entropy of the initial net."
    note = (note + entropy_comment(result, head, targets)).strip()
    label = f"{title} of the {head} net over the updates"
    return curve_figure(title, curves, note, label=label, x_title="updates", levels=_levels(targets, head))


def work_figures(result: Result) -> list[Figure]:
    """Return staleness, speed and memory over self-play."""
    history, found = result["history"], []
    for key, title, note, colour in (
        ("staleness", "Staleness (versions)", "Age of the decisions when they are learned, in versions of the net.", 2),
        ("hanchans_per_second", "Hanchans per second", "Finished games per second since the last point.", 5),
    ):
        curve = curve_of(title, history, "updates", key, colour, is_smoothed=True)
        label = f"{title} over the updates"
        found.append(curve_figure(title, [curve], note, label=label, x_title="updates", least=0.0))
    curves = []
    for place, kind in enumerate(sorted({name for point in history for name in point if name.endswith(_MEMORY)})):
        used = [(point["seconds"] / 60, point[kind] / _MIB) for point in history if kind in point]
        curves.append(Curve(name=kind.removesuffix(_MEMORY), points=used, colour=place % _COLOURS))
    note = "Private memory of the largest process of each kind."
    return [*found, curve_figure("Memory (MiB)", curves, note, has_legend=True, x_title="minutes", least=0.0)]


def _levels(targets: Targets, head: str) -> tuple[float, ...]:
    return (targets[head],) if head in targets else ()
