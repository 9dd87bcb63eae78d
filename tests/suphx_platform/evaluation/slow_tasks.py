"""Tasks that take seconds, so that something can happen while they are played, and the processes of Ray that play."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import ray

from suphx.evaluation.game_runner import GamePlan, GameTask, Summary
from suphx.games.game import Agent, PlayedGame
from suphx.games.riichi.tables import ScriptedAgent
from suphx.games.scoring import Forfeited
from suphx.kernel.record import I16, I64, Records

TASKS = [GameTask(np.zeros((2, 4), np.int64), (seed, seed + 100), f"walls-{seed}", f"{seed}") for seed in range(16)]


class SlowAgent(ScriptedAgent):
    """ukeire, with a pause before each step of its tables."""

    def act(self, tables: Records, indices: I64) -> I16:
        time.sleep(0.004)
        return super().act(tables, indices)


def load_slow(address: str) -> Agent:
    return SlowAgent(address)


def load_where_programs_are(address: str) -> Agent:
    """Load an agent in the process of the test only, as if the nodes lacked its program."""
    if ray.get_runtime_context().worker.mode == ray.WORKER_MODE:
        raise ValueError(f"there is no program {address}")
    return ScriptedAgent("ukeire")


def scores(plan: GamePlan, games: Sequence[PlayedGame], forfeited: Forfeited) -> Summary:
    return {"scores": [game.points for game in games]}


def game_processes(session: str = "") -> list[int]:
    """Return the processes that play for a Ray session (default: that of this process) on nodes of this machine."""
    name = (session or ray.get_runtime_context().get_session_name()).encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and (folder / "cmdline").read_bytes().startswith(b"ray::GameActor"):
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
                if name in Path("/proc", parent, "cmdline").read_bytes():
                    found.append(int(folder.name))
        except (FileNotFoundError, ProcessLookupError):  # it has just ended
            continue
    return sorted(found)


def all_end(seconds: float = 60.0) -> bool:
    """Tell whether all processes that play end by themselves in time: Ray does not wait for those that it kills."""
    return _become(0, seconds)


def all_begin(number: int, seconds: float = 60.0) -> bool:
    """Tell whether ``number`` processes that play are there in time."""
    return _become(number, seconds)


def _become(number: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while len(game_processes()) != number and time.monotonic() < end:
        time.sleep(0.1)
    return len(game_processes()) == number
