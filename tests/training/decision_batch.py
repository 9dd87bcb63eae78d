"""Batches of made-up decisions for tests of learning, and what tests learn with."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suphx.experience.decisions import Decisions
from suphx.experience.sparse_planes import SparsePlanes
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.oracle import oracle_observation
from suphx.games.riichi.names import CHOW_HEAD, DISCARD_HEAD
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.training.learner_config import (
    CriticWarmupConfig,
    EntropyConfig,
    LearnerConfig,
    PolicyGradientConfig,
    TrustRegionConfig,
)
from tests.selfplay.small_policy_set import SMALL_PLAIN, small_policy_set

CONFIG = LearnerConfig(
    critic=SMALL_PLAIN,
    precision="fp32",
    learning_rate=0.01,
    entropy=EntropyConfig(alpha=0.0, rate=0.0),
    gradient=PolicyGradientConfig(reward_unit=1.0, gae_lambda=0.7),
)
PLAIN = PolicyGradientConfig(reward_unit=1.0, use_critic=False)
GUARDED: dict[str, Any] = {
    "entropy": EntropyConfig(anneal_updates=4),
    "critic_warmup": CriticWarmupConfig(decisions=200, batch_size=32),
    "trust_region": TrustRegionConfig(kl_coeff=0.1, kl_half_life=2),
    "gradient": PolicyGradientConfig(reward_unit=1.0, gae_lambda=0.8),
    "warmup_updates": 3,
    "decay_updates": 5,
}
"""All that changes from update to update."""


def decisions(
    head: int = DISCARD_HEAD, n: int = 64, seed: int = 0, length: int = 1, *, sees_hidden: bool = False
) -> Decisions:
    """Decisions drawn evenly in trajectories of ``length`` rows; the action 3 (or yes, 1) pays."""
    rng = np.random.default_rng(seed)
    num_actions = 34 if head == DISCARD_HEAD else 2
    actions = rng.integers(num_actions, size=n)
    observation_bytes = find_encoder("mini").layout(head).observation_bytes
    rows = rng.random((n, oracle_observation(observation_bytes).itemsize if sees_hidden else observation_bytes)) < 0.1
    return Decisions(
        decision=head,
        planes=SparsePlanes.of(rows.astype(np.uint8)),
        masks=np.ones((n, 34 if head == DISCARD_HEAD else 0), np.uint8),
        actions=actions.astype(np.int16),
        is_overruled=np.zeros(n, np.bool_),
        is_joint=np.zeros(n, np.bool_),
        log_probs=np.full(n, -math.log(num_actions), np.float32),
        versions=np.zeros(n, np.int32),
        rewards=(actions == min(3, num_actions - 1)).astype(np.float32),
        is_last=(np.arange(1, n + 1) % length == 0) | (np.arange(n) == n - 1),
    )


def small_net(head: int = DISCARD_HEAD, net: NetConfig = SMALL_PLAIN, seed: int = 1) -> PolicyNet:
    return small_policy_set(seed, net).net(head)


BATCHES: tuple[Mapping[int, Decisions], ...] = (
    {DISCARD_HEAD: decisions(n=65), CHOW_HEAD: decisions(CHOW_HEAD, n=33)},
    {
        DISCARD_HEAD: decisions(n=101, seed=1),
        CHOW_HEAD: decisions(CHOW_HEAD, n=1),
    },  # one of two learners has no row of the chow net
    {DISCARD_HEAD: decisions(n=7, seed=2)},
    {
        DISCARD_HEAD: decisions(n=50, seed=3, length=20),
        CHOW_HEAD: decisions(CHOW_HEAD, n=9, length=9),
    },  # whole trajectories
)


def loss_columns(
    *, masks: Tensor, actions: Tensor, log_probs: Tensor, rewards: Tensor, is_last: Tensor | None = None
) -> dict[str, Tensor]:
    """Return n decisions; by default each decision is a trajectory."""
    n = len(actions)
    return {
        "masks": masks,
        "actions": actions,
        "is_joint": torch.zeros(n, dtype=torch.bool),
        "log_probs": log_probs,
        "rewards": rewards,
        "is_last": torch.ones(n, dtype=torch.bool) if is_last is None else is_last,
    }


def has_moved(before: Mapping[str, Tensor], now: Mapping[str, Tensor]) -> bool:
    return any(not torch.equal(value, now[name]) for name, value in before.items())
