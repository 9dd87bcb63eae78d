"""A folded net on a CPU in few operations: small batches cost little more than their rows do.

A call of ``PolicyNet`` takes milliseconds before the first row, mostly in operations of torch on tiny tensors. Here the
weights are brought in order once, and a convolution is three matrix products over all columns of all rows.

>>> net = PackedNet(policy_net)
>>> logits = net(rows)  # uint8 [n, observation_bytes], on the CPU
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from suphx.games.riichi import NUM_COLUMNS, observation_bytes
from suphx.models.nets.policy import CallHead, ColumnHead, PolicyNet, fold_batch_norm
from suphx.models.nets.resnet import ConvNorm, ResidualBlock
from suphx.models.packed.packed_stem import TurnedWeights
from suphx.models.packed.unpack import check_observations

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
        self._blocks = [_Block(block) for block in folded.trunk.blocks]
        self._output = _Columns(folded.output) if isinstance(folded.output, ColumnHead) else _Call(folded.output)

    @torch.inference_mode()
    def __call__(self, rows: Tensor) -> Tensor:
        """Return logits [n, 34] (discard) or [n, 2] of uint8 [n, observation_bytes]; ValueError for another shape."""
        check_observations(rows, self.num_planes, self._observation_bytes)
        return torch.cat([self._logits(part) for part in torch.split(rows, _MOST_ROWS)])

    def _logits(self, rows: Tensor) -> Tensor:
        first = observation_bytes(self.num_planes)
        columns = self._stems[0].convolve(rows[:, :first])
        for stem in self._stems[1:]:
            columns += stem.convolve(rows[:, first:])
        features = torch.zeros(len(rows) * _STEP + 1, columns.shape[2])
        torch.add(columns, self._stem_bias, out=_columns_of(features))
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
    """The output of the discard net."""

    def __init__(self, head: ColumnHead) -> None:
        self._weights = head.conv.weight.flatten()

    def logits(self, features: Tensor) -> Tensor:
        return (features[1:] @ self._weights).view(-1, _STEP)[:, :NUM_COLUMNS]


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


def _columns_of(features: Tensor) -> Tensor:
    """Return a view [n, 34, channels] of the columns of the rows."""
    return features[1:].view(-1, _STEP, features.shape[1])[:, :NUM_COLUMNS]


def _finish(features: Tensor) -> None:
    """Apply ReLU, and set the lines between rows to zeros."""
    features.relu_()
    features[::_STEP] = 0
