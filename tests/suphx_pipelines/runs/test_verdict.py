from __future__ import annotations

from pathlib import Path

import pytest

from suphx.evaluation.match_config import MatchConfig
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.recipe import AgentComparisonConfig, Recipe
from suphx_pipelines.runs.stage_folder import DONE
from suphx_pipelines.runs.verdict import AGENT_COMPARISON_STAGE, Metrics, find_verdict, stage_metrics
from suphx_pipelines.stages.agent_comparison import MATCH_STAGE

RECIPE = Recipe(name="laptop", evaluation=MatchConfig(hanchans=1000))


def evaluation(mean: float, low: float, high: float, hanchans: int = 1000) -> dict[str, float]:
    return {
        "paired_difference": mean,
        "paired_difference_low": low,
        "paired_difference_high": high,
        "hanchans": hanchans,
    }


@pytest.mark.parametrize(
    ("figures", "outcome", "sentence"),
    [
        (
            evaluation(-0.292, -0.37, -0.21),
            "better",
            "The nets play better than the opponent ukeire: placement difference -0.29 "
            "(95 % interval -0.37 to -0.21; negative is better), 1,000 hanchans.",
        ),
        (
            evaluation(0.66, 0.55, 0.77),
            "worse",
            "The nets play worse than the opponent ukeire: placement difference +0.66 "
            "(95 % interval +0.55 to +0.77; negative is better), 1,000 hanchans.",
        ),
        (
            evaluation(0.01, -0.05, 0.07),
            "undecided",
            "The nets play about as well as the opponent ukeire: placement difference +0.01 "
            "(95 % interval -0.05 to +0.07; negative is better), 1,000 hanchans.",
        ),
        (
            evaluation(0.1, -0.3, 0.5, 40),
            "undecided",
            "The match does not show who is stronger: placement difference +0.10 "
            "(95 % interval -0.30 to +0.50; negative is better), 40 hanchans; more games narrow the interval.",
        ),
        (
            evaluation(-0.5, -0.9, -0.1, 8),
            "undecided",
            "Too few games to decide who is stronger: placement difference -0.50 "
            "(95 % interval -0.90 to -0.10; negative is better), 8 hanchans; play at least 24.",
        ),
    ],
)
def test_the_match_of_the_supervised_nets_decides(figures: dict[str, float], outcome: str, sentence: str) -> None:
    verdict = find_verdict(RECIPE, {"records": {"games": 10}, "evaluation": figures})
    assert (verdict.outcome, verdict.sentence) == (outcome, sentence)
    assert (verdict.difference, verdict.low) == (figures["paired_difference"], figures["paired_difference_low"])
    assert verdict.hanchans == figures["hanchans"]


def test_an_opponent_that_has_played_the_games_is_called_the_teacher() -> None:
    metrics: Metrics = {"records": {"played": 1.0}, "evaluation": evaluation(0.01, -0.05, 0.07)}
    assert "as well as their teacher ukeire: " in find_verdict(RECIPE, metrics).sentence


def test_without_self_play_the_nets_of_the_playouts_are_compared_with_the_supervised_ones() -> None:
    played = {
        "decisions": 240000.0,
        "start_difference": -0.18,
        "start_difference_low": -0.22,
        "start_difference_high": -0.14,
        "start_hanchans": 2000.0,
    }
    verdict = find_verdict(RECIPE, {"evaluation": evaluation(0, -0.1, 0.1), "playouts": played})
    assert (verdict.outcome, verdict.difference) == ("better", -0.18)
    assert verdict.sentence.startswith("Playouts made the nets stronger than their start after 240,000 decisions: ")
    self_play = find_verdict(RECIPE, {"playouts": played, "reinforcement": played | {"updates": 5.0}})
    assert self_play.sentence.startswith(
        "Playouts and self-play made the nets stronger than their start after 5 updates"
    )
    assert "playouts alone" not in self_play.sentence
    guided = find_verdict(RECIPE, {"playouts": played, "oracle_decay": played | {"updates": 5.0}})
    assert guided.sentence.startswith("Playouts and self-play with oracle guiding made the nets stronger than ")


def test_what_the_nets_had_gained_before_self_play_is_told() -> None:
    played = {
        "updates": 100.0,
        "start_difference": -0.17,
        "start_difference_low": -0.22,
        "start_difference_high": -0.13,
        "start_hanchans": 2000.0,
        "before_difference": -0.14,
        "before_difference_low": -0.26,
        "before_difference_high": -0.02,
        "before_hanchans": 200.0,
    }
    verdict = find_verdict(RECIPE, {"playouts": {"decisions": 240000.0}, "reinforcement": played})
    assert (verdict.outcome, verdict.difference) == ("better", -0.17)
    assert verdict.sentence.endswith("2,000 hanchans. After the playouts alone, 200 hanchans: -0.14 (-0.26 to -0.02).")
    assert "playouts alone" not in find_verdict(RECIPE, {"reinforcement": played}).sentence


