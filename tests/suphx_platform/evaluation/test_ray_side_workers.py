"""Real decks of a game of two sides in real processes of Ray, which are really killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.evaluation.game_runner import GamePlan, GameRunner, GameTask, LoadAgent, Workers
from suphx.evaluation.kept_results import KeptResults
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import candidate_game
from suphx.kernel.record import I64
from suphx.training.value_nets import ValueNets, new_nets, save_value_nets
from suphx_platform.agents.agent_loading import load_side_player
from suphx_platform.evaluation.ray_game_workers import ray_game_workers
from suphx_platform.ray.session import ray_session
from tests.suphx_platform.evaluation.slow_tasks import all_begin, all_end, game_processes

pytestmark = [pytest.mark.ray, pytest.mark.slow]

GAME = candidate_game("doudizhu")


def block(number: int) -> GameTask:
    """Return two decks of a scripted agent and the nets."""
    seating = np.tile(np.array([number % 2, 2])[GAME.scoring.lineup_seats(0)], (2, 1))
    first = 1000 + 2 * number
    return GameTask(seating, (first, first, first + 1, first + 1), f"decks-{number}", f"block {number}")


BLOCKS = [block(number) for number in range(12)]


@pytest.fixture(scope="module", autouse=True)
def _one_node() -> Iterator[None]:
    with ray_session(num_cpus=3):
        yield


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Untrained nets."""
    folder = tmp_path_factory.mktemp("nets")
    save_value_nets(folder, ValueNets(GAME, Rules(), new_nets(GAME, 1)))
    return folder


class Slow:
    """The agent that it is made of, with a pause before each move."""

    def __init__(self, player: Any) -> None:
        self.name, self._player = player.name, player

    def act(self, tables: Any, indices: I64) -> Any:
        time.sleep(0.02)
        return self._player.act(tables, indices)


def load_slow(address: str) -> Slow:
    return Slow(load_side_player(GAME.name, address))


def play(
    folder: Path, nets: Path, workers: Workers, load: LoadAgent, act: Callable[[], object] = lambda: None
) -> dict[str, bytes]:
    """Play all blocks, ``act`` once after the first result, and return the files of the results."""
    addresses = ("rule", "random", str(nets))
    plan = GamePlan(game=GAME.name, rules=Rules(), addresses=addresses, names=("0", "1", "2"), load=load)
    runner = GameRunner(load=load, workers=workers, kept=KeptResults(folder))
    for number, _ in enumerate(runner.play(plan, BLOCKS)):
        if number == 0:
            act()
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_killed_workers_change_no_result(tmp_path: Path, nets: Path) -> None:
    expected = play(tmp_path / "here", nets, 1, partial(load_side_player, GAME.name))
    assert len(expected) == len(BLOCKS)
    said: list[str] = []

    def kill() -> None:
        assert all_begin(2)
        os.kill(game_processes()[0], signal.SIGKILL)

    with ray_game_workers(2, say=said.append) as workers:
        assert play(tmp_path / "killed", nets, workers, load_slow, kill) == expected
    assert [line for line in said if "was lost" in line]
    assert all_end()
