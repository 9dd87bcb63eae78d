"""Checkpoints: the weights of one net and what must be known to use them, in one safetensors file.

>>> save_checkpoint(path, net, CheckpointHeader(kind=kind, layout=LayoutVersion.of(layout), rules="tenhou-1", ...))
>>> net, header = load_checkpoint(path, kind, layout)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar, cast

import torch
from torch import Tensor, nn

from suphx.games.learning import CandidateLayout, DecisionKind, RowLayout
from suphx.games.registry import find_decisions, find_learning
from suphx.models.candidate_net import CandidateNet
from suphx.models.net_config import Calibration, CandidateNetConfig, NetConfig
from suphx.models.policy import PolicyNet
from suphx.models.tensor_file import Header, check_finite, fields_of, read_header, read_tensors, write_tensors
from suphx.printable_text import shortened

FORMAT_VERSION = 2

Net: TypeAlias = PolicyNet | CandidateNet
AnyNetConfig: TypeAlias = NetConfig | CandidateNetConfig
N = TypeVar("N", bound=Net)


def new_net(kind: DecisionKind, layout: RowLayout, config: AnyNetConfig) -> Net:
    """Return the net of a kind that sees rows of ``layout``; TypeError for the config of another kind of net."""
    if isinstance(layout, CandidateLayout) and isinstance(config, CandidateNetConfig):
        return CandidateNet(kind, layout, config)
    if isinstance(layout, CandidateLayout) or isinstance(config, CandidateNetConfig):
        raise TypeError(f"the decision {kind.name} cannot have a net of {config}")
    return PolicyNet(kind, layout.num_planes, config, layout.num_columns)


def copied(net: N) -> N:
    """Return a copy of ``net`` on the CPU, in evaluation mode."""
    copy = net.like()
    copy.load_state_dict(net.state_dict())
    return cast("N", copy.eval())


@dataclass(frozen=True, slots=True)
class LayoutVersion:
    """What a net sees."""

    name: str
    version: int
    """Of the layout: goes up whenever a plane or column changes its meaning or place."""
    num_planes: int
    """Planes of a row, or columns where candidates are valued."""

    @classmethod
    def of(cls, layout: RowLayout) -> Self:
        """Return what a checkpoint keeps of ``layout``."""
        return cls(layout.name, layout.version, layout.num_planes)

    def __str__(self) -> str:
        return f"{self.name} version {self.version} ({self.num_planes})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointHeader:
    """What stands beside the weights."""

    kind: DecisionKind
    """What the net decides: the file has the names of the game, the role and the decision."""
    layout: LayoutVersion
    rules: str | dict[str, Any]
    """Rules that the training games followed: their name, or ``Game.rules_values``."""
    net: AnyNetConfig
    step: int
    metrics: dict[str, float | None] = field(default_factory=dict)
    """Figures on validation samples."""
    calibration: Calibration | None = None
    """How its probabilities are corrected; None if that was not fitted."""
    oracle_planes: LayoutVersion | None = None
    """Which planes of hidden things it sees; None for a net that plays fairly."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Anything that JSON can hold: the resolved recipe, digests, the git commit."""


def oracle_version(kind: DecisionKind, config: AnyNetConfig) -> LayoutVersion | None:
    """Return which oracle planes a net of ``config`` sees here: what belongs into its header."""
    if not (isinstance(config, NetConfig) and config.num_oracle_planes):
        return None
    hidden = find_learning(kind.game).hidden
    return None if hidden is None else LayoutVersion.of(hidden.layout)


def save_checkpoint(path: Path, weights: nn.Module | dict[str, Tensor], header: CheckpointHeader) -> None:
    """Write a net, or its state dict, as ``path``; on failure the old file stays and OSError says what to do."""
    tensors = weights if isinstance(weights, dict) else weights.state_dict()
    kind = header.kind
    names = {"game": kind.game, "role": kind.role, "decision": kind.name}
    others = {name: value for name, value in asdict(header).items() if name != "kind"}
    write_tensors(path, tensors, {"format_version": FORMAT_VERSION, "kind": "checkpoint", **names, **others})


