"""What all trainings share in a step: optimizer, learning rate, losses that are watched, the outputs of a net."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from suphx.experience.observation import Samples
from suphx.models.sampling import masked_logits
from suphx.training.trainer import DivergedError

_FINAL_FACTOR = 0.01
"""Learning rate at the end of a training, as a share of the peak."""
_WARMUP_SHARE = 0.1
"""The most that the warm-up takes of a training."""


def set_learning_rate(optimizer: Optimizer, peak: float, step: int, progress: float, warmup_steps: int) -> None:
    """Set the learning rate: after a linear warm-up of ``warmup_steps``, at most a tenth of the run, half a cosine from
    ``peak`` to a hundredth of it. ``step``: steps done before; ``progress``: share of the run done.
    """
    for group in optimizer.param_groups:
        group["lr"] = peak * learning_rate_factor(step, progress, warmup_steps)


def learning_rate_factor(step: int, progress: float, warmup_steps: int) -> float:
    """Return what the peak learning rate is multiplied by; arguments as for ``set_learning_rate``."""
    warmup = 1.0
    if warmup_steps > 0:
        warmup = min(1.0, max((step + 1) / warmup_steps, progress / _WARMUP_SHARE))
    cosine = 0.5 + 0.5 * math.cos(math.pi * min(1.0, max(0.0, progress)))
    return warmup * (_FINAL_FACTOR + (1.0 - _FINAL_FACTOR) * cosine)


def new_optimizer(net: nn.Module, learning_rate: float, weight_decay: float) -> AdamW:
    """Return AdamW over the parameters of ``net``; only matrices and convolutions decay."""
    parameters = list(net.parameters())
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return AdamW(groups, lr=learning_rate, fused=True)


def make_step(net: nn.Module, optimizer: Optimizer, loss: Tensor, max_grad_norm: float, name: str) -> float:
    """Move the weights of ``net`` down the gradient of ``loss`` (0-d), clipped to ``max_grad_norm``; return the loss.
    DivergedError with the ``name`` of the net, before anything has changed, if the loss or its gradient is not finite.
    """
    optimizer.zero_grad(set_to_none=True)
    torch.autograd.backward(loss)
    norm = float(nn.utils.clip_grad_norm_(net.parameters(), max_grad_norm))
    value = float(loss.detach())
    if not (math.isfinite(value) and math.isfinite(norm)):
        rate = optimizer.param_groups[0]["lr"]
        raise DivergedError(
            f"the loss of {name} is {value:g}, with a gradient of norm {norm:g}: lower learning_rate (now {rate:g})"
        )
    optimizer.step()
    return value


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
    """Gives the losses of steps when they are known; on a GPU nobody waits for the newest step.

    >>> watch.add(step, num_samples, loss, norm)
    >>> losses = watch.take()
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


_PREDICTION_ROWS = 2048  # at a time: bounds memory, large enough to be fast


def net_logits(net: nn.Module, rows: Tensor, bf16: bool) -> Tensor:
    """Return the logits [n, k] of packed ``rows`` uint8 [n, observation_bytes], which are on the device of ``net``."""
    with torch.autocast(rows.device.type, torch.bfloat16, enabled=bf16):
        return cast(Tensor, net(rows))


def predict(net: nn.Module, samples: Samples, bf16: bool) -> NDArray[np.float32]:
    """Return the logits [n, k] of ``samples`` by ``net`` in evaluation mode, minus infinity where illegal.

    The net stays in evaluation mode.
    """
    net.eval()
    device = next(net.parameters()).device
    parts = []
    with torch.inference_mode():
        for start in range(0, len(samples), _PREDICTION_ROWS):
            part = samples.part(start, start + _PREDICTION_ROWS)
            logits = net_logits(net, torch.from_numpy(part.planes).to(device), bf16).cpu()
            parts.append(masked_logits(logits, torch.from_numpy(part.masks)).numpy())
    return np.concatenate(parts)
