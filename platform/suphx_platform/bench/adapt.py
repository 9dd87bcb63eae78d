"""Run-time adaptation beside what its parts take alone: self-play of as many discards, and as many plain updates."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch.nn import functional

from suphx.experience.observation import Observations
from suphx.games.learning import KindOutputs
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.kernel.record import I64, U8, Records
from suphx.models.device import torch_threads
from suphx.models.net_config import NetConfig, Size
from suphx.models.policy import PolicyNet
from suphx.selfplay.agents.agent import NetAgent
from suphx.selfplay.agents.policy_set import random_policy_set
from suphx.selfplay.rollouts.deal_play import DEFAULT_TABLES, SeatDecisions, draw_starts
from suphx.training.adaptation import copy_for_adaptation, train_rollout_critic
from suphx.training.adapter import Adapter
from suphx.training.config import AdaptationConfig
from suphx_platform.agents.agent_loading import load_net_agent

ROUNDS = 3
_PLAY_STEPS = 16
_WARM_UP_STEPS = 60  # then deals of all tables are at different points


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptCase:
    """What is measured."""

    agent: str
    """Address of an agent of nets; empty: untrained ones of ``size`` that see the planes of ``encoder``."""
    encoder: str
    size: Size
    num_hands: int
    """That are adapted side by side."""
    seconds: float
    """Of self-play alone in each round, at least."""
    seed: int
    config: AdaptationConfig

    def load(self) -> NetAgent:
        """Return the agent; ValueError for one without nets and for an unknown encoder."""
        if not self.agent:
            encoder = find_encoder(self.encoder)
            policy_set = random_policy_set(encoder.name, NetConfig(size=self.size), self.seed)
            return NetAgent("untrained", policy_set.nets, encoder.name)
        return load_net_agent(self.agent)


def bench_adapt(case: AdaptCase, *, say: Callable[[str], None]) -> dict[str, object]:
    """Return the JSON object of ``suphx bench adapt``: CPU seconds of one thread, medians over rounds that take turns.

    ``ratio``: adapting over its ideal, the same number of discards in self-play that never ends (1,024 tables, nothing
    dealt again, sampled, kept) and the same number of rows in updates of one net from batches that lie ready.
    """
    with torch_threads(1):
        agent = _Counting(case.load())
        critic = None
        if case.config.baseline == "critic":
            say("training the critic")
            critic = train_rollout_critic(agent, case.config, seed=case.seed)
        adapter = Adapter(agent, case.config, critic=critic)
        say("drawing hands")
        starts = draw_starts(agent, case.num_hands, seed=case.seed)
        numbers = np.arange(case.num_hands)
        hands = (starts, numbers % 4, case.seed + numbers)
        decisions = adapter.roll_out(*hands).decisions
        play, update = _Play(agent, case.seed), _Update(agent.discard_net, decisions, case)
        rounds = []
        for number in range(ROUNDS):
            say(f"round {number + 1} of {ROUNDS}")
            rounds.append(_measure(adapter, hands, play, update, case.seconds))
    return {**_describe(rounds, case), "case": asdict(case)}


@dataclass(frozen=True, slots=True)
class _Round:
    rollout_seconds: float
    update_seconds: float
    num_discards: int
    """Observations for the discard net in the rollouts, of all seats."""
    num_decisions: int
    """That were learned from."""
    play_seconds: float
    """Of a discard in self-play alone."""
    sample_seconds: float
    """Of a sample in updates alone."""


def _measure(adapter: Adapter, hands: tuple[Records, I64, I64], play: _Play, update: _Update, seconds: float) -> _Round:
    agent = adapter.agent
    assert isinstance(agent, _Counting)
    agent.num_discards = 0
    started = time.thread_time()
    rollouts = adapter.roll_out(*hands)
    rollout_seconds, num_discards = time.thread_time() - started, agent.num_discards
    started = time.thread_time()
    adapter.update(rollouts)
    update_seconds = time.thread_time() - started
    return _Round(
        rollout_seconds,
        update_seconds,
        num_discards,
        len(rollouts.decisions),
        play.seconds_per_discard(seconds),
        update.seconds_per_sample(),
    )


def _describe(rounds: list[_Round], case: AdaptCase) -> dict[str, object]:
    def median(of: Callable[[_Round], float]) -> float:
        return statistics.median(of(part) for part in rounds)

    epochs = case.config.num_epochs

    def ideal_rollouts(part: _Round) -> float:
        return part.num_discards * part.play_seconds

    def ideal_updates(part: _Round) -> float:
        return part.num_decisions * epochs * part.sample_seconds

    return {
        "ratio": median(lambda p: (p.rollout_seconds + p.update_seconds) / (ideal_rollouts(p) + ideal_updates(p))),
        "rollout_ratio": median(lambda p: p.rollout_seconds / ideal_rollouts(p)),
        "update_ratio": median(lambda p: p.update_seconds / ideal_updates(p)),
        "seconds_per_hand": median(lambda p: (p.rollout_seconds + p.update_seconds) / case.num_hands),
        "rollout_seconds_per_hand": median(lambda p: p.rollout_seconds / case.num_hands),
        "update_seconds_per_hand": median(lambda p: p.update_seconds / case.num_hands),
        "rollouts_per_second": median(lambda p: case.num_hands * case.config.num_rollouts / p.rollout_seconds),
        "discards_per_second_alone": median(lambda p: 1 / p.play_seconds),
        "update_samples_per_second_alone": median(lambda p: 1 / p.sample_seconds),
        "decisions_per_rollout": rounds[0].num_decisions / (case.num_hands * case.config.num_rollouts),
        "hands": case.num_hands,
        "rollouts": case.config.num_rollouts,
    }


class _Counting(NetAgent):
    """Counts what its discard net is asked."""

    def __init__(self, agent: NetAgent) -> None:
        self.__dict__.update(agent.__dict__)
        self.num_discards = 0

    def forward(self, observations: Observations, lines: I64) -> KindOutputs:
        self.num_discards += len(observations) * (observations.head == DISCARD_HEAD)
        return super().forward(observations, lines)

    def discard_logits(self, rows: U8, net: PolicyNet | None = None) -> torch.Tensor:
        self.num_discards += len(rows)
        return super().discard_logits(rows, net)


class _Play:
    """Self-play without end."""

    def __init__(self, agent: _Counting, seed: int) -> None:
        self._agent = agent
        self._simulator = Simulator(DEFAULT_TABLES, tenhou())
        self._next_seed = (5 << 59) + (seed << 32)
        self._simulator.reset(range(self._next_seed, self._next_seed + DEFAULT_TABLES))
        self._play(_WARM_UP_STEPS)

    def seconds_per_discard(self, seconds: float) -> float:
        """Return what a discard took, with all that lies between two of them."""
        self._agent.num_discards = 0
        started = time.thread_time()
        while (spent := time.thread_time() - started) < seconds or not self._agent.num_discards:
            self._play(_PLAY_STEPS)
        return spent / self._agent.num_discards

    def _play(self, num_steps: int) -> None:
        for _ in range(num_steps):
            waiting = self._simulator.waiting()
            self._simulator.advance(waiting, self._agent.act(self._simulator.tables, waiting))


class _Update:
    """Gradient steps of one net on batches that lie ready, by the plainest loss."""

    def __init__(self, net: PolicyNet, decisions: SeatDecisions, case: AdaptCase) -> None:
        self._net = copy_for_adaptation(net, case.config.trained_blocks)
        parameters = [parameter for parameter in self._net.parameters() if parameter.requires_grad]
        self._optimizer = torch.optim.Adam(parameters, lr=1e-6)
        num_batches = max(1, case.num_hands * case.config.num_rollouts // case.config.batch_rollouts)
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
