"""Decks of a game of two sides as plans and tasks on their way to other processes, without Ray."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from suphx.evaluation.game_runner import GamePlan, GameTask, Summary
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx.training.value_nets import ValueNets, ValuePlayer, new_nets, save_value_nets
from suphx_platform.agents.agent_loading import load_side_player
from suphx_platform.evaluation.game_workers import GamePlayer, PackedAgents

GAME = candidate_game("doudizhu")
LONG = 60.0


def plan(*addresses: str) -> GamePlan:
    load = partial(load_side_player, GAME.name, precision="fp32")
    return GamePlan(game=GAME.name, rules=Rules(), addresses=addresses, names=addresses, load=load)


@pytest.fixture
def nets(tmp_path: Path) -> Path:
    """Untrained nets, beside a file that nobody needs elsewhere."""
    folder = tmp_path / "nets"
    folder.mkdir()
    save_value_nets(folder, ValueNets(GAME, Rules(), new_nets(GAME, 1)))
    (folder / "training_state.safetensors").write_bytes(b"large")
    return folder


def test_nets_arrive_and_nothing_else(nets: Path) -> None:
    own = plan("rule", str(nets))
    packed = pickle.loads(pickle.dumps(PackedAgents.pack(own)))
    (files,) = packed.files.values()
    assert files == {name: (nets / name).read_bytes() for name in checkpoint_names(game=GAME.name)}
    with packed.unpacked() as there:
        assert there[0] == "rule"
        assert there[1] != str(nets)
        _, player = replace(own, addresses=there).load_agents()
    assert isinstance(player, ValuePlayer)


def test_a_folder_with_the_name_of_a_scripted_agent_is_not_sent(nets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nets.rename(nets.parent / "rule")
    monkeypatch.chdir(nets.parent)
    packed = PackedAgents.pack(plan("rule", "random"))
    with packed.unpacked() as there:
        assert (packed.files, there) == ({}, ("rule", "random"))


def test_a_net_that_is_missing_is_named_before_anything_is_sent(nets: Path) -> None:
    missing = checkpoint_names(game=GAME.name)[0]
    (nets / missing).unlink()
    with pytest.raises(ValueError, match=rf"has no checkpoint of the {missing.split('.')[0]} net"):
        PackedAgents.pack(plan(str(nets)))


def test_blocks_are_played_as_in_one_process() -> None:
    own = plan("rule", "random")
    seating = np.tile(GAME.scoring.lineup_seats(0), (2, 1))
    seeds = [(10 * number,) * 2 + (10 * number + 1,) * 2 for number in range(3)]
    blocks = [(number, GameTask(seating, own, f"{number}", f"block {number}")) for number, own in enumerate(seeds)]
    agents = own.load_agents()
    expected = dict(own.play_tasks(agents, iter(blocks), lambda games: None))
    player = GamePlayer(own, agents)
    found: dict[int, Summary] = {}
    waiting = list(blocks)
    answer = player.exchange([], is_last=False, seconds=LONG)
    while len(found) < len(blocks):
        given = waiting[:1] if answer.has_room else []
        waiting = waiting[len(given) :]
        answer = player.exchange(given, is_last=answer.has_room and not given, seconds=LONG)
        found |= {each.index: each.summary for each in answer.finished}
    player.close()
    assert found == expected
