"""What came out of a run, in one sentence: from the metrics of its finished stages.

The last stage of the run that makes an agent decides, if it has measured it: the match of Figure 8, else self-play
against its own start, else the nets from the playouts against theirs, else the match of the supervised nets against the
opponent, else the reward predictor against naive predictions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from suphx.evaluation.match_config import MIN_CLUSTERS, SEATS
from suphx.evaluation.measures import PLACEMENT, Measure, deciding_measure
from suphx.games.registry import agent_names, load_game
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.agent_stages import initial_name
from suphx_pipelines.recipe.recipe import AGENT_TITLES, Recipe, relation
from suphx_pipelines.runs.stage_folder import DONE
from suphx_platform.console.table_text import count_text

_MOST_DIGITS = 6


def digits_that_tell(bounds: Sequence[float | None], least: int = 2, equal: float = 0.0) -> int:
    """Return the number of digits, at least ``least``, that shows of each of ``bounds`` whether it is ``equal``.

    >>> digits_that_tell([-0.056, -0.004])  # not "-0.06 to -0.00", which seems to touch equality
    3
    """
    digits = least
    while digits < _MOST_DIGITS and any(
        bound is not None and bound != equal and round(bound, digits) == round(equal, digits) for bound in bounds
    ):
        digits += 1
    return digits


def difference_text(
    difference: float, low: float, high: float, hanchans: int, games: str = "hanchans", measure: Measure = PLACEMENT
) -> str:
    """Return the difference of a match in what decides it with its 95 % interval (``low``, ``high``).

    ``games``: what people call the games.

    >>> difference_text(-0.183, -0.23, -0.14, 2000)
    'placement difference -0.18 (95 % interval -0.23 to -0.14; negative is better), 2,000 hanchans'
    >>> difference_text(1.183, 0.83, 1.54, 2000, "games", measure_of({"decides": "points"}))
    '+1.18 points per game (95 % interval +0.83 to +1.54; positive is better), 2,000 games'
    """
    mean = f"placement difference {difference:+.2f}" if measure is PLACEMENT else f"{difference:+.2f} {measure.unit}"
    return f"{mean} (95 % interval {bounds_text(low, high)}; {measure.better_sign} is better), {hanchans:,} {games}"


def bounds_text(low: float, high: float) -> str:
    """Return the interval of a difference with signs.

    >>> bounds_text(-0.056, -0.004)
    '-0.056 to -0.004'
    """
    digits = digits_that_tell([low, high])
    return f"{low:+.{digits}f} to {high:+.{digits}f}"


Outcome = Literal["better", "worse", "not_better", "undecided", "none"]
"""``not_better``: a sequential test has ruled out that it is better by the wanted difference, and not more."""
Metrics = Mapping[str, Mapping[str, float]]
"""Stage name -> metrics."""

PLAYOUTS_STAGE = "playouts"  # playouts.STAGE_NAME, whose module imports torch
_PLAY = {
    "oracle_decay": "Self-play with oracle guiding",
    "oracle_distillation": "Self-play with a teacher",
    "reinforcement": "Self-play",
    "oracle": "Self-play of nets that see hidden tiles",
    PLAYOUTS_STAGE: "Playouts",
}
AGENT_COMPARISON_STAGE = "agent_comparison/match"  # agent_comparison.MATCH_STAGE, whose module imports torch
_ABOUT_EQUAL = 0.15
"""An undecided interval within this many placements of 0, or as large a share of the spread of other results, is called
about as strong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came out of a run."""

    outcome: Outcome
    """Of the agent that the run made; ``none``: no match was played."""
    sentence: str
    difference: float | None = None
    """Average placement of the agent minus 2.5, that of equal agents, or what else ``measure`` counts."""
    measure: Measure = PLACEMENT
    """What decided the match."""
    low: float | None = None
    """Lower end of the 95 % interval of the difference."""
    high: float | None = None
    """Upper end."""
    hanchans: int = 0
    """Games of the match."""


def find_verdict(recipe: Recipe, metrics: Metrics) -> Verdict:
    """Return the verdict on a run of ``recipe`` whose finished stages have these ``metrics``."""
    if AGENT_COMPARISON_STAGE in metrics:
        return _agent_comparison(recipe, metrics[AGENT_COMPARISON_STAGE])
    played = [stage for stage in _PLAY if stage in metrics]
    if not played:
        evaluation = metrics.get("evaluation", {})
        if "paired_difference_low" not in evaluation:
            return Verdict(outcome="none", sentence=_without_match(metrics))
        return _match(recipe, evaluation, has_own_games=bool(metrics.get("records", {}).get("played", 0.0)))
    measured = [stage for stage in played if "start_difference_low" in metrics[stage]]
    earlier = _of_stage(recipe, metrics, measured[0]) if measured else None
    if earlier is not None and measured[0] == played[0]:
        return earlier
    made = f"The nets from {_PLAY[played[0]][0].lower()}{_PLAY[played[0]][1:]} played no match"
    known = _supervised(recipe, metrics) if earlier is None else [earlier.sentence]
    return Verdict(outcome="none", sentence=" ".join([f"{made}, so their strength is unknown.", *known]))


def _of_stage(recipe: Recipe, metrics: Metrics, stage: str) -> Verdict:
    """Return the verdict on the nets of a stage of ``_PLAY`` that played against their start."""
    name, figures = _PLAY[stage], metrics[stage]
    is_both = stage != PLAYOUTS_STAGE and PLAYOUTS_STAGE in metrics  # the start is that of the playouts
    name = f"Playouts and {name[0].lower()}{name[1:]}" if is_both else name
    if stage == "oracle_decay":  # its own are those of its last part
        earlier = metrics.get("oracle", {}).get("updates", 0.0) + figures.get("decay_updates", 0.0)
        figures = {**figures, "updates": figures["updates"] + earlier}
    before = []
    if is_both and stage == "reinforcement":
        title = f"After the playouts alone, {figures.get('before_hanchans', 0):,.0f} hanchans"
        before = _other_match(recipe, title, "before", figures)
    return _against_start(recipe, name, figures, [*before, *_supervised(recipe, metrics)])


def stage_metrics(folders: Mapping[str, Path]) -> dict[str, Mapping[str, float]]:
    """Return the metrics of the finished stages in ``folders`` (stage name -> folder)."""
    return {name: read_json(folder / DONE)["metrics"] for name, folder in folders.items() if (folder / DONE).is_file()}


def _compared(
    recipe: Recipe, figures: Mapping[str, float], name: str, hanchans: int, *, better: str, equal: str, worse: str
) -> Verdict:
    """Return the verdict on a match; ``better``, ``equal``, ``worse``: what each outcome means, without a full stop."""
    difference, low, high = _difference(figures, name)
    scoring = load_game(recipe.game_name).scoring
    measure = deciding_measure(scoring)
    signed = difference_text(difference, low, high, hanchans, scoring.games, measure)
    outcome: Outcome = "undecided"
    if hanchans < (least := SEATS * MIN_CLUSTERS):
        sentence = f"Too few games to decide who is stronger: {signed}; play at least {least}."
    elif measure.is_better(low, high):
        outcome = "better"
        sentence = f"{better}: {signed}."
    elif measure.is_worse(low, high):
        outcome = "worse"
        sentence = f"{worse}: {signed}."
    elif max(-low, high) <= _ABOUT_EQUAL * measure.scale.spread / PLACEMENT.scale.spread:
        sentence = f"{equal}: {signed}."
    else:
        sentence = f"The match does not show who is stronger: {signed}; more games narrow the interval."
    return Verdict(
        outcome=outcome,
        sentence=sentence,
        difference=difference,
        measure=measure,
        low=low,
        high=high,
        hanchans=hanchans,
    )


def _difference(figures: Mapping[str, float], name: str) -> tuple[float, float, float]:
    """Return a difference in the figures of a stage, and its bounds."""
    difference, low, high = (figures[f"{name}_difference{end}"] for end in ("", "_low", "_high"))
    return difference, low, high


def _match(recipe: Recipe, figures: Mapping[str, float], *, has_own_games: bool) -> Verdict:
    name = recipe.evaluation.opponent
    is_teacher = has_own_games and recipe.records.player == name
    opponent = f"their teacher {name}" if is_teacher else f"the opponent {name}"
    return _compared(
        recipe,
        figures,
        "paired",
        int(figures.get("hanchans", recipe.evaluation.hanchans)),
        better=f"The nets play better than {opponent}",
        equal=f"The nets play about as well as {opponent}",
        worse=f"The nets play worse than {opponent}",
    )


def _supervised(recipe: Recipe, metrics: Metrics) -> list[str]:
    """Return a sentence on the match of the nets at the start; none if they played none."""
    title = f"The {initial_name(recipe)} against {recipe.evaluation.opponent}"
    return _other_match(recipe, title, "paired", metrics.get("evaluation", {}))


def _against_start(recipe: Recipe, name: str, figures: Mapping[str, float], earlier: Sequence[str]) -> Verdict:
    """Return the verdict on the nets of a stage; ``earlier``: sentences on the nets before it."""
    unit = next((unit for unit in ("update", "decision") if f"{unit}s" in figures), "")
    amount = count_text(figures[f"{unit}s"], unit) if unit else "its updates"
    verdict = _compared(
        recipe,
        figures,
        "start",
        int(figures["start_hanchans"]),
        better=f"{name} made the nets stronger than their start after {amount}",
        equal=f"{name} left the nets about as strong as their start after {amount}",
        worse=f"{name} made the nets weaker than their start after {amount}",
    )
    titles = {name: f"Against the scripted agent {name}" for name in agent_names(recipe.game_name)}
    titles["start_sampled"] = "With sampled actions on both sides"
    others = [sentence for name, title in titles.items() for sentence in _other_match(recipe, title, name, figures)]
    return replace(verdict, sentence=" ".join([verdict.sentence, *others, *earlier]))


def _other_match(recipe: Recipe, title: str, name: str, figures: Mapping[str, float]) -> list[str]:
    """Return a sentence on a match; none if it was not played."""
    if f"{name}_difference_low" not in figures:
        return []
    difference, low, high = _difference(figures, name)
    measure = deciding_measure(load_game(recipe.game_name).scoring)
    unit = "" if measure is PLACEMENT else f" {measure.unit}"
    return [f"{title}: {difference:+.2f}{unit} ({bounds_text(low, high)})."]


def _agent_comparison(recipe: Recipe, figures: Mapping[str, float]) -> Verdict:
    placements = {name.removesuffix("_average_placement"): value for name, value in figures.items()
                  if name.endswith("_average_placement")}  # fmt: skip
    shown = ", ".join(f"{AGENT_TITLES[name]} {value:.2f}" for name, value in placements.items())
    games = f"{recipe.agent_comparison.hanchans:,} hanchans each"
    sentence = f"Average placements against three SL-weak: {shown}; {games}, lower is better."
    relations = []
    for agent, before in recipe.agent_comparison.comparisons.items():
        difference, low, high = _difference(figures, agent)
        found = relation(agent, before, low, high, recipe.agent_comparison.hanchans)
        relations.append(f"{found}: {difference:+.3f} ({low:+.3f} to {high:+.3f})")
    return Verdict(outcome="none", sentence=f"{sentence} {'; '.join(relations)}." if relations else sentence)


def _without_match(metrics: Metrics) -> str:
    margins = {
        name.removeprefix("margin_to_").replace("_", " "): value
        for name, value in metrics.get("reward_predictor", {}).items()
        if name.startswith("margin_to_")
    }
    if not margins:
        return "No match was played, so the strength of the nets is unknown."
    shown = ", ".join(
        f"{abs(value):.0%} {'below' if value >= 0 else 'above'} {name}" for name, value in margins.items()
    )
    return f"The reward predictor's error on test games, compared with simple predictions: {shown}."
