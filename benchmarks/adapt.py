"""Run-time adaptation beside what its parts take alone: self-play of as many discards, and as many plain updates.

``python benchmarks/adapt.py --agent runs/RUN/supervised``; the settings are those of ``suphx adapt``. ``ratio``:
adapting over its ideal, the same number of discards in self-play that never ends (nothing dealt again, sampled, kept)
and the same number of rows in updates of one net from batches that lie ready. CPU seconds of one thread, medians over
rounds that take turns.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from torch.nn import functional

from suphx.experience.observation import Observations
from suphx.games.learning import KindOutputs
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.kernel.record import I64, U8
from suphx.models.device import torch_threads
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.selfplay.agents.agent import NetAgent
from suphx.selfplay.agents.policy_set import random_policy_set
from suphx.selfplay.rollouts.deal_play import DEFAULT_TABLES, SeatDecisions, draw_starts
from suphx.training.adaptation import BATCH_ROLLOUTS
from suphx.training.adapter import Adapter
from suphx.training.config import AdaptationConfig
from suphx_cli.commands.adapt import add_config, config_of
from suphx_platform.agents.agent_loading import load_net_agent

ROUNDS = 3
PLAY_STEPS = 16
WARM_UP_STEPS = 60  # then deals of all tables are at different points


class CountingAgent(NetAgent):
    """Counts what its discard net is asked."""

    def __init__(self, agent: NetAgent) -> None:
        self.__dict__.update(agent.__dict__)
        self.num_discards = 0

    def forward(self, observations: Observations, lines: I64) -> KindOutputs:
        """Count and answer."""
        self.num_discards += len(observations) * (observations.decision == DISCARD_HEAD)
        return super().forward(observations, lines)

    def discard_logits(self, rows: U8, net: PolicyNet | None = None) -> torch.Tensor:
        """Count and answer."""
        self.num_discards += len(rows)
        return super().discard_logits(rows, net)


class Round(NamedTuple):
    """CPU seconds of one round."""

    rollouts: float
    updates: float
    ideal_rollouts: float
    ideal_updates: float


class Play:
    """Self-play without end."""

    def __init__(self, agent: CountingAgent, seed: int) -> None:
        self._agent = agent
        self._simulator = Simulator(DEFAULT_TABLES, tenhou())
        first = (5 << 59) + (seed << 32)
        self._simulator.reset(range(first, first + DEFAULT_TABLES))
        self._play(WARM_UP_STEPS)

    def seconds_per_discard(self, seconds: float) -> float:
        """Return what a discard took, with all that lies between two of them."""
        self._agent.num_discards = 0
        started = time.thread_time()
        while (spent := time.thread_time() - started) < seconds or not self._agent.num_discards:
            self._play(PLAY_STEPS)
        return spent / self._agent.num_discards

    def _play(self, num_steps: int) -> None:
        for _ in range(num_steps):
            waiting = self._simulator.waiting()
            self._simulator.advance(waiting, self._agent.act(self._simulator.tables, waiting))


class Update:
    """Gradient steps of one net on batches that lie ready, by the plainest loss."""

    def __init__(self, net: PolicyNet, decisions: SeatDecisions, num_batches: int) -> None:
        self._net = copy.deepcopy(net).requires_grad_(True)
        self._optimizer = torch.optim.Adam(self._net.parameters(), lr=1e-6)
        self._batches = [
            (torch.from_numpy(decisions.planes[part]), torch.from_numpy(decisions.actions[part]))
            for part in np.array_split(np.arange(len(decisions)), num_batches)
        ]
        self._step(*self._batches[0])

    def seconds_per_sample(self) -> float:
        """Return the seconds that a sample took."""
        started = time.thread_time()
        for batch in self._batches:
            self._step(*batch)
        return (time.thread_time() - started) / sum(len(rows) for rows, _ in self._batches)

    def _step(self, rows: torch.Tensor, actions: torch.Tensor) -> None:
        loss = functional.cross_entropy(self._net(rows), actions)
        self._optimizer.zero_grad()
        torch.autograd.backward(loss)
        self._optimizer.step()


def measure(
    loaded: NetAgent, config: AdaptationConfig, *, num_hands: int, seconds: float, seed: int
) -> dict[str, float]:
    """Adapt to ``num_hands`` hands in each round; ``seconds``: of self-play alone in each round, at least."""
    agent = CountingAgent(loaded)
    adapter = Adapter(agent, config)
    numbers = np.arange(num_hands)
    hands = (draw_starts(agent, num_hands, seed=seed), numbers % 4, seed + numbers)
    decisions = adapter.roll_out(*hands).decisions
    num_rollouts = num_hands * config.num_rollouts
    num_batches = max(1, num_rollouts // BATCH_ROLLOUTS)
    play, update = Play(agent, seed), Update(agent.discard_net, decisions, num_batches)
    rounds = []
    for number in range(ROUNDS):
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr)
        agent.num_discards = 0
        started = time.thread_time()
        rollouts = adapter.roll_out(*hands)
        rolled_out, num_discards = time.thread_time(), agent.num_discards
        adapter.update(rollouts)
        updated = time.thread_time()
        ideal_rollouts = num_discards * play.seconds_per_discard(seconds)
        ideal_updates = len(rollouts.decisions) * update.seconds_per_sample()
        rounds.append(Round(rolled_out - started, updated - rolled_out, ideal_rollouts, ideal_updates))

    def median(figure: Callable[[Round], float]) -> float:
        return statistics.median(map(figure, rounds))

    return {
        "ratio": median(lambda one: (one.rollouts + one.updates) / (one.ideal_rollouts + one.ideal_updates)),
        "rollout_ratio": median(lambda one: one.rollouts / one.ideal_rollouts),
        "update_ratio": median(lambda one: one.updates / one.ideal_updates),
        "seconds_per_hand": median(lambda one: (one.rollouts + one.updates) / num_hands),
        "rollout_seconds_per_hand": median(lambda one: one.rollouts / num_hands),
        "update_seconds_per_hand": median(lambda one: one.updates / num_hands),
        "decisions_per_rollout": len(decisions) / num_rollouts,
    }


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agent", default="", help="folder of checkpoints (default: untrained nets)")
    parser.add_argument("--size", default="tiny", help="of untrained nets")
    parser.add_argument("--encoder", default="suphx", help="of untrained nets")
    parser.add_argument("--hands", type=int, default=4, help="hands that are adapted together")
    parser.add_argument("--seconds", type=float, default=3.0, help="of self-play in each round")
    parser.add_argument("--seed", type=int, default=0)
    add_config(parser)
    args = parser.parse_args()
    if args.agent:
        agent = load_net_agent(args.agent)
    else:
        nets = random_policy_set(args.encoder, NetConfig(size=args.size), args.seed, game="riichi").nets
        agent = NetAgent("untrained", nets, args.encoder)
    with torch_threads(1):
        values = measure(agent, config_of(args), num_hands=args.hands, seconds=args.seconds, seed=args.seed)
    print(json.dumps(values, indent=2))


if __name__ == "__main__":
    main()
