"""The memory of the processes of a long match after each tenth of its games but the last, in which they end.

``python benchmarks/match_memory.py --hanchans 100000``; ``ratio`` is the last figure over the first.
"""

from __future__ import annotations

import argparse
import json
from contextlib import suppress
from functools import partial
from multiprocessing import active_children

import psutil

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import MatchSetup, play_match
from suphx.usable_cores import usable_cores
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.ray.process import private_bytes

PARTS = 10


class Memory:
    """Looks at the private memory of this process and its children after each tenth of the games but the last."""

    def __init__(self, num_games: int) -> None:
        self._num_games = num_games
        self._games = 0.0
        self.samples: list[int] = []

    def advance(self, games: float) -> None:
        """Take the number of games that have ended."""
        self._games += games
        while len(self.samples) < PARTS - 1 and self._games >= (len(self.samples) + 1) / PARTS * self._num_games:
            self.samples.append(_processes_bytes())


def _processes_bytes() -> int:
    total = private_bytes()
    for child in active_children():
        with suppress(FileNotFoundError, psutil.Error, IndexError):  # it has just ended
            total += private_bytes(child.pid)
    return total


def main() -> None:
    """Play and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidate", default="ukeire")
    parser.add_argument("--opponent", default="ukeire")
    parser.add_argument("--hanchans", type=int, default=100_000, help="40 or more, so that each tenth has games")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=usable_cores())
    args = parser.parse_args()
    memory = Memory(args.hanchans)
    runner = GameRunner(workers=args.workers, load=partial(load_any_agent, game="riichi"), progress=memory.advance)
    play_match(MatchSetup(args.candidate, args.opponent, seed=args.seed), args.hanchans, runner=runner)
    print(json.dumps({"bytes": memory.samples, "ratio": memory.samples[-1] / memory.samples[0]}, indent=2))


if __name__ == "__main__":
    main()
