from __future__ import annotations

from pathlib import Path

import pytest

from suphx import play_match
from suphx_pipelines.json_file import read_json
from suphx_pipelines.pipeline import pipeline_stages, run_recipe
from suphx_pipelines.recipe.recipe import AGENT_TITLES, AgentComparisonConfig
from suphx_pipelines.stages.agent_comparison import table
from suphx_platform.console.console import Console
from tests.repository import RECIPES
from tests.suphx_pipelines.recipe.small_recipe import load_recipe

AGENT_COMPARISON = RECIPES / "agent_comparison.toml"
OVERNIGHT = RECIPES / "overnight.toml"


def test_agents_are_held_against_the_one_before_on_the_same_walls_and_seats() -> None:
    reports = [play_match(name, "tsumogiri", num_hanchans=40, seed=3) for name in ("random", "tsumogiri", "ukeire")]
    first, second, third = table(AgentComparisonConfig(agents=("sl_weak", "sl", "rl_basic")), reports)
    assert (first["compared_with"], first["difference"]) == (None, None)
    assert second["compared_with"] == "sl_weak"
    for entry, report in zip((first, second, third), reports, strict=True):
        assert sum(entry["placements"]) == 40
        assert entry["average_placement"] == pytest.approx(sum(report.placements) / 40)
        assert entry["interval"][0] <= entry["average_placement"] <= entry["interval"][1]
    expected = (sum(reports[2].placements) - sum(reports[1].placements)) / 40
    assert third["difference"] == pytest.approx(expected)
    low, high = third["difference_interval"]
    assert low <= expected <= high < 0, "who looks at its hand is better than who does not"
    assert third["win_rate"] == report.statistics.win_rate > second["win_rate"] == 0
    assert third["deal_in_rate_interval"][0] <= third["deal_in_rate"] <= third["deal_in_rate_interval"][1]


def test_the_control_run_is_compared_but_nothing_is_compared_with_it() -> None:
    config = AgentComparisonConfig(agents=("sl_weak", "sl", "rl_basic", "rl_permuted", "rl_1"))
    assert config.comparisons == {"sl": "sl_weak", "rl_permuted": "sl", "rl_basic": "sl", "rl_1": "rl_basic"}
    assert AgentComparisonConfig(agents=("rl_permuted", "sl_weak")).comparisons == {}


def test_self_play_agents_share_nets_and_predictor_and_differ_by_their_reward() -> None:
    stages = {stage.name: stage for stage in pipeline_stages(load_recipe(AGENT_COMPARISON))}
    assert "reinforcement" not in stages
    assert "reward_predictor" not in stages["agent_comparison/rl_basic"].needs
    assert set(stages["agent_comparison/rl_1"].needs) - set(stages["agent_comparison/rl_basic"].needs) == {
        "reward_predictor"
    }
    assert {"agent_comparison/rl_basic", "agent_comparison/rl_1"} < set(stages["agent_comparison/match"].needs)
    assert sum(name.startswith("supervised/") for name in stages) == 5
    without = [("agent_comparison.agents", '["sl", "rl_basic"]'), ("oracle.max_updates", "0")]
    assert "reward_predictor" not in {stage.name for stage in pipeline_stages(load_recipe(AGENT_COMPARISON, without))}

    assert stages["agent_comparison/match"].needs[-1] == "oracle_decay"
    assert "reward_predictor" in stages["oracle_decay"].needs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        (AGENT_COMPARISON, ["sl_weak", "sl", "rl_basic", "rl_1", "rl_2"]),
        (OVERNIGHT, ["sl_weak", "sl", "rl_basic", "rl_permuted", "rl_1", "rl_2"]),
    ],
)
def test_one_command_ends_with_the_table(recipe: Path, expected: list[str], runs: Path) -> None:
    small = {
        "net.channels": "4",
        "net.num_blocks": "1",
        "records.played_games": "40",
        "supervised.batch_size": "64",
        "supervised.max_steps": "20",
        "supervised.validate_every": "20",
        "reward_predictor.learning.max_epochs": "2",
        "reinforcement.max_updates": "2",
        "reinforcement.buffer.batch_size": "300",
        "reinforcement.learner.critic_warmup.decisions": "300",
        "reinforcement.simulator.num_tables": "32",
        "reinforcement.evaluation_hanchans": "8",
        "reinforcement.evaluation_deals": "0",
        "reinforcement.evaluation_workers": "1",
        "reinforcement.final_hanchans": "0",
        "agent_comparison.hanchans": "8",
        "agent_comparison.workers": "1",
        "evaluation.hanchans": "8",
        "oracle.max_updates": "2",
        "oracle_decay.steps": "2",
        "oracle_decay.updates_per_step": "1",
        "oracle_decay.continued_updates": "1",
    }
    done = run_recipe(load_recipe(recipe, list(small.items())), records=None, runs=runs, console=Console())
    agents = read_json(done.folder / "agent_comparison" / "match" / "agent_comparison.json")["agents"]
    assert [entry["agent"] for entry in agents] == expected
    learned = {path.parent.name for path in (done.folder / "agent_comparison").glob("rl_*/metrics.json")}
    assert learned == set(expected) - {"sl_weak", "sl", "rl_2"}
    page = done.report.read_text(encoding="utf-8")
    assert "What each idea brings" in page
    assert all(f"Self-play of {AGENT_TITLES[agent]}" in page for agent in learned)
    assert "Match of the supervised nets" in page
    assert "Reward predictor" in page
