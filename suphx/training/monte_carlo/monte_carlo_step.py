"""One optimizer step of Deep Monte-Carlo: the squared error of values against returns (DouZero, section 3.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import RMSprop

from suphx.kernel.record import I64, U8
from suphx.training.loop.prediction import DivergedError
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig


class Samples(Protocol):
    """What one net learns from."""

    def __len__(self) -> int: ...

    def rows(self, indices: I64) -> Self:
        """Return the samples at ``indices``."""
        ...

    def loss(self, net: nn.Module, device: torch.device, *, is_bf16: bool) -> Tensor:
        """Return the mean loss of ``net``, which is on ``device``."""
        ...


@dataclass(frozen=True, slots=True)
class ValueSamples:
    """Moves of one seat, and what its games were worth to it at their ends (gamma is 1)."""

    states: U8
    """uint8 [n, columns]."""
    history: U8
    """uint8 [n, 5, 162]."""
    candidates: U8
    """uint8 [n, 54]: the move that was played."""
    returns: NDArray[np.float32]
    """float32 (n,)."""

    def __len__(self) -> int:
        return len(self.returns)

    def rows(self, indices: I64) -> Self:
        """Return the samples at ``indices``."""
        return type(self)(self.states[indices], self.history[indices], self.candidates[indices], self.returns[indices])

    def loss(self, net: nn.Module, device: torch.device, *, is_bf16: bool) -> Tensor:
        """Return the mean squared error of the values against the returns."""
        arrays = (self.states, self.history, self.candidates, np.arange(len(self)))
        values = candidate_values(net, arrays, device, is_bf16=is_bf16)
        return value_loss(values, torch.from_numpy(self.returns).to(device))


def candidate_values(
    net: nn.Module, arrays: Sequence[NDArray[np.generic]], device: torch.device, *, is_bf16: bool
) -> Tensor:
    """Return float32 [m]: what ``net`` gives each candidate; ``arrays``: the inputs of its ``forward``."""
    with torch.autocast(device.type, torch.bfloat16, enabled=is_bf16):
        return cast(Tensor, net(*(torch.from_numpy(array).to(device) for array in arrays)))


def value_loss(values: Tensor, returns: Tensor) -> Tensor:
    """Return the mean squared error of ``values`` [n] against ``returns`` [n]."""
    return (values - returns).square().mean()


def new_value_optimizer(nets: nn.Module, config: MonteCarloConfig) -> RMSprop:
    """Return RMSprop over all nets; a step changes those only that have gradients."""
    return RMSprop(nets.parameters(), lr=config.learning_rate, alpha=config.smoothing, eps=config.rms_epsilon)


def learn_samples(
    net: nn.Module, optimizer: RMSprop, samples: Samples, max_grad_norm: float, *, is_bf16: bool = False
) -> float:
    """Do one step of ``net`` alone, on its device; return its loss. DivergedError if loss or gradient is not finite.

    ``is_bf16``: the net is computed in bf16 (autocast); weights, loss and optimizer stay float32.
    """
    optimizer.zero_grad(set_to_none=True)
    loss = samples.loss(net, next(net.parameters()).device, is_bf16=is_bf16)
    torch.autograd.backward(loss)
    norm = float(nn.utils.clip_grad_norm_(net.parameters(), max_grad_norm))
    cost = float(loss.detach())
    if not math.isfinite(cost) or not math.isfinite(norm):
        rate = optimizer.param_groups[0]["lr"]
        raise DivergedError(f"the loss of the values is {cost}, its gradient {norm}: lower learning_rate (now {rate})")
    optimizer.step()
    return cost
