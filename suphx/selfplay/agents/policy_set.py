"""The nets of a game that play together, one for each kind of decision, and the folder of checkpoints that they come
from."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch

from suphx.games.registry import find_decisions, find_learning
from suphx.models.checkpoint import (
    AnyNetConfig,
    CheckpointHeader,
    LayoutVersion,
    Net,
    load_checkpoint,
    new_net,
    oracle_version,
    save_checkpoint,
)
from suphx.models.device import first_weights
from suphx.models.net_config import Calibration, checkpoint_name
from suphx.models.policy import CallHead, ColumnHead, PolicyNet, add_oracle_planes, drop_oracle_planes
from suphx.models.tensor_file import tensors_digest
from suphx.selfplay.agents.checkpoint_folder import find_checkpoint
from suphx.selfplay.weights import Weights


@dataclass(frozen=True, slots=True)
class PolicySet:
    """One net and its calibration for each kind of decision, in the order of their numbers."""

    nets: tuple[Net, ...]
    calibrations: tuple[Calibration, ...]

    def net(self, kind: int) -> PolicyNet:
        """Return the net of a kind whose answers are a table of choices, or no and yes."""
        net = self.nets[kind]
        assert isinstance(net, PolicyNet)
        return net

    @property
    def policies(self) -> tuple[PolicyNet, ...]:
        """All nets, of a game without candidates."""
        return tuple(self.net(kind) for kind in range(len(self.nets)))

    def weights(self, kinds: Sequence[int]) -> dict[str, dict[str, np.ndarray]]:
        """Return copies of the weights of ``kinds`` as plain numpy: name of a kind -> name of a tensor -> values."""
        states = {self.nets[kind].kind.name: self.nets[kind].state_dict() for kind in kinds}
        return {name: {key: t.cpu().numpy().copy() for key, t in state.items()} for name, state in states.items()}

    def digest(self) -> str:
        """Return the SHA-256 of all weights."""
        weights = {f"{net.kind.name}.{name}": t.cpu() for net in self.nets for name, t in net.state_dict().items()}
        return tensors_digest(weights)

    def with_weights(self, weights: Weights) -> PolicySet:
        """Return nets whose ``weights``, by kind and name, are new, in evaluation mode; arrays may be read-only."""
        nets = list(self.nets)
        for number, net in enumerate(nets):
            if net.kind.name in weights:
                with torch.device("meta"):  # no weights are drawn
                    nets[number] = net.like()
                own = {name: torch.from_numpy(np.array(v)) for name, v in weights[net.kind.name].items()}
                nets[number].load_state_dict(own, assign=True)
        return replace(self, nets=tuple(net.eval() for net in nets))


def load_policy_set(folder: Path, encoder: str, *, game: str, is_weak: bool = False) -> PolicySet:
    """Return the nets in ``folder``, or those of an early step if ``is_weak``, which see the planes of ``encoder`` (a
    name). ValueError if a checkpoint is missing or does not fit.
    """
    learning, nets, calibrations = find_learning(game), [], []
    for kind in find_decisions(game):
        path = find_checkpoint(folder, kind.name, is_weak=is_weak)
        net, header = load_checkpoint(path, kind, learning.layout(encoder, kind.number))
        nets.append(net)
        calibrations.append(header.calibration or Calibration())
    return PolicySet(tuple(nets), tuple(calibrations))


def save_policy_set(
    folder: Path,
    policy_set: PolicySet,
    encoder: str,
    *,
    rules: str | dict[str, Any],
    step: int = 0,
    extra: Mapping[str, Any] = MappingProxyType({}),
    is_weak: bool = False,
) -> None:
    """Write the nets as checkpoints that ``load_policy_set`` reads; ``is_weak``: under the names of the weak ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for net, calibration in zip(policy_set.nets, policy_set.calibrations, strict=True):
        kind = net.kind
        header = CheckpointHeader(
            kind=kind,
            layout=LayoutVersion.of(find_learning(kind.game).layout(encoder, kind.number)),
            rules=rules,
            net=net.config,
            step=step,
            calibration=calibration,
            oracle_planes=oracle_version(kind, net.config),
            extra=dict(extra),
        )
        save_checkpoint(folder / checkpoint_name(kind.name, is_weak=is_weak), net, header)


def seeing_hidden(policy_set: PolicySet, kinds: Sequence[int]) -> PolicySet:
    """Return the policy set with oracle planes for the nets of ``kinds`` that have none: it plays as before."""
    nets = list(policy_set.nets)
    for kind in kinds:
        net = policy_set.net(kind)
        hidden = find_learning(net.kind.game).hidden
        if hidden is not None and not net.config.num_oracle_planes:
            nets[kind] = add_oracle_planes(net, hidden.layout.num_planes)
    return replace(policy_set, nets=tuple(nets))


def seeing_nothing_hidden(policy_set: PolicySet) -> PolicySet:
    """Return the policy set without any oracle planes: it plays as before at keep probability 0."""
    nets = (
        drop_oracle_planes(net) if isinstance(net, PolicyNet) and net.config.num_oracle_planes else net
        for net in policy_set.nets
    )
    return replace(policy_set, nets=tuple(nets))


def sharpened(policy_set: PolicySet, kinds: Sequence[int], temperature: float) -> PolicySet:
    """Return the policy set whose nets of ``kinds`` give their logits divided by ``temperature``, uncalibrated.

    Below 1 they choose the most probable action more often when they sample; that action stays the same.
    """
    nets, calibrations = list(policy_set.nets), list(policy_set.calibrations)
    for kind in kinds:
        net = nets[kind] = copy.deepcopy(nets[kind])
        calibrations[kind] = Calibration()
        last = net.output.last if isinstance(net.output, CallHead | ColumnHead) else net.output
        with torch.no_grad():
            for parameter in last.parameters():
                parameter.div_(temperature)
    return PolicySet(tuple(nets), tuple(calibrations))


def random_policy_set(encoder: str, config: AnyNetConfig, seed: int, *, game: str) -> PolicySet:
    """Return nets with random weights that choose about evenly, and say mostly what ``first_logit`` of a kind says."""
    learning = find_learning(game)
    with first_weights(seed):
        nets = tuple(new_net(kind, learning.layout(encoder, kind.number), config) for kind in find_decisions(game))
    for net in nets:
        if isinstance(net.output, CallHead) and not net.kind.is_choice:
            with torch.no_grad():
                net.output.logits.bias.copy_(torch.tensor([0.0, net.kind.first_logit]))
    return PolicySet(tuple(net.eval() for net in nets), (Calibration(),) * len(nets))
