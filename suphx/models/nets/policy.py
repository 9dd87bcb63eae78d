"""The five policy nets of the paper: Figure 4 (discard) and Figure 5 (riichi, chow, pong, kong), sized by one dial."""

from __future__ import annotations

from dataclasses import replace
from typing import Self, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from suphx.games.riichi import (
    DISCARD_HEAD,
    HEAD_NAMES,
    NUM_CHOICES,
    NUM_COLUMNS,
    NUM_OUTPUTS,
    observation_bytes,
    seen_planes,
)
from suphx.kernel.record import U8
from suphx.models.computation import FASTEST, Convolution, check_convolution
from suphx.models.nets.net_config import NetConfig
from suphx.models.nets.resnet import ConvNorm, ResidualTrunk, as_columns
from suphx.models.packed import unpack_observations

_STEM = "trunk.stem.conv.weight"


class PolicyNet(nn.Module):
    """The net of one head: planes to logits.

    >>> net = PolicyNet(head_index("chow"), 310, NetConfig(size="tiny"))
    >>> net(rows).shape  # uint8 [512, observation_bytes(310)], or planes as numbers [512, 310, 34]
    torch.Size([512, 2])
    """

    def __init__(self, head: int, num_planes: int, config: NetConfig) -> None:
        super().__init__()
        if not 0 <= head < len(HEAD_NAMES):
            raise ValueError(f"head is {head}: use 0 to {len(HEAD_NAMES) - 1} ({', '.join(HEAD_NAMES)})")
        if num_planes < 1:
            raise ValueError(f"a net of {num_planes} planes cannot be built: use at least 1")
        self.head = head
        self.num_planes = num_planes
        self.config = config = config.resolved()
        num_inputs = num_planes + config.num_oracle_planes
        self.trunk = ResidualTrunk(num_inputs, config.channels, config.num_blocks, config.normalization)
        self.output: nn.Module = ColumnHead(config) if head == DISCARD_HEAD else CallHead(config, NUM_OUTPUTS[head])

    def forward(self, planes: Tensor, oracle: Tensor | None = None) -> Tensor:
        """Return logits [n, 34] (discard) or [n, 2] (no, yes).

        ``planes``: packed rows uint8 [n, observation_bytes(num_planes)], or numbers [n, num_planes, 34]. ``oracle``:
        the same of the oracle planes, for a net that has some; packed ones may also follow the others in ``planes``
        (features/oracle_observation.py). On a CPU packed rows are the fast way. Raises ValueError for rows of another
        shape, and for oracle planes that are missing or not wanted.
        """
        return cast(Tensor, self.output(self.trunk.blocks(self.first_features(planes, oracle))))

    def first_features(self, planes: Tensor, oracle: Tensor | None = None) -> Tensor:
        """Return what the first residual block gets; arguments and errors as of ``forward``."""
        if oracle is None and self.config.num_oracle_planes and planes.shape[1:] == (self.observation_bytes,):
            first = observation_bytes(self.num_planes)
            planes, oracle = planes[:, :first], planes[:, first:]
        parts = [planes] if oracle is None else [planes, oracle]
        num_planes = [self.num_planes] + [self.config.num_oracle_planes] * (self.config.num_oracle_planes > 0)
        if len(parts) != len(num_planes):
            wants = f"{num_planes[1]} oracle planes" if len(num_planes) > 1 else "no oracle planes"
            raise ValueError(f"this {HEAD_NAMES[self.head]} net has {wants}: give it as many, or drop_oracle_planes")
        if planes.dtype != torch.uint8:
            return self.trunk.first_features(torch.cat(parts, dim=1) if oracle is not None else planes)
        if planes.device.type == "cpu" and not torch.compiler.is_compiling():
            return self.trunk.first_features_of_packed(parts, num_planes)
        dtype = self._compute_dtype(planes.device.type)
        unpacked = [unpack_observations(rows, count, dtype) for rows, count in zip(parts, num_planes, strict=True)]
        return self.trunk.first_features(torch.cat(unpacked, dim=1))

    @property
    def head_name(self) -> str:
        """The name of its head."""
        return HEAD_NAMES[self.head]

    @property
    def num_outputs(self) -> int:
        """Logits of a row: one for each action, or two, no and yes."""
        return NUM_OUTPUTS[self.head]

    @property
    def is_choice(self) -> bool:
        """Whether it chooses one of several legal actions; else it says no or yes."""
        return NUM_CHOICES[self.head] > 0

    @property
    def observation_bytes(self) -> int:
        """Bytes of a packed row of all planes that it sees, the oracle planes last."""
        num_oracle = self.config.num_oracle_planes
        return observation_bytes(self.num_planes) + (observation_bytes(num_oracle) if num_oracle else 0)

    def seen(self, rows: U8, *, sees_all: bool = False) -> U8:
        """Return what the net sees of ``rows`` of self-play: its public planes, then the oracle planes that are kept.

        ``sees_all``: all oracle planes. Shapes and errors as of ``seen_planes``.
        """
        return seen_planes(rows, self.num_planes, self.config.num_oracle_planes, sees_all=sees_all)

    @property
    def convolution(self) -> Convolution:
        """How convolutions are computed."""
        return self.trunk.stem.convolution

    def use(self, convolution: Convolution) -> Self:
        """Compute convolutions by ``convolution`` from now on; return this net. ValueError for an unknown one."""
        check_convolution(convolution)
        for module in self.modules():
            if isinstance(module, ConvNorm | ColumnHead):
                module.convolution = convolution
        return self

    def _compute_dtype(self, device: str) -> torch.dtype:
        if torch.is_autocast_enabled(device):
            return torch.get_autocast_dtype(device)
        return self.trunk.stem.conv.weight.dtype


