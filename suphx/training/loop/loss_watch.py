"""Losses on their way from the device to the process: read one step late on a GPU, so that no step waits for them.

DivergedError is raised for a loss that is not finite.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import torch
from torch import Tensor


class DivergedError(Exception):
    """The loss or its gradient is no longer a finite number; the best weights before are on disk."""


@dataclass(frozen=True, slots=True)
class StepLoss:
    """What one optimizer step cost."""

    step: int
    num_samples: int
    loss: float
    norm: float
    """Of the gradient, before it was clipped."""

    @property
    def is_finite(self) -> bool:
        """Return whether both the loss and the norm of its gradient are finite."""
        return math.isfinite(self.loss) and math.isfinite(self.norm)


class LossWatch:
    """Usage::

    watch = LossWatch(device)
    watch.add(step, num_samples, loss, norm)
    for loss in watch.take():  # those that are known without waiting for the newest step
        ...
    """

    def __init__(self, device: torch.device) -> None:
        self._is_late = device.type == "cuda"
        self._pending: deque[tuple[int, int, Tensor, torch.cuda.Event | None]] = deque()

    def add(self, step: int, num_samples: int, loss: Tensor, norm: Tensor) -> None:
        """Add the loss and the gradient's norm (0-d tensors) of a step."""
        both = torch.stack([loss.detach().float(), norm.detach().float()])
        event = None
        if self._is_late:
            both = torch.empty_like(both, device="cpu", pin_memory=True).copy_(both, non_blocking=True)
            event = torch.cuda.current_stream().record_event()
        self._pending.append((step, num_samples, both, event))

    def take(self, *, waits: bool = False) -> list[StepLoss]:
        """Return the losses of the steps before the newest, of all if it ``waits``; on a CPU always of all."""
        kept = 0 if waits or not self._is_late else 1
        losses = []
        while len(self._pending) > kept:
            step, num_samples, both, event = self._pending.popleft()
            if event is not None:
                event.synchronize()
            losses.append(StepLoss(step, num_samples, *both.tolist()))
        return losses