def test_nets_that_played_no_match_have_no_verdict_of_others() -> None:
    metrics = {"evaluation": evaluation(-0.3, -0.4, -0.2), "playouts": {"decisions": 240000.0}}
    verdict = find_verdict(RECIPE, metrics)
    assert (verdict.outcome, verdict.difference) == ("none", None)
    assert verdict.sentence == (
        "The nets from playouts played no match, so their strength is unknown. The supervised nets against ukeire: "
        "-0.30 (-0.40 to -0.20)."
    )
    oracle = {"updates": 9.0} | {f"start_difference{end}": -0.3 for end in ("", "_low", "_high")}
    verdict = find_verdict(RECIPE, {"reinforcement": {"updates": 9.0}, "oracle": oracle | {"start_hanchans": 800.0}})
    assert verdict.outcome == "none"
    assert verdict.sentence.startswith(
        "The nets from self-play played no match, so their strength is unknown. Self-play of nets that see hidden "
        "tiles made the nets stronger than their start after 9 updates: "
    )


def test_self_play_is_compared_with_its_own_start() -> None:
    played = {
        "updates": 300.0,
        "start_difference": -0.4,
        "start_difference_low": -0.5,
        "start_difference_high": -0.3,
        "start_hanchans": 200.0,
    }
    verdict = find_verdict(RECIPE, {"evaluation": evaluation(0, -0.1, 0.1), "reinforcement": played})
    assert verdict.outcome == "better"
    assert verdict.sentence == (
        "Self-play made the nets stronger than their start after 300 updates: placement difference -0.40 "
        "(95 % interval -0.50 to -0.30; negative is better), 200 hanchans. The supervised nets against ukeire: +0.00 "
        "(-0.10 to +0.10)."
    )
    verdict = find_verdict(RECIPE, {"reinforcement": played})
    assert verdict.sentence.endswith("200 hanchans.")
    sampled = {
        "start_sampled_difference": -0.2,
        "start_sampled_difference_low": -0.3,
        "start_sampled_difference_high": 0.1,
    }
    ukeire = {"ukeire_difference": -0.16, "ukeire_difference_low": -0.2, "ukeire_difference_high": -0.12}
    against_ukeire = find_verdict(RECIPE, {"reinforcement": played | ukeire})
    assert against_ukeire.sentence == verdict.sentence + " Against the scripted agent ukeire: -0.16 (-0.20 to -0.12)."
    both = find_verdict(RECIPE, {"reinforcement": played | sampled})
    assert (both.outcome, both.difference) == ("better", -0.4)
    assert both.sentence == verdict.sentence + " With sampled actions on both sides: -0.20 (-0.30 to +0.10)."
    guided = find_verdict(RECIPE, {"reinforcement": played, "oracle_decay": played | {"start_difference_high": 0.01}})
    assert guided.sentence.startswith("The match does not show who is stronger")


def test_figure_8_lists_all_agents() -> None:
    recipe = Recipe(
        name="agent_comparison", agent_comparison=AgentComparisonConfig(agents=("sl_weak", "sl"), hanchans=400)
    )
    assert AGENT_COMPARISON_STAGE == MATCH_STAGE
    metrics = {MATCH_STAGE: {"sl_weak_average_placement": 2.5, "sl_average_placement": 2.41, "sl_difference": -0.09}}
    verdict = find_verdict(recipe, metrics)
    assert verdict.sentence == (
        "Average placements against three SL-weak: SL-weak 2.50, SL 2.41; 400 hanchans each, lower is better."
    )
    metrics[MATCH_STAGE] |= {"sl_difference_low": -0.12, "sl_difference_high": -0.06}
    assert find_verdict(recipe, metrics).sentence == (
        f"{verdict.sentence} SL is better than SL-weak: -0.090 (-0.120 to -0.060)."
    )


def test_without_a_match_there_is_no_claim() -> None:
    assert find_verdict(RECIPE, {}).outcome == "none"
    verdict = find_verdict(RECIPE, {"reward_predictor": {"margin_to_mean": 0.4, "margin_to_place_now": -0.02}})
    assert verdict.outcome == "none"
    assert verdict.sentence.endswith("simple predictions: 40% below mean, 2% above place now.")


def test_metrics_are_read_from_finished_stages(tmp_path: Path) -> None:
    (tmp_path / "evaluation").mkdir()
    write_json(tmp_path / "evaluation" / DONE, {"metrics": {"win_rate": 0.2}})
    folders = {name: tmp_path / name for name in ("records", "evaluation")}
    assert stage_metrics(folders) == {"evaluation": {"win_rate": 0.2}}
