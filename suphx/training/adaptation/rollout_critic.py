"""A critic for rollouts: what the rest of a deal will bring to a seat, as it sees the table when it discards.

With it, a discard is judged by how the expectation changed afterwards instead of by the reward of the whole deal, which
all discards of a trajectory share. One critic serves all hands of an agent.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.optim import AdamW

from suphx.experience.observation import F32
from suphx.games.riichi import DISCARD_HEAD, MAX_SEED
from suphx.kernel.record import I64, U8
from suphx.models.device import first_weights
from suphx.models.nets.critic import CriticNet
from suphx.selfplay.agents.agent import NetAgent
from suphx.selfplay.rollouts.deal_play import SeatDecisions, draw_starts, play_deals
from suphx.training.adaptation.adaptation_config import AdaptationConfig
from suphx.training.reinforcement.advantage import generalised_advantages
from suphx.training.reward.deal_reward import DealReward, points_won

REWARD_UNIT = 5000.0
"""The critic's values are rewards divided by it."""
_BATCH = 512
_LEARNING_RATE = 1e-3
_ROWS = 4096  # that the critic judges at a time


def train_rollout_critic(
    agent: NetAgent,
    config: AdaptationConfig,
    *,
    seed: int,
    reward: DealReward = points_won,
    progress: Callable[[float], None] = lambda share: None,
) -> CriticNet:
    """Return a critic of ``agent``, on the CPU, that has learned from ``critic_deals`` deals of its games.

    A seat of each deal samples its discards as in rollouts, so the critic expects what rollouts bring on average. It
    learns with AdamW by the squared error, in one pass: the discards of a deal share its reward, and in a second pass
    it would learn the deals by heart. ``progress`` is told the share that is done, 0 to 1. The same ``seed`` (0 to
    ``MAX_SEED`` - 1) gives the same critic, as long as the number of torch's threads is the same.
    """
    draw = np.random.default_rng([seed, config.critic_deals])
    deals = draw_starts(agent, config.critic_deals, seed=int(draw.integers(MAX_SEED)))
    progress(0.3)
    deals["has_draw_lanes"] = True
    before, seats = deals.copy(), draw.integers(4, size=len(deals))
    keys = draw.integers(MAX_SEED, size=len(deals))
    decisions = play_deals(deals, seats, agent, keys=keys, temperature=config.temperature)
    progress(0.6)
    rewards = reward(before, deals)[np.arange(len(deals)), seats]
    with first_weights(seed % MAX_SEED):
        critic = CriticNet(DISCARD_HEAD, agent.encoder.layout(DISCARD_HEAD).num_planes, agent.discard_net.config)
    order = draw.permutation(len(decisions))
    _learn(critic, decisions.planes, rewards[decisions.deals] / np.float32(REWARD_UNIT), order)
    progress(1.0)
    return critic.eval().requires_grad_(False)


def critic_advantages(critic: CriticNet, decisions: SeatDecisions, rewards: F32, decay: float) -> F32:
    """Return the advantages, float32 [n], of ``decisions`` whose rows of a trajectory are one after another.

    ``rewards`` [k] of the trajectories, in points; the advantages are in units of ``REWARD_UNIT``. ``decay``: lambda of
    generalised advantage estimation; 1 = reward minus value. All ratios are 1: the rollouts are the policy's own.
    """
    if not len(decisions):
        return np.zeros(0, np.float32)
    parts = np.array_split(decisions.planes, -(-len(decisions) // _ROWS))
    values = torch.cat([critic(torch.from_numpy(rows)) for rows in parts])
    is_last = torch.ones(len(values), dtype=torch.bool)
    is_last[:-1] = torch.from_numpy(decisions.deals[1:] != decisions.deals[:-1])
    own = torch.from_numpy(rewards[decisions.deals] / np.float32(REWARD_UNIT))
    advantages: Tensor = generalised_advantages(values, own, is_last, torch.ones_like(values), decay)
    return np.asarray(advantages.numpy(), np.float32)


def _learn(critic: CriticNet, rows: U8, targets: F32, order: I64) -> None:
    """Fit ``critic`` to ``targets`` [n] of ``rows`` [n, bytes], in this ``order`` [n]; the learning rate falls to 0."""
    optimizer = AdamW(critic.parameters(), lr=_LEARNING_RATE)
    for first in range(0, len(targets), _BATCH):
        optimizer.param_groups[0]["lr"] = _LEARNING_RATE * (1 - first / len(targets))
        part = order[first : first + _BATCH]
        errors = critic(torch.from_numpy(rows[part])) - torch.from_numpy(targets[part])
        optimizer.zero_grad()
        torch.autograd.backward(errors.square().mean())
        optimizer.step()
