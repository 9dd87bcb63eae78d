"""A policy of the environments as an agent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import suphx
from suphx.environments.riichi_env import RiichiVectorEnv
from suphx.kernel.record import I8, I64, U8
from tests.environments.random_action import random_actions


def lowest_legal(observations: U8, masks: I8) -> ArrayLike:
    actions: I64 = masks.argmax(axis=1)
    return actions


@pytest.mark.parametrize("encoder", ["mini", "suphx"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_policy_sees_as_an_agent_what_it_sees_in_the_environments(encoder: str, packed: bool) -> None:
    """All observations and masks of the seats that decide, claims included."""
    env = RiichiVectorEnv(4, opponents=None, encoder=encoder, packed=packed, illegal_reward=None)
    agent = suphx.PolicyAgent("mine", lowest_legal, encoder=encoder, packed=packed)
    assert agent.layout == env.layout
    observations, infos = env.reset(seed=5)
    random, tables = np.random.default_rng(1), env.tables.simulator.tables
    for _ in range(60):
        for indices in (np.array([0, 1, 2, 3]), np.array([2, 0])):
            seen, masks = agent.observe(tables, indices)
            assert seen.dtype == np.uint8
            assert (seen == observations[indices]).all()
            assert (masks == infos["action_mask"][indices]).all()
        observations, _, _, _, infos = env.step(random_actions(random, infos["action_mask"]))


def test_it_plays_matches_and_games_and_is_reviewed() -> None:
    agent = suphx.PolicyAgent("lowest", lowest_legal)
    report = suphx.play_match(agent, "random", num_hanchans=8, seed=1, rules=suphx.Rules(num_winds=1))
    assert (report.candidate, report.opponent) == ("lowest", "random")
    assert agent.name == "lowest"
    (game,) = suphx.simulate([agent, "random", "random", "random"], seed=2)
    assert game.names[0] == "lowest"
    reviewed = suphx.review(game, agent).to_pylist()
    assert all(row["agrees"] for row in reviewed if row["seat"] == 0)


def test_it_is_an_opponent_in_the_environments() -> None:
    env = RiichiVectorEnv(2, opponents=[suphx.PolicyAgent("lowest", lowest_legal), "random", "tsumogiri"])
    _, infos = env.reset(seed=1)
    for _ in range(30):
        _, _, _, _, infos = env.step(infos["action_mask"].argmax(axis=1))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda masks: masks.astype(np.float32), r"actions of the policy of bad have the shape \[1, 120\]"),
        (lambda masks: masks.argmax(axis=1) + 0.5, "actions of the policy of bad are float64: give integers"),
        (lambda masks: [37, 37], "2 actions of the policy of bad for 1 tables"),
        (lambda masks: masks.argmin(axis=1), r"the policy of bad: .* is not legal; legal: .*tsumogiri.*mask is 1\)"),
        (lambda masks: [500], "the policy of bad: unknown action 500 is not legal"),
        (lambda masks: [-1], "the policy of bad: .* is not legal"),
    ],
)
def test_what_a_policy_must_not_return_is_explained(answer: Any, message: str) -> None:
    agent = suphx.PolicyAgent("bad", lambda observations, masks: answer(masks))
    with pytest.raises(ValueError, match=message):
        suphx.simulate(agent, seed=1)
