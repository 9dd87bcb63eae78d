from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import CHOW_HEAD, DECISIONS, DISCARD_HEAD
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.training.learner import Learner
from suphx.training.learner_config import (
    CriticWarmupConfig,
    DistillationConfig,
    EntropyConfig,
    LearnerConfig,
    PolicyGradientConfig,
)
from suphx.training.learning_step import LearningStep
from suphx.training.policy_gradient import kl_divergence
from suphx.training.trainer import DivergedError
from tests.selfplay.small_policy_set import SMALL, SMALL_PLAIN
from tests.training.decision_batch import CONFIG, GUARDED, PLAIN, decisions, has_moved, small_net


def new_learner(
    config: LearnerConfig = CONFIG, heads: tuple[int, ...] = (DISCARD_HEAD,), net: NetConfig = SMALL_PLAIN
) -> Learner:
    return Learner(config, [small_net(head, net) for head in heads])


def policy(learner: Learner, head: str = "discard", net: NetConfig = SMALL_PLAIN) -> PolicyNet:
    index = {"discard": DISCARD_HEAD, "chow": CHOW_HEAD}[head]
    result = PolicyNet(DECISIONS[index], find_encoder("mini").layout(index).num_planes, net)
    result.load_state_dict({name: torch.from_numpy(value) for name, value in learner.weights()[head].items()})
    return result.eval()


def weights_of(learner: Learner, part: str) -> dict[str, torch.Tensor]:
    """Return the weights of the discard head's policy or critic."""
    prefix = f"net.discard.{part}."
    return {name: tensor for name, tensor in learner.state()[0].items() if name.startswith(prefix)}


def share_of_3(learner: Learner) -> float:
    rows = torch.from_numpy(decisions().planes.dense())
    return float(policy(learner)(rows).softmax(dim=1)[:, 3].mean().detach())


@pytest.mark.parametrize("use_critic", [True, False])
def test_what_pays_becomes_more_probable(use_critic: bool) -> None:
    gradient = PolicyGradientConfig(reward_unit=1.0, use_critic=use_critic, gae_lambda=1.0)
    learner = new_learner(replace(CONFIG, gradient=gradient))
    before = share_of_3(learner)
    for seed in range(30):
        learner.update({DISCARD_HEAD: decisions(n=256, seed=seed)})
    assert share_of_3(learner) > 1.5 * before


def test_from_permuted_rewards_nothing_is_learned() -> None:
    learner = new_learner(replace(CONFIG, permute_rewards=True))
    before = share_of_3(learner)
    for seed in range(30):
        report = learner.update({DISCARD_HEAD: decisions(n=256, seed=seed)})
    assert report["discard"]["reward"] == pytest.approx(decisions(n=256, seed=29).rewards.mean())
    assert 0.6 * before < share_of_3(learner) < 1.5 * before


def test_the_gradients_of_two_updates_are_compared() -> None:
    slow = replace(CONFIG, learning_rate=1e-9)
    learner, restored = new_learner(slow), new_learner(slow)
    assert "gradient_cosine" not in learner.update({DISCARD_HEAD: decisions(seed=1)})["discard"]
    restored.restore(*learner.state())
    other = learner.update({DISCARD_HEAD: decisions(seed=2)})["discard"]["gradient_cosine"]
    assert abs(other) < 0.9
    assert restored.update({DISCARD_HEAD: decisions(seed=2)})["discard"]["gradient_cosine"] == other
    same = learner.update({DISCARD_HEAD: decisions(seed=2)})["discard"]["gradient_cosine"]
    assert same == pytest.approx(1, abs=0.02)


def test_at_first_only_the_critic_learns() -> None:
    start = CriticWarmupConfig(decisions=300, batch_size=32)
    learner = new_learner(replace(CONFIG, critic_warmup=start, entropy=EntropyConfig(alpha=0.02)))
    begun, explained = weights_of(learner, "policy"), []
    for seed in (0, 1, 0):  # 300 decisions are there after the third update
        critic = weights_of(learner, "critic")
        figures = learner.update({DISCARD_HEAD: decisions(n=128, seed=seed, length=4)})["discard"]
        assert not has_moved(begun, weights_of(learner, "policy"))
        assert has_moved(critic, weights_of(learner, "critic"))
        assert figures["alpha"] == 0.02
        assert {"policy_norm", "gradient_cosine"}.isdisjoint(figures)
        explained.append(figures["explained_variance"])
    assert explained[-1] > explained[0]
    steps = [tensor for name, tensor in learner.state()[0].items() if "critic" in name and name.endswith(".step")]
    assert {int(step) for step in steps} == {3 * 4}
    learner.update({DISCARD_HEAD: decisions(n=128)})
    assert has_moved(begun, weights_of(learner, "policy"))


