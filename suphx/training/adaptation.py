"""Run-time policy adaptation, pMCPA (paper, section 3.4): a copy of the discard net, fitted to one hand.

Rollouts start from the present position, with all that our seat cannot see dealt again at random. A gradient step
of equation 6 on them changes the copy. This module has the pure functions; adapter.py plays the rollouts.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.optim import Adam

from suphx.experience.observation import F32
from suphx.models.policy import PolicyNet
from suphx.models.sampling import masked_logits
from suphx.selfplay.rollouts.deal_play import SeatDecisions
from suphx.training.config import ROLLOUTS_PER_DEAL, AdaptationConfig
from suphx.training.policy_gradient import divergences_of, policy_loss
from suphx.training.trainer import DivergedError

REWARD_UNIT = 5000.0
"""Advantages are rewards divided by it."""
BATCH_ROLLOUTS = 256
"""Trajectories of a step of Adam; of all in one step, those whose gradient is computed at a time."""
MAX_RATIO = 2.0
"""Importance ratios of trajectories above it count as this much."""


def rollout_advantages(rewards: F32) -> F32:
    """Return ``rewards`` [k], those of a deal side by side, less the mean of the others of the deal.

    A reward is not part of its own mean, so that the gradient of equation 6 stays unbiased.
    """
    groups = rewards.reshape(-1, ROLLOUTS_PER_DEAL).astype(np.float64)
    others = (groups.sum(axis=1, keepdims=True) - groups) / (ROLLOUTS_PER_DEAL - 1)
    return np.asarray((groups - others).ravel(), np.float32)


def trajectory_loss(
    logits: Tensor,
    masks: Tensor,
    actions: Tensor,
    log_probs: Tensor,
    trajectories: Tensor,
    advantages: Tensor,
    *,
    num_trajectories: int,
    max_ratio: float = MAX_RATIO,
) -> Tensor:
    """Return, 0-d, the loss whose gradient is that of equation 6, negated, as a mean over the trajectories.

    The decisions: ``logits``, ``masks`` [n, 34], ``actions`` [n], ``log_probs`` [n] of the policy that sampled,
    ``trajectories`` int64 [n], to which of the ``num_trajectories`` each belongs, and ``advantages`` [n]: in equation 6
    the same for all decisions of a trajectory. A trajectory's ratio is the product over its decisions: all else in it
    (deals, other seats) is as likely under either policy. ``max_ratio``: 0 = no limit.
    """
    loss = policy_loss(
        logits, masks, actions, log_probs, advantages, alpha=0.0, max_ratio=max_ratio, trajectories=trajectories
    ).loss
    return loss * len(actions) / num_trajectories


def adapt_net(net: PolicyNet, decisions: SeatDecisions, rewards: F32, config: AdaptationConfig) -> PolicyNet:
    """Return a copy of ``net`` after one pass of equation 6 over the trajectories.

    ``net``: without BatchNorm (``fold_batch_norm``), as a copy must act as it learns. ``decisions``: of the seat that
    adapts, in the order of the trajectories; ``rewards`` [k] in points: what it got in each of the k trajectories,
    those of one deal side by side. ValueError for a net with BatchNorm, DivergedError if a weight is no longer a finite
    number.
    """
    if net.config.normalization != "none":
        raise ValueError("the net to adapt has BatchNorm: fold it first (fold_batch_norm)")
    advantages = np.asarray(rollout_advantages(rewards)[decisions.deals] / np.float32(REWARD_UNIT), np.float32)
    adapted = copy.deepcopy(net).requires_grad_(True)
    batches = _batches(decisions, advantages, len(rewards), next(net.parameters()).device)
    if batches and config.kl_target:
        _step_to_distance(adapted, batches, config)
    elif batches:
        optimizer = Adam(adapted.parameters(), lr=config.learning_rate)
        for batch in batches:
            optimizer.zero_grad()
            torch.autograd.backward(batch.loss(adapted, config.temperature))
            optimizer.step()
    for parameter in adapted.parameters():
        parameter.grad = None
        if not bool(parameter.isfinite().all()):
            raise DivergedError("a weight of the adapted net is no longer finite: lower learning_rate or kl_target")
    return adapted.requires_grad_(False)


@dataclass(frozen=True, slots=True)
class _Batch:
    """The decisions of some trajectories: the arguments of ``trajectory_loss``."""

    num_trajectories: int
    planes: Tensor
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    trajectories: Tensor
    advantages: Tensor

    def loss(self, net: PolicyNet, temperature: float) -> Tensor:
        """Return the loss of ``net``, a mean over the trajectories of the batch."""
        return trajectory_loss(
            net(self.planes) / temperature,
            *(self.masks, self.actions, self.log_probs, self.trajectories, self.advantages),
            num_trajectories=self.num_trajectories,
        )


def _batches(decisions: SeatDecisions, advantages: F32, num_trajectories: int, device: torch.device) -> list[_Batch]:
    """Return the batches in which something was decided; ``decisions`` in the order of their trajectories."""
    batches = []
    for first in range(0, num_trajectories, BATCH_ROLLOUTS):
        last = min(first + BATCH_ROLLOUTS, num_trajectories)
        rows = slice(*np.searchsorted(decisions.deals, [first, last]).tolist())
        if rows.start < rows.stop:
            part = (getattr(decisions, name)[rows] for name in ("planes", "masks", "actions", "log_probs"))
            columns = (*part, decisions.deals[rows] - first, advantages[rows])
            batches.append(_Batch(last - first, *(torch.from_numpy(column).to(device) for column in columns)))
    return batches


_DISTANCE_ROWS = 4096
"""The divergence is measured over at least this many decisions, if there are as many: enough for its mean."""
_FIRST_LENGTH = 0.01
"""Norm of the first step that is tried."""
_MAX_TRIALS = 20
_TOLERANCE = 0.1
"""Share of the wanted divergence by which it may be missed."""
_MAX_CHANGE = 8.0
"""Factor by which a trial may be longer or shorter than the one before."""


def _step_to_distance(net: PolicyNet, batches: Sequence[_Batch], config: AdaptationConfig) -> None:
    """Take one step along the gradient of all trajectories, until KL(net before || net now) is about ``kl_target``.

    The length is searched: KL grows with its square, as long as it is small. Zero gradients do not move the net,
    and neither do those with which no length is right.
    """
    every = max(1, sum(len(batch.actions) for batch in batches) // _DISTANCE_ROWS)
    rows = torch.cat([batch.planes[::every] for batch in batches])
    masks = torch.cat([batch.masks[::every] for batch in batches])

    def log_probs() -> Tensor:
        with torch.no_grad():
            return torch.log_softmax(masked_logits(net(rows) / config.temperature, masks), dim=1)

    before = log_probs()
    count = sum(batch.num_trajectories for batch in batches)
    for batch in batches:
        torch.autograd.backward(batch.loss(net, config.temperature) * (batch.num_trajectories / count))
    parameters = [parameter for parameter in net.parameters() if parameter.grad is not None]
    first = [parameter.detach().clone() for parameter in parameters]
    steps = [cast(Tensor, parameter.grad) for parameter in parameters]
    norm = float(torch.stack([step.norm() for step in steps]).norm())
    length = _FIRST_LENGTH / norm if norm else 0.0
    for _ in range(_MAX_TRIALS if norm else 0):
        with torch.no_grad():
            for parameter, origin, step in zip(parameters, first, steps, strict=True):
                parameter.copy_(origin - length * step)
        ratio = float(divergences_of(before, log_probs()).mean()) / config.kl_target
        if abs(ratio - 1) < _TOLERANCE:
            return
        length *= min(max(ratio, 1 / _MAX_CHANGE**2), _MAX_CHANGE**2) ** -0.5
    with torch.no_grad():
        for parameter, origin in zip(parameters, first, strict=True):
            parameter.copy_(origin)