class ColumnHead(nn.Module):
    """Figure 4: a 1x1 convolution to one channel gives each column its logit; a bias would change no probability."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.convolution: Convolution = FASTEST
        self.conv = nn.Conv1d(config.channels, 1, kernel_size=1, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        """Return [n, 34] for features in the present convolution."""
        if self.convolution == "conv1d":
            return cast(Tensor, self.conv(features)).squeeze(1)
        return functional.linear(as_columns(features, self.convolution), self.conv.weight.squeeze(2)).squeeze(2)

    @property
    def last(self) -> nn.Module:
        """The layer whose weights the logits are linear in."""
        return self.conv


class CallHead(nn.Module):
    """Figure 5: a 3x1 convolution and two fully connected layers; no pooling."""

    def __init__(self, config: NetConfig, num_outputs: int) -> None:
        super().__init__()
        self.conv = ConvNorm(config.channels, config.head_channels, config.normalization)
        self.hidden_1 = nn.Linear(config.head_channels * NUM_COLUMNS, config.head_hidden_1)
        self.hidden_2 = nn.Linear(config.head_hidden_1, config.head_hidden_2)
        self.logits = nn.Linear(config.head_hidden_2, num_outputs)

    def forward(self, features: Tensor) -> Tensor:
        """Return [n, num_outputs] for features in the present convolution."""
        columns = as_columns(torch.relu(self.conv(features)), self.conv.convolution)
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
    """Return a copy of ``net`` for inference whose convolutions have taken in their BatchNorm.

    The copy is in evaluation mode, on the same device, and gives what ``net.eval()`` gives up to rounding.
    """
    with torch.device("meta"):  # its weights come from the other net: none are drawn
        folded = PolicyNet(net.head, net.num_planes, replace(net.config, normalization="none"))
    modules = dict(net.named_modules())
    state: dict[str, Tensor] = {}
    for name, target in folded.named_modules():
        source = modules[name]
        if isinstance(target, ConvNorm) and isinstance(source, ConvNorm):
            state[f"{name}.conv.weight"], state[f"{name}.conv.bias"] = source.folded_weights()
    others = folded.state_dict().keys() - state.keys()
    state |= {name: weight.clone() for name, weight in net.state_dict().items() if name in others}
    folded.load_state_dict(state, assign=True)
    return folded.eval().use(net.convolution)


def add_oracle_planes(net: PolicyNet, num_oracle_planes: int) -> PolicyNet:
    """Return a copy of ``net`` with oracle planes that count nothing yet: it gives what ``net`` gives.

    The copy is in the same mode (training or evaluation), on the same device. ValueError if ``net`` has some already.
    """
    if net.config.num_oracle_planes:
        raise ValueError(f"this {HEAD_NAMES[net.head]} net has {net.config.num_oracle_planes} oracle planes already")
    wide = PolicyNet(net.head, net.num_planes, replace(net.config, num_oracle_planes=num_oracle_planes))
    state = net.state_dict()
    state[_STEM] = functional.pad(state[_STEM], (0, 0, 0, num_oracle_planes))
    wide.load_state_dict(state)
    return wide.train(net.training).use(net.convolution).to(next(net.parameters()).device)


def drop_oracle_planes(net: PolicyNet) -> PolicyNet:
    """Return a copy of ``net`` that has no oracle planes and gives what ``net`` gives when all of those are 0.

    The copy is in the same mode (training or evaluation), on the same device.
    """
    public = PolicyNet(net.head, net.num_planes, replace(net.config, num_oracle_planes=0))
    state = net.state_dict()
    state[_STEM] = state[_STEM][:, : net.num_planes]
    public.load_state_dict(state)
    return public.train(net.training).use(net.convolution).to(next(net.parameters()).device)
