"""The policy gradient of self-play with importance ratios and an entropy term (paper, equations 1 and 2).

Everything is a pure function of a batch of decisions: what the nets say now, and what was stored when they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from suphx.kernel.record import I64
from suphx.models.sampling import masked_logits
from suphx.training.learner_config import DistillationConfig, PolicyGradientConfig

BatchColumns = Mapping[str, Tensor]
"""Columns of n decisions: ``masks``, ``actions``, ``is_joint``, ``log_probs``, ``rewards`` and ``is_last`` as in
``Decisions``; what each net sees, uint8 [n, width]: ``planes`` of the policy, ``critic_planes``, ``teacher_planes``."""


def generalised_advantages(
    values: Tensor,
    rewards: Tensor,
    is_last: Tensor,
    ratios: Tensor,
    decay: float,
    is_joint: Tensor | None = None,
    *,
    max_ratio: float = 0.0,
) -> Tensor:
    """Return the advantages [n] of n decisions, those of a trajectory one after another.

    ``values`` [n] of the critic; ``rewards`` [n], of which those of last rows count; ``is_last`` bool [n]; ``ratios``
    [n]: importance ratios, truncated to ``max_ratio`` (0 = not at all). A decision has the error ``delta[t] = value[t +
    1] - value[t]``, the last one ``reward - value[t]``, and the advantage ``delta[t] + decay * ratio[t + 1] *
    advantage[t + 1]``; ``decay`` is the lambda of the source.

    ``is_joint`` bool [n]: the row is one decision with the row before it (several claims or kans at one time). Such
    rows are one step, whatever their order: its value is their mean, its ratio the product of theirs, which is
    truncated as a whole. The advantage of a row is the estimated return of the step minus the value of the row.
    """
    if is_joint is None:
        following = torch.cat([values[1:], values[-1:]])
        errors = torch.where(is_last, rewards, following) - values
        traces = ratios.clamp_max(max_ratio) if max_ratio else ratios
        return weighted_sums(errors, decay * torch.cat([traces[1:], traces[-1:]]), is_last)
    is_first_row = torch.cat([torch.ones_like(is_last[:1]), is_last[:-1]])
    steps = (~is_joint | is_first_row).long().cumsum(0) - 1  # the number of the step that each row belongs to
    sizes = _sums(steps, torch.ones_like(values)).clamp_min(1)
    step_values, step_ratios = _sums(steps, values) / sizes, _sums(steps, ratios.log()).exp()
    ends = _sums(steps, is_last.to(values.dtype)) > 0
    paid = _sums(steps, rewards * is_last)
    advantages = generalised_advantages(step_values, paid, ends, step_ratios, decay, max_ratio=max_ratio)
    return (step_values + advantages)[steps] - values


def _sums(steps: Tensor, column: Tensor) -> Tensor:
    """Return the sums [n] of ``column`` [n] over the rows of each step; 0 beyond the last step."""
    return torch.zeros_like(column).index_add(0, steps, column)


def weighted_sums(terms: Tensor, weights: Tensor, is_last: Tensor) -> Tensor:
    """Return the sums [n] with ``sum[t] = terms[t] + weights[t] * sum[t + 1]``, and ``terms[t]`` where ``is_last`` bool
    [n].

    All rows are solved at once, in log2(n) doublings of the number of rows that each one includes.
    """
    sums, weights = terms, weights.masked_fill(is_last, 0.0)
    reach = 1
    while reach < len(terms):
        sums, weights = (
            torch.cat([sums[:-reach] + weights[:-reach] * sums[reach:], sums[-reach:]]),
            torch.cat([weights[:-reach] * weights[reach:], torch.zeros_like(weights[-reach:])]),
        )
        reach *= 2
    return sums


_TINY = torch.finfo(torch.float32).tiny
_QUANTILES = {"ratio_low": 0.05, "ratio_median": 0.5, "ratio_high": 0.95}


@dataclass(frozen=True, slots=True)
class PolicyLoss:
    """The loss of one batch and the terms that it was made of, [n] each, without gradients."""

    loss: Tensor
    """0-d: its gradient is the negative of equation 2."""
    ratios: Tensor
    """Target over behaviour probability of the action that was taken."""
    entropies: Tensor
    """Of the target policy over the legal actions, in nats."""
    is_rejected: Tensor


def policy_loss(
    logits: Tensor,
    masks: Tensor,
    actions: Tensor,
    behaviour_log_probs: Tensor,
    advantages: Tensor,
    *,
    alpha: float,
    max_ratio: float = 0.0,
    reject_ratio: float = 0.0,
    trajectories: Tensor | None = None,
) -> PolicyLoss:
    """Return the loss whose gradient is -(ratio * advantage * grad log pi + alpha * grad entropy), mean over rows.

    ``logits`` [n, k] of the target policy; ``masks`` [n, k] or [n, 0] (models/sampling.py); ``actions`` int64 [n];
    ``behaviour_log_probs`` [n] when they were taken; ``advantages`` [n]; limits as in ``PolicyGradientConfig``. With
    ``trajectories`` int64 [n], numbers from 0 on, a row has the ratio of its whole trajectory. Paper, equations 1, 2
    and 6.
    """
    log_probs = torch.log_softmax(masked_logits(logits, masks), dim=1)
    taken = _of_actions(log_probs, actions)
    entropies = entropy(log_probs)
    log_ratios = taken.detach() - behaviour_log_probs
    if trajectories is not None:
        sums = log_ratios.new_zeros(int(trajectories.max()) + 1).index_add_(0, trajectories, log_ratios)
        log_ratios = sums[trajectories]
    ratios = log_ratios.exp()
    is_rejected = ratios > reject_ratio if reject_ratio else torch.zeros_like(ratios, dtype=torch.bool)
    weights = ratios.clamp_max(max_ratio) if max_ratio else ratios
    gains = weights.masked_fill(is_rejected, 0.0) * advantages * taken
    loss = -(gains + alpha * entropies).mean()
    return PolicyLoss(loss, ratios, entropies.detach(), is_rejected)


def _of_actions(columns: Tensor, actions: Tensor) -> Tensor:
    """Return what ``columns`` [n, k] have for the ``actions`` int64 [n] of their rows."""
    return columns.gather(1, actions.unsqueeze(1)).squeeze(1)


def entropy(log_probs: Tensor) -> Tensor:
    """Return the entropy [n] in nats of ``log_probs`` [n, k], minus infinity where illegal; differentiable."""
    finite = log_probs.masked_fill(log_probs == -torch.inf, 0.0)  # 0 * -inf would be nan, and so would its gradient
    return -(finite * log_probs.exp()).sum(dim=1)


def critic_loss(values: Tensor, rewards: Tensor) -> Tensor:
    """Return the mean squared error of what the critic expected, ``values`` [n], against ``rewards`` [n]."""
    return (values - rewards).square().mean()


def kl_divergence(logits: Tensor, reference_logits: Tensor, masks: Tensor) -> Tensor:
    """Return the mean over rows of KL(policy || reference) in nats; arguments as in ``policy_loss``."""
    own = torch.log_softmax(masked_logits(logits, masks), dim=1)
    reference = torch.log_softmax(masked_logits(reference_logits, masks), dim=1)
    return divergences_of(own, reference).mean()


def divergences_of(own: Tensor, reference: Tensor) -> Tensor:
    """Return KL(own || reference) [n] of log-probabilities [n, k], which are minus infinity at the same places."""
    difference = (own - reference).masked_fill(own == -torch.inf, 0.0)
    return (own.exp() * difference).sum(dim=1)


def loss_figures(loss: PolicyLoss) -> dict[str, Tensor]:
    """Return what to watch of a batch, 0-d each. ``effective_sample_share``: (sum of ratios)^2 / sum of squares, as a
    share of the rows; ``kl``: from the behaviour to the target policy, estimated by the mean of ratio - 1 - log ratio.
    """
    ratios = loss.ratios
    levels = torch.tensor(list(_QUANTILES.values()), device=ratios.device, dtype=ratios.dtype)
    quantiles = dict(zip(_QUANTILES, torch.quantile(ratios, levels), strict=True))
    return {
        **quantiles,
        "ratio_max": ratios.max(),
        "effective_sample_share": ratios.sum().square() / (len(ratios) * ratios.square().sum()).clamp_min(_TINY),
        "kl": (ratios - 1 - ratios.clamp_min(_TINY).log()).mean(),
        "entropy": loss.entropies.mean(),
        "rejected_share": loss.is_rejected.float().mean(),
    }


def decision_loss(
    logits: Tensor,
    values: Tensor | None,
    decisions: BatchColumns,
    alpha: float,
    config: PolicyGradientConfig,
    *,
    learns_policy: bool = True,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the loss of a policy net and its critic on a batch of decisions, and figures to watch, 0-d each.

    ``values`` [n] of the critic, None without one. Without ``learns_policy`` the loss of the policy counts 0.
    """
    rewards = decisions["rewards"] / config.reward_unit
    advantages = rewards if values is None else _advantages(logits, values.detach(), rewards, decisions, config)
    policy = policy_loss(
        logits,
        decisions["masks"],
        decisions["actions"].long(),
        decisions["log_probs"],
        advantages,
        alpha=alpha,
        max_ratio=config.max_ratio,
        reject_ratio=config.reject_ratio,
    )
    figures = loss_figures(policy) | {"policy_loss": policy.loss.detach(), "reward": rewards.mean()}
    loss = policy.loss if learns_policy else 0.0 * policy.loss
    if values is None:
        return loss, figures
    error = critic_loss(values, rewards)
    spread = rewards.var(correction=0)
    explained = torch.where(spread > 0, 1 - error.detach() / spread.clamp_min(_TINY), 0.0)
    figures |= {"critic_loss": error.detach(), "explained_variance": explained}
    return loss + error, figures


