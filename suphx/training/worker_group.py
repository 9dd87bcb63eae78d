"""The workers that train one net together, each on its own games: which of them this is, and how they agree.

One process alone is a group of one, for which everything here does nothing. What starts several (Ray Train, or a
test) sets up ``torch.distributed`` first; its CPU backend must be gloo.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import FunctionCtx
from torch.nn.parallel import DistributedDataParallel

from suphx.models.policy import ChannelNorm

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerGroup:
    """One worker's view of its group."""

    rank: int = 0
    """Number of this worker; the first, 0, validates, writes and reports."""
    size: int = 1
    """How many workers there are."""

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.size:
            raise ValueError(f"worker {self.rank} of {self.size}: use a rank from 0 to size - 1")

    @property
    def is_first(self) -> bool:
        """Tell whether this worker is the one that validates, writes and reports."""
        return self.rank == 0

    def from_first(self, values: Sequence[float]) -> list[float]:
        """Return the numbers that the first worker gave; every worker must call it, with as many numbers."""
        if self.size == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64)
        dist.broadcast(tensor, src=0)
        return cast(list[float], tensor.tolist())

    def gather(self, value: T) -> list[T]:
        """Return the values of all workers by rank; every worker must call it. The value must be picklable."""
        if self.size == 1:
            return [value]
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value)
        return values

    def join(self, net: nn.Module) -> nn.Module:
        """Return ``net`` for training: its weights start as the first worker's, its gradients are means over the group,
        and BatchNorm takes its statistics over the rows of all workers. The weights stay those of ``net`` itself.
        """
        if self.size == 1:
            return net
        share_batch_statistics(net)
        return DistributedDataParallel(net)


ONE_WORKER = WorkerGroup()
"""Alone."""


def share_batch_statistics(net: nn.Module) -> None:
    """Let every BatchNorm1d of ``net`` take its statistics over all workers, in place; no name in it changes."""
    for parent in list(net.modules()):
        for name, child in parent.named_children():
            if isinstance(child, nn.BatchNorm1d) and not isinstance(child, SharedBatchNorm):
                shared = SharedBatchNorm(child.num_features, child.eps, child.momentum)
                shared.weight, shared.bias = child.weight, child.bias
                shared._buffers = child._buffers
                setattr(parent, name, shared.train(child.training))


class SharedBatchNorm(ChannelNorm):
    """BatchNorm whose statistics in training are those of all workers' rows, on any device: torch's own SyncBatchNorm
    refuses a CPU.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the normalised ``input`` [n, channels, ...]."""
        if not self.training:
            return super().forward(input)
        values = input.float()
        others = [dim for dim in range(values.ndim) if dim != 1]
        count = torch.full((1,), values.numel() / values.shape[1], device=values.device)
        own = torch.cat([values.sum(others), values.square().sum(others), count])
        total: Tensor = _SumOverWorkers.apply(own)  # type: ignore[no-untyped-call]
        number = total[-1].detach()
        mean, square = (total[:-1] / number).chunk(2)
        variance = (square - mean.square()).clamp_min(0)
        self._update(mean.detach(), variance.detach() * number / (number - 1))
        scale = self.weight * torch.rsqrt(variance + self.eps)
        shift = self.bias - mean * scale
        shape = (-1, *[1] * (values.ndim - 2))
        return torch.addcmul(shift.view(shape), values, scale.view(shape)).to(input.dtype)

    @torch.no_grad()
    def _update(self, mean: Tensor, variance: Tensor) -> None:
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        assert self.momentum is not None
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance, self.momentum)
        self.num_batches_tracked.add_(1)


class _SumOverWorkers(Function):
    """The sum of a tensor over all workers; its gradient is the sum of theirs."""

    @staticmethod
    def forward(ctx: FunctionCtx, own: Tensor) -> Tensor:
        total = own.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> Tensor:
        total = gradient.clone()
        dist.all_reduce(total)
        return total
