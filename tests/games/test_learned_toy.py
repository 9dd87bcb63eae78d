"""A game of four seats with a small encoder is learned from records of a scripted agent, and from its own games."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import MatchSetup, play_match
from suphx.games.game import Agent
from suphx.games.registry import GAMES
from suphx.models.net_config import CandidateNetConfig
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.training.config import MonteCarloConfig
from suphx.training.monte_carlo import RoundLearner, RoundSimulator
from tests.games.learned_toy import ENTRY, NAME
from tests.games.toy_game import ToyAgent, ToyRules

GAMES.pop(NAME, None)
GAMES.pop("toy", None)  # registered by the imports, for worker processes


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """The game is there for these tests only: others ask for all games."""
    GAMES[NAME] = ENTRY
    yield
    del GAMES[NAME]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "rounds"),
    [
        ({"imitates": "greedy"}, 20),
        ({"algorithm": "policy_gradient", "entropy": 0.001}, 60),
        ({"algorithm": "monte_carlo", "epsilon": 0.1}, 40),
    ],
    ids=["supervised", "policy gradient", "Monte-Carlo"],
)
def test_it_is_learned(settings: dict[str, Any], rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    small = partial(CandidateNetConfig, units=16, hidden=64, layers=2)
    monkeypatch.setattr("suphx.training.monte_carlo.CandidateNetConfig", small)
    config = MonteCarloConfig(games=256, learning_rate=2e-3, threads=1, precision="fp32", **settings)
    learner = RoundLearner(config, NAME)
    player = RoundSimulator(config, NAME, ToyRules(), learner.nets)
    for number in range(rounds):
        learner.learn(player.samples(number))
    nets = NetAgent("nets", list(learner.nets), NAME, rules=ToyRules(), precision="fp32")  # type: ignore[arg-type]
    agents: dict[str, Agent] = {"nets": nets, "random": ToyAgent("random")}
    setup = MatchSetup("nets", "random", seed=1, game=NAME)
    report = play_match(setup, 2000, runner=GameRunner(load=agents.__getitem__))
    assert report.difference.is_significant
    assert report.difference.mean < 0, "lower places are better"
