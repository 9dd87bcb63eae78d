"""Run-time policy adaptation, pMCPA (paper, section 3.4): a copy of the discard net, fitted to one hand.

Rollouts from the present position, all that our seat cannot see dealt anew, say how its discards fare; a few gradient
steps of equation 6 change the copy. Here are the pure functions; adapter.py plays the rollouts.
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import Tensor

from suphx.models.policy import PolicyNet
from suphx.selfplay.deal_play import SeatDecisions
from suphx.selfplay.question import F32
from suphx.training.adaptation_config import ALL_BLOCKS, AdaptationConfig, RolloutBaseline
from suphx.training.policy_gradient import policy_loss


def rollout_advantages(rewards: F32, rollouts_per_deal: int, baseline: RolloutBaseline) -> F32:
    """Return ``rewards`` [k], those of a deal side by side, less their baseline (``AdaptationConfig.baseline``).

    The mean is that of the others, so that the gradient of equation 6 stays unbiased; a reward alone becomes 0.
    """
    if baseline == "none":
        return rewards.astype(np.float32)
    groups = rewards.reshape(-1, rollouts_per_deal if baseline == "deal" else len(rewards)).astype(np.float64)
    size = groups.shape[1]
    if size == 1:
        return np.zeros(len(rewards), np.float32)
    others = (groups.sum(axis=1, keepdims=True) - groups) / (size - 1)
    return np.asarray((groups - others).ravel(), np.float32)


def trajectory_loss(
    logits: Tensor,
    masks: Tensor,
    actions: Tensor,
    log_probs: Tensor,
    trajectories: Tensor,
    advantages: Tensor,
    *,
    max_ratio: float = 0.0,
) -> Tensor:
    """Return, 0-d, the loss whose gradient is that of equation 6, negated, as a mean over the trajectories.

    The decisions: ``logits``, ``masks`` [n, 34], ``actions`` [n], ``log_probs`` [n] of the policy that sampled, and
    ``trajectories`` int64 [n], which of the ``advantages`` [k] each belongs to. A trajectory's ratio is the product
    over its decisions: all else in it (deals, other seats) is as likely under either policy.
    """
    loss = policy_loss(
        logits,
        masks,
        actions,
        log_probs,
        advantages[trajectories],
        alpha=0.0,
        max_ratio=max_ratio,
        trajectories=trajectories,
    ).loss
    return loss * len(actions) / len(advantages)


def copy_for_adaptation(net: PolicyNet, trained_blocks: int = ALL_BLOCKS) -> PolicyNet:
    """Return a copy of ``net`` in which what is to be adapted has gradients; the rest is shared with ``net``.

    ``net``: without BatchNorm (``fold_batch_norm``), as a copy must act as it learns. ValueError for another one, and
    for more blocks than it has.
    """
    if net.config.normalization != "none":
        raise ValueError("the net to adapt has BatchNorm: fold it first (fold_batch_norm)")
    blocks = net.trunk.blocks
    if trained_blocks > len(blocks):
        raise ValueError(f"trained_blocks is {trained_blocks}, but the net has {len(blocks)} blocks: use fewer, or -1")
    adapted = {id(parameter) for parameter in net.output.parameters()}
    parts = [net.trunk] if trained_blocks == ALL_BLOCKS else list(blocks)[len(blocks) - trained_blocks :]
    adapted |= {id(parameter) for part in parts for parameter in part.parameters()}
    shared = {id(parameter): parameter for parameter in net.parameters() if id(parameter) not in adapted}
    result = copy.deepcopy(net, dict(shared))
    for parameter in result.parameters():
        parameter.requires_grad_(id(parameter) not in shared)
    return result


def adapt_net(net: PolicyNet, decisions: SeatDecisions, rewards: F32, config: AdaptationConfig) -> PolicyNet:
    """Return a copy of ``net`` after the gradient steps of equation 6.

    ``decisions``: of the seat that adapts, ``rewards`` [k] in points: what it got in each of the k trajectories, those
    of one deal side by side. Batches are whole trajectories, the same ones in every epoch.
    """
    advantages = rollout_advantages(rewards, config.rollouts_per_deal, config.baseline) / config.reward_unit
    adapted = copy_for_adaptation(net, config.trained_blocks)
    optimizer = torch.optim.Adam([p for p in adapted.parameters() if p.requires_grad], lr=config.learning_rate)
    batches = list(_batches(decisions, advantages, config.batch_rollouts, next(net.parameters()).device))
    for _ in range(config.num_epochs):
        for batch in batches:
            loss = trajectory_loss(adapted(batch[0]), *batch[1:], max_ratio=config.max_ratio)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return adapted.requires_grad_(False)


def _batches(decisions: SeatDecisions, advantages: F32, size: int, device: torch.device) -> list[tuple[Tensor, ...]]:
    """Return rows and the arguments of ``trajectory_loss`` for each batch in which something was decided."""
    batches = []
    for first in range(0, len(advantages), size):
        part = decisions.of_deals(first, first + size)
        if len(part):
            own = advantages[first : first + size]
            columns = (part.rows, part.masks, part.actions, part.log_probs, part.deals, own)
            batches.append(tuple(torch.from_numpy(column).to(device) for column in columns))
    return batches
