"""Real games in real processes of Ray, which are really killed. What is compared are the bytes of the kept results."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Event

import pytest
import ray

from suphx.evaluation.game_runner import GamePlan, GameRunner, LoadAgent, Workers
from suphx.evaluation.kept_results import KeptResults
from suphx.evaluation.match import MatchSetup, play_match
from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.sequential import play_sequential_match
from suphx.games.game import Agent
from suphx.games.riichi.rules import tonpuu
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import I16, I64, Records
from suphx.selfplay.agents.agent import load_agent
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.evaluation.ray_game_workers import RayGameWorkers, ray_game_workers
from suphx_platform.ray.session import ray_session
from tests.selfplay.small_policy_set import save_random
from tests.suphx_platform.agents.mjai.bot_program import bot
from tests.suphx_platform.evaluation.slow_tasks import (
    TASKS,
    all_begin,
    all_end,
    game_processes,
    load_slow,
    load_where_programs_are,
    scores,
)
from tests.suphx_platform.ray.ray_nodes import WAYS, Way, ray_nodes

pytestmark = [pytest.mark.ray, pytest.mark.slow]

Act = Callable[[], object]


@pytest.fixture(scope="module", autouse=True)
def _one_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Ray for all tests of this file but the last one; its processes have a folder of their own for temporary files."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TMPDIR", str(tmp_path_factory.mktemp("temporary")))
        environment.setenv("RAY_TMPDIR", tempfile.gettempdir())  # the paths of Ray's sockets must be short
        with ray_session(num_cpus=5):
            yield


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


RIICHI = GamePlan(addresses=("ukeire",), names=("0",), summarise=scores, rules=tonpuu())
DAZHONG = GamePlan(addresses=("fanfou_mc",), names=("0",), game="dazhong")


def play(
    folder: Path,
    workers: Workers,
    *,
    plan: GamePlan = RIICHI,
    load: LoadAgent | None = load_slow,
    act: Act = lambda: None,
) -> dict[str, bytes]:
    """Play all tasks, ``act`` once after the first result, and return the files of the results."""
    runner = GameRunner(
        workers=workers, load=load, kept=KeptResults(folder / "games"), records=folder / "records", max_tables=2
    )
    for number, _ in enumerate(runner.play(plan, TASKS)):
        if number == 0:
            act()
    return files(folder)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of one process, without pauses."""
    found = play(tmp_path_factory.mktemp("one"), 1, load=load_agent)
    assert len(found) == 2 * len(TASKS)
    return found


def folders_of_records() -> set[Path]:
    """Return the temporary folders of the processes that play."""
    return set(Path(os.environ["TMPDIR"]).glob("suphx-records-*"))


@pytest.mark.parametrize("number", [1, 4])
def test_results_are_those_of_one_process(tmp_path: Path, expected: dict[str, bytes], number: int) -> None:
    before = folders_of_records()
    with ray_game_workers(number, say=print) as workers:
        assert play(tmp_path, workers, load=load_agent) == expected
    assert all_end()
    assert folders_of_records() <= before


def test_results_of_dazhong_are_those_of_one_process(tmp_path: Path) -> None:
    expected = play(tmp_path / "one", 1, plan=DAZHONG, load=None)
    assert len(expected) == 2 * len(TASKS)
    assert play(tmp_path / "eight", 8, plan=DAZHONG, load=None) == expected
    with ray_game_workers(4, say=print) as workers:
        assert play(tmp_path / "ray", workers, plan=DAZHONG, load=None) == expected


def test_a_process_is_used_again(tmp_path: Path, expected: dict[str, bytes]) -> None:
    with ray_game_workers(1, say=print) as workers:
        assert play(tmp_path / "first", workers, load=load_agent) == expected
        processes = game_processes()
        assert len(processes) == 1
        assert play(tmp_path / "second", workers, load=load_agent) == expected
        assert game_processes() == processes


def kill(number: int, by: int = signal.SIGKILL) -> Act:
    def act() -> None:
        for process in game_processes()[:number]:
            os.kill(process, by)

    return act


