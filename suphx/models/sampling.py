"""From logits to actions and their log-probabilities, on the device that the logits are on.

Legal answers are a mask over a table of choices [n, k], or lists of candidates one after another [m] with offsets
[n + 1] (``list_actions_at``).
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from suphx.kernel.jit import jit
from suphx.kernel.record import I64, U8

F32 = NDArray[np.float32]


def masked_logits(logits: Tensor, masks: Tensor) -> Tensor:
    """Return float32 ``logits`` [n, k] with minus infinity where ``masks`` [n, k] is 0; ``masks`` [n, 0]: all are
    legal.
    """
    logits = logits.float()
    if masks.shape[1] == 0:
        return logits
    return logits.masked_fill(masks == 0, -torch.inf)


def actions_at(logits: Tensor, masks: Tensor, uniforms: Tensor) -> tuple[Tensor, Tensor]:
    """Return the actions int64 [n] at the quantiles ``uniforms`` [n] (0 … 1), and their log-probs [n].

    Each row must have a legal action. The result depends only on the uniforms and the logits, not on how rows are
    batched.
    """
    choose = _actions_of_arrays if logits.device.type == "cpu" else _actions_of_tensors
    return choose(logits, masks, uniforms)


def _actions_of_tensors(logits: Tensor, masks: Tensor, uniforms: Tensor) -> tuple[Tensor, Tensor]:
    log_probs = torch.log_softmax(masked_logits(logits, masks), dim=1)
    sums = log_probs.exp().cumsum(dim=1)
    # Below the sum itself, so that the last action with a chance is taken at the latest.
    wanted = torch.minimum(uniforms.float() * sums[:, -1], torch.nextafter(sums[:, -1], torch.zeros_like(sums[:, -1])))
    actions = (sums <= wanted.unsqueeze(1)).sum(dim=1)
    return actions, log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)


def _actions_of_arrays(logits: Tensor, masks: Tensor, uniforms: Tensor) -> tuple[Tensor, Tensor]:
    """Do the same on a CPU in one kernel: a dozen small operations of torch take longer than a small batch is worth."""
    actions, log_probs = np.empty(len(logits), np.int64), np.empty(len(logits), np.float32)
    _fill_actions(logits.float().numpy(), masks.to(torch.uint8).numpy(), uniforms.float().numpy(), actions, log_probs)
    return torch.from_numpy(actions), torch.from_numpy(log_probs)


@jit
def _fill_actions(logits: F32, masks: U8, uniforms: F32, actions: I64, log_probs: F32) -> None:
    is_masked = masks.shape[1] > 0
    for i in range(len(logits)):
        highest = -math.inf
        for k in range(logits.shape[1]):
            if (not is_masked or masks[i, k] > 0) and logits[i, k] > highest:
                highest = logits[i, k]
        total = 0.0
        for k in range(logits.shape[1]):
            if not is_masked or masks[i, k] > 0:
                total += math.exp(logits[i, k] - highest)
        left = uniforms[i] * total
        chosen = -1
        for k in range(logits.shape[1]):
            if not is_masked or masks[i, k] > 0:
                probability = math.exp(logits[i, k] - highest)
                if chosen < 0 or (probability > 0 and left >= 0):
                    chosen = k
                left -= probability
        actions[i] = chosen
        log_probs[i] = logits[i, chosen] - highest - math.log(total)


def epsilon_greedy(logits: Tensor, masks: Tensor, epsilon: float) -> Tensor:
    """Return the logits [n, k] of a policy that takes the highest one, and any legal action with ``epsilon``."""
    legal = masked_logits(logits, masks)
    is_legal = legal > -torch.inf
    shares = epsilon * is_legal / is_legal.sum(dim=1, keepdim=True)
    return shares.scatter_add(
        1, legal.argmax(dim=1, keepdim=True), shares.new_full((len(shares), 1), 1 - epsilon)
    ).log()


def list_actions_at(logits: Tensor, offsets: I64, uniforms: F32) -> tuple[NDArray[np.int64], F32]:
    """Return the places int64 [n] in their lists of the candidates at the quantiles ``uniforms`` [n], and log-probs
    [n]: as ``actions_at``, for lists of at least one candidate, on the CPU.
    """
    places, log_probs = np.empty(len(uniforms), np.int64), np.empty(len(uniforms), np.float32)
    rows, no_masks = logits.float().cpu().numpy(), np.zeros((1, 0), np.uint8)
    _fill_places(rows.reshape(1, -1), no_masks, offsets, uniforms, places, log_probs)
    return places, log_probs


@jit
def _fill_places(logits: F32, no_masks: U8, offsets: I64, uniforms: F32, places: I64, log_probs: F32) -> None:
    for i in range(len(uniforms)):
        own = logits[:, offsets[i] : offsets[i + 1]]
        _fill_actions(own, no_masks, uniforms[i : i + 1], places[i : i + 1], log_probs[i : i + 1])
