"""The nets of decisions that are a table of choices, or yes and no (paper, Figures 4 and 5), and their critics.

The trunk is a 3x1 convolution, then blocks of two 3x1 convolutions and a skip; a 3x1 convolution has three taps along
the columns of a plane. Planes of 34 columns have the fast first layer of packed.py, and may be seen as a grid of 4x9, a
row for each suit and one for the honours, with 3x3 convolutions. The paper is silent on normalisation and activation:
here BatchNorm (or none) and ReLU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.fusion import fuse_conv_bn_weights

from suphx.games.learning import DecisionKind
from suphx.games.mahjong.planes import NUM_COLUMNS
from suphx.games.registry import find_learning
from suphx.kernel.record import U8
from suphx.models.net_config import Grid, NetConfig, Normalization
from suphx.models.packed import GRID, NUM_CELLS, convolve_packed, row_bytes, unpack_observations

_ALIGNMENT = 8  # channels: cuDNN's bf16 kernels for tensor cores want a multiple; 838 and 958 planes are none


def arrange(planes: Tensor, grid: Grid = "34x1") -> Tensor:
    """Return ``planes`` [n, channels, columns] as features [n, channels, 1, columns], or on a grid [n, channels, 4, 9]
    with two empty cells, in memory channels last. On a GPU, planes of zeros are added up to a multiple of 8.
    """
    if planes.is_cuda:
        planes = functional.pad(planes, (0, 0, 0, -planes.shape[1] % _ALIGNMENT))
    if grid == "4x9":
        planes = functional.pad(planes, (0, NUM_CELLS - NUM_COLUMNS))
    return as_features(planes, grid).contiguous(memory_format=torch.channels_last)


def as_features(columns: Tensor, grid: Grid) -> Tensor:
    """Return [n, channels, columns or cells] as features, without a copy."""
    return columns.view(*columns.shape[:2], *GRID) if grid == "4x9" else columns.unsqueeze(2)


def as_columns(features: Tensor) -> Tensor:
    """Return features as [n, columns or cells, channels], without a copy."""
    return features.flatten(2).transpose(1, 2)


def convolve(features: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return the convolution of ``features`` with ``weight`` [out, in, 3] or, on a grid, [out, in, k, k]; outside are
    zeros. Features may have further channels of zeros (``arrange``).
    """
    if weight.ndim == 3:
        weight = weight.unsqueeze(2)
    if features.shape[1] > weight.shape[1]:
        weight = functional.pad(weight, (0, 0, 0, 0, 0, features.shape[1] - weight.shape[1]))
    return functional.conv2d(features, weight, bias, padding=(weight.shape[2] // 2, weight.shape[3] // 2))


class ChannelNorm(nn.BatchNorm1d):
    """BatchNorm of features, whose state is that of ``BatchNorm1d``."""

    def _check_input_dim(self, input: Tensor) -> None:
        """Take features, which have four dimensions: torch would take two or three only, and asks this before it."""


class ConvNorm(nn.Module):
    """A 3x1 convolution along the columns, or one of ``size`` x ``size`` on a grid, and its normalisation; without
    normalisation it has a bias instead.
    """

    def __init__(
        self, num_in: int, num_out: int, normalization: Normalization, grid: Grid = "34x1", size: int = 3
    ) -> None:
        super().__init__()
        is_plain = normalization == "none"
        self.grid: Grid = grid
        self.conv = (
            nn.Conv2d(num_in, num_out, size, padding=size // 2, bias=is_plain)
            if grid == "4x9"
            else nn.Conv1d(num_in, num_out, size, padding=size // 2, bias=is_plain)
        )
        self.norm: nn.Module = nn.Identity() if is_plain else ChannelNorm(num_out)

    def forward(self, features: Tensor) -> Tensor:
        """Return the normalised convolution of ``features``."""
        return cast(Tensor, self.norm(convolve(features, self.conv.weight, self.conv.bias)))

    def forward_packed(self, parts: Sequence[Tensor], num_planes: Sequence[int]) -> Tensor:
        """Return the same for bit-packed planes on the CPU: ``parts``, uint8 [n, observation_bytes(planes)] each, one
        after another.
        """
        weights = torch.split(self.conv.weight, list(num_planes), dim=1)
        columns = [convolve_packed(rows, weight) for rows, weight in zip(parts, weights, strict=True)]
        result = sum(columns[1:], columns[0])
        if self.conv.bias is not None:
            result = result + self.conv.bias
        has_autocast = torch.is_autocast_enabled("cpu")
        dtype = torch.get_autocast_dtype("cpu") if has_autocast else self.conv.weight.dtype
        return cast(Tensor, self.norm(as_features(result.to(dtype).transpose(1, 2), self.grid)))

    def start_at_zero(self) -> None:
        """Make every output 0, so that the residual block around it starts as the identity and deep trunks train."""
        if isinstance(self.norm, nn.BatchNorm1d):
            nn.init.zeros_(self.norm.weight)
        else:
            assert self.conv.bias is not None
            nn.init.zeros_(self.conv.weight)
            nn.init.zeros_(self.conv.bias)

    def folded_weights(self) -> tuple[Tensor, Tensor]:
        """Return copies: weight and bias of the one convolution that equals this one in evaluation mode."""
        weight, bias, norm = self.conv.weight, self.conv.bias, self.norm
        if not isinstance(norm, nn.BatchNorm1d):
            assert bias is not None
            return weight.detach().clone(), bias.detach().clone()
        assert norm.running_mean is not None
        assert norm.running_var is not None
        weight, bias = fuse_conv_bn_weights(
            weight, bias, norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias
        )
        return weight.detach(), bias.detach()


class ResidualBlock(nn.Module):
    """Two convolutions and the skip around them; channels stay the same."""

    def __init__(self, channels: int, normalization: Normalization, grid: Grid = "34x1") -> None:
        super().__init__()
        self.first = ConvNorm(channels, channels, normalization, grid)
        self.second = ConvNorm(channels, channels, normalization, grid)
        self.second.start_at_zero()

    def forward(self, features: Tensor) -> Tensor:
        """Return features of the same shape."""
        return torch.relu(features + self.second(torch.relu(self.first(features))))


class ResidualTrunk(nn.Module):
    """Stem and blocks: from planes to features."""

    def __init__(
        self, num_planes: int, channels: int, num_blocks: int, normalization: Normalization, grid: Grid = "34x1"
    ) -> None:
        super().__init__()
        self.stem = ConvNorm(num_planes, channels, normalization, grid)
        self.blocks = nn.Sequential(*(ResidualBlock(channels, normalization, grid) for _ in range(num_blocks)))

    def forward(self, planes: Tensor) -> Tensor:
        """Return the features of every column of ``planes`` [n, num_planes, columns]."""
        return cast(Tensor, self.blocks(self.first_features(planes)))

    def first_features(self, planes: Tensor) -> Tensor:
        """Return what the first block gets of ``planes`` [n, num_planes, columns]."""
        return torch.relu(self.stem(arrange(planes, self.stem.grid)))

    def first_features_of_packed(self, parts: Sequence[Tensor], num_planes: Sequence[int]) -> Tensor:
        """Return the same for bit-packed planes on the CPU (see ``ConvNorm.forward_packed``)."""
        return torch.relu(self.stem.forward_packed(parts, num_planes))


_STEM = "trunk.stem.conv.weight"


class PolicyNet(nn.Module):
    """The net of one kind of decision: planes to logits.

    >>> net = PolicyNet(find_decisions("riichi")[2], 310, NetConfig(size="tiny"))
    >>> logits = net(rows)  # [512, 2] of uint8 [512, observation_bytes(310)], or of planes as numbers [512, 310, 34]
    """

    def __init__(self, kind: DecisionKind, num_planes: int, config: NetConfig, num_columns: int = NUM_COLUMNS) -> None:
        super().__init__()
        if kind.has_candidates:
            raise ValueError(f"the decision {kind.name} has candidates: use a CandidateNet")
        if num_planes < 1:
            raise ValueError(f"a net of {num_planes} planes cannot be built: use at least 1")
        if config.grid == "4x9" and num_columns != NUM_COLUMNS:
            raise ValueError(
                f'{num_columns} columns of planes are not a grid of 4x9: use grid = "34x1" for {kind.game}'
            )
        self.kind = kind
        self.num_planes, self.num_columns = num_planes, num_columns
        self.config = config = config.resolved()
        num_inputs = num_planes + config.num_oracle_planes
        self.trunk = ResidualTrunk(num_inputs, config.channels, config.num_blocks, config.normalization, config.grid)
        self.output: nn.Module
        if config.choice_head == "columns" and kind.num_choices and kind.num_choices % num_columns == 0:
            self.output = ColumnHead(config, num_columns, kind.num_choices // num_columns)
        else:
            self.output = CallHead(config, kind.num_outputs, num_columns)

    def forward(self, planes: Tensor, oracle: Tensor | None = None) -> Tensor:
        """Return logits [n, choices] or [n, 2] (no, yes).

        ``planes``: packed rows uint8 [n, row_bytes(num_planes)], the fast way on a CPU, or numbers [n, num_planes,
        columns]. ``oracle``: the same of the oracle planes; packed ones may also follow the others in ``planes``.
        ValueError for another shape, and for oracle planes that are missing or not wanted.
        """
        return cast(Tensor, self.output(self.trunk.blocks(self.first_features(planes, oracle))))

    def first_features(self, planes: Tensor, oracle: Tensor | None = None) -> Tensor:
        """Return what the first residual block gets; arguments and errors as of ``forward``."""
        if oracle is None and self.config.num_oracle_planes and planes.shape[1:] == (self.observation_bytes,):
            first = row_bytes(self.num_planes, self.num_columns)
            planes, oracle = planes[:, :first], planes[:, first:]
        parts = [planes] if oracle is None else [planes, oracle]
        num_planes = [self.num_planes] + [self.config.num_oracle_planes] * (self.config.num_oracle_planes > 0)
        if len(parts) != len(num_planes):
            wants = f"{num_planes[1]} oracle planes" if len(num_planes) > 1 else "no oracle planes"
            raise ValueError(f"this {self.kind.name} net has {wants}: give it as many, or drop_oracle_planes")
        if planes.dtype != torch.uint8:
            return self.trunk.first_features(torch.cat(parts, dim=1) if oracle is not None else planes)
        is_packed = self.num_columns == NUM_COLUMNS and planes.device.type == "cpu"
        if is_packed and not torch.compiler.is_compiling():
            return self.trunk.first_features_of_packed(parts, num_planes)
        dtype = self._compute_dtype(planes.device.type)
        unpacked = [
            unpack_observations(rows, count, dtype, self.num_columns)
            for rows, count in zip(parts, num_planes, strict=True)
        ]
        return self.trunk.first_features(torch.cat(unpacked, dim=1))

    def like(self, **changes: Any) -> Self:
        """Return a net of the same form with weights of its own; ``changes``: of its config."""
        return type(self)(self.kind, self.num_planes, replace(self.config, **changes), self.num_columns)

    @property
    def observation_bytes(self) -> int:
        """Bytes of a packed row of all planes that it sees, the oracle planes last."""
        return sum(row_bytes(n, self.num_columns) for n in (self.num_planes, self.config.num_oracle_planes))

    def seen(self, rows: U8, *, sees_all: bool = False) -> U8:
        """Return what the net sees of ``rows`` of self-play: its public planes, then the oracle planes that are kept
        (all of them if it ``sees_all``). ValueError for rows of another size.
        """
        hidden = find_learning(self.kind.game).hidden
        if hidden is None:
            return rows
        return hidden.seen(rows, self.num_planes, self.config.num_oracle_planes, sees_all=sees_all)

    def _compute_dtype(self, device: str) -> torch.dtype:
        if torch.is_autocast_enabled(device):
            return torch.get_autocast_dtype(device)
        return self.trunk.stem.conv.weight.dtype


class ColumnHead(nn.Module):
    """Figure 4: a 1x1 convolution gives each column its logit, without a bias, which would change no probability.
    Several channels: so many choices for each column.
    """

    def __init__(self, config: NetConfig, num_columns: int, num_channels: int = 1) -> None:
        super().__init__()
        self._num_columns = num_columns
        self.conv = nn.Conv1d(config.channels, num_channels, kernel_size=1, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        """Return [n, channels * columns]."""
        columns = as_columns(features)[:, : self._num_columns]  # without the empty cells of a grid
        logits = functional.linear(columns, self.conv.weight.squeeze(2))
        return logits.transpose(1, 2).flatten(1)

    @property
    def last(self) -> nn.Module:
        """The layer whose weights the logits are linear in."""
        return self.conv


class CallHead(nn.Module):
    """Figure 5: a 3x1 convolution (1x1 on a grid) and two fully connected layers; no pooling."""

    def __init__(self, config: NetConfig, num_outputs: int, num_columns: int) -> None:
        super().__init__()
        is_grid = config.grid == "4x9"
        self.conv = ConvNorm(
            config.channels, config.head_channels, config.normalization, config.grid, 1 if is_grid else 3
        )
        self.hidden_1 = nn.Linear(config.head_channels * (NUM_CELLS if is_grid else num_columns), config.head_hidden_1)
        self.hidden_2 = nn.Linear(config.head_hidden_1, config.head_hidden_2)
        self.logits = nn.Linear(config.head_hidden_2, num_outputs)

    def forward(self, features: Tensor) -> Tensor:
        """Return [n, num_outputs]."""
        columns = as_columns(torch.relu(self.conv(features)))
        hidden = torch.relu(self.hidden_1(columns.transpose(1, 2).flatten(1)))
        return cast(Tensor, self.logits(torch.relu(self.hidden_2(hidden))))

    @property
    def last(self) -> nn.Module:
        """The layer whose weights the logits are linear in."""
        return self.logits


def num_weights(net: nn.Module) -> int:
    """Return how many learned numbers ``net`` has (running statistics are not learned)."""
    return sum(parameter.numel() for parameter in net.parameters())


def fold_batch_norm(net: PolicyNet) -> PolicyNet:
    """Return a copy of ``net`` in evaluation mode whose convolutions have taken in their BatchNorm; its logits are
    those of ``net.eval()`` up to rounding.
    """
    with torch.device("meta"):  # its weights come from the other net: none are drawn
        folded = net.like(normalization="none")
    modules = dict(net.named_modules())
    state: dict[str, Tensor] = {}
    for name, target in folded.named_modules():
        source = modules[name]
        if isinstance(target, ConvNorm) and isinstance(source, ConvNorm):
            state[f"{name}.conv.weight"], state[f"{name}.conv.bias"] = source.folded_weights()
    others = folded.state_dict().keys() - state.keys()
    state |= {name: weight.clone() for name, weight in net.state_dict().items() if name in others}
    folded.load_state_dict(state, assign=True)
    return folded.eval()


def add_oracle_planes(net: PolicyNet, num_oracle_planes: int) -> PolicyNet:
    """Return a copy of ``net``, in the same mode, with oracle planes that count nothing; ValueError if it has some."""
    if net.config.num_oracle_planes:
        raise ValueError(f"this {net.kind.name} net has {net.config.num_oracle_planes} oracle planes already")
    wide = net.like(num_oracle_planes=num_oracle_planes)
    state = net.state_dict()
    state[_STEM] = functional.pad(state[_STEM], (0, 0) * (state[_STEM].ndim - 2) + (0, num_oracle_planes))
    wide.load_state_dict(state)
    return wide.train(net.training).to(next(net.parameters()).device)


def drop_oracle_planes(net: PolicyNet) -> PolicyNet:
    """Return a copy of ``net``, in the same mode, without oracle planes: it gives what ``net`` gives when all of those
    are 0.
    """
    public = net.like(num_oracle_planes=0)
    state = net.state_dict()
    state[_STEM] = state[_STEM][:, : net.num_planes]
    public.load_state_dict(state)
    return public.train(net.training).to(next(net.parameters()).device)


class CriticNet(nn.Module):
    """Expects the reward of a deal from what a seat sees, [n] for n rows: the baseline of the policy gradient."""

    def __init__(self, kind: DecisionKind, num_planes: int, config: NetConfig, num_columns: int = NUM_COLUMNS) -> None:
        """``kind``: whose decisions it judges; ``config``: its normalization is ignored, a critic has none. It may see
        oracle planes.
        """
        super().__init__()
        config = replace(config, normalization="none").resolved()
        self.net = PolicyNet(kind, num_planes, config, num_columns)
        output = CallHead(config, 1, num_columns)
        nn.init.zeros_(output.logits.weight)  # it begins by expecting nothing
        nn.init.zeros_(output.logits.bias)
        self.net.output = output

    def forward(self, planes: Tensor) -> Tensor:
        """Return values [n] for ``planes`` as in ``PolicyNet.forward``."""
        return cast(Tensor, self.net(planes)).squeeze(1)
