from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from suphx.games.mahjong.planes import PlaneLayout, layout
from suphx.games.registry import find_decisions, find_learning
from suphx.games.riichi.names import CHOW_HEAD, DECISIONS, PONG_HEAD
from suphx.models.candidate_net import CandidateNet
from suphx.models.checkpoint import (
    CheckpointHeader,
    LayoutVersion,
    load_checkpoint,
    load_header,
    new_net,
    save_checkpoint,
)
from suphx.models.net_config import CandidateNetConfig, NetConfig
from suphx.models.policy import PolicyNet
from suphx.models.tensor_file import read_tensors, write_tensors

PLANES = layout("mini", 1, [("some", 12, "any planes")])


def saved(path: Path, head: int = CHOW_HEAD) -> tuple[PolicyNet, CheckpointHeader]:
    net = PolicyNet(DECISIONS[head], PLANES.num_planes, NetConfig(size="tiny", channels=16))
    header = CheckpointHeader(
        kind=DECISIONS[head],
        layout=LayoutVersion.of(PLANES),
        rules="tenhou-1",
        net=net.config,
        step=120,
        metrics={"validation_loss": 0.25},
        extra={"commit": "abc"},
    )
    save_checkpoint(path, net, header)
    return net, header


def test_a_net_comes_back_with_its_header_and_its_logits(tmp_path: Path) -> None:
    net, header = saved(tmp_path / "chow.safetensors")
    loaded, loaded_header = load_checkpoint(tmp_path / "chow.safetensors", DECISIONS[CHOW_HEAD], PLANES)
    planes = torch.rand(4, PLANES.num_planes, 34)
    assert loaded_header == header == load_header(tmp_path / "chow.safetensors")
    assert not loaded.training
    assert torch.equal(loaded(planes), net.eval()(planes))


SUPHX = layout("suphx", 2, [("all", 838, "any planes")])


@pytest.mark.parametrize(
    ("head", "planes", "rules", "message"),
    [
        (CHOW_HEAD, SUPHX, None, r"trained on planes mini version 1 \(12\), this run uses suphx version 2 \(8"),
        (PONG_HEAD, PLANES, "other", r"a chow net, this run needs a pong net; .* rules 'tenhou-1', .* 'other'"),
    ],
)
def test_what_does_not_fit_is_named(
    tmp_path: Path, head: int, planes: PlaneLayout, rules: str | None, message: str
) -> None:
    saved(tmp_path / "a.safetensors")
    with pytest.raises(ValueError, match=message):
        load_checkpoint(tmp_path / "a.safetensors", DECISIONS[head], planes, rules=rules)


@pytest.mark.parametrize("other", [NetConfig(size="tiny"), NetConfig(num_blocks=1024), NetConfig(channels=4096)])
def test_a_header_that_asks_for_another_net_is_refused_before_that_is_built(tmp_path: Path, other: NetConfig) -> None:
    path = tmp_path / "a.safetensors"
    net, header = saved(path)
    save_checkpoint(path, net, replace(header, net=other))
    with pytest.raises(ValueError, match="do not fit the net of its own header"):
        load_checkpoint(path, DECISIONS[CHOW_HEAD], PLANES)


def test_weights_of_another_type_or_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    net, header = saved(path)
    weights = net.state_dict()
    save_checkpoint(path, {name: weight.double() for name, weight in weights.items()}, header)
    with pytest.raises(ValueError, match="do not fit the net of its own header"):
        load_checkpoint(path, DECISIONS[CHOW_HEAD], PLANES)
    next(iter(weights.values()))[0, 0, 0] = float("nan")
    save_checkpoint(path, weights, header)
    with pytest.raises(ValueError, match=r"a\.safetensors has weights that are not finite numbers"):
        load_checkpoint(path, DECISIONS[CHOW_HEAD], PLANES)


def test_nets_that_value_candidates_are_checkpoints_too(tmp_path: Path) -> None:
    path, kind = tmp_path / "landlord.safetensors", find_decisions("doudizhu")[0]
    own, rules = find_learning("doudizhu").layout("douzero", 0), {"scoring": "points"}
    config = CandidateNetConfig(units=4, hidden=6, layers=2)
    net = new_net(kind, own, config)
    header = CheckpointHeader(kind=kind, layout=LayoutVersion.of(own), rules=rules, net=config, step=3)
    save_checkpoint(path, net, header)
    loaded, found = load_checkpoint(path, kind, own)
    assert found == header
    assert isinstance(loaded, CandidateNet)
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), loaded.parameters(), strict=True))
    with pytest.raises(ValueError, match="it is a net of doudizhu, this run plays riichi"):
        load_checkpoint(path, DECISIONS[0], own)


@pytest.mark.parametrize(
    "change",
    [
        {"net": {"size": "tiny", "channels": 10**12}},
        {"net": {"size": "tiny", "channels": 1.5}},
        {"net": {"size": ["tiny"]}},
        {"net": 7},
        {"layout": {}},
        {"decision": ["chow"]},
        {"decision": "castle"},
        {"game": ["riichi"]},
        {"game": "chess"},
        {"metrics": None},
        {"step": "3"},
        {"surprise": 1},
    ],
)
def test_a_header_with_damaged_values_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "a.safetensors"
    saved(path)
    tensors, header = read_tensors(path)
    write_tensors(path, tensors, header | change)
    with pytest.raises(ValueError, match="damaged header"):
        load_header(path)
