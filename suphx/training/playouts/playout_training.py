"""Learning from playouts, round by round: games are played out by some threads while the nets learn from those before.

>>> training = PlayoutTraining(config, start, find_encoder("suphx"), tenhou(), seed=1)
>>> while not training.is_finished:
...     training.play_round()
>>> training.policy_set()

The numbers do not depend on the speed of the machine, and with ``threads`` = 1 not on its cores: the games of a round
are played by the nets of the round before the last, and a training that is restored from a state plays the round again
that was under way.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

import numpy as np
import torch
from torch import Tensor

from suphx.games.riichi import HEAD_NAMES, Encoder, Rules
from suphx.models.computation import Calibration
from suphx.models.device import find_device, torch_threads
from suphx.models.inference import PackedNet
from suphx.models.nets.policy import PolicyNet
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.playouts.branch_collector import BranchCollector, Net
from suphx.selfplay.playouts.branches import Branches, join
from suphx.training.playouts.branch_learner import BranchLearner, BranchSums
from suphx.training.playouts.playout_config import MAX_COLLECTORS, PlayoutConfig

_FIRST_SEED, _SEEDS = 2**61, 2**36
"""Of the games of the first collector, and of each: the next one has those after them, and all are below 2**62."""


class PlayoutTraining:
    """Consumes: nets. Produces: stronger nets. Waits for: its collectors. To be closed, or used with ``with``."""

    def __init__(self, config: PlayoutConfig, start: PolicySet, encoder: Encoder, rules: Rules, *, seed: int) -> None:
        """Deal the first games. ``start`` stays as it is; ``seed``: 0 <= seed < 2**20, all random numbers follow."""
        self._config = config
        self._start = start
        self._seed = seed
        heads = config.head_numbers
        device = find_device(config.device)
        self._learners = {head: BranchLearner(start.nets[head], config, device) for head in heads}
        first_seeds = [
            _FIRST_SEED + (MAX_COLLECTORS * seed + number) * _SEEDS for number in range(config.num_collectors)
        ]
        self._collectors = [
            BranchCollector(config.branches, heads, encoder, rules, first_seed=first_seed) for first_seed in first_seeds
        ]
        self._threads = ThreadPoolExecutor(
            config.num_collectors, "playouts", initializer=torch.set_num_threads, initargs=(1,)
        )
        self._pending: list[Future[dict[int, Branches]]] = []
        self._resume: dict[str, Tensor] = {}
        self.decisions = 0
        self.rounds = 0
        self.seconds = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)

    @property
    def is_finished(self) -> bool:
        """Tell whether all decisions were learned from."""
        return self.decisions >= self._config.num_decisions

    def play_round(self) -> dict[int, BranchSums]:
        """Take the games of a round, have the next one played, and learn; return by head what to watch."""
        started = time.monotonic()
        if not self._pending:
            self._begin_round()
        played = [future.result() for future in self._pending]
        found = {head: join([part[head] for part in played if head in part]) for head in self._heads(played)}
        share_before = self.decisions / self._config.num_decisions
        self.decisions += sum(len(branches) for branches in found.values())
        self._pending = []
        open_deals = np.concatenate([collector.open_deals() for collector in self._collectors])
        if not self.is_finished:
            self._begin_round()
        rate_share = 1 + min(1.0, share_before) * (self._config.last_rate_share - 1)
        sums = {head: BranchSums() for head in found}
        with torch_threads(self._config.threads):
            for head, branches in found.items():
                generator = np.random.default_rng([self._seed, self.rounds, head])
                self._learners[head].learn(branches, rate_share, generator, sums[head], open_deals=open_deals)
        self.rounds += 1
        self.seconds += time.monotonic() - started
        return sums

    def policy_set(self) -> PolicySet:
        """Return copies of the nets of now; those that learned are not calibrated."""
        nets, calibrations = list(self._start.nets), list(self._start.calibrations)
        for head, learner in self._learners.items():
            nets[head], calibrations[head] = _copy_of(learner.net), Calibration()
        return PolicySet(tuple(nets), tuple(calibrations))

    def state(self) -> dict[str, Tensor]:
        """Return all that ``restore`` needs."""
        counts = torch.tensor([self.decisions, self.rounds], dtype=torch.int64)
        state = {"counts": counts, "seconds": torch.tensor(self.seconds, dtype=torch.float64), **self._resume}
        for head, learner in self._learners.items():
            state |= {f"{HEAD_NAMES[head]}.{name}": tensor for name, tensor in learner.state().items()}
        return state

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from the ``state`` of an equal training; KeyError or RuntimeError for that of another one."""
        self.decisions, self.rounds = (int(count) for count in state["counts"])
        self.seconds = float(state["seconds"])
        for head, learner in self._learners.items():
            learner.restore(_part(state, HEAD_NAMES[head]))
        for number, collector in enumerate(self._collectors):
            collector.restore({name: tensor.numpy() for name, tensor in _part(state, f"games.{number}").items()})
        if not self.is_finished:
            nets = {head: _copy_of(learner.net) for head, learner in self._learners.items()}
            for head, net in nets.items():
                net.load_state_dict(_part(state, f"player.{HEAD_NAMES[head]}"))
            self._begin_round(nets)

    def _heads(self, played: Sequence[dict[int, Branches]]) -> list[int]:
        return [head for head in self._learners if any(head in part for part in played)]

    def _begin_round(self, players: dict[int, PolicyNet] | None = None) -> None:
        """Have the games of a round played by ``players``, or else by copies of the nets of now."""
        players = players or {head: _copy_of(learner.net) for head, learner in self._learners.items()}
        self._resume = {
            f"player.{HEAD_NAMES[head]}.{name}": tensor.clone()
            for head, net in players.items()
            for name, tensor in net.state_dict().items()
        }
        for number, collector in enumerate(self._collectors):
            own = {name: torch.from_numpy(column) for name, column in collector.state().items()}
            self._resume |= {f"games.{number}.{name}": column for name, column in own.items()}
        nets: list[Net] = [PackedNet(players.get(head, net)) for head, net in enumerate(self._start.nets)]
        count = -(-self._config.round_decisions // len(self._collectors))
        self._pending = [self._threads.submit(collector.collect, nets, count) for collector in self._collectors]


def _copy_of(net: PolicyNet) -> PolicyNet:
    copied = PolicyNet(net.head, net.num_planes, net.config)
    copied.load_state_dict(net.state_dict())
    return copied.eval()


def _part(state: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    """Return the tensors below ``name``; KeyError if there are none."""
    found = {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}
    if not found:
        raise KeyError(name)
    return found
