"""Generalised advantage estimation over the decisions of a seat in a kyoku, with truncated importance ratios.

Sources: Schulman and others 2016 (arXiv 1506.02438, equation 16) with discount 1 and one reward, at the end of the
kyoku; Espeholt and others 2018 (arXiv 1802.01561, section 4.1) for the truncated ratios.
"""

from __future__ import annotations

import torch
from torch import Tensor


def generalised_advantages(
    values: Tensor,
    rewards: Tensor,
    is_last: Tensor,
    ratios: Tensor,
    decay: float,
    expected_costs: Tensor | None = None,
    is_joint: Tensor | None = None,
    *,
    max_ratio: float = 0.0,
) -> Tensor:
    """Return the advantages [n] of n decisions, those of a trajectory one after another.

    ``values`` [n] of the critic; ``rewards`` [n] of the kyoku, the same in each row of a trajectory; ``is_last`` bool
    [n]; ``ratios`` [n]: importance ratios, truncated here to ``max_ratio`` (0 = not at all). A decision has the error
    ``delta[t] = value[t + 1] - value[t]``, the last one ``reward - value[t]``, and the advantage
    ``delta[t] + decay * ratio[t + 1] * advantage[t + 1]``; ``decay`` is the lambda of the source.

    With ``expected_costs`` [n] (expected_cost.py), values and rewards are without what a decision itself costs at once,
    and the value of the next decision counts less its expected cost. Of the rewards only the last rows count.

    ``is_joint`` bool [n]: the row is one decision with the row before it (several claims or kans at one time). Such
    rows are one step t, whatever their order: its value is their mean, its ratio the product of theirs, which is
    truncated as a whole. All of them have the estimated return ``value[t] + advantage[t]`` of the step; the advantage
    of a row is that minus its own value.
    """
    if is_joint is None:
        following = values if expected_costs is None else values - expected_costs
        following = torch.cat([following[1:], following[-1:]])
        errors = torch.where(is_last, rewards, following) - values
        traces = ratios.clamp_max(max_ratio) if max_ratio else ratios
        return weighted_sums(errors, decay * torch.cat([traces[1:], traces[-1:]]), is_last)
    steps = _steps(is_joint, is_last)
    sizes = _sums(steps, torch.ones_like(values)).clamp_min(1)
    step_values, step_ratios = _sums(steps, values) / sizes, _sums(steps, ratios.log()).exp()
    ends = _sums(steps, is_last.to(values.dtype)) > 0
    costs = None if expected_costs is None else _sums(steps, expected_costs) / sizes
    paid = _sums(steps, rewards * is_last)
    advantages = generalised_advantages(step_values, paid, ends, step_ratios, decay, costs, max_ratio=max_ratio)
    return (step_values + advantages)[steps] - values


def _steps(is_joint: Tensor, is_last: Tensor) -> Tensor:
    """Return int64 [n]: the number of the step that each row belongs to, from 0 on."""
    is_first_row = torch.cat([torch.ones_like(is_last[:1]), is_last[:-1]])
    return (~is_joint | is_first_row).long().cumsum(0) - 1


def _sums(steps: Tensor, column: Tensor) -> Tensor:
    """Return the sums [n] of ``column`` [n] over the rows of each step; 0 beyond the last step."""
    return torch.zeros_like(column).index_add(0, steps, column)


def weighted_sums(terms: Tensor, weights: Tensor, is_last: Tensor) -> Tensor:
    """Return the sums [n] with ``sum[t] = terms[t] + weights[t] * sum[t + 1]``.

    ``is_last`` bool [n]: ends of trajectories, where the sum is ``terms[t]``; the last row is one. They are solved for
    all rows at once, in log2(n) doublings of the number of rows that each one includes.
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
