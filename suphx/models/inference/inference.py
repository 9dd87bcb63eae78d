"""Outputs of one net, as fast as a device gives them: folded, in bf16, in fixed batch shapes, as CUDA graphs.

On a GPU every batch size is recorded once, when the net is made, and compiled if no net like it was; from then on a
batch is one copy and one launch, and nothing is ever compiled again. Rows that fill no batch size are padded. On a CPU
without compilation any number of rows is computed as it is.

>>> net = InferenceNet(policy_net, find_device("auto"))
>>> logits = net(rows)  # uint8 [n, observation_bytes], in page-locked memory or on the device; returns at once on a GPU
>>> net.use(net.prepared(newer_policy_net))  # new weights, same shapes: nothing is compiled again
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import torch
from torch import Tensor

from suphx.models.computation import (
    FASTEST,
    Compilation,
    Convolution,
    Precision,
    check_batch_sizes,
    check_convolution,
)
from suphx.models.device import compared_algorithms, resolve_compilation, uses_bf16
from suphx.models.nets.compiled_net import compiled
from suphx.models.nets.policy import PolicyNet, fold_batch_norm
from suphx.models.nets.resnet import ConvNorm
from suphx.models.packed.unpack import check_observations

_GPU_BATCH_SIZES = (62, 248, 496, 992, 1984)
"""Times 34 columns, the last three are just under 1, 2 and 4 tiles of 128 rows for each of the 132 multiprocessors of
an H200. 2,048 rows would take about as long as 2,480: a fifth wave of tiles would begin."""

_CPU_ROWS = 512  # at a time: features of more would leave the caches


Forward = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceConfig:
    """How the outputs of a net are computed; nothing here changes them, up to rounding."""

    precision: Precision = "auto"
    """fp32, bf16 (weights as well), or auto: bf16 where the hardware has it."""
    convolution: Convolution = FASTEST
    """How convolutions are computed (convolution.py)."""
    compilation: Compilation = "auto"
    """none, default or max-autotune (torch.compile: seconds or minutes a batch size); auto: default on a GPU only."""
    batch_sizes: tuple[int, ...] = ()
    """Rows of a batch, ascending; rows are padded to the next one. Empty: by device."""

    def __post_init__(self) -> None:
        check_convolution(self.convolution)
        for name, allowed in (("precision", get_args(Precision)), ("compilation", get_args(Compilation))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}: use one of {', '.join(allowed)}")
        check_batch_sizes(self.batch_sizes)


class InferenceNet:
    """Consumes: packed rows. Produces: float32 logits on the device. Waits for: nothing on a GPU (see the module).

    Not for several threads at a time: batches share their buffers.
    """

    def __init__(self, net: PolicyNet, device: torch.device, config: InferenceConfig | None = None) -> None:
        """Take the weights of ``net``, which stays as it is; on a GPU, compile and record every batch size."""
        self.device = device
        self.config = config = config or InferenceConfig()
        self.num_planes = net.num_planes
        self.observation_bytes = net.observation_bytes
        self.is_bf16 = uses_bf16(config.precision, device)
        self.batch_sizes = config.batch_sizes or _default_batch_sizes(device, config.compilation)
        self._net = self._prepare(net)
        self._batches: dict[int, _Batch] = {}
        # Graphs are recorded here, so that a part that is not compiled would stay unseen: it is an error.
        self._make_batches(compiled(self._net, config.compilation, device, fullgraph=True))

    @torch.inference_mode()
    def __call__(self, rows: Tensor) -> Tensor:
        """Return the logits [n, k], float32 on the device, of packed ``rows`` uint8 [n, observation_bytes].

        On a GPU the call returns before the work is done: rows in page-locked memory must stay as they are until the
        present stream has come to here. Raises ValueError for rows of another shape.
        """
        check_observations(rows, self.num_planes, self.observation_bytes)
        if not self.batch_sizes:
            return torch.cat([self._net(part.to(self.device)).float() for part in torch.split(rows, _CPU_ROWS)])
        parts, start = [], 0
        for size in plan_batches(len(rows), self.batch_sizes):
            parts.append(self._batches[size](rows[start : start + size]))
            start += size
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    @torch.inference_mode()
    def prepared(self, net: PolicyNet) -> dict[str, Tensor]:
        """Return the weights of ``net`` for ``use``; this is the slow part, and changes nothing here."""
        return dict(self._prepare(net).named_parameters())

    @torch.inference_mode()
    def use(self, new: Mapping[str, Tensor]) -> None:
        """Use ``prepared`` weights from now on; ValueError if they are of another kind of net."""
        old = dict(self._net.named_parameters())
        if {name: weight.shape for name, weight in new.items()} != {name: weight.shape for name, weight in old.items()}:
            raise ValueError("the net has other layers than the one before: make a new InferenceNet")
        for name, weight in old.items():
            weight.copy_(new[name])  # in place: recorded graphs know weights by their addresses

    def _prepare(self, net: PolicyNet) -> PolicyNet:
        folded = fold_batch_norm(net).to(self.device, torch.bfloat16 if self.is_bf16 else torch.float32)
        folded.use(self.config.convolution).requires_grad_(False)
        if self.config.convolution == "channels_last":
            for module in folded.modules():
                if isinstance(module, ConvNorm):  # weights in the order that the convolution reads them in
                    weight = module.conv.weight
                    weight.data = weight.data.transpose(1, 2).contiguous().transpose(1, 2)
        return folded

    @torch.inference_mode()
    def _make_batches(self, forward: Forward) -> None:
        pool = torch.cuda.graph_pool_handle() if self.device.type == "cuda" else None
        for size in reversed(self.batch_sizes):  # the largest first: the others fit into its memory
            rows = torch.zeros(size, self.observation_bytes, dtype=torch.uint8, device=self.device)
            self._batches[size] = _Batch(forward, rows) if pool is None else _RecordedBatch(forward, rows, pool)


class _Batch:
    """One batch size. Rows always come from the same place, so that to torch.compile no call is new."""

    def __init__(self, forward: Forward, rows: Tensor) -> None:
        self._forward = forward
        self._rows = rows
        self._forward(rows)

    def __call__(self, rows: Tensor) -> Tensor:
        """Return the logits of ``rows``, which may be fewer than the batch size."""
        self._rows[: len(rows)].copy_(rows, non_blocking=True)
        return self._run()[: len(rows)]

    def _run(self) -> Tensor:
        return self._forward(self._rows).float()


class _RecordedBatch(_Batch):
    """One batch size as a CUDA graph: the same kernels on the same addresses, launched as one."""

    def __init__(self, forward: Forward, rows: Tensor, pool: Any) -> None:
        with compared_algorithms():
            stream = torch.cuda.Stream(rows.device)  # type: ignore[no-untyped-call]
            stream.wait_stream(torch.cuda.current_stream(rows.device))
            with torch.cuda.stream(stream):  # compile, choose and allocate off the main stream, as CUDA demands
                super().__init__(forward, rows)
                forward(rows)
            torch.cuda.current_stream(rows.device).wait_stream(stream)
            self._graph = torch.cuda.CUDAGraph()
            # thread_local: other threads may use the GPU meanwhile
            with torch.cuda.graph(self._graph, pool=pool, capture_error_mode="thread_local"):
                self._logits = forward(rows).float()

    def _run(self) -> Tensor:
        self._graph.replay()
        return self._logits.clone()  # the next batch writes to the same place


def plan_batches(num_rows: int, sizes: Sequence[int]) -> list[int]:
    """Return the batch sizes, out of the ascending ``sizes``, that hold ``num_rows`` rows one after another.

    Rows left over go into the smallest size that holds them, unless they would fill less than half of it and a
    smaller one takes most of them. At least one batch, also for no rows.
    """
    plan = []
    while True:
        fitting = next((size for size in sizes if size >= num_rows), sizes[-1])
        smaller = [size for size in sizes if size < fitting]
        if num_rows < fitting and smaller and 2 * num_rows < fitting and smaller[-1] <= num_rows:
            fitting = smaller[-1]
        plan.append(fitting)
        num_rows -= fitting
        if num_rows <= 0:
            return plan


def _default_batch_sizes(device: torch.device, compilation: Compilation) -> tuple[int, ...]:
    if device.type == "cuda":
        return _GPU_BATCH_SIZES
    return () if resolve_compilation(compilation, device) == "none" else (_CPU_ROWS,)
