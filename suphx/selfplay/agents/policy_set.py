"""Five policy nets that play together, and the folder of checkpoints that they come from."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from suphx.games.riichi import HEAD_NAMES, ORACLE, RIICHI_HEAD, find_encoder
from suphx.models.checkpoints.checkpoint import (
    CheckpointHeader,
    PlanesVersion,
    load_checkpoint,
    oracle_version,
    save_checkpoint,
)
from suphx.models.checkpoints.tensor_file import tensors_digest
from suphx.models.computation import Calibration
from suphx.models.device import first_weights
from suphx.models.nets.net_config import NetConfig, checkpoint_name
from suphx.models.nets.policy import CallHead, ColumnHead, PolicyNet, add_oracle_planes, drop_oracle_planes
from suphx.selfplay.agents.checkpoint_folder import find_checkpoint


@dataclass(frozen=True, slots=True)
class PolicySet:
    """One net and its calibration for each head, in the order of head.py."""

    nets: tuple[PolicyNet, ...]
    calibrations: tuple[Calibration, ...]

    def weights(self, heads: Sequence[int]) -> dict[str, dict[str, np.ndarray]]:
        """Return copies of the weights of ``heads`` as plain numpy: head name -> name of a tensor -> values."""
        states = {HEAD_NAMES[head]: self.nets[head].state_dict() for head in heads}
        return {head: {name: t.cpu().numpy().copy() for name, t in state.items()} for head, state in states.items()}

    def digest(self) -> str:
        """Return the SHA-256 of all weights."""
        weights = {f"{net.head_name}.{name}": t.cpu() for net in self.nets for name, t in net.state_dict().items()}
        return tensors_digest(weights)


def load_policy_set(folder: Path, encoder: str, *, is_weak: bool = False) -> PolicySet:
    """Return the nets in ``folder``; ``is_weak``: those of an early step.

    They must see the planes of ``encoder``, which is a name as in recipes, here and below.
    Raises ValueError if a checkpoint is missing or does not fit.
    """
    nets, calibrations = [], []
    for head, name in enumerate(HEAD_NAMES):
        path = find_checkpoint(folder, name, is_weak=is_weak)
        net, header = load_checkpoint(path, head=head, planes=PlanesVersion.of(find_encoder(encoder).layout(head)))
        nets.append(net)
        calibrations.append(header.calibration or Calibration())
    return PolicySet(tuple(nets), tuple(calibrations))


def save_policy_set(
    folder: Path,
    policy_set: PolicySet,
    encoder: str,
    *,
    rules_version: str,
    step: int,
    extra: Mapping[str, Any],
    is_weak: bool = False,
) -> None:
    """Write the nets as checkpoints that ``load_policy_set`` reads; ``is_weak``: under the names of the weak ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for head, (net, calibration) in enumerate(zip(policy_set.nets, policy_set.calibrations, strict=True)):
        header = CheckpointHeader(
            head=HEAD_NAMES[head],
            planes=PlanesVersion.of(find_encoder(encoder).layout(head)),
            rules_version=rules_version,
            net=net.config,
            step=step,
            calibration=calibration,
            oracle_planes=oracle_version(net.config),
            extra=dict(extra),
        )
        save_checkpoint(folder / checkpoint_name(HEAD_NAMES[head], is_weak=is_weak), net, header)


def seeing_hidden(policy_set: PolicySet, heads: Sequence[int]) -> PolicySet:
    """Return the policy set with oracle planes for the nets of ``heads`` that have none: it plays as before."""
    nets = list(policy_set.nets)
    for head in heads:
        if not nets[head].config.num_oracle_planes:
            nets[head] = add_oracle_planes(nets[head], ORACLE.num_planes)
    return replace(policy_set, nets=tuple(nets))


def seeing_nothing_hidden(policy_set: PolicySet) -> PolicySet:
    """Return the policy set without any oracle planes: it plays as before at keep probability 0."""
    nets = (drop_oracle_planes(net) if net.config.num_oracle_planes else net for net in policy_set.nets)
    return replace(policy_set, nets=tuple(nets))


def sharpened(policy_set: PolicySet, heads: Sequence[int], temperature: float) -> PolicySet:
    """Return the policy set whose nets of ``heads`` give their logits divided by ``temperature``, uncalibrated.

    Below 1 they choose the most probable action more often when they sample; that action stays the same.
    """
    nets, calibrations = list(policy_set.nets), list(policy_set.calibrations)
    for head in heads:
        nets[head] = copy.deepcopy(nets[head])
        calibrations[head] = Calibration()
        output = nets[head].output
        assert isinstance(output, CallHead | ColumnHead)
        with torch.no_grad():
            for parameter in output.last.parameters():
                parameter.div_(temperature)
    return PolicySet(tuple(nets), tuple(calibrations))


def random_policy_set(encoder: str, config: NetConfig, seed: int) -> PolicySet:
    """Return nets with random weights that discard about evenly, call rarely, and declare riichi mostly."""
    with first_weights(seed):
        layouts = (find_encoder(encoder).layout(head) for head in range(len(HEAD_NAMES)))
        nets = tuple(PolicyNet(head, layout.num_planes, config) for head, layout in enumerate(layouts))
    for net in nets:
        if isinstance(net.output, CallHead):
            sign = 1 if net.head == RIICHI_HEAD else -1
            with torch.no_grad():
                net.output.logits.bias.copy_(torch.tensor([0.0, sign * _FIRST_LOGIT]))
    return PolicySet(tuple(net.eval() for net in nets), (Calibration(),) * len(nets))


_FIRST_LOGIT = 2.0  # yes or no with 88 %: sure enough to play on, open enough to learn the other
