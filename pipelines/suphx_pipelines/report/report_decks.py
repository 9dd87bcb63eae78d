"""The report stage of a run by Deep Monte-Carlo: the match, the curve and the settings on one page."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.evaluation.match_config import MIN_CLUSTERS, widened_note
from suphx.evaluation.statistics import proportion_interval
from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.charts.line_chart import Curve, curve_figure
from suphx_pipelines.charts.plot import Figure
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.agent_stages import MONTE_CARLO_STAGE
from suphx_pipelines.recipe.recipe import MonteCarloRecipe
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import Run, percent
from suphx_pipelines.runs import stage
from suphx_pipelines.runs.run_commands import agent_commands
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.runs.verdict import Outcome, Verdict, digits_that_tell
from suphx_pipelines.stages.deck_match import MATCH, MATCH_FILE, SAMPLE_GAME
from suphx_pipelines.stages.monte_carlo import curve_point
from suphx_pipelines.viewer.viewer_page import PAGE_FILE

_STANDARD_ERRORS = 1.96
_ABOUT_EQUAL = 0.05
"""An undecided interval whose ends are within this share of 0.5 is called about as well."""
Figures = Mapping[str, Any]


def report_stage(recipe: MonteCarloRecipe) -> Stage[MonteCarloRecipe]:
    """Return the stage."""
    return stage.report_stage(recipe, run, (MONTE_CARLO_STAGE, MATCH, SAMPLE_GAME), (REPORT_NAME, PAGE_FILE))


def run(context: StageContext[MonteCarloRecipe]) -> dict[str, float]:
    """Write the page."""
    recipe, folders = context.recipe, context.upstream
    match = read_json(folders[MATCH] / MATCH_FILE)
    learned = read_json(folders[MONTE_CARLO_STAGE] / METRICS_FILE)
    commands = agent_commands(context.folder.parent, recipe.storage.address)
    about = Run.of(context.folder.parent, recipe, verdict(match), commands)
    shutil.copyfile(folders[SAMPLE_GAME] / PAGE_FILE, context.folder / PAGE_FILE)
    page = about.page(sections(recipe, match, learned), subtitle=recipe.about)
    write_atomically(context.folder / REPORT_NAME, [page.encode()])
    return {"bytes": len(page)}


def sections(recipe: MonteCarloRecipe, match: Figures, learned: Figures) -> report_page.Sections:
    """Return the sections of the page; ``learned``: of the training."""
    points, config = [curve_point(entry) for entry in learned["curve"]], recipe.learning
    loss = Curve(name="loss", points=[(point["seconds"] / 60, point["loss"]) for point in points])
    least: float | None = 0.0
    kind = f"yes or no for the moves of {config.imitates}" if config.imitates else "mean squared error of the values"
    if config.algorithm == "policy_gradient":
        kind, least = "policy gradient", None  # it may be negative
    charts = [_chart(points, opponent, match["sides"], config.evaluate_decks) for opponent in config.opponents]
    charts.append(curve_figure(f"Loss: {kind}", [loss], x_title="minutes", least=least))
    return report_page.sections(
        "decks", match=match, points=points, charts=charts, opponent=recipe.match.opponents[-1], game_page=PAGE_FILE
    )


def verdict(match: Figures) -> Verdict:
    """Return the verdict of a run with this ``match.json``: how the nets did against the last opponent."""
    outcome: Outcome = "undecided"
    sentences, has_few = [], match["decks"] < MIN_CLUSTERS
    for opponent, figures in match["opponents"].items():
        low, high = figures["share"]["interval"]
        outcome, word = "undecided", "are not clearly better or worse than"
        if has_few:
            word = "played against"
        elif low > 0.5:
            outcome, word = "better", "beat"
        elif high < 0.5:
            outcome, word = "worse", "lose to"
        elif max(0.5 - low, high - 0.5) <= _ABOUT_EQUAL:
            word = "play about as well as"
        digits = digits_that_tell([100 * low, 100 * high], 1, equal=50.0)
        bounds = f"{percent(low, digits)} to {percent(high, digits)}"
        bounds += widened_note(figures["share"].get("is_widened", False), "decks")
        won = f"{percent(figures['share']['mean'])} of the games (95 % interval {bounds})"
        shares = " and ".join(f"{percent(figures[f'wp_{side}']['mean'])} as {side}" for side in match["sides"])
        sentences.append(f"The nets {word} {opponent}: they win {won}, {shares}.")
    few = f" Too few to decide: play at least {MIN_CLUSTERS}." if has_few else ""
    decks = f"{match['decks']:,} decks each, both sides."
    return Verdict(outcome=outcome, sentence=f"{' '.join(reversed(sentences))} {decks}{few}")


def _chart(points: Sequence[Mapping[str, float]], opponent: str, sides: Sequence[str], decks: int) -> Figure:
    curves = []
    for colour, side in enumerate(sides):
        known = [(point[f"{opponent}_wp_{side}"], point[f"{opponent}_wp_{side}_error"]) for point in points]
        curves.append(
            Curve(
                name=f"as {side}",
                points=[(point["seconds"] / 60, share) for point, (share, _) in zip(points, known, strict=True)],
                colour=colour,
                has_dots=True,
                intervals=[_interval(share, error, decks) for share, error in known],
            )
        )
    title = f"Games won against {opponent}"
    axes: dict[str, Any] = {"x_title": "minutes", "y_unit": "percent", "levels": (0.5,), "most": 1.0}
    return curve_figure(title, curves, "With 95 % intervals; always the same decks.", **axes)


def _interval(share: float, error: float, decks: int) -> tuple[float, float]:
    """Return the 95 % interval of the share of games won in an evaluation, from its standard error.

    The standard error of a share of 0 or 1 is 0: it has the exact interval.
    """
    if share in (0.0, 1.0):
        exact = proportion_interval([share] * decks)
        return exact.low, exact.high
    return max(0.0, share - _STANDARD_ERRORS * error), min(1.0, share + _STANDARD_ERRORS * error)
