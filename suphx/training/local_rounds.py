"""Deep Monte-Carlo in one process: plays a round with the newest nets, learns from it, and so on.

>>> backend = LocalRounds(config, "doudizhu", rules)
>>> for event in backend.advance():  # again and again
...     print(event)  # Played, then Learned
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from suphx.games.registry import candidate_game
from suphx.models.device import find_device
from suphx.selfplay.backend import BackendState, Event, Played, Progress
from suphx.selfplay.buffer import BufferCounts
from suphx.selfplay.weights import PolicyVersion, Weights
from suphx.training.config import MonteCarloConfig
from suphx.training.local_backend import LocalParts
from suphx.training.monte_carlo import RoundLearner, RoundPlayer, Samples
from suphx.training.value_nets import Figures, evaluate_nets, load_weights, new_nets


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """A small match of nets against the scripted ``opponents`` of a config."""

    config: MonteCarloConfig
    game: str
    """Its name."""
    rules: Any
    weights: Weights
    keeps_games: bool = False

    def play(self, progress: Progress | None = None) -> Figures:
        """Play it on the config's device."""
        device = find_device(self.config.device)
        game = candidate_game(self.game)
        nets = new_nets(game, self.config.seed)
        load_weights(nets, self.weights)
        return evaluate_nets(self.config, game, self.rules, nets.to(device))


class LocalRounds(LocalParts):
    """Consumes and produces: its own rounds, one after another, so that equal seeds give equal numbers."""

    gauges: ClassVar[Mapping[str, float]] = {}
    """Nothing is measured."""

    def __init__(self, config: MonteCarloConfig, game: str, rules: Any, state: BackendState | None = None) -> None:
        """``game``: its name. Go on from ``state``; ValueError if that is of other nets."""
        self._learner = RoundLearner(config, game)
        if state is not None:
            self._learner.restore(*state.learner)
        self._player = RoundPlayer(config, candidate_game(game), rules, self._learner.nets)
        self._dealt = 0 if state is None else state.next_simulator
        self._num_games = config.games
        self.counts = BufferCounts() if state is None else state.counts
        """Samples that were learned from."""

    @property
    def version(self) -> int:
        """Rounds that were learned from."""
        return self._learner.num_updates

    def advance(self) -> list[Event]:
        """Play the next round and learn from it, however long that takes."""
        started = time.monotonic()
        samples = self._player.play(self._dealt)
        self._dealt += 1
        seconds, games = time.monotonic() - started, self._num_games
        played = Played([], games, games, sum(map(len, samples)), seconds, 0.0)
        learned = self._learner.learn(samples)
        self.counts.added += played.num_decisions
        self.counts.learned += played.num_decisions
        return [played, learned]

    def newest(self) -> PolicyVersion:
        """Return the nets as they are."""
        return PolicyVersion(self.version, self._learner.weights())

    def weights(self) -> Weights:
        """Return averaged weights by kind (``MonteCarloConfig.average_rounds``)."""
        return self._learner.match_weights()

    def state(self) -> BackendState:
        """Return all that a new backend needs to go on with the same numbers."""
        return BackendState(
            learner=self._learner.state(),
            latest=self.newest(),
            counts=self.counts,
            next_simulator=self._dealt,
        )

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """The samples of each kind, on their way to a learner."""

    samples: Sequence[Samples]
    version: int
    """Of the weights that played."""

    def __len__(self) -> int:
        return sum(map(len, self.samples))

    def copied(self) -> PlayedRound:
        """Return a copy in memory of its own."""
        return PlayedRound([part.take(np.arange(len(part))) for part in self.samples], self.version)


class RoundSimulator:
    """Plays rounds on the CPU with nets of its own."""

    def __init__(self, config: MonteCarloConfig, game: str, rules: Any) -> None:
        if config.threads:  # without a number they are the CPUs that Ray reserves for the process
            torch.set_num_threads(config.threads)
        found = candidate_game(game)
        self._nets = new_nets(found, config.seed)
        self._player, self._num_games = RoundPlayer(config, found, rules, self._nets), config.games
        self.version = -1
        """Of the weights."""
        self.has_older = False

    def load(self, version: PolicyVersion, older: Sequence[PolicyVersion] = ()) -> None:
        """Play with these weights from now on."""
        load_weights(self._nets, version.weights)
        self.version = version.number

    def play(self, order: int, *, version: int = 0, drains: bool = True) -> Played:
        """Play the round ``order``."""
        started = time.monotonic()
        played: Any = PlayedRound(self._player.play(order), self.version)
        games = self._num_games
        return Played([played], games, games, len(played), time.monotonic() - started, 0.0)

    def state(self) -> dict[str, np.ndarray]:
        """Return nothing: a round depends on its number and the weights only."""
        return {}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Change nothing."""
