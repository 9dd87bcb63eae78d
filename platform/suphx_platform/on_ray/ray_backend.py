"""The data flow of the paper's Figure 6 over processes: who asks whom for what next, and what is done when one dies.

Only references of decisions and batches pass through this process; their data goes from actor to actor through Ray's
object store. Weights and copies of the learner's state come here, so that they survive the learner's machine.
simulator_group.py has simulators fill the buffers, learner_driver.py has the learner empty them and publish versions,
actor_supervisor.py knows who lives.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Set
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Protocol

from suphx.selfplay.backend import BackendState, Event
from suphx.selfplay.buffer import BufferCounts
from suphx.selfplay.weights import PolicyVersion, Weights
from suphx.training.local_backend import SelfPlay, full_error, new_context
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.on_ray.actor.missing_parts import MissingParts
from suphx_platform.on_ray.actor.ray_actor import Health
from suphx_platform.on_ray.fetching_engine import with_weights
from suphx_platform.on_ray.learner_driver import LearnerDriver
from suphx_platform.on_ray.ray_session import ray_session
from suphx_platform.on_ray.simulator_group import SimulatorGroup
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor
from suphx_platform.on_ray.topology import Topology, learner_needs, local_needs
from suphx_platform.selfplay.self_play_match import MatchOrder, MatchOutcome

_logger = logging.getLogger(__name__)

_MAX_WAITING_BATCHES = 2
"""Of a head in a buffer, at free pace: with more, simulators wait, and the learner gets fresher decisions."""


class BackgroundMatches(Protocol):
    """Plays matches while training goes on."""

    def play(self, order: MatchOrder) -> Future[MatchOutcome]:
        """Have a match played with the nets that its folder has now."""
        ...

    def close(self) -> None:
        """End all matches."""
        ...


class RayBackend:
    """Consumes: answers of actors. Produces: their next tasks, and events. Waits for: the next answer."""

    def __init__(
        self,
        config: ReinforcementConfig,
        play: SelfPlay,
        state: BackendState | None = None,
        *,
        new_matches: Callable[[], BackgroundMatches],
    ) -> None:
        """Have all actors placed and begin; go on from ``state``. ``new_matches`` makes who plays matches meanwhile."""
        self._config, self._new_matches = config, new_matches
        self._stack = ExitStack()
        try:
            self._start(play, state)
        except BaseException:
            self._stack.close()
            raise

    @property
    def version(self) -> int:
        """The number of the newest policy version."""
        return self._learner_driver.latest.number

    @property
    def counts(self) -> BufferCounts:
        """Decisions that went through the buffers."""
        return self._simulators.counts

    @property
    def gauges(self) -> Mapping[str, float]:
        """Figures of the moment: bytes of all buffers, and of the largest process of each kind; rates of engines."""
        gauges: dict[str, float] = {
            "buffer_bytes": self._simulators.buffer_bytes,
            **self._supervisor.engine_rates.gauges(),
        }
        for part, health in self._supervisor.health.items():
            name = f"{part.split()[0]}_memory_bytes"
            gauges[name] = max(gauges.get(name, 0.0), health.memory_bytes)
            if part == "server":
                gauges["engine_versions_behind"] = health.versions_behind
        return gauges

    @property
    def parts(self) -> Set[str]:
        """Names of all parts."""
        return self._topology.parts().keys()

    @property
    def supervisor(self) -> ActorSupervisor:
        """Who knows which parts live."""
        return self._supervisor

    @property
    def processes(self) -> Mapping[str, Health]:
        """What each living part said last of its process."""
        return dict(self._supervisor.health)

    @property
    def is_waiting_for_parts(self) -> bool:
        """Tell whether the learner or all simulators are away: not scheduled yet, starting, or lost."""
        return self._learner_driver.is_away or self._simulators.is_away

    def advance(self) -> list[Event]:
        """Give everybody something to do and wait for an answer; return what happened."""
        if self._supervisor.calls.num_working == 0 and self._simulators.is_stuck:
            raise full_error(self._config.buffer.capacity_bytes)
        self._work(may_learn=not self._is_lockstep or self._supervisor.calls.num_working == 0)
        return self._supervisor.events()

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        """Do not wait for a part that is away once a stop ``is_made``."""
        self._supervisor.is_stopping = is_made

    def settle(self) -> list[Event]:
        """Wait until all updates that were begun are made and their versions are published; return what happened.

        In lockstep nothing at all is under way afterwards; at free pace simulators play on. Raises PartAwayError.
        """
        while self._learner_driver.is_busy or (self._is_lockstep and self._supervisor.calls.num_working):
            self._check_stop()
            self._work(may_learn=False, may_play=not self._is_lockstep)
        return self._supervisor.events()

    def _check_stop(self) -> None:
        """Raise PartAwayError if the run is to stop while a part is away for which ``settle`` waits."""
        self._learner_driver.check_stop()
        if self._is_lockstep:
            for part in self._supervisor.calls.working_parts:
                self._supervisor.check_stop(part)

    def weights(self) -> Weights:
        """Return the learner's weights."""
        return self._learner_driver.weights()

    def newest(self) -> PolicyVersion:
        """Return the newest policy version with its weights."""
        return with_weights(self._learner_driver.latest)

    def play_match(self, order: MatchOrder, progress: Callable[[float, bool], None]) -> Future[MatchOutcome]:
        """Have a match played beside simulators, while training goes on."""
        return self._matches.play(order)

    def state(self) -> BackendState:
        """Return what a new backend needs. At free pace without games under way and decisions in buffers."""
        state = self._learner_driver.state(counts=self._simulators.counts, next_simulator=self._simulators.next_number)
        if self._is_lockstep:
            self._simulators.add_state(state)
        return state

    def close(self) -> None:
        """End all actors, and Ray if it was started for them."""
        self._stack.close()

    def _start(self, play: SelfPlay, state: BackendState | None) -> None:
        self._is_lockstep = self._config.cluster.pace == "lockstep"
        self._stack.enter_context(ray_session(**local_needs(self._config)))
        max_batches = None if self._is_lockstep else _MAX_WAITING_BATCHES
        self._topology = Topology(self._config, new_context(self._config, play, 0), max_batches=max_batches)
        self._stack.callback(self._topology.close)
        self._matches = self._new_matches()
        self._stack.callback(self._matches.close)
        parts = self._topology.parts()
        remedy, needs = "reduce the numbers in [reinforcement.cluster]", learner_needs(self._config)
        missing = MissingParts(parts, _logger.info, remedy=remedy, needs=needs)
        self._supervisor = ActorSupervisor(self._config.cluster, parts, _needs_of(parts), missing=missing)
        self._simulators = SimulatorGroup(self._config, self._topology, self._supervisor)
        self._learner_driver = LearnerDriver(self._config, self._topology, self._supervisor, self._simulators)
        self._learner_driver.begin([play.start, play.weak, *([play.teacher] if play.teacher else [])], state)
        self._simulators.begin(state)

    def _work(self, *, may_learn: bool, may_play: bool = True) -> None:
        """Give the parts something to do, as far as they may, and handle one answer."""
        self._learner_driver.work(may_learn=may_learn)
        is_turn = not self._is_lockstep or (self._is_quiet and self._simulators.is_empty)
        self._simulators.work(may_play=may_play and is_turn)
        self._supervisor.wait()

    @property
    def _is_quiet(self) -> bool:
        return self._supervisor.calls.num_working == 0 and self._simulators.num_pending == 0


def _needs_of(parts: Collection[str]) -> dict[str, list[str]]:
    """Return what simulators need among ``parts``: one of the engines, unless each has its own."""
    engines = [part for part in parts if part.startswith("engine")]
    return {part: engines for part in parts if engines and part.startswith("simulator")}
