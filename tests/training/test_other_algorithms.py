"""Algorithms of one game on the decisions of the other: values of riichi's discards, policy gradient of DouDizhu."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from suphx import play_match
from suphx.experience.decisions import Decisions
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.models.sampling import epsilon_greedy
from suphx.selfplay.config import InferenceEngineConfig, SimulatorConfig
from suphx.selfplay.engine import InferenceEngine, LocalEngine
from suphx.selfplay.simulator import SelfPlaySimulator, SimulatorContext
from suphx.selfplay.weights import PolicyVersion
from suphx.training.config import MonteCarloConfig
from suphx.training.learner import Learner
from suphx.training.learner_config import LearnerConfig, PolicyGradientConfig
from suphx.training.monte_carlo_learning import ValueTrainer
from suphx_pipelines.json_file import read_json
from suphx_pipelines.pipeline import run_recipe
from suphx_platform.console.console import Console
from tests.repository import RECIPES
from tests.selfplay.small_policy_set import small_policy_set
from tests.suphx_pipelines.recipe.small_recipe import load_recipe

GAME = candidate_game("doudizhu")
ROUNDS = MonteCarloConfig(
    algorithm="policy_gradient", games=4, batches=1, max_minutes=0, threads=1, device="cpu", precision="fp32"
)


def test_the_highest_output_is_taken_but_for_a_share() -> None:
    logits, masks = torch.tensor([[3.0, 9.0, 1.0, 2.0]]), torch.tensor([[1, 0, 1, 1]])
    assert epsilon_greedy(logits, masks, 0.3).exp().tolist() == [pytest.approx([0.8, 0.0, 0.1, 0.1])]


def honours(decisions: Decisions) -> float:
    return float((decisions.actions >= 27).mean())


def test_values_of_discards_learn_what_is_paid() -> None:
    policy_set = small_policy_set(1)
    engine = InferenceEngine(
        InferenceEngineConfig(precision="fp32", epsilon=0.3), policy_set, None, heads=(DISCARD_HEAD,)
    )
    context = SimulatorContext(encoder="mini", heads=(DISCARD_HEAD,), run_seed=3, game="riichi")
    simulator = SelfPlaySimulator(SimulatorConfig(num_tables=32), context, LocalEngine(engine))
    config = LearnerConfig(
        algorithm="monte_carlo", learning_rate=1e-2, precision="fp32", gradient=PolicyGradientConfig(reward_unit=1.0)
    )
    learner = Learner(config, [policy_set.net(DISCARD_HEAD)])
    (batch,) = simulator.play(150).decisions
    paid = replace(batch, rewards=np.where(batch.actions >= 27, 1, -1).astype(np.float32))
    first = learner.update({DISCARD_HEAD: paid})["discard"]
    for _ in range(40):
        last = learner.update({DISCARD_HEAD: paid})["discard"]
    assert last["policy_loss"] < 0.7 * first["policy_loss"]
    engine.load([PolicyVersion(1, learner.weights())])
    (after,) = simulator.play(100).decisions
    assert honours(after) > honours(batch)


@pytest.mark.slow
def test_candidates_learn_by_the_policy_gradient(tmp_path: Path) -> None:
    config = replace(ROUNDS, games=64, max_rounds=150, evaluate_rounds=150, evaluate_decks=200, learning_rate=3e-4)
    _, begun = ValueTrainer(replace(config, max_rounds=1), GAME, Rules(), tmp_path / "begun").run()
    _, learned = ValueTrainer(config, GAME, Rules(), tmp_path / "learned").run()
    before, after = begun.history[-1]["random"], learned.history[-1]["random"]
    for side in GAME.sides:
        error = max(figures[f"wp_{side}_error"] for figures in (before, after))
        assert after[f"wp_{side}"] > before[f"wp_{side}"] + 2 * error


@pytest.mark.slow
def test_discards_learn_by_monte_carlo_through_a_recipe(runs: Path) -> None:
    changes = {
        "reinforcement.learner.algorithm": "monte_carlo",
        "reinforcement.learner.learning_rate": "0.003",
        "reinforcement.engine.epsilon": "0.1",
        "reinforcement.final_sampled": "false",
    }
    recipe = load_recipe(RECIPES / "reinforcement.toml", list(changes.items()))
    done = run_recipe(recipe, records=None, runs=runs, console=Console())
    folder = done.folder / "reinforcement"
    last = read_json(folder / "metrics.json")["matches"][-1]
    assert last["interval"][1] < 0, "better than its start"
    assert play_match(str(folder), "random", num_hanchans=200, seed=1).difference.interval.high < 0
