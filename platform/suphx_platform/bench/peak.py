"""What a device can do at best: the rate of one large matrix product on random numbers."""

from __future__ import annotations

import time

import torch

_GPU_WIDTH = 8192
_CPU_WIDTH = 1024
_PRODUCTS = 10  # between two looks at the clock


def measure_peak(device: torch.device, dtype: torch.dtype, *, seconds: float) -> float:
    """Return floating-point operations a second, the best of the tries that fit into ``seconds`` (at least one).

    Random numbers, not zeros: zeros take less power, and a GPU then keeps a higher clock than any net can.
    """
    width = _GPU_WIDTH if device.type == "cuda" else _CPU_WIDTH
    left = torch.randn(width, width, device=device).to(dtype)
    right = torch.randn(width, width, device=device).to(dtype)
    result = torch.empty(width, width, device=device, dtype=dtype)
    best = 0.0
    _wait(device)
    end = time.perf_counter() + seconds
    while best == 0 or time.perf_counter() < end:
        started = time.perf_counter()
        for _ in range(_PRODUCTS):
            torch.mm(left, right, out=result)
        _wait(device)
        best = max(best, _PRODUCTS * 2 * width**3 / (time.perf_counter() - started))
    return best


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
