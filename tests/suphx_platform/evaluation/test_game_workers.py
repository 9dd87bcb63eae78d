"""Agents on their way to other machines, and what a worker of Ray does with tasks, without Ray."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.evaluation.game_runner import FORFEITS, GamePlan, GameTask
from suphx.evaluation.worker_pool import Player
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game, decision_names
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.rules import tonpuu
from suphx.games.riichi.tables import ScriptedAgent
from suphx.models.net_config import checkpoint_name
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.training.adaptation import AdaptiveAgent
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.agents.mjai.mjai_agent import MjaiAgent
from suphx_platform.evaluation.ray_game_workers import PackedAgents, start_packed
from tests.games.doudizhu.builders import save_nets
from tests.selfplay.small_policy_set import save_random, save_random_weak
from tests.suphx_platform.evaluation.slow_tasks import TASKS, scores

LONG = 60.0
GAME = candidate_game("doudizhu")
SEATING = np.tile(GAME.scoring.lineup_seats(0), (2, 1))
BLOCKS = [GameTask(SEATING, (9 * n,) * 2 + (9 * n + 1,) * 2, f"{n}", f"block {n}") for n in range(4)]


def new_plan(**options: Any) -> GamePlan:
    usual: dict[str, Any] = {"addresses": ("random",), "names": ("0",), "rules": tonpuu(), "summarise": scores}
    return GamePlan(**usual | {"num_tables": 2} | options)


def side_plan(*addresses: str) -> GamePlan:
    load = partial(load_any_agent, game=GAME.name, precision="fp32")
    return GamePlan(game=GAME.name, rules=Rules(), addresses=addresses, names=addresses, load=load)


def new_player(plan: GamePlan) -> Player:
    return Player(start_packed(plan, PackedAgents.pack(plan)))


def play(player: Player, indices: list[int], tasks: list[GameTask] = TASKS) -> dict[int, Any]:
    """Give one task whenever there is room, as a pool does, and return what came of all."""
    found: dict[int, Any] = {}
    waiting = list(indices)
    answer = player.exchange([], is_last=False, seconds=LONG)
    while len(found) < len(indices):
        given = [(index, tasks[index]) for index in waiting[:1]] if answer.has_room else []
        answer = player.exchange(given, is_last=answer.has_room and not waiting, seconds=LONG)
        waiting = waiting[len(given) :]
        found |= dict(answer.finished)
    return found


@pytest.mark.parametrize(
    ("plan", "tasks"),
    [*((new_plan(num_tables=number), TASKS[:4]) for number in (1, 2, 5)), (side_plan("rule", "random"), BLOCKS)],
)
def test_tasks_are_played_as_in_one_process_however_many_side_by_side(plan: GamePlan, tasks: list[GameTask]) -> None:
    expected = dict(plan.play_tasks(plan.load_agents(), iter(enumerate(tasks)), lambda games: None))
    player = new_player(plan)
    found = play(player, [3, 0, 1], tasks) | play(player, [2], tasks)  # again after the last one
    assert found == {index: (summary, None) for index, summary in expected.items()}
    assert not any(FORFEITS in summary for summary, _ in found.values())
    assert player.exchange([], is_last=False, seconds=0.0).finished == [], "an answer comes in time"


def test_records_come_with_the_task_and_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = tmp_path / "games"
    (tmp_path / "space").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "space"))
    player = new_player(new_plan(records=records))
    summary, content = play(player, [0, 1])[0]
    assert not records.exists(), "this is for whoever gets the task"
    path = tmp_path / "walls-0.tsv.xz"
    path.write_bytes(content)
    quarantine = Quarantine()
    logs = list(iter_records([path], quarantine=quarantine))
    assert (len(logs), quarantine.count) == (2, 0)
    assert [log.final_scores for log in logs] == summary["scores"]
    assert not [found for found in (tmp_path / "space").rglob("*") if found.is_file()]
    player.close()


def test_an_error_of_a_task_is_raised_in_whoever_asks() -> None:
    def refuse(plan: object, games: object, forfeited: object) -> dict[str, object]:
        raise ValueError("no summary")

    player = new_player(new_plan(summarise=refuse))
    for _ in range(2):
        with pytest.raises(ValueError, match="no summary"):
            player.exchange([(0, TASKS[0])], is_last=True, seconds=LONG)


@pytest.fixture
def nets(tmp_path: Path) -> Path:
    """Checkpoints, early ones too, of which one is in a folder of its own as supervised stages leave it."""
    folder = save_random(tmp_path / "nets")
    save_random_weak(folder)
    own = folder / "kong"
    own.mkdir()
    (folder / checkpoint_name("kong")).rename(own / checkpoint_name("kong"))
    return folder


def packed(plan: GamePlan) -> PackedAgents:
    sent: PackedAgents = pickle.loads(pickle.dumps(PackedAgents.pack(plan)))
    return sent


def test_agents_arrive_as_they_left(nets: Path) -> None:
    addresses = ("ukeire", str(nets), f"{nets}:weak,sampled", f"adapt-8:{nets}", "mjai-2:/bin/cat -u")
    sent = packed(new_plan(addresses=addresses))
    assert len(sent.files) == 1, "the nets are there once"
    with sent.unpacked() as there:
        assert (there[0], there[4]) == ("ukeire", "mjai-2:/bin/cat -u")
        assert not any(str(nets) in address for address in there)
        again = PackedAgents.pack(new_plan(addresses=there))
        kinds = [type(load_any_agent(address, "riichi")) for address in there]
        space = Path(there[1]).parent
    assert kinds == [ScriptedAgent, NetAgent, NetAgent, AdaptiveAgent, MjaiAgent]
    assert not space.exists()
    ((files,), (arrived,)) = sent.files.values(), again.files.values()
    assert len(files) == 2 * len(decision_names("riichi"))
    assert arrived == files


def test_weak_nets_need_no_others_beside_them(tmp_path: Path) -> None:
    """As in the matches of self-play, whose folder has only what they need."""
    sent = packed(new_plan(addresses=(f"{save_random_weak(tmp_path)}:weak",)))
    with sent.unpacked() as (there,):
        assert isinstance(load_any_agent(there, "riichi"), NetAgent)
    (files,) = sent.files.values()
    assert files.keys() == set(checkpoint_names(is_weak=True, game="riichi"))


@pytest.fixture
def side_nets(tmp_path: Path) -> Path:
    """Untrained nets, beside a file that nobody needs elsewhere, in a folder with the name of a scripted agent."""
    folder = save_nets(tmp_path / "rule")
    (folder / "training_state.safetensors").write_bytes(b"large")
    return folder


def test_nets_arrive_and_nothing_else(side_nets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(side_nets.parent)
    own = side_plan("rule", str(side_nets))
    sent = packed(own)
    assert sent.files == {
        str(side_nets): {name: (side_nets / name).read_bytes() for name in checkpoint_names(game=GAME.name)}
    }
    with sent.unpacked() as there:
        assert there[0] == "rule"
        assert there[1] != str(side_nets)
        assert len(replace(own, addresses=there).load_agents()) == 2


@pytest.mark.parametrize("game", ["riichi", GAME.name])
def test_a_missing_checkpoint_is_named_before_anything_is_sent(nets: Path, side_nets: Path, game: str) -> None:
    folder, plan = (
        (side_nets, side_plan(str(side_nets))) if game == GAME.name else (nets, new_plan(addresses=(str(nets),)))
    )
    missing = checkpoint_names(game=game)[0]
    (folder / missing).unlink()
    with pytest.raises(ValueError, match=rf"has no checkpoint of the {missing.split('.')[0]} net"):
        PackedAgents.pack(plan)
