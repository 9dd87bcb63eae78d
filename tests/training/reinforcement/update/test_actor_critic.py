from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from suphx.games.riichi.features.head import DISCARD_HEAD
from suphx.games.riichi.features.oracle import ORACLE
from suphx.games.riichi.features.oracle_observation import seen_planes
from suphx.models.nets.policy import add_oracle_planes
from suphx.training.reinforcement.update.actor_critic import new_actor_critic
from tests.suphx_platform.parts.small_policy_set import SMALL
from tests.training.reinforcement.update.decision_batch import CONFIG, PLAIN, decisions, small_net


def test_the_first_weights_of_the_critic_depend_on_the_head_only() -> None:
    states = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        critic = new_actor_critic(CONFIG, small_net(seed=seed)).critic
        assert critic is not None
        states.append(critic.state_dict())
    assert all(torch.equal(states[0][name], value) for name, value in states[1].items())


def test_the_initial_policy_is_a_copy_that_does_not_learn() -> None:
    net = small_net()
    actor = new_actor_critic(CONFIG, net)
    with torch.no_grad():
        for parameter in (*actor.policy.parameters(), *net.parameters()):
            parameter.fill_(1.0)
    expected = small_net().state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in actor.start.state_dict().items())
    assert {name.split(".")[0] for name, _ in actor.named_parameters()} == {"policy", "critic"}


@pytest.mark.parametrize("is_frozen", [False, True])
def test_a_frozen_policy_answers_without_a_gradient(is_frozen: bool) -> None:
    actor = new_actor_critic(CONFIG, small_net(net=SMALL))
    actor.train()
    actor.is_frozen = is_frozen
    seen = actor.seen_planes(decisions().planes.dense())
    outputs = actor(
        {"planes": torch.from_numpy(seen["planes"]), "critic_planes": torch.from_numpy(seen["critic_planes"])}
    )
    assert outputs["logits"].requires_grad != is_frozen
    assert outputs["values"].requires_grad
    expected = small_net(net=SMALL).eval()(torch.from_numpy(decisions().planes.dense()))
    assert torch.equal(outputs["logits"], expected)  # statistics of BatchNorm are not those of this batch


def test_without_use_critic_there_is_no_critic() -> None:
    actor = new_actor_critic(replace(CONFIG, gradient=PLAIN), small_net())
    seen = actor.seen_planes(decisions().planes.dense())
    assert set(seen) == {"planes"}
    assert actor({"planes": torch.from_numpy(seen["planes"])})["values"] is None


def test_critic_and_teacher_see_what_is_hidden_and_the_policy_does_not() -> None:
    teacher = add_oracle_planes(small_net(seed=2), ORACLE.num_planes)
    actor = new_actor_critic(replace(CONFIG, oracle_critic=True), small_net(), teacher)
    rows = decisions(sees_hidden=True).planes.dense()
    seen = actor.seen_planes(rows)
    num_planes = small_net(DISCARD_HEAD).num_planes
    everything = seen_planes(rows, num_planes, ORACLE.num_planes, sees_all=True)
    assert np.array_equal(seen["critic_planes"], everything)
    assert np.array_equal(seen["teacher_planes"], everything)
    assert np.array_equal(seen["planes"], seen_planes(rows, num_planes, 0))
