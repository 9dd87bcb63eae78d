"""Decisions per second of a match of nets with themselves, and of the same nets if they only play, on as many cores.

``python benchmarks/match_speed.py --agent runs/RUN/supervised``. A decision is a table at which a net is asked, in
both. The match is measured between shares of its games: before, processes start and deals end all at once; afterwards
tables are left without a game.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.match import MatchSetup, play_match
from suphx.games.game import Agent
from suphx.games.riichi.benchmark import asked_tables
from suphx.games.riichi.rules import tenhou
from suphx.kernel.record import I64, Records
from suphx.selfplay.agents.agent import NetAgent, load_agent
from suphx.selfplay.agents.policy_set import load_policy_set
from suphx.selfplay.rollouts.rollout import play_games
from suphx.usable_cores import usable_cores
from suphx_platform.bench.selfplay import SelfplayCase, all_cores_rate

FIRST_SHARE, LAST_SHARE = 0.15, 0.7
COUNTED_GAMES = 64


class Clock:
    """When which share of the games had been played."""

    def __init__(self, num_games: int) -> None:
        self._num_games = num_games
        self._games = 0.0
        self.marks: list[tuple[float, float]] = []
        """(games, seconds) after each report between the two shares."""

    def advance(self, games: float) -> None:
        """Take the number of games that have ended."""
        self._games += games
        if FIRST_SHARE <= self._games / self._num_games <= LAST_SHARE:
            self.marks.append((self._games, time.perf_counter()))

    def games_per_second(self) -> float:
        """Return the rate between the first and the last report; nan with fewer than two."""
        if len(self.marks) < 2:
            return float("nan")
        (first, began), (last, ended) = self.marks[0], self.marks[-1]
        return (last - first) / max(ended - began, 1e-9)


class CountingAgent:
    """An agent that knows how many tables have asked its nets."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self.num_asked = 0
        self._agent = agent

    def act(self, tables: Records, indices: I64) -> I64:
        """Return the agent's moves."""
        self.num_asked += len(asked_tables(tables[indices]))
        moves: I64 = np.asarray(self._agent.act(tables, indices), np.int64)
        return moves


def decisions_per_hanchan(agent: Agent, seed: int) -> float:
    """Return the mean over some games of the agent with itself."""
    counting, seating = CountingAgent(agent), np.zeros((COUNTED_GAMES, 4), np.int64)
    for _ in play_games([counting], seating, range(seed, seed + COUNTED_GAMES), tenhou()):
        pass
    return counting.num_asked / COUNTED_GAMES


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agent", type=Path, required=True, metavar="FOLDER", help="folder of checkpoints")
    parser.add_argument("--hanchans", type=int, default=4000)
    parser.add_argument("--seconds", type=float, default=30.0, help="of self-play")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=usable_cores())
    args = parser.parse_args()
    agent = load_agent(str(args.agent))
    if not isinstance(agent, NetAgent):
        parser.error(f"{args.agent} has no nets: give a folder of checkpoints, such as runs/RUN/supervised")
    decisions = decisions_per_hanchan(agent, args.seed)
    clock = Clock(args.hanchans)
    runner = GameRunner(workers=args.workers, progress=clock.advance)
    play_match(MatchSetup(str(args.agent), str(args.agent), seed=args.seed), args.hanchans, runner=runner)
    case = SelfplayCase(
        encoder=agent.encoder,
        num_simulators=1,
        num_engines=1,
        num_cores=args.workers,
        device="cpu",
        seconds=args.seconds,
        seed=args.seed,
    )
    selfplay = all_cores_rate(case, load_policy_set(args.agent, agent.encoder, game="riichi"))
    rate = clock.games_per_second() * decisions
    values = {"decisions_per_second": rate, "selfplay_decisions_per_second": selfplay, "ratio": rate / selfplay}
    print(json.dumps({**values, "decisions_per_hanchan": decisions}, indent=2))


if __name__ == "__main__":
    main()