def load_header(path: Path) -> CheckpointHeader:
    """Return the header of the checkpoint ``path``; raises FileNotFoundError, or ValueError if it is not one."""
    return _header(path, read_header(path))


def load_checkpoint(
    path: Path, kind: DecisionKind, layout: RowLayout, *, rules: str | None = None
) -> tuple[Net, CheckpointHeader]:
    """Return the net of the checkpoint ``path``, on the CPU and in evaluation mode, and its header.

    ValueError names every difference from the ``kind``, ``layout`` and ``rules`` (if given) of this run;
    FileNotFoundError if there is no such file.
    """
    tensors, raw = read_tensors(path)
    header = _header(path, raw)
    _check_same(path, header, kind, LayoutVersion.of(layout), rules)
    _check_weights(path, tensors, layout, header)
    net = new_net(kind, layout, header.net)
    net.load_state_dict(tensors)
    return net.eval(), header


def _check_weights(path: Path, tensors: dict[str, Tensor], layout: RowLayout, header: CheckpointHeader) -> None:
    """Compare the tensors with those of the header's net before that is built: a damaged one could be of any size."""
    config = header.net
    num_layers = config.resolved().num_blocks if isinstance(config, NetConfig) else config.layers
    fits = num_layers < len(tensors)
    if fits:
        with torch.device("meta"):
            expected = new_net(header.kind, layout, config).state_dict()
        fits = tensors.keys() == expected.keys() and all(
            (tensor.shape, tensor.dtype) == (expected[name].shape, expected[name].dtype)
            for name, tensor in tensors.items()
        )
    if not fits:
        raise ValueError(f"{path}: the weights do not fit the net of its own header: train again")
    check_finite(path, tensors)


def _header(path: Path, raw: Header) -> CheckpointHeader:
    fields = fields_of(path, raw, "checkpoint", FORMAT_VERSION)
    try:
        kind = _kind(*(fields.pop(name) for name in ("game", "role", "decision")))
        fields["layout"] = LayoutVersion(**fields["layout"])
        fields["net"] = (CandidateNetConfig if kind.has_candidates else NetConfig)(**fields["net"])
        if fields.get("oracle_planes") is not None:
            fields["oracle_planes"] = LayoutVersion(**fields["oracle_planes"])
        if fields.get("calibration") is not None:
            fields["calibration"] = Calibration(**fields["calibration"])
        header = CheckpointHeader(kind=kind, **fields)
        for name, type_ in (("rules", str | dict), ("step", int), ("metrics", dict), ("extra", dict)):
            if not isinstance(getattr(header, name), type_):
                raise TypeError(f"{name} is {getattr(header, name)!r:.40}")
    except (KeyError, TypeError, ValueError) as error:
        reason = shortened(str(error), 200)
        raise ValueError(f"{path} has a damaged header ({reason}): restore it or train again") from error
    return header


def _kind(game: Any, role: Any, decision: Any) -> DecisionKind:
    """Return the kind with these names; ValueError if there is none."""
    if not isinstance(game, str):
        raise TypeError(f"game is {game!r:.40}")
    for kind in find_decisions(game):
        if (kind.role, kind.name) == (role, decision):
            return kind
    raise ValueError(f"{decision!r:.40} of {role!r:.40} is not a decision of {game}")


def _check_same(
    path: Path, header: CheckpointHeader, kind: DecisionKind, layout: LayoutVersion, rules: str | None
) -> None:
    differences = []
    if header.kind.game != kind.game:
        differences.append(f"it is a net of {header.kind.game}, this run plays {kind.game}")
    elif header.kind != kind:
        differences.append(f"it is a {header.kind.name} net, this run needs a {kind.name} net")
    if header.layout != layout:
        differences.append(f"this checkpoint was trained on planes {header.layout}, this run uses {layout}")
    expected = oracle_version(header.kind, header.net)
    if header.oracle_planes != expected:
        differences.append(f"it was trained on the oracle planes {header.oracle_planes}, this program has {expected}")
    if rules is not None and header.rules != rules:
        differences.append(f"it was trained under rules {header.rules!r}, this run plays {rules!r}")
    if differences:
        raise ValueError(f"{path} does not fit: {'; '.join(differences)}: choose another checkpoint or train again")
