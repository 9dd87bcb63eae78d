"""Outputs of one net, as fast as a device gives them: folded, in bf16, in fixed batch shapes, as CUDA graphs.

>>> net = InferenceNet(policy_net, find_device("auto"))
>>> logits = net(rows)  # uint8 [n, observation_bytes], in page-locked memory or on the device; returns at once on a GPU
>>> net.use(net.prepared(newer_policy_net))  # new weights, same shapes: nothing is compiled again

On a GPU every batch size is recorded once, when the net is made; from then on a batch is one copy and one launch. Rows
that fill no batch size are padded. On a CPU without compilation any number of rows is computed as it is.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from suphx.experience.observation import Candidates
from suphx.experience.segments import segment_rows
from suphx.games.mahjong.planes import NUM_COLUMNS, observation_bytes
from suphx.kernel.record import U8
from suphx.models.candidate_net import CandidateNet
from suphx.models.device import compared_algorithms, resolve_compilation, uses_bf16
from suphx.models.net_config import Compilation, Precision, check_batch_sizes
from suphx.models.packed import TurnedWeights, check_observations
from suphx.models.policy import CallHead, ColumnHead, ConvNorm, PolicyNet, ResidualBlock, as_features, fold_batch_norm
from suphx.number_range import check_ranges

_STEP = NUM_COLUMNS + 1
"""Lines of a row among the columns of a batch: its own, and one of zeros that it shares with the next row."""
_MOST_ROWS = 256  # at a time: features of more would leave the caches


class PackedNet:
    """Consumes: packed rows. Produces: float32 logits, those of the net up to rounding."""

    def __init__(self, net: PolicyNet) -> None:
        """Take the weights of ``net`` in evaluation mode, as float32 on the CPU."""
        folded = fold_batch_norm(net).float().cpu().requires_grad_(False)
        stem = folded.trunk.stem.conv
        assert stem.bias is not None
        self.num_planes, self.num_oracle_planes = net.num_planes, net.config.num_oracle_planes
        self._observation_bytes = net.observation_bytes
        planes = [self.num_planes] + [self.num_oracle_planes] * (self.num_oracle_planes > 0)
        self._stems = [TurnedWeights(part) for part in torch.split(stem.weight, planes, dim=1)]
        self._stem_bias = stem.bias
        self._grid_net = _turned(folded) if net.config.grid == "4x9" else None
        if self._grid_net is None:
            self._blocks = [_Block(block) for block in folded.trunk.blocks]
            self._output = _Columns(folded.output) if isinstance(folded.output, ColumnHead) else _Call(folded.output)

    @torch.inference_mode()
    def __call__(self, rows: Tensor) -> Tensor:
        """Return logits [n, choices] or [n, 2] of uint8 [n, observation_bytes]; ValueError for another shape."""
        check_observations(rows, self.num_planes, self._observation_bytes)
        return torch.cat([self._logits(part) for part in torch.split(rows, _MOST_ROWS)])

    def _logits(self, rows: Tensor) -> Tensor:
        first = observation_bytes(self.num_planes)
        columns = self._stems[0].convolve(rows[:, :first])
        for stem in self._stems[1:]:
            columns += stem.convolve(rows[:, first:])
        if self._grid_net is not None:  # torch's 3x3 convolution is twice as fast as nine products
            cells = (columns + self._stem_bias).relu_().transpose(1, 2)
            logits: Tensor = self._grid_net.output(self._grid_net.trunk.blocks(as_features(cells, "4x9")))
            return logits
        features = torch.zeros(len(rows) * _STEP + 1, columns.shape[2])
        inner = features[1:].view(-1, _STEP, features.shape[1])[:, :NUM_COLUMNS]  # the columns of the rows
        torch.add(columns, self._stem_bias, out=inner)
        features.relu_()
        room = torch.empty_like(features)
        for block in self._blocks:
            block.apply(features, room)
        return self._output.logits(features)


class _Convolution:
    """A 3x1 convolution of features [n * 35 + 1, channels]: the 34 columns of each row between lines of zeros."""

    def __init__(self, layer: ConvNorm) -> None:
        assert layer.conv.bias is not None
        self._left, self._middle, self._right = layer.conv.weight.permute(2, 1, 0).contiguous()
        self.bias = layer.conv.bias

    def write(self, features: Tensor, result: Tensor) -> None:
        """Write the convolution to ``result``; its lines between the rows get any numbers."""
        torch.addmm(self.bias, features[:-2], self._left, out=result[1:-1])
        self._add_others(features, result[1:-1])

    def add(self, features: Tensor, result: Tensor) -> None:
        """Add the convolution to ``result`` likewise."""
        inner = result[1:-1]
        inner += self.bias
        inner.addmm_(features[:-2], self._left)
        self._add_others(features, inner)

    def _add_others(self, features: Tensor, inner: Tensor) -> None:
        inner.addmm_(features[1:-1], self._middle)
        inner.addmm_(features[2:], self._right)


class _Block:
    def __init__(self, block: nn.Module) -> None:
        assert isinstance(block, ResidualBlock)
        self._first, self._second = _Convolution(block.first), _Convolution(block.second)

    def apply(self, features: Tensor, room: Tensor) -> None:
        """Change ``features`` in place to those after the block; ``room`` is overwritten."""
        self._first.write(features, room)
        _finish(room)
        self._second.add(room, features)
        _finish(features)


class _Columns:
    """The output of the nets that choose among columns."""

    def __init__(self, head: ColumnHead) -> None:
        self._channels = head.conv.weight.flatten(1)

    def logits(self, features: Tensor) -> Tensor:
        columns = [(features[1:] @ channel).view(-1, _STEP)[:, :NUM_COLUMNS] for channel in self._channels]
        return torch.cat(columns, dim=1) if len(columns) > 1 else columns[0]


class _Call:
    """The output of the other nets."""

    def __init__(self, head: nn.Module) -> None:
        assert isinstance(head, CallHead)
        self._convolution = _Convolution(head.conv)
        self._channels = head.conv.conv.out_channels
        # To the order of the columns here, with zeros for the lines between rows.
        weights = head.hidden_1.weight.view(-1, self._channels, NUM_COLUMNS)
        self._weights = nn.functional.pad(weights, (0, 1)).transpose(1, 2).flatten(1).contiguous()
        self._bias = head.hidden_1.bias
        self._hidden, self._last = head.hidden_2, head.logits

    def logits(self, features: Tensor) -> Tensor:
        columns = torch.empty(len(features), self._channels)
        self._convolution.write(features, columns)
        _finish(columns)
        hidden = nn.functional.linear(columns[1:].view(-1, _STEP * self._channels), self._weights, self._bias)
        logits: Tensor = self._last(self._hidden(hidden.relu_()).relu_())
        return logits


def _finish(features: Tensor) -> None:
    """Apply ReLU, and set the lines between rows to zeros."""
    features.relu_()
    features[::_STEP] = 0


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
    """Computes the logits of its net part by part: the stem, one residual block, the output.

    Weights and modes are those of the net itself. The blocks of a trunk are equal but for their weights, which a
    compiled function takes as inputs: it is compiled once for all blocks of all nets with as many channels. A block
    ends where a convolution begins, so little could be fused further.
    """

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


_GPU_BATCH_SIZES = (62, 248, 496, 992, 1984)
"""Times 34 columns, the last three are just under 1, 2 and 4 tiles of 128 rows for each of the 132 multiprocessors of
an H200. 2,048 rows would take about as long as 2,480: a fifth wave of tiles would begin."""

_CPU_ROWS = 512  # at a time: features of more would leave the caches
_MOST_CANDIDATES = 8192  # at a time, about: more would need gigabytes


Forward = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceConfig:
    """How the outputs of a net are computed; nothing here changes them, up to rounding."""

    precision: Precision = "auto"
    """fp32, bf16 (weights as well), or auto: bf16 where the hardware has it."""
    compilation: Compilation = "auto"
    """none, default or max-autotune (torch.compile: seconds or minutes a batch size); auto: default on a GPU only."""
    batch_sizes: tuple[int, ...] = ()
    """Rows of a batch, ascending; rows are padded to the next one. Empty: by device."""

    def __post_init__(self) -> None:
        check_ranges(self)
        check_batch_sizes(self.batch_sizes)


class InferenceNet:
    """Consumes: packed rows. Produces: float32 logits on the device. Waits for: nothing on a GPU. Not for several
    threads at a time: batches share their buffers.
    """

    def __init__(self, net: PolicyNet, device: torch.device, config: InferenceConfig | None = None) -> None:
        """Take the weights of ``net``, which stays as it is; on a GPU, compile and record every batch size."""
        self.device = device
        self.config = config = config or InferenceConfig()
        self.num_planes = net.num_planes
        self.observation_bytes = net.observation_bytes
        self.is_bf16 = uses_bf16(config.precision, device)
        is_plain = device.type != "cuda" and resolve_compilation(config.compilation, device) == "none"
        defaults = _GPU_BATCH_SIZES if device.type == "cuda" else () if is_plain else (_CPU_ROWS,)
        self.batch_sizes = config.batch_sizes or defaults
        self._net = self._prepare(net)
        self._batches: dict[int, _Batch] = {}
        # Graphs are recorded here, so that a part that is not compiled would stay unseen: it is an error.
        forward = compiled(self._net, config.compilation, device, fullgraph=True)
        pool = torch.cuda.graph_pool_handle() if device.type == "cuda" else None
        with torch.inference_mode():
            for size in reversed(self.batch_sizes):  # the largest first: the others fit into its memory
                rows = torch.zeros(size, self.observation_bytes, dtype=torch.uint8, device=device)
                self._batches[size] = _Batch(forward, rows) if pool is None else _RecordedBatch(forward, rows, pool)

    @torch.inference_mode()
    def __call__(self, rows: Tensor) -> Tensor:
        """Return the logits [n, k], float32 on the device, of packed ``rows`` uint8 [n, observation_bytes]; ValueError
        for another shape. On a GPU the call returns before the work is done: rows in page-locked memory must stay as
        they are.
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
    def prepared(self, net: nn.Module) -> dict[str, Tensor]:
        """Return the weights of ``net`` for ``use``; this is the slow part, and changes nothing here."""
        assert isinstance(net, PolicyNet)
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
        return _turned(folded.requires_grad_(False))


