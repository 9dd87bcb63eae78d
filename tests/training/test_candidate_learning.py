"""The policy gradient on candidates: what is played by self-play of DouDizhu moves the nets that value its moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suphx.experience.decisions import Decisions
from suphx.games.registry import find_learning
from suphx.models.net_config import CandidateNetConfig
from suphx.selfplay.agents.policy_set import random_policy_set
from suphx.selfplay.config import InferenceEngineConfig, SimulatorConfig
from suphx.selfplay.engine import InferenceEngine, LocalEngine
from suphx.selfplay.simulator import SelfPlaySimulator, SimulatorContext
from suphx.selfplay.weights import PolicyVersion
from suphx.training.learner import Learner
from suphx.training.learner_config import EntropyConfig, LearnerConfig, PolicyGradientConfig

GAME = "doudizhu"
LEARNING = find_learning(GAME)
ENCODER = LEARNING.encoders[0]
KINDS = (0, 1, 2)
CONFIG = LearnerConfig(
    learning_rate=1e-2,
    precision="fp32",
    gradient=PolicyGradientConfig(reward_unit=1.0),
    entropy=EntropyConfig(alpha=0.0, rate=0.0, gain=0.0),
)


def new_player(*, use_critic: bool = True) -> tuple[InferenceEngine, SelfPlaySimulator, Learner]:
    policy_set = random_policy_set(ENCODER, CandidateNetConfig(units=4, hidden=16, layers=2), 1, game=GAME)
    features = LEARNING.candidate_features(ENCODER)
    engine = InferenceEngine(InferenceEngineConfig(precision="fp32"), policy_set, None, heads=KINDS, features=features)
    config = replace(CONFIG, gradient=replace(CONFIG.gradient, use_critic=use_critic))
    return engine, new_simulator(engine), Learner(config, policy_set.nets)


def new_simulator(engine: InferenceEngine) -> SelfPlaySimulator:
    context = SimulatorContext(game=GAME, encoder=ENCODER, heads=KINDS, run_seed=3)
    return SelfPlaySimulator(SimulatorConfig(num_tables=32), context, LocalEngine(engine))


def passes(decisions: Decisions) -> np.ndarray:
    """Return which decisions are a pass, bool [n], where that was possible."""
    lists = decisions.candidates
    assert lists is not None
    moves = lists.moves[lists.offsets[:-1] + decisions.actions]
    found: np.ndarray = moves == lists.moves.max()  # the last move of the table
    return found


def pass_share(simulator: SelfPlaySimulator) -> float:
    parts = [part for part in simulator.play(150).decisions if len(part)]
    return float(np.concatenate([passes(part) for part in parts]).mean())


@pytest.mark.parametrize("use_critic", [True, False])
def test_moves_that_are_paid_become_more_frequent(use_critic: bool) -> None:
    engine, simulator, learner = new_player(use_critic=use_critic)
    batches = {part.decision: part for part in simulator.play(100).decisions}
    paid = {
        head: replace(part, rewards=np.where(passes(part), 1, -1).astype(np.float32), is_last=np.ones(len(part), bool))
        for head, part in batches.items()
    }
    first = learner.update(paid)
    for figures in first.values():
        assert np.isfinite(list(figures.values())).all()
        assert figures["ratio_median"] == pytest.approx(1, abs=1e-3), "what was sampled is what the learner computes"
    for _ in range(40):
        learner.update(paid)
    before = pass_share(simulator)
    engine.load(PolicyVersion(number=1, weights=learner.weights()))
    assert pass_share(new_simulator(engine)) > before + 0.2


def test_a_restored_learner_goes_on_as_the_other() -> None:
    _, simulator, learner = new_player()
    parts = [{part.decision: part for part in simulator.play(60).decisions if len(part)} for _ in range(2)]
    learner.update(parts[0])
    _, _, other = new_player()
    other.restore(*learner.state())
    for each in (learner, other):
        each.update(parts[1])
    for name, own in learner.weights().items():
        assert all((value == other.weights()[name][key]).all() for key, value in own.items())
