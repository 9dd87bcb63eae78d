"""The simulator of the paper's Figure 6: many games on one CPU, half of which play while the others wait.

>>> simulator = SelfPlaySimulator(SimulatorConfig(), SimulatorContext(...), LocalEngine(engine))
>>> played = simulator.play(64)  # decisions of every table
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from suphx.experience.columns import joined
from suphx.experience.decisions import no_decisions
from suphx.experience.observation import F32
from suphx.games.learning import LearningConfig, LearningOption, LearningTables
from suphx.games.registry import find_decisions, find_learning
from suphx.selfplay.backend import Played
from suphx.selfplay.config import SimulatorConfig
from suphx.selfplay.requests import EnginePort, PendingReply

MAX_SIMULATORS = 1 << 18
_GAMES_OF_GROUP = 1 << 26
_GAMES_OF_RUN = 2 * MAX_SIMULATORS * _GAMES_OF_GROUP
_FIRST_SEED = 3 << 59
"""Walls of self-play lie in 3 * 2**59 … 2**61, apart from those of matches and of played records."""
_NUM_RUNS = 1 << 14
_NUM_HALVES = 2
_FIRST_STEPS = 90  # about a deal


class Reward(Protocol):
    """Rewards of the deals of some tables; it may remember what it has seen of their games."""

    def __call__(self, ends: Any) -> F32:
        """Return points, float32 [n, seats], for each of n deals, those of a table in order, and each seat."""

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs."""

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` of an equal reward."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorContext:
    """The settings of one simulator: those of its run, and its own ``index``."""

    game: str
    encoder: str
    heads: tuple[int, ...]
    """Those that learn."""
    run_seed: int
    rules: Any = None
    """Of the game; None: the usual ones."""
    options: frozenset[LearningOption] = frozenset()
    new_reward: Callable[[int], Reward] | None = None
    """Makes the reward of so many tables; None: what each deal was worth by the rules."""
    keep_probability_after: Callable[[int], float] = lambda updates: 1.0
    """How much of the hidden tiles the nets of those heads see after so many updates."""
    updates_per_version: int = 1
    index: int = 0
    """0 to MAX_SIMULATORS - 1, each once in a run."""

    def first_seed(self, half: int) -> int:
        """Return the seed of the first game of a half's tables: no two of a run ever play the same game."""
        run = self.run_seed % _NUM_RUNS
        return _FIRST_SEED + run * _GAMES_OF_RUN + (self.index * _NUM_HALVES + half) * _GAMES_OF_GROUP


class SelfPlaySimulator:
    """Consumes: outputs of an engine. Produces: decisions with rewards. Waits for: the engine, if both halves do."""

    def __init__(self, config: SimulatorConfig, context: SimulatorContext, engine: EnginePort) -> None:
        if not 0 <= context.index < MAX_SIMULATORS:
            raise ValueError(f"simulator {context.index}: use 0 to {MAX_SIMULATORS - 1}")
        group = LearningConfig(
            num_tables=config.num_tables // _NUM_HALVES,
            learned=context.heads,
            opponents=config.opponents,
            options=context.options,
            first_steps=_FIRST_STEPS,
        )
        learning, kinds = find_learning(context.game), find_decisions(context.game)
        self._halves = [
            learning.new_learning_tables(group, context.encoder, context.rules, first_seed=context.first_seed(half))
            for half in range(_NUM_HALVES)
        ]
        self._context = context
        self._blank = [
            no_decisions(
                head,
                learning.observation_bytes(context.encoder, head, has_hidden="hidden" in context.options),
                kinds[head].num_choices,
            )
            for head in context.heads
        ]
        self._engine = engine
        new = context.new_reward
        self._rewards = [] if new is None else [new(group.num_tables) for _ in self._halves]
        self._open: deque[tuple[int, PendingReply]] = deque()

    def play(self, num_steps: int, *, version: int = 0, drains: bool = True) -> Played:
        """Let every table make ``num_steps`` decisions, fewer at the beginning; return what ended on the way.

        ``version``: the newest one, from which the keep probability follows. ``drains``: wait for all outputs; else the
        next call continues with the open requests.
        """
        started = time.monotonic()
        waited = 0.0
        counts = np.zeros(3, np.int64)
        found = [[blank] for blank in self._blank]
        keep_probability = self._context.keep_probability_after(version * self._context.updates_per_version)
        order = deque(number for _ in range(num_steps) for number in range(_NUM_HALVES))
        while order or (self._open and drains):
            while order and len(self._open) < _NUM_HALVES:
                number = order.popleft()
                self._open.append((number, self._engine.submit(self._halves[number].observe(keep_probability))))
            if not order and not drains:
                break
            number, future = self._open.popleft()
            waiting_since = time.monotonic()
            outputs = future.result()
            waited += time.monotonic() - waiting_since
            ended = self._halves[number].step(outputs)
            rewards = self._rewards[number](ended.ends) if self._rewards else ended.points
            for parts, part in zip(found, ended.with_rewards(rewards), strict=True):
                parts.append(part)
            counts += (ended.num_games, ended.num_deals, ended.num_decisions)
        return Played(
            decisions=[joined(parts) for parts in found],
            num_games=int(counts[0]),
            num_deals=int(counts[1]),
            num_decisions=int(counts[2]),
            seconds=time.monotonic() - started,
            waited_seconds=waited,
        )

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs."""
        return {f"{prefix}{name}": value for prefix, part in self._parts() for name, value in part.state().items()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Resume from a ``state`` of an equal simulator; its open observations are sent again."""
        self._open.clear()
        for prefix, part in self._parts():
            part.restore({name.removeprefix(prefix): v for name, v in state.items() if name.startswith(prefix)})

    def _parts(self) -> Iterator[tuple[str, LearningTables | Reward]]:
        """Yield the prefix of the names in the saved state, and the part whose state has these names."""
        for number in range(_NUM_HALVES):
            yield f"{number}.", self._halves[number]
            if self._rewards:
                yield f"reward.{number}.", self._rewards[number]
