"""Agents on their way to other machines, and tasks in a thread of their own, without Ray."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.evaluation.game_runner import FORFEITS, GamePlan, GameTask, Summary
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.names import HEAD_NAMES
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.rules import tonpuu
from suphx.games.riichi.tables import ScriptedAgent
from suphx.models.net_config import checkpoint_name
from suphx.selfplay.agents.agent import NetAgent, load_agent
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx.training.adapter import AdaptiveAgent
from suphx.training.value_nets import ValueNets, ValuePlayer, new_nets, save_value_nets
from suphx_platform.agents.agent_loading import load_any_agent, load_side_player
from suphx_platform.agents.mjai.mjai_agent import MjaiAgent
from suphx_platform.evaluation.game_workers import FinishedTask, GamePlayer, PackedAgents
from tests.selfplay.small_policy_set import save_random, save_random_weak
from tests.suphx_platform.evaluation.slow_tasks import TASKS, scores

LONG = 60.0


def new_plan(*, num_tables: int = 2, records: Path | None = None, summarise: Any = scores) -> GamePlan:
    return GamePlan(
        addresses=("random",),
        names=("0",),
        rules=tonpuu(),
        summarise=summarise,
        num_tables=num_tables,
        records=records,
    )


def play(player: GamePlayer, indices: list[int]) -> dict[int, FinishedTask]:
    """Give one task whenever there is room, as a pool does, and return what came of all."""
    found: dict[int, FinishedTask] = {}
    waiting = list(indices)
    answer = player.exchange([], is_last=False, seconds=LONG)
    while len(found) < len(indices):
        tasks = [(index, TASKS[index]) for index in waiting[:1]] if answer.has_room else []
        answer = player.exchange(tasks, is_last=answer.has_room and not waiting, seconds=LONG)
        waiting = waiting[len(tasks) :]
        found |= {each.index: each for each in answer.finished}
    return found


@pytest.mark.parametrize("num_tables", [1, 2, 5])
def test_tasks_are_played_as_in_one_process_however_many_side_by_side(num_tables: int) -> None:
    plan = new_plan(num_tables=num_tables)
    agents = plan.load_agents()
    expected = dict(plan.play_tasks(agents, iter(enumerate(TASKS)), lambda games: None))
    player = GamePlayer(plan, agents)
    first, second = play(player, [3, 0, 7, 1]), play(player, [2])  # again after the last one
    assert {index: task.summary for index, task in {**first, **second}.items()} == {
        index: expected[index] for index in (0, 1, 2, 3, 7)
    }


def test_an_answer_comes_in_time_also_when_nothing_is_finished() -> None:
    player = GamePlayer(new_plan(), [load_agent("random")])
    assert player.exchange([], is_last=False, seconds=LONG).has_room
    assert player.exchange([], is_last=False, seconds=0.0).finished == []


def test_records_come_with_the_task_and_leave_nothing_behind(tmp_path: Path) -> None:
    records = tmp_path / "games"
    player = GamePlayer(new_plan(records=records), [load_agent("random")])
    found = play(player, [0, 1])
    assert not records.exists(), "this is for whoever gets the task"
    path = tmp_path / "walls-0.tsv.xz"
    assert found[0].records is not None
    path.write_bytes(found[0].records)
    quarantine = Quarantine()
    logs = list(iter_records([path], quarantine=quarantine))
    assert (len(logs), quarantine.count) == (2, 0)
    assert [log.final_scores for log in logs] == found[0].summary["scores"]
    assert player._records is not None
    folder = Path(player._records.name)
    assert not list(folder.iterdir())
    player.close()
    assert not folder.exists()


def test_an_error_of_a_task_is_raised_in_whoever_asks() -> None:
    def refuse(plan: object, games: object, forfeited: object) -> dict[str, object]:
        raise ValueError("no summary")

    player = GamePlayer(new_plan(summarise=refuse), [load_agent("random")])
    for _ in range(2):
        with pytest.raises(ValueError, match="no summary"):
            player.exchange([(0, TASKS[0])], is_last=True, seconds=LONG)


def test_nothing_is_added_to_a_summary_without_forfeits() -> None:
    player = GamePlayer(new_plan(), [load_agent("random")])
    assert FORFEITS not in play(player, [0])[0].summary


@pytest.fixture
def nets(tmp_path: Path) -> Path:
    """Checkpoints, early ones too, of which one is in a folder of its own as supervised stages leave it."""
    folder = save_random(tmp_path / "nets")
    save_random_weak(folder)
    own = folder / "kong"
    own.mkdir()
    (folder / checkpoint_name("kong")).rename(own / checkpoint_name("kong"))
    return folder


def plan(*addresses: str) -> GamePlan:
    return GamePlan(addresses=addresses, names=addresses, summarise=lambda plan, games, lost: {})


def test_agents_arrive_as_they_left(nets: Path) -> None:
    addresses = ["ukeire", str(nets), f"{nets}:weak,sampled", f"adapt-8:{nets}", "mjai-2:/bin/cat -u"]
    packed = pickle.loads(pickle.dumps(PackedAgents.pack(plan(*addresses))))
    assert len(packed.files) == 1, "the nets are there once"
    with packed.unpacked() as there:
        assert (there[0], there[4]) == ("ukeire", "mjai-2:/bin/cat -u")
        assert not any(str(nets) in address for address in there)
        again = PackedAgents.pack(plan(*there))
        kinds = [type(load_any_agent(address)) for address in there]
        space = Path(there[1]).parent
    assert kinds == [ScriptedAgent, NetAgent, NetAgent, AdaptiveAgent, MjaiAgent]
    assert not space.exists()
    (sent,), (arrived,) = packed.files.values(), again.files.values()
    assert len(sent) == 2 * len(HEAD_NAMES)
    assert arrived == sent


def test_weak_nets_need_no_others_beside_them(tmp_path: Path) -> None:
    """As in the matches of self-play, whose folder has only what they need."""
    weak = f"{save_random_weak(tmp_path)}:weak"
    packed = PackedAgents.pack(plan(weak))
    with packed.unpacked() as (there,):
        assert isinstance(load_any_agent(there), NetAgent)
    (sent,) = packed.files.values()
    assert sent.keys() == {checkpoint_name(head, is_weak=True) for head in HEAD_NAMES}


def test_a_missing_checkpoint_is_named_before_anything_is_sent(nets: Path) -> None:
    (nets / checkpoint_name("pong")).unlink()
    with pytest.raises(ValueError, match="has no checkpoint of the pong net"):
        PackedAgents.pack(plan(str(nets)))


GAME = candidate_game("doudizhu")
LONG = 60.0


def side_plan(*addresses: str) -> GamePlan:
    load = partial(load_side_player, GAME.name, precision="fp32")
    return GamePlan(game=GAME.name, rules=Rules(), addresses=addresses, names=addresses, load=load)


@pytest.fixture
def side_nets(tmp_path: Path) -> Path:
    """Untrained nets, beside a file that nobody needs elsewhere."""
    folder = tmp_path / "nets"
    folder.mkdir()
    save_value_nets(folder, ValueNets(GAME, Rules(), new_nets(GAME, 1)))
    (folder / "training_state.safetensors").write_bytes(b"large")
    return folder


def test_nets_arrive_and_nothing_else(side_nets: Path) -> None:
    own = side_plan("rule", str(side_nets))
    packed = pickle.loads(pickle.dumps(PackedAgents.pack(own)))
    (files,) = packed.files.values()
    assert files == {name: (side_nets / name).read_bytes() for name in checkpoint_names(game=GAME.name)}
    with packed.unpacked() as there:
        assert there[0] == "rule"
        assert there[1] != str(side_nets)
        _, player = replace(own, addresses=there).load_agents()
    assert isinstance(player, ValuePlayer)


def test_a_folder_with_the_name_of_a_scripted_agent_is_not_sent(
    side_nets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side_nets.rename(side_nets.parent / "rule")
    monkeypatch.chdir(side_nets.parent)
    packed = PackedAgents.pack(side_plan("rule", "random"))
    with packed.unpacked() as there:
        assert (packed.files, there) == ({}, ("rule", "random"))


def test_a_net_of_a_seat_that_is_missing_is_named_before_anything_is_sent(side_nets: Path) -> None:
    missing = checkpoint_names(game=GAME.name)[0]
    (side_nets / missing).unlink()
    with pytest.raises(ValueError, match=rf"has no checkpoint of the {missing.split('.')[0]} net"):
        PackedAgents.pack(side_plan(str(side_nets)))


def test_blocks_are_played_as_in_one_process() -> None:
    own = side_plan("rule", "random")
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
