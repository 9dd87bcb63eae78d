"""The learning step against the same computation written out with torch alone."""

from __future__ import annotations

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from suphx.experience.decisions import Decisions
from suphx.games.riichi.features.oracle import ORACLE, seen_planes
from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD, HEAD_NAMES
from suphx.models.policy import add_oracle_planes
from suphx.training.learner_config import LearnerConfig
from suphx.training.learning_step import (
    ActorCritic,
    HeadBatch,
    LearningStep,
    gradient_cosine,
)
from suphx.training.policy_gradient import decision_loss
from tests.selfplay.small_policy_set import SMALL
from tests.training.decision_batch import CONFIG, decisions, has_moved, loss_columns, small_net


def test_the_first_weights_of_the_critic_depend_on_the_head_only() -> None:
    states = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        critic = ActorCritic(CONFIG, small_net(seed=seed)).critic
        assert critic is not None
        states.append(critic.state_dict())
    assert all(torch.equal(states[0][name], value) for name, value in states[1].items())


def test_the_initial_policy_is_a_copy_that_does_not_learn() -> None:
    net = small_net()
    actor = ActorCritic(CONFIG, net)
    with torch.no_grad():
        for parameter in (*actor.policy.parameters(), *net.parameters()):
            parameter.fill_(1.0)
    expected = small_net().state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in actor.fixed["start"].state_dict().items())
    assert {name.split(".")[0] for name, _ in actor.named_parameters()} == {"policy", "critic"}


@pytest.mark.parametrize("is_frozen", [False, True])
def test_a_frozen_policy_answers_without_a_gradient(is_frozen: bool) -> None:
    actor = ActorCritic(CONFIG, small_net(net=SMALL))
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


def test_critic_and_teacher_see_what_is_hidden_and_the_policy_does_not() -> None:
    teacher = add_oracle_planes(small_net(seed=2), ORACLE.num_planes)
    actor = ActorCritic(replace(CONFIG, oracle_critic=True), small_net(), teacher)
    rows = decisions(sees_hidden=True).planes.dense()
    seen = actor.seen_planes(rows)
    num_planes = small_net(DISCARD_HEAD).num_planes
    everything = seen_planes(rows, num_planes, ORACLE.num_planes, sees_all=True)
    assert np.array_equal(seen["critic_planes"], everything)
    assert np.array_equal(seen["teacher_planes"], everything)
    assert np.array_equal(seen["planes"], seen_planes(rows, num_planes, 0))


def test_the_cosine_is_that_of_all_parameters_together() -> None:
    now = {"a": torch.tensor([1.0, 0.0]), "b": torch.tensor([2.0])}
    last = {"a": torch.tensor([1.0, 2.0]), "b": torch.tensor([0.0])}
    assert gradient_cosine(now, last).item() == pytest.approx(1 / 5)
    assert gradient_cosine(now, {"a": torch.zeros(2), "b": torch.zeros(1)}).item() == 0


CPU = torch.device("cpu")


def new_step(config: LearnerConfig = CONFIG, heads: tuple[int, ...] = (DISCARD_HEAD,)) -> LearningStep:
    return LearningStep(config, {HEAD_NAMES[head]: ActorCritic(config, small_net(head)) for head in heads}, CPU)


def batch(own: Decisions, **settings: float) -> HeadBatch:
    return HeadBatch(own, alpha=0.02, weight=1.0, **settings)  # type: ignore[arg-type]


def weights_of(step: LearningStep, part: str, head: str = "discard") -> dict[str, Tensor]:
    net = getattr(step.actors[head], part)
    return {name: value.clone() for name, value in net.state_dict().items()}


def optimizer(net: nn.Module, rate: float) -> torch.optim.AdamW:
    return torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=0.0, fused=True)


def test_steps_are_those_of_torch_alone() -> None:
    config, step = CONFIG, new_step()
    policy, critic = copy.deepcopy(step.actors["discard"].policy), copy.deepcopy(step.actors["discard"].critic)
    assert critic is not None
    optimizers = [optimizer(policy, config.learning_rate), optimizer(critic, config.critic_learning_rate)]
    for seed in range(3):
        own = decisions(seed=seed, length=4)
        figures = step.make({"discard": batch(own)})["discard"]
        rows = torch.from_numpy(own.planes.dense())
        columns = loss_columns(
            masks=torch.from_numpy(own.masks),
            actions=torch.from_numpy(own.actions),
            log_probs=torch.from_numpy(own.log_probs),
            rewards=torch.from_numpy(own.rewards),
            is_last=torch.from_numpy(own.is_last),
        )
        loss, expected = decision_loss(policy(rows), critic(rows), columns, 0.02, config.gradient)
        loss.backward()  # type: ignore[no-untyped-call]
        for name, net, own_optimizer in zip(("policy", "critic"), (policy, critic), optimizers, strict=True):
            norm = nn.utils.clip_grad_norm_(net.parameters(), config.max_grad_norm)
            assert figures[f"{name}_norm"] == norm.item()
            own_optimizer.step()
            own_optimizer.zero_grad()
        assert {name: figures[name] for name in expected} == {name: value.item() for name, value in expected.items()}
    for net, name in ((policy, "policy"), (critic, "critic")):
        assert not has_moved(dict(net.state_dict()), weights_of(step, name))


def test_two_heads_learn_as_they_do_alone() -> None:
    both = new_step(heads=(DISCARD_HEAD, CHOW_HEAD))
    parts = {"discard": batch(decisions()), "chow": batch(decisions(CHOW_HEAD))}
    figures = both.make(parts)
    for head in (DISCARD_HEAD, CHOW_HEAD):
        alone, name = new_step(heads=(head,)), HEAD_NAMES[head]
        assert alone.make({name: parts[name]})[name] == figures[name]
        assert not has_moved(weights_of(alone, "policy", name), weights_of(both, "policy", name))


def test_the_policy_learns_at_a_share_of_its_rate() -> None:
    def first_move(share: float) -> float:
        step = new_step()
        before = weights_of(step, "policy")
        step.make({"discard": batch(decisions(), rate_share=share)})
        return max(float((value - before[name]).abs().max()) for name, value in weights_of(step, "policy").items())

    assert first_move(1.0) == pytest.approx(CONFIG.learning_rate, rel=0.01)  # Adam's first step
    assert first_move(0.25) == pytest.approx(CONFIG.learning_rate / 4, rel=0.01)


def test_the_divergence_from_the_initial_net_is_part_of_the_loss() -> None:
    step = new_step()
    for seed in range(5):
        step.make({"discard": batch(decisions(seed=seed))})
    own = decisions(n=64)
    measured = step.kl_to_start({"discard": (own.planes.dense(), own.masks)})["discard"]
    before = weights_of(step, "policy")
    assert step.make({"discard": batch(own, kl_coeff=1e-6)})["discard"]["kl_penalty"] == pytest.approx(measured)
    assert has_moved(before, weights_of(step, "policy"))
    for _ in range(30):
        step.make({"discard": batch(own, kl_coeff=10.0)})
    assert step.kl_to_start({"discard": (own.planes.dense(), own.masks)})["discard"] < 0.5 * measured
