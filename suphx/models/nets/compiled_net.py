"""A policy net through torch.compile, part by part: the stem, one residual block, the output.

The blocks of a trunk are equal but for their weights, which a compiled function takes as inputs: it is compiled once
for all blocks, and for all nets with as many channels. Compiled as a whole, every net would be compiled anew, block
after block. A block ends where a convolution begins. In inference, a whole net could therefore not be fused further; in
training, the gradient between two blocks is written and read once more.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from suphx.models.computation import Compilation
from suphx.models.device import resolve_compilation
from suphx.models.nets.policy import PolicyNet

_MAX_COMPILED = 256  # kinds of one part times batch sizes of a process


def compiled(
    net: PolicyNet, compilation: Compilation, device: torch.device, *, fullgraph: bool = False
) -> PolicyNet | CompiledNet:
    """Return ``net`` through torch.compile for fixed shapes, or as it is where ``compilation`` says none.

    ``fullgraph``: parts that cannot be compiled are an error instead of slow.
    """
    kind = resolve_compilation(compilation, device)
    if kind == "none":
        return net
    # torch stops at 8 versions of one function, for fear of a mistake: here each batch size is one.
    limits = torch._dynamo.config
    limits.recompile_limit = max(limits.recompile_limit, _MAX_COMPILED)
    # No CUDA graphs by torch.compile: inference and training record their own.
    mode = "max-autotune-no-cudagraphs" if kind == "max-autotune" else "default"
    return CompiledNet(net, mode, fullgraph=fullgraph)


class CompiledNet(nn.Module):
    """Computes the logits of its net; weights and modes (training, evaluation) are those of the net itself."""

    def __init__(self, net: PolicyNet, mode: str, *, fullgraph: bool) -> None:
        """``mode``: of torch.compile."""
        super().__init__()
        self.net = net
        self._parts: list[Callable[[Tensor], Tensor]] = [
            torch.compile(part, fullgraph=fullgraph, dynamic=False, mode=mode)
            for part in (net.first_features, *net.trunk.blocks, net.output)
        ]

    def forward(self, planes: Tensor) -> Tensor:
        """Return the logits of ``planes``, as ``PolicyNet.forward``; oracle planes must be part of the packed rows."""
        features = planes
        for part in self._parts:
            features = part(features)
        return features