@pytest.mark.parametrize("number", [1, 4])
def test_killed_workers_cost_only_what_they_had_begun(tmp_path: Path, expected: dict[str, bytes], number: int) -> None:
    said: list[str] = []
    with closing(RayGameWorkers(4, say=said.append)) as workers:
        play(tmp_path / "before", workers, act=lambda: all_begin(4))
        assert len(game_processes()) == 4  # those that had not begun when the tasks were finished would be gone
        assert play(tmp_path / "killed", workers, act=kill(number)) == expected
    lost = [line for line in said if " was lost while it played " in line]
    assert len(lost) == number
    assert all("which is played again" in line for line in lost)


def test_a_worker_that_hangs_is_killed(tmp_path: Path, expected: dict[str, bytes]) -> None:
    said: list[str] = []
    with closing(RayGameWorkers(2, say=said.append, hang_seconds=15)) as hasty:
        assert play(tmp_path, hasty, act=kill(1, signal.SIGSTOP)) == expected
    assert sum("it has not answered for" in line for line in said) == 1


def test_games_that_always_kill_their_process_are_named(tmp_path: Path) -> None:
    message = r"^4 workers were lost while it played \d+.*; the last one: .* too little memory"
    with pytest.raises(ChildProcessError, match=message):
        play(tmp_path, RayGameWorkers(2), load=load_deadly)
    assert all_end()


def load_deadly(address: str) -> Agent:
    return DeadlyAgent(address)


class DeadlyAgent(ScriptedAgent):
    """Ends its process when it is asked for an action."""

    def act(self, tables: Records, indices: I64) -> I16:
        os._exit(3)


def test_a_program_that_a_node_lacks_is_an_error_that_names_the_node(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"on node \d+\.\d+\.\d+\.\d+ of the Ray cluster: there is no program ukeire"):
        play(tmp_path, RayGameWorkers(2), load=load_where_programs_are)


def test_matches_with_nets_and_programs_are_those_of_one_process(tmp_path: Path) -> None:
    nets = save_random(tmp_path / "nets")
    with ray_game_workers(2, say=print) as workers:
        for number, opponent in enumerate(("ukeire", bot("tsumogiri"), bot("thrower"))):
            one, other = (
                play_match(
                    MatchSetup(f"{nets}:sampled", opponent, seed=1, rules=tonpuu()),
                    8,
                    runner=GameRunner(
                        workers=each,
                        load=partial(load_any_agent, game="riichi"),
                        kept=KeptResults(tmp_path / str(number) / name),
                    ),
                ).to_json()
                for name, each in (("one", 1), ("ray", workers))
            )
            assert json.dumps(one) == json.dumps(other)
            assert bool(one["forfeits"]) == (opponent == bot("thrower"))
            assert files(tmp_path / str(number) / "one") == files(tmp_path / str(number) / "ray")


def test_a_sequential_match_decides_the_same(tmp_path: Path) -> None:
    with ray_game_workers(4, say=print) as workers:
        outcomes = [
            play_sequential_match(
                MatchSetup("ukeire", "tsumogiri", seed=2, rules=tonpuu()),
                SequentialConfig(difference=0.3, error=0.05),
                max_deals=240,
                fresh_deals=6,
                runner=GameRunner(workers=each),
            ).to_json()
            for each in (1, workers)
        ]
    assert outcomes[0] == outcomes[1]
    assert outcomes[0]["verdict"] == "better"
    assert all_end(), "nobody plays on after the decision"


@pytest.mark.parametrize("way", WAYS)
def test_a_node_that_ends_costs_only_what_its_workers_had_begun(
    tmp_path: Path, expected: dict[str, bytes], way: Way
) -> None:
    """It ends while its worker starts, and, replaced, again while games are played."""
    ray.shutdown()  # that of the other tests
    said: list[str] = []
    has_result = Event()
    with ray_nodes("simulator 1", "simulator 2") as nodes:
        moments = (partial(nodes.processes, "simulator 1", "GameActor"), has_result.is_set)
        ending = nodes.end_when(way, [("simulator 1", is_now) for is_now in moments])
        with ray_game_workers(2, say=said.append) as workers:
            assert play(tmp_path, workers, act=has_result.set) == expected
        ending.result(timeout=60)
    assert any("was lost" in line for line in said)
