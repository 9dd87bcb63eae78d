"""Deep Monte-Carlo in one process: plays a round with the newest nets, learns from it, and so on.

>>> backend = LocalRounds(config, "doudizhu", rules)
>>> for event in backend.advance():  # again and again
...     print(event)  # Played, then Learned
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from suphx.games.registry import candidate_game
from suphx.models.device import find_device, uses_bf16
from suphx.selfplay.backend import BackendState, Event, Learned, Match, Played, Progress
from suphx.selfplay.buffer import BufferCounts
from suphx.selfplay.weights import PolicyVersion, Weights
from suphx.training.config import MonteCarloConfig
from suphx.training.local_backend import play_at_once
from suphx.training.monte_carlo import RoundLearner, RoundPlayer, Samples
from suphx.training.value_nets import Figures, evaluate_nets, new_nets


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
        is_bf16 = uses_bf16(self.config.precision, device)
        return evaluate_nets(self.config, game, self.rules, nets.to(device), is_bf16=is_bf16)


class LocalRounds:
    """Consumes and produces: its own rounds, one after another, so that equal seeds give equal numbers."""

    def __init__(self, config: MonteCarloConfig, game: str, rules: Any, state: BackendState | None = None) -> None:
        """``game``: its name. Go on from ``state``; ValueError if that is of other nets."""
        found = candidate_game(game)
        self._learner = RoundLearner(config, found)
        if state is not None:
            self._learner.restore(state.learner[0], state.learner[1]["num_updates"])
        self._player = RoundPlayer(config, found, rules, self._learner.nets, is_bf16=self._learner.is_bf16)
        self._dealt = 0 if state is None else state.next_simulator
        self._seats, self._num_games = found.seat_names, config.games
        self._counts = BufferCounts() if state is None else state.counts
        self._is_stopping: Callable[[], bool] = lambda: False

    @property
    def version(self) -> int:
        """Rounds that were learned from."""
        return self._learner.num_rounds

    @property
    def counts(self) -> BufferCounts:
        """Samples that were learned from."""
        return self._counts

    @property
    def gauges(self) -> Mapping[str, float]:
        """Nothing is measured."""
        return {}

    @property
    def is_waiting_for_parts(self) -> bool:
        """This process is here."""
        return False

    def advance(self) -> list[Event]:
        """Play the next round and learn from it, however long that takes."""
        started = time.monotonic()
        samples = self._player.play(self._dealt)
        self._dealt += 1
        seconds, games = time.monotonic() - started, self._num_games
        played = Played([], games, games, sum(map(len, samples)), seconds, 0.0)
        learned = learn_round(self._learner, samples, self._seats)
        self._counts.added += played.num_decisions
        self._counts.learned += played.num_decisions
        return [played, learned]

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        """Have a match end before it begins once a stop ``is_made``."""
        self._is_stopping = is_made

    def settle(self) -> list[Event]:
        """Return nothing: what was begun is finished."""
        return []

    def newest(self) -> PolicyVersion:
        """Return the nets as they are."""
        return PolicyVersion(self.version, by_seat(self._learner.nets, self._seats))

    def weights(self) -> Weights:
        """Return averaged weights by seat (``MonteCarloConfig.average_rounds``)."""
        return by_seat(self._learner.averaged_nets(), self._seats)

    def play_match(self, order: Match, progress: Progress) -> Future[Any]:
        """Play a match at once."""
        return play_at_once(order, progress, self._is_stopping)

    def state(self) -> BackendState:
        """Return all that a new backend needs to go on with the same numbers."""
        return BackendState(
            learner=(self._learner.state(), {"num_updates": self._learner.num_rounds}),
            latest=self.newest(),
            counts=self._counts,
            next_simulator=self._dealt,
        )

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """The samples of each seat, on their way to a learner."""

    samples: Sequence[Samples]
    version: int
    """Of the weights that played."""

    def __len__(self) -> int:
        return sum(map(len, self.samples))

    def copied(self) -> PlayedRound:
        """Return a copy in memory of its own."""
        return PlayedRound([part.rows(np.arange(len(part))) for part in self.samples], self.version)


class RoundSimulator:
    """Plays rounds on the CPU with nets of its own."""

    def __init__(self, config: MonteCarloConfig, game: str, rules: Any) -> None:
        if config.threads:  # without a number they are the CPUs that Ray reserves for the process
            torch.set_num_threads(config.threads)
        found = candidate_game(game)
        self._nets = new_nets(found, config.seed)
        is_bf16 = uses_bf16(config.precision, torch.device("cpu"))
        self._player, self._num_games = RoundPlayer(config, found, rules, self._nets, is_bf16=is_bf16), config.games
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


class RoundLearning:
    """A ``RoundLearner`` whose state is arrays, for other processes."""

    def __init__(self, config: MonteCarloConfig, game: str) -> None:
        if config.threads:
            torch.set_num_threads(config.threads)
        found = candidate_game(game)
        self._learner, self._seats = RoundLearner(config, found), found.seat_names

    @property
    def num_updates(self) -> int:
        """Rounds that were learned from."""
        return self._learner.num_rounds

    def learn(self, parts: Any, staleness: float) -> Learned:
        """Learn from a round."""
        return learn_round(self._learner, parts, self._seats, staleness)

    def weights(self) -> Weights:
        """Return the weights that play, by seat."""
        return by_seat(self._learner.nets, self._seats)

    def match_weights(self) -> Weights:
        """Return averaged weights, by seat."""
        return by_seat(self._learner.averaged_nets(), self._seats)

    def state(self) -> tuple[int, dict[str, np.ndarray], dict[str, Any]]:
        """Return the number of rounds, and all that ``restore`` needs."""
        arrays = {name: tensor.numpy() for name, tensor in self._learner.state().items()}
        return self.num_updates, arrays, {"num_updates": self.num_updates}

    def restore(self, state: tuple[int, Mapping[str, np.ndarray], Mapping[str, Any]]) -> None:
        """Go on from a ``state``."""
        num_rounds, arrays, _ = state
        self._learner.restore({n: torch.from_numpy(np.array(array)) for n, array in arrays.items()}, num_rounds)


def learn_round(
    learner: RoundLearner, samples: Sequence[Samples], seats: Sequence[str], staleness: float = 0.0
) -> Learned:
    """Learn from the samples of each seat; DivergedError if a loss is not finite."""
    started = time.monotonic()
    learned = learner.learn(samples, staleness)
    figures = {"loss_sum": learned.loss_sum, "staleness": staleness}
    num_decisions = dict(zip(seats, map(len, samples), strict=True))
    return Learned(learned.number + 1, figures, time.monotonic() - started, num_decisions)


def by_seat(nets: nn.ModuleList, seats: Sequence[str]) -> dict[str, dict[str, np.ndarray]]:
    """Return a copy of the weights of nets, by seat and name."""
    return {
        seat: {name: tensor.detach().cpu().numpy().copy() for name, tensor in net.state_dict().items()}
        for seat, net in zip(seats, nets, strict=True)
    }


def load_weights(nets: nn.ModuleList, weights: Weights) -> None:
    """Give ``nets`` weights by seat, in the order of seats; the arrays may be read-only."""
    for net, own in zip(nets, weights.values(), strict=True):
        net.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in own.items()})
