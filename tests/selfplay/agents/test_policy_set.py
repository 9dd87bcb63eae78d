from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from suphx.games.mahjong.planes import observation_bytes
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import DISCARD_HEAD, HEAD_NAMES, RIICHI_HEAD
from suphx.models.net_config import Calibration, NetConfig
from suphx.selfplay.agents.policy_set import load_policy_set, random_policy_set, save_policy_set, sharpened

MINI = find_encoder("mini")
TINY = NetConfig(size="tiny", channels=8, num_blocks=1, normalization="none")


def test_a_random_player_discards_openly_calls_rarely_and_declares_riichi_mostly() -> None:
    policy_set = random_policy_set("mini", TINY, seed=1, game="riichi")
    for head, net in enumerate(policy_set.policies):
        rows = torch.randint(256, (50, observation_bytes(net.num_planes)), dtype=torch.uint8)
        with torch.no_grad():
            probabilities = net(rows).softmax(dim=1)
        if head == DISCARD_HEAD:
            assert probabilities.max() < 0.5
        elif head == RIICHI_HEAD:
            assert probabilities[:, 1].min() > 0.7
        else:
            assert probabilities[:, 1].max() < 0.3


@pytest.mark.parametrize("head", [DISCARD_HEAD, RIICHI_HEAD])
def test_a_sharpened_player_divides_the_logits_of_the_heads_that_learn(head: int) -> None:
    policy_set = random_policy_set("mini", TINY, seed=1, game="riichi")
    sharp = sharpened(policy_set, [head], 0.5)
    rows = torch.randint(256, (20, observation_bytes(policy_set.policies[head].num_planes)), dtype=torch.uint8)
    with torch.no_grad():
        logits, twice = policy_set.nets[head](rows), sharp.nets[head](rows)
    torch.testing.assert_close(twice, 2 * logits)
    assert torch.equal(twice.argmax(dim=1), logits.argmax(dim=1))
    assert all(own is other for own, other in zip(sharp.nets, policy_set.nets, strict=True) if own.kind.number != head)


def test_a_player_is_written_and_read_again_beside_a_weak_one(tmp_path: Path) -> None:
    strong, weak = (
        random_policy_set("mini", TINY, seed=1, game="riichi"),
        random_policy_set("mini", TINY, seed=2, game="riichi"),
    )
    strong = replace(strong, calibrations=(Calibration(), Calibration(temperature=1.5), *strong.calibrations[2:]))
    for policy_set, is_weak in ((strong, False), (weak, True)):
        save_policy_set(tmp_path, policy_set, "mini", rules="r", step=3, extra={"encoder": "mini"}, is_weak=is_weak)
    for policy_set, is_weak in ((strong, False), (weak, True)):
        read = load_policy_set(tmp_path, "mini", is_weak=is_weak, game="riichi")
        assert read.calibrations == policy_set.calibrations
        for one, two in zip(read.nets, policy_set.nets, strict=True):
            assert all(torch.equal(tensor, two.state_dict()[name]) for name, tensor in one.state_dict().items())


def test_a_missing_net_is_named(tmp_path: Path) -> None:
    policy_set = random_policy_set("mini", TINY, seed=1, game="riichi")
    save_policy_set(tmp_path, policy_set, "mini", rules="r", step=0, extra={})
    (tmp_path / f"{HEAD_NAMES[-1]}.safetensors").unlink()
    with pytest.raises(ValueError, match=r"has no checkpoint of the kong net: expected kong\.safetensors or kong/"):
        load_policy_set(tmp_path, "mini", game="riichi")
    with pytest.raises(ValueError, match=r"discard-weak\.safetensors"):
        load_policy_set(tmp_path, "mini", is_weak=True, game="riichi")