def padded_lists(values: Tensor, offsets: I64) -> tuple[Tensor, Tensor]:
    """Return ``values`` [m] of lists that begin at ``offsets`` [n + 1] as logits [n, longest list], and their masks."""
    counts = torch.from_numpy(np.diff(offsets)).to(values.device)
    masks = torch.arange(int(counts.max()), device=values.device) < counts.unsqueeze(1)
    return values.new_zeros(masks.shape).masked_scatter(masks, values), masks


def value_loss(logits: Tensor, decisions: BatchColumns, unit: float) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the mean squared error of Deep Monte-Carlo, and figures to watch, 0-d each: of the ``logits`` [n, k],
    which are values, those of the actions that were taken learn the rewards over ``unit``.
    """
    rewards = decisions["rewards"] / unit
    values = _of_actions(logits.float(), decisions["actions"].long())
    loss = critic_loss(values, rewards)
    return loss, {"policy_loss": loss.detach(), "value": values.detach().mean(), "reward": rewards.mean()}


def _advantages(
    logits: Tensor, values: Tensor, rewards: Tensor, decisions: BatchColumns, config: PolicyGradientConfig
) -> Tensor:
    """Return the advantages [n]: ``rewards`` minus the critic's ``values``, or generalised ones."""
    if config.gae_lambda == 1:
        return rewards - values
    log_probs = torch.log_softmax(masked_logits(logits.detach(), decisions["masks"]), dim=1)
    taken = _of_actions(log_probs, decisions["actions"].long())
    ratios = (taken - decisions["log_probs"]).exp()
    ratios = ratios if config.max_trace_ratio else torch.ones_like(ratios)
    is_joint = None if decisions["masks"].shape[1] else decisions["is_joint"]  # a seat discards one tile at a time
    return generalised_advantages(
        values, rewards, decisions["is_last"], ratios, config.gae_lambda, is_joint, max_ratio=config.max_trace_ratio
    )


def distillation_loss(
    logits: Tensor,
    teacher_logits: Tensor,
    masks: Tensor,
    config: DistillationConfig,
    mean_of_learners: Callable[[Tensor], Tensor] = torch.clone,
) -> tuple[Tensor, Tensor]:
    """Return weight * max(0, distance - bound) and the distance, 0-d: the mean over rows of KL(teacher || policy).

    Only ``logits`` [n, k] get a gradient. Of several learners ``mean_of_learners`` returns the distance of the whole
    batch, which decides for all of them whether the bound is exceeded.
    """
    distance = kl_divergence(teacher_logits.detach(), logits, masks)
    is_within = mean_of_learners(distance.detach().clone()) <= config.bound
    return config.weight * (distance - config.bound).masked_fill(is_within, 0.0), distance.detach()