def test_the_plain_formula_is_one_setting() -> None:
    guarded = replace(CONFIG, critic_warmup=CriticWarmupConfig(decisions=300))
    plain = replace(guarded, gradient=replace(guarded.gradient, use_critic=False))
    learner, expected = new_learner(plain), new_learner(replace(CONFIG, gradient=PLAIN))
    figures = learner.update({DISCARD_HEAD: decisions()})["discard"]
    assert "critic_loss" not in figures
    assert figures == expected.update({DISCARD_HEAD: decisions()})["discard"]
    assert not has_moved(weights_of(learner, "policy"), weights_of(expected, "policy"))


def test_statistics_of_batch_norm_stay_as_they_were_learned() -> None:
    learner = new_learner(net=SMALL)
    before = learner.weights()["discard"]
    learner.update({DISCARD_HEAD: decisions()})
    after = learner.weights()["discard"]
    statistics = [name for name in before if "running" in name]
    assert statistics
    assert all((before[name] == after[name]).all() for name in statistics)


@pytest.mark.parametrize("bad", ["loss", "gradient"])
def test_a_loss_or_a_gradient_that_is_no_number_changes_nothing(bad: str) -> None:
    learner, batch = new_learner(), decisions()
    learner.update({DISCARD_HEAD: decisions()})
    before, _ = learner.state()
    if bad == "loss":
        batch.rewards[5] = np.nan
    else:
        assert isinstance(learner.workers, LearningStep)
        first: Any = next(learner.workers.actors["discard"].policy.parameters())
        first.register_hook(lambda own: own * np.nan)
    with pytest.raises(DivergedError, match="discard policy net is nan"):
        learner.update({DISCARD_HEAD: batch})
    assert all(torch.equal(before[name], tensor) for name, tensor in learner.state()[0].items())


def test_a_head_without_a_batch_stays() -> None:
    learner = new_learner(heads=(DISCARD_HEAD, CHOW_HEAD))
    learner.update({DISCARD_HEAD: decisions(), CHOW_HEAD: decisions(CHOW_HEAD)})
    before = learner.weights()["chow"]
    learner.update({DISCARD_HEAD: decisions()})
    assert all((before[name] == value).all() for name, value in learner.weights()["chow"].items())


def test_a_state_does_not_change_with_the_learner_nor_the_learner_with_it() -> None:
    learner = new_learner()
    learner.update({DISCARD_HEAD: decisions()})
    tensors, values = learner.state()
    copies = {name: tensor.clone() for name, tensor in tensors.items()}
    learner.update({DISCARD_HEAD: decisions()})
    assert all(torch.equal(tensors[name], copy) for name, copy in copies.items())
    learner.restore(tensors, values)
    for tensor in tensors.values():
        tensor.fill_(1)
    assert all(torch.equal(learner.state()[0][name], copy) for name, copy in copies.items())


def test_the_divergence_from_the_start_is_measured_from_the_nets_of_the_constructor() -> None:
    learner, restored = new_learner(heads=(DISCARD_HEAD, CHOW_HEAD)), new_learner(heads=(DISCARD_HEAD, CHOW_HEAD))
    batch = {DISCARD_HEAD: decisions(), CHOW_HEAD: decisions(CHOW_HEAD)}
    assert learner.kl_to_start(batch) == {"discard": 0, "chow": 0}
    rows = torch.from_numpy(batch[DISCARD_HEAD].planes.dense()[::4])
    start = policy(learner)(rows)
    learner.update({DISCARD_HEAD: decisions()})
    found = learner.kl_to_start(batch, num_decisions=16)
    now = policy(learner)(rows)
    assert found["discard"] == pytest.approx(kl_divergence(now, start, torch.ones(16, 34)).item(), rel=1e-4)
    assert found["chow"] == 0
    restored.restore(*learner.state())
    assert restored.kl_to_start(batch, num_decisions=16) == found


@pytest.mark.parametrize("num_updates", [0, 3])
def test_learners_with_one_state_go_on_with_the_same_numbers(num_updates: int) -> None:
    """A new one, and the same: over Ray, a learner that lost only an answer is still alive when it gets its state."""
    config = replace(CONFIG, **GUARDED)
    learner = new_learner(config)
    for seed in range(num_updates):
        learner.update({DISCARD_HEAD: decisions(seed=seed)})
    state = learner.state()
    found = []
    for each in (learner, learner, new_learner(config)):
        each.restore(*state)
        figures = [each.update({DISCARD_HEAD: decisions(seed=seed)}) for seed in range(3, 6)]
        found.append((figures, {name: tensor.tolist() for name, tensor in each.state()[0].items()}))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_learners": 2}, "num_learners is 2: several learners need Ray, without it use 1"),
        ({"distillation": DistillationConfig(weight=1.0)}, "needs a teacher for each head that learns: give some"),
    ],
)
def test_settings_that_need_more_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        new_learner(replace(CONFIG, **settings))