def _turned(net: PolicyNet) -> PolicyNet:
    """Return ``net`` with its weights in the order that torch's convolution reads them in."""
    for module in net.modules():
        if isinstance(module, ConvNorm):
            weight = module.conv.weight
            turned = weight.data.flatten(2).transpose(1, 2).contiguous().transpose(1, 2)
            weight.data = turned.view(weight.shape)
    return net


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


class CandidateInference:
    """Consumes: rows with candidates. Produces: float32 values, or logits, of the candidates on the device."""

    def __init__(self, net: CandidateNet, device: torch.device, features: U8, precision: Precision = "auto") -> None:
        """Take the weights of ``net``; ``features`` uint8 [moves, columns]: what it sees of each move."""
        self.device = device
        self.is_bf16 = uses_bf16(precision, device)
        self._features = torch.from_numpy(features).to(device)
        self._net = copy.deepcopy(net).to(device).eval().requires_grad_(False)

    @torch.inference_mode()
    def __call__(self, rows: U8, candidates: Candidates) -> Tensor:
        """Return [m]: of the candidates of all ``rows`` uint8 [n, bytes], one list after another."""
        num_parts = -(-len(candidates.moves) // _MOST_CANDIDATES)
        parts = [part for part in np.array_split(np.arange(len(rows)), max(1, num_parts)) if part.size]
        found = [self._values(rows[part], candidates.part(part[0], part[-1] + 1)) for part in parts]
        return found[0] if len(found) == 1 else torch.cat(found) if found else torch.zeros(0, device=self.device)

    def _values(self, rows: U8, candidates: Candidates) -> Tensor:
        lists = torch.from_numpy(segment_rows(candidates.offsets)).to(self.device)
        seen = self._features[torch.from_numpy(candidates.moves).to(self.device).long()]
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.is_bf16):
            values: Tensor = self._net(torch.from_numpy(rows).to(self.device), seen, lists)
        return values

    def prepared(self, net: nn.Module) -> dict[str, Tensor]:
        """Return the weights of ``net`` for ``use``."""
        return {name: weight.to(self.device) for name, weight in net.state_dict().items()}

    def use(self, new: Mapping[str, Tensor]) -> None:
        """Use ``prepared`` weights from now on."""
        self._net.load_state_dict(new)


def plan_batches(num_rows: int, sizes: Sequence[int]) -> list[int]:
    """Return the batch sizes, out of the ascending ``sizes``, that hold ``num_rows`` rows; at least one.

    Rows left over go into the smallest size that holds them, unless they would fill less than half of it and a smaller
    one takes most of them.
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


def inference_flops(net: PolicyNet) -> int:
    """Return the operations of one forward pass for one row: of convolutions and matrix products, a multiplication and
    an addition count two, as if every plane were a dense number.
    """
    return _count(net, trains=False)


def training_flops(net: PolicyNet) -> int:
    """Return the operations of one forward and backward pass for one row; the planes need no gradient."""
    return _count(net, trains=True)


def _count(net: PolicyNet, *, trains: bool) -> int:
    with torch.device("meta"):
        twin = net.like()
        num_planes = net.num_planes + net.config.num_oracle_planes
        # Two rows, as BatchNorm refuses to train with a single row of one column.
        planes = torch.empty(2, num_planes, net.num_columns)
    counter = FlopCounterMode(display=False)
    with counter:
        features = twin.trunk(planes)
        logits = twin.output(features)
        if trains:
            torch.autograd.backward(logits.sum())
    return counter.get_total_flops() // len(planes)
