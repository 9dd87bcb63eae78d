"""The memory of a long match: it must not grow with the number of games."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from multiprocessing import active_children
from typing import Any

import psutil

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import MatchSetup, play_match
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.ray.process import private_bytes

_PARTS = 10


def bench_match_memory(
    candidate: str,
    opponent: str,
    *,
    num_hanchans: int,
    seed: int,
    workers: int,
    progress: Callable[[float], None] = lambda games: None,
) -> dict[str, Any]:
    """Play a match and return the memory of its processes after each tenth of the games but the last.

    ``bytes`` [9]: private memory of this process and its workers together; ``ratio``: the last over the first. The last
    tenth is left out, because processes end there. ValueError for an unknown agent or a wrong number of games.
    """
    memory = _Memory(num_hanchans, progress)
    runner = GameRunner(workers=workers, load=load_any_agent, progress=memory.advance)
    play_match(MatchSetup(candidate, opponent, seed=seed), num_hanchans, runner=runner)
    return {
        "candidate": candidate,
        "opponent": opponent,
        "hanchans": num_hanchans,
        "workers": workers,
        "seed": seed,
        "bytes": memory.samples,
        "ratio": memory.samples[-1] / memory.samples[0],
    }


class _Memory:
    """Looks at the memory of this process and its children after each tenth of the games but the last."""

    def __init__(self, num_games: int, progress: Callable[[float], None]) -> None:
        self._num_games = num_games
        self._progress = progress
        self._games = 0.0
        self.samples: list[int] = []

    def advance(self, games: float) -> None:
        self._games += games
        self._progress(games)
        while len(self.samples) < _PARTS - 1 and self._games >= (len(self.samples) + 1) / _PARTS * self._num_games:
            self.samples.append(_processes_bytes())


def _processes_bytes() -> int:
    """Return the private memory of this process and its children; one that has just ended has none."""
    total = private_bytes()
    for child in active_children():
        with suppress(FileNotFoundError, psutil.Error, IndexError):
            total += private_bytes(child.pid)
    return total
