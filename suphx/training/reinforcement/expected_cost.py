"""What discards cost at once, as an expectation over all legal discards instead of the sampled one.

The costs of all legal discards are known when the decision is made (selfplay/deal_in.py). With the policy pi, the
discard a[t] that was taken, its cost c[t](a[t]) and the expected cost e[t] = sum over b of pi(b) c[t](b), the return R
is split in two:

- The gradient of e[t] replaces what the sampled gradient says of the cost of a[t] itself ("all-action" or "expected"
  policy gradient: Ciosek and Whiteson 2020, arXiv 1801.03326, section 3).
- The rest, R + c[t](a[t]) + sum over s > t of (c[s](a[s]) - e[s]), is what the sampled gradient and the critic learn
  from: later costs count as their expectation, whether or not the discard was won on (a control variate).

On policy, the mean of the gradient is the same as without this.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from suphx.models.sampling import masked_logits
from suphx.training.reinforcement.advantage import weighted_sums


@dataclass(frozen=True, slots=True)
class ExpectedCost:
    """The costs of n decisions under the present policy, in the unit of the rewards."""

    loss: Tensor
    """0-d: mean of the expected costs; differentiable."""
    expected: Tensor
    """[n]: sum over the legal actions of probability times cost."""
    taken: Tensor
    """[n]: cost of the action that was taken."""

    def rewards_of_the_rest(self, rewards: Tensor, is_last: Tensor) -> Tensor:
        """Return ``rewards`` [n] without what each decision costs at once, and with later costs as expectations."""
        surprises = self.taken - self.expected
        return rewards + self.expected + weighted_sums(surprises, torch.ones_like(surprises), is_last)


def expected_cost(logits: Tensor, masks: Tensor, costs: Tensor, actions: Tensor) -> ExpectedCost:
    """Return the expected costs of decisions.

    ``logits`` [n, k] of the policy; ``masks`` [n, k] (models/sampling.py); ``costs`` [n, k]; ``actions`` int64 [n].
    """
    expected = (torch.softmax(masked_logits(logits, masks), dim=1) * costs).sum(dim=1)
    taken = costs.gather(1, actions.unsqueeze(1)).squeeze(1)
    return ExpectedCost(expected.mean(), expected.detach(), taken)
