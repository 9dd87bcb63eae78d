"""Where and how nets are computed: device, threads, bfloat16, compilation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, cast

import torch
from torch import nn

from suphx.models.computation import Compilation, DeviceName, Precision

_MAX_COMPILED = 128  # nets times batch sizes of a process


def find_device(name: DeviceName) -> torch.device:
    """Return the device called ``name``; auto is cuda if there is one. ValueError for cuda where there is none."""
    has_cuda = torch.cuda.is_available()
    if name == "cuda" and not has_cuda:
        raise ValueError("device is cuda, but this machine has no usable GPU: use auto or cpu")
    return torch.device("cuda" if has_cuda and name != "cpu" else "cpu")


def uses_bf16(precision: Precision, device: torch.device) -> bool:
    """Tell whether to compute in bfloat16; auto: only where the hardware has it, elsewhere it would be slower."""
    if precision == "auto":
        if device.type == "cuda":
            return bool(torch.cuda.is_bf16_supported(including_emulation=False))
        return bool(torch.cpu.get_capabilities().get("avx512_bf16", False))
    return precision == "bf16"


def resolve_compilation(compilation: Compilation, device: torch.device) -> Literal["none", "default", "max-autotune"]:
    """Return what auto stands for: torch.compile on a GPU; on a CPU it makes nothing faster (docs/experiments.md)."""
    if compilation == "auto":
        return "default" if device.type == "cuda" else "none"
    return compilation


def compiled(net: nn.Module, compilation: Compilation, device: torch.device, *, fullgraph: bool = False) -> nn.Module:
    """Return ``net`` through torch.compile for fixed shapes, or as it is where ``compilation`` says none.

    ``fullgraph``: parts that cannot be compiled are an error instead of slow.
    """
    kind = resolve_compilation(compilation, device)
    if kind == "none":
        return net
    # torch stops at 8 versions of one function, for fear of a mistake: here each net and batch size is one.
    torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, _MAX_COMPILED)
    # No CUDA graphs by torch.compile: inference records its own, and training has too few launches to gain.
    mode = "max-autotune-no-cudagraphs" if kind == "max-autotune" else "default"
    return cast(nn.Module, torch.compile(net, fullgraph=fullgraph, dynamic=False, mode=mode))


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use ``count`` threads inside the block; 0 changes nothing."""
    before = torch.get_num_threads()
    if count:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
