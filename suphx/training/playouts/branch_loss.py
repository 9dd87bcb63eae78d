"""The policy gradient of decisions whose actions were played out: an expectation over actions, nothing is sampled.

Where the policy gradient of self-play has one action and an advantage that the luck of a whole deal is part of, here
the points of several actions on the same wall are known. The gradient is that of sum over a of pi(a) A(a) (expected
policy gradient: Ciosek and Whiteson 2018, arXiv 1706.05374), for the actions that were tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from suphx.models.sampling import masked_logits


@dataclass(frozen=True, slots=True)
class BranchLoss:
    """The loss of one batch, and what to watch, [n] each, without gradients."""

    loss: Tensor
    """0-d."""
    gains: Tensor
    """Expected points of the policy minus those of the initial one, over the actions that were tried."""
    divergences: Tensor
    """KL(initial policy || policy), nats."""


def branch_loss(
    logits: Tensor,
    start_logits: Tensor,
    masks: Tensor,
    choices: Tensor,
    points: Tensor,
    *,
    unit: float,
    kl_coeff: float,
) -> BranchLoss:
    """Return the loss whose gradient is -sum over a of grad pi(a) A(a) / ``unit``, plus ``kl_coeff`` times the KL.

    ``logits`` and ``start_logits`` [n, m] of the policy and the initial one; ``masks`` as in models/sampling.py;
    ``choices`` int64 [n, k]: the actions that were tried, -1 for none; ``points`` [n, k]. The advantages A are the
    points minus their mean under the policy over these actions. All terms are means over rows.
    """
    log_probs = torch.log_softmax(masked_logits(logits, masks), dim=1)
    start = torch.log_softmax(masked_logits(start_logits, masks), dim=1).detach()
    is_tried = choices >= 0
    actions = choices.clamp_min(0)
    tried = log_probs.gather(1, actions).exp() * is_tried
    policy = _normalised(tried.detach())
    advantages = (points - (policy * points).sum(dim=1, keepdim=True)) * is_tried
    divergences = _divergence(start, log_probs)
    loss = -(tried * advantages).sum(dim=1).mean() / unit + kl_coeff * divergences.mean()
    initial = _normalised(start.gather(1, actions).exp() * is_tried)
    gains = ((policy - initial) * points).sum(dim=1)
    return BranchLoss(loss, gains, divergences.detach())


def _normalised(weights: Tensor) -> Tensor:
    return weights / weights.sum(dim=1, keepdim=True).clamp_min(torch.finfo(weights.dtype).tiny)


def _divergence(start: Tensor, log_probs: Tensor) -> Tensor:
    """Return KL(initial policy || policy) [n]; illegal actions are minus infinity in both."""
    is_legal = start > -torch.inf
    difference = torch.where(is_legal, start, 0.0) - log_probs.masked_fill(~is_legal, 0.0)
    return (start.exp() * difference).sum(dim=1)
