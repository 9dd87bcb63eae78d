"""What came out of a run: which stage decides, and what its match says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from suphx.evaluation.match_config import MatchConfig
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.recipe import AgentComparisonConfig, Recipe
from suphx_pipelines.report.report_page import verdict_figure
from suphx_pipelines.runs.stage_folder import DONE
from suphx_pipelines.runs.verdict import AGENT_COMPARISON_STAGE, Metrics, bounds_text, find_verdict, stage_metrics
from suphx_pipelines.stages.agent_comparison import MATCH_STAGE
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import load_recipe

RECIPE = Recipe(name="laptop", evaluation=MatchConfig(hanchans=1000))


def match(name: str, mean: float, low: float, high: float) -> dict[str, float]:
    return {f"{name}_difference": mean, f"{name}_difference_low": low, f"{name}_difference_high": high}


def evaluation(mean: float, low: float, high: float, hanchans: int = 1000) -> dict[str, float]:
    return match("paired", mean, low, high) | {"hanchans": hanchans}


def played(mean: float, low: float, high: float, **amount: float) -> dict[str, float]:
    return match("start", mean, low, high) | {"start_hanchans": 200.0} | amount


SELF_PLAY = played(-0.4, -0.5, -0.3, updates=300.0)
PLAYOUTS = played(-0.18, -0.22, -0.14, decisions=240000.0)


POINTS = "mcr_laptop"
"""A recipe of a game in which more points are better."""


@pytest.mark.parametrize(
    ("recipe", "figures", "outcome", "beginning"),
    [
        ("laptop", evaluation(-0.292, -0.37, -0.21), "better", "The nets play better than the opponent ukeire: "),
        ("laptop", evaluation(0.66, 0.55, 0.77), "worse", "The nets play worse than "),
        ("laptop", evaluation(0.01, -0.05, 0.07), "undecided", "The nets play about as well as "),
        ("laptop", evaluation(0.1, -0.3, 0.5, 40), "undecided", "The match does not show who is stronger: "),
        ("laptop", evaluation(-0.5, -0.9, -0.1, 8), "undecided", "Too few games to decide who is stronger: "),
        (POINTS, evaluation(2.4, 1.1, 3.7), "better", "The nets play better than "),
        (POINTS, evaluation(-2.4, -3.7, -1.1), "worse", "The nets play worse than "),
        (POINTS, evaluation(0.3, -1.1, 1.7), "undecided", "The nets play about as well as "),
        (POINTS, evaluation(0.3, -6.1, 6.7), "undecided", "The match does not show who is stronger: "),
    ],
)
def test_the_match_of_the_supervised_nets_decides(
    recipe: str, figures: dict[str, float], outcome: str, beginning: str
) -> None:
    verdict = find_verdict(load_recipe(RECIPES / f"{recipe}.toml"), {"evaluation": figures})
    assert (verdict.outcome, verdict.difference) == (outcome, figures["paired_difference"])
    assert verdict.sentence.startswith(beginning)
    assert f"(95 % interval {figures['paired_difference_low']:+.2f} to " in verdict.sentence


def test_differences_of_points_have_their_unit_and_their_better_side() -> None:
    recipe, metrics = load_recipe(RECIPES / f"{POINTS}.toml"), {"evaluation": evaluation(2.4, 1.1, 3.7)}
    verdict = find_verdict(recipe, metrics)
    assert "+2.40 points per game (95 % interval " in verdict.sentence
    figure = verdict_figure(verdict)
    assert figure.picture.index("← worse") < figure.picture.index("better →")
    later = find_verdict(recipe, {**metrics, "reinforcement": SELF_PLAY}).sentence
    assert later.endswith(f"+2.40 points per game ({bounds_text(1.1, 3.7)}).")


@pytest.mark.parametrize(
    ("metrics", "outcome", "difference", "beginning"),
    [
        ({"reinforcement": SELF_PLAY}, "better", -0.4, "Self-play made the nets stronger than their start after 300"),
        ({"playouts": PLAYOUTS}, "better", -0.18, "Playouts made the nets stronger than their start after 240,000 "),
        ({"playouts": PLAYOUTS, "reinforcement": SELF_PLAY}, "better", -0.4, "Playouts and self-play made "),
        ({"playouts": PLAYOUTS, "oracle_decay": SELF_PLAY}, "better", -0.4, "Playouts and self-play with oracle "),
        ({"oracle_decay": played(-0.1, -0.5, 0.01, updates=1.0)}, "undecided", -0.1, "The match does not show "),
        ({"playouts": {"decisions": 9.0}}, "none", None, "The nets from playouts played no match, "),
        ({"reinforcement": {"updates": 9.0}, "oracle": SELF_PLAY}, "none", None, "The nets from self-play played no "),
        ({"reward_predictor": {"margin_to_mean": 0.4}}, "none", None, "The reward predictor's error "),
        ({}, "none", None, "No match was played"),
    ],
)
def test_the_last_stage_that_makes_an_agent_decides(
    metrics: Metrics, outcome: str, difference: float | None, beginning: str
) -> None:
    verdict = find_verdict(RECIPE, {**metrics})
    assert (verdict.outcome, verdict.difference) == (outcome, difference)
    assert verdict.sentence.startswith(beginning)


def test_other_matches_are_told_behind_the_one_that_decides() -> None:
    figures = SELF_PLAY | match("ukeire", -0.16, -0.2, -0.12) | match("before", -0.14, -0.26, -0.02)
    metrics = {"evaluation": evaluation(0, -0.1, 0.1), "playouts": {}, "reinforcement": figures}
    sentence = find_verdict(RECIPE, {**metrics, "reinforcement": figures | {"before_hanchans": 200.0}}).sentence
    assert "Against the scripted agent ukeire: -0.16 (-0.20 to -0.12). After the playouts alone, 200 " in sentence
    assert sentence.endswith("The supervised nets against ukeire: +0.00 (-0.10 to +0.10).")


def test_figure_8_lists_all_agents() -> None:
    recipe = replace(RECIPE, agent_comparison=AgentComparisonConfig(agents=("sl_weak", "sl"), hanchans=400))
    assert AGENT_COMPARISON_STAGE == MATCH_STAGE
    figures = {"sl_weak_average_placement": 2.5, "sl_average_placement": 2.41} | match("sl", -0.09, -0.12, -0.06)
    sentence = find_verdict(recipe, {MATCH_STAGE: figures}).sentence
    assert "SL-weak 2.50, SL 2.41; 400 hanchans each" in sentence
    assert sentence.endswith("SL is better than SL-weak: -0.090 (-0.120 to -0.060).")


def test_metrics_are_read_from_finished_stages(tmp_path: Path) -> None:
    (tmp_path / "evaluation").mkdir()
    write_json(tmp_path / "evaluation" / DONE, {"metrics": {"win_rate": 0.2}})
    folders = {name: tmp_path / name for name in ("records", "evaluation")}
    assert stage_metrics(folders) == {"evaluation": {"win_rate": 0.2}}
