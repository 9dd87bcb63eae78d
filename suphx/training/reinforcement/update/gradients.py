"""The gradients of one step: clipped, kept until the next update, and compared with it."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

_TINY = torch.finfo(torch.float32).tiny


def clip_gradients(nets: Mapping[tuple[str, str], nn.Module], max_norm: float) -> dict[tuple[str, str], Tensor]:
    """Clip the gradient of each net to ``max_norm``, in place; return the norms before that, 0-d each.

    Nets without gradients have no norm.
    """
    norms = {}
    for name, net in nets.items():
        parameters = [p for p in net.parameters() if p.grad is not None]
        if parameters:
            norms[name] = nn.utils.clip_grad_norm_(parameters, max_norm)
    return norms


def copied_gradients(net: nn.Module) -> dict[str, Tensor]:
    """Return copies of the gradients of ``net`` by parameter."""
    return {key: p.grad.clone() for key, p in net.named_parameters() if p.grad is not None}


def drop_gradients(net: nn.Module) -> None:
    """Take all gradients from ``net``: optimizers then leave its parameters as they are."""
    for parameter in net.parameters():
        parameter.grad = None


def gradient_cosine(now: Mapping[str, Tensor], last: Mapping[str, Tensor]) -> Tensor:
    """Return the cosine, 0-d, of two gradients of the same parameters.

    Summed in float64: a gradient that was saved and read may have another memory layout, and so another order of sums.
    """
    f64 = torch.float64
    products = torch.stack([(now[key] * last[key]).sum(dtype=f64) for key in now]).sum()
    norms = [torch.stack([g.square().sum(dtype=f64) for g in of.values()]).sum().sqrt() for of in (now, last)]
    return (products / (norms[0] * norms[1]).clamp_min(_TINY)).float()
