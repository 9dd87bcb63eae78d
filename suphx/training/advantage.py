"""Generalised advantage estimation over the decisions of a seat in a kyoku, with truncated importance ratios.

Sources: Schulman and others 2016 (arXiv 1506.02438, equation 16) with discount 1 and one reward, at the end of the
kyoku; Espeholt and others 2018 (arXiv 1802.01561, section 4.1) for the truncated ratios.
"""

from __future__ import annotations

import torch
from torch import Tensor


def generalised_advantages(values: Tensor, rewards: Tensor, is_last: Tensor, traces: Tensor, decay: float) -> Tensor:
    """Return the advantages [n] of n decisions, those of a trajectory one after another.

    ``values`` [n] of the critic; ``rewards`` [n] of the kyoku, the same in each row of a trajectory; ``is_last`` bool
    [n]; ``traces`` [n]: truncated importance ratios. A decision has the error
    ``delta[t] = value[t + 1] - value[t]``, the last one ``reward - value[t]``, and the advantage
    ``delta[t] + decay * traces[t + 1] * advantage[t + 1]``; ``decay`` is the lambda of the source.

    The recursion is solved for all rows at once, in log2(n) doublings of the number of rows that each one includes.
    """
    following = torch.cat([values[1:], values[-1:]])
    advantages = torch.where(is_last, rewards, following) - values
    weights = torch.zeros_like(values)
    weights[:-1] = decay * traces[1:]
    weights = weights.masked_fill(is_last, 0.0)
    reach = 1
    while reach < len(values):
        advantages, weights = (
            torch.cat([advantages[:-reach] + weights[:-reach] * advantages[reach:], advantages[-reach:]]),
            torch.cat([weights[:-reach] * weights[reach:], torch.zeros_like(weights[-reach:])]),
        )
        reach *= 2
    return advantages
