"""What runs in the processes of a run: thin wrappers around the plain classes of the paper's Figure 6.

Ray starts a dead part again where there is room. It then has no state, and refuses to work until it is told to
``begin`` (NotBegunError), or asks the parameter server itself (engines). Placement is in topology.py.
"""

from __future__ import annotations

import logging
import os
import pickle
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import ray

from suphx.experience.decisions import Decisions
from suphx.experience.observation import PolicyOutputs
from suphx.experience.sparse_planes import SparseObservations
from suphx.selfplay.backend import Played
from suphx.selfplay.buffer import BufferStatus, ReplayBuffer
from suphx.selfplay.config import ParameterServerConfig, ReplayBufferConfig, SimulatorConfig
from suphx.selfplay.layout import PLACE, RayLayoutConfig
from suphx.selfplay.simulator import SelfPlaySimulator, SimulatorContext
from suphx.selfplay.weights import ParameterServer, PolicyVersion
from suphx_platform.on_ray.actor.broken_process import ends_broken_process
from suphx_platform.on_ray.actor.ray_actor import Health, NotBegunError, RayActor, health_of_process
from suphx_platform.on_ray.engine_client import EngineClient

if TYPE_CHECKING:
    from suphx.selfplay.requests import EnginePort
    from suphx.training.learner import Learner
    from suphx.training.reinforcement_config import ReinforcementConfig
    from suphx_platform.on_ray.fetching_engine import FetchingEngine

# What needs torch or RLlib is imported where it runs: simulators, buffers and the server must stay small.

Arrays = Mapping[str, np.ndarray]
BufferState = tuple[Arrays, Mapping[str, Any]]
"""All that a shard of the replay buffer needs to begin: arrays and JSON values."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What a shard says of a batch that it has given."""

    staleness: float | None
    """None: there was no batch."""
    status: BufferStatus
    state: BufferState | None = None
    """In lockstep: the state without the batch."""
    parts: Mapping[int, Decisions] | None = None
    """In lockstep: the batch."""


@dataclass(frozen=True, slots=True)
class OwnEngine:
    """How a simulator makes an engine in its own process."""

    config: bytes
    """The pickled ``ReinforcementConfig``: whoever reads it loads torch, which no other simulator needs."""
    server_name: str


class SimulatorActor(RayActor):
    """A simulator; plays once it has been told its number."""

    def __init__(
        self,
        config: SimulatorConfig,
        context: SimulatorContext,
        cluster: RayLayoutConfig,
        engines: Sequence[str] | OwnEngine,
    ) -> None:
        """``engines``: names, or how to make one of its own. ``context``: its index is that of the part, which chooses
        the engine that it asks.
        """
        self._config, self._context = config, context
        self._is_lockstep = cluster.pace == "lockstep"
        self._own: FetchingEngine | None = None
        self._engine: EnginePort
        if isinstance(engines, OwnEngine):
            config_of_run = pickle.loads(engines.config)
            self._engine = self._own = _new_engine(config_of_run, engines.server_name, f"simulator {context.index}")
        else:
            self._engine = EngineClient([ray.get_actor(name) for name in engines], context.index, cluster)
        self._simulator: SelfPlaySimulator | None = None

    @ray.method(max_task_retries=-1)
    def begin(self, number: int, state: Arrays | None = None) -> Arrays | None:
        """Deal the games of simulator ``number``, or go on from a ``state``; return the state, in lockstep."""
        context = replace(self._context, index=number)
        self._simulator = SelfPlaySimulator(self._config, context, self._engine)
        if state is not None:
            self._simulator.restore({name: np.array(value) for name, value in state.items()})
        return self._simulator.state() if self._is_lockstep else None

    @ends_broken_process
    @ray.method(num_returns=2)
    def play(self, num_steps: int, drains: bool, version: int) -> tuple[tuple[Played, Arrays | None], list[Decisions]]:
        """Play as ``SelfPlaySimulator.play``; return the report and, apart from it, the decisions.

        In lockstep the report has the decisions and the state: no node that is lost takes them along. ``version``: the
        newest one, from which the keep probability follows; an engine of its own fetches it first.
        """
        if self._own is not None and self._own.engine.version < version:
            self._own.fetch()
        simulator = self._begun()
        played = simulator.play(num_steps, version=version, drains=drains)
        if self._is_lockstep:
            return (played, simulator.state()), []
        return (replace(played, decisions=[]), None), played.decisions

    @ray.method(concurrency_group="health")
    def health(self) -> Health:
        """Say that the process lives, and what an engine of its own has done."""
        return (
            health_of_process() if self._own is None else replace(health_of_process(), counts=self._own.engine.counts)
        )

    def _begun(self) -> SelfPlaySimulator:
        if self._simulator is None:
            raise NotBegunError("this simulator was started again and has no games yet")
        return self._simulator


class InferenceEngineActor(RayActor):
    """An inference engine with the newest weights of the parameter server."""

    def __init__(self, config: ReinforcementConfig, server_name: str, name: str) -> None:
        """``server_name``: of the parameter server; ``name``: what this engine is called there."""
        # Requests come out of Ray's shared memory, which nobody may write to; nor does anybody.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        self._own = _new_engine(config, server_name, name, has_thread=True)

    @ends_broken_process
    @ray.method(concurrency_group="evaluate")
    def evaluate(self, request: Sequence[SparseObservations]) -> list[PolicyOutputs]:
        """Return what ``InferenceEngine.evaluate`` returns."""
        return self._own.evaluate([part.dense() for part in request])

    @ends_broken_process
    def fetch(self) -> int:
        """Take the newest weights if they are newer than those here; return their version."""
        return self._own.fetch()

    @ray.method(concurrency_group="health")
    def health(self) -> Health:
        """Say that the process lives, and how long the oldest request has been waiting."""
        engine = self._own.engine
        return replace(health_of_process(), waiting_seconds=engine.waiting_seconds, counts=engine.counts)


class ReplayBufferActor(RayActor):
    """A shard of the replay buffer."""

    def __init__(
        self,
        config: ReplayBufferConfig,
        heads: Sequence[int],
        max_batches: int | None = None,
        is_lockstep: bool = False,
    ) -> None:
        self._config, self._heads, self._max_batches, self._is_lockstep = config, heads, max_batches, is_lockstep
        self._buffer: ReplayBuffer | None = None
        self._incarnation = -1

    @ray.method(max_task_retries=-1)
    def begin(self, incarnation: int, state: BufferState | None = None) -> tuple[BufferStatus, BufferState | None]:
        """Start empty, or from a ``state``; nothing happens if a call of as late an incarnation was here before.

        Return the status and, in lockstep, the state, as all other methods do.
        """
        if self._buffer is not None and incarnation <= self._incarnation:
            return self._report()
        self._incarnation = incarnation
        self._buffer = ReplayBuffer(self._config, self._heads, max_batches=self._max_batches)
        if state is not None:
            arrays, values = state
            self._buffer.restore({name: np.array(array) for name, array in arrays.items()}, values)
        return self._report()

    def add(self, parts: list[Decisions]) -> tuple[bool, BufferStatus, BufferState | None]:
        """Take decisions in if there is room; return whether there was."""
        buffer = self._begun()
        own = [part.copied() for part in parts]  # a copy, so that Ray can free the shared memory at once
        return buffer.add(own), *self._report()

    @ray.method(num_returns=2)
    def take(self, version: int) -> tuple[Taken, dict[int, Decisions]]:
        """Return a report and, apart from it, the batch; in lockstep the batch is in the report."""
        batch = self._begun().take(version)
        staleness, parts = (None, {}) if batch is None else (batch.staleness, batch.parts)
        if self._is_lockstep:
            return Taken(staleness, *self._report(), parts), {}
        return Taken(staleness, *self._report()), parts

    def _report(self) -> tuple[BufferStatus, BufferState | None]:
        buffer = self._begun()
        return buffer.status(), buffer.state() if self._is_lockstep else None

    def _begun(self) -> ReplayBuffer:
        if self._buffer is None:
            raise NotBegunError("this buffer was started again and is lost")
        return self._buffer


class ParameterServerActor(RayActor):
    """The parameter server: nets, and versions of their weights, once in Ray's object store for all who fetch them."""

    def __init__(self, config: ParameterServerConfig, num_older: int) -> None:
        self._config = config
        self._num_older = num_older
        self._has_begun = threading.Event()

    @ray.method(max_task_retries=-1)
    def begin(self, policy_sets: list[Any], latest: PolicyVersion, older: list[PolicyVersion]) -> None:
        """Have these nets and versions: references of policy sets (the one to start with, the weak one, perhaps a
        teacher); versions whose weights are lists of one reference each. A server that has begun keeps what it has.
        """
        if self._has_begun.is_set():
            return
        self._policy_sets = policy_sets
        self._server = ParameterServer(self._config, latest.weights, num_older=self._num_older)
        self._server.restore(latest, older)
        self._has_begun.set()

    @ray.method(max_task_retries=-1, concurrency_group="fetch")
    def policy_sets(self) -> list[Any]:
        """Return the references of the policy sets as soon as they are here."""
        self._has_begun.wait()
        return self._policy_sets

    def publish(self, weights: Any, number: int) -> tuple[PolicyVersion, list[PolicyVersion]]:
        """Make ``weights``, a list of one object reference, version ``number``, the newest; return all versions now.

        The same call again, as after an answer that was lost, changes nothing.
        """
        if not self._has_begun.is_set():
            raise NotBegunError("this parameter server was started again and has no versions yet")
        if number > self._server.latest_version.number:
            self._server.publish(weights)
        return self._server.latest_version, self._server.older()

    @ray.method(max_task_retries=-1, concurrency_group="fetch")
    def newer_than(self, number: int, fetcher: str) -> tuple[PolicyVersion, list[PolicyVersion]] | None:
        """Return the newest version and the older ones if that is newer than ``number``."""
        self._has_begun.wait()
        version = self._server.newer_than(number, fetcher)
        return None if version is None else (version, self._server.older())

    @ray.method(concurrency_group="health")
    def health(self) -> Health:
        """Say that the process lives, and how far engines are behind."""
        if not self._has_begun.is_set():
            return replace(health_of_process(), awaits_begin=True)
        return replace(health_of_process(), versions_behind=max(self._server.behind().values(), default=0))


class LearnerActor(RayActor):
    """The learner; it learns once it has been told from where."""

    def __init__(self, config: ReinforcementConfig, server_name: str, room: str) -> None:
        from suphx.training.learner import Learner
        from suphx_platform.on_ray.learner_group import RLlibWorkers

        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        self._has_begun = False
        self._report_every = config.report_every
        start, _, *teachers = _policy_sets(ray.get_actor(server_name))
        nets = [start.nets[head] for head in config.head_numbers]
        new_workers = partial(
            RLlibWorkers,
            resources=learner_resources(config.cluster),
            timeout_seconds=config.cluster.start_seconds,
            room=room,
        )
        with _dying_with_learners():
            self._learner = Learner(
                config.learner,
                nets,
                teachers=[teacher.nets[head] for teacher in teachers for head in config.head_numbers],
                new_workers=new_workers,
            )

    @ends_broken_process
    def learn(self, parts: Mapping[int, Decisions], staleness: float) -> Any:
        """Make one update: ``backend.Learned``."""
        from suphx.training.learner import learn

        with _dying_with_learners():
            return learn(self._begun(), parts, staleness, report_every=self._report_every)

    @ends_broken_process
    def weights(self) -> Any:
        """Return the policy nets' weights."""
        with _dying_with_learners():
            return self._begun().weights()

    @ends_broken_process
    def state(self) -> tuple[int, Arrays, Mapping[str, Any]]:
        """Return the number of updates, and all that ``begin`` needs."""
        learner = self._begun()
        with _dying_with_learners():
            tensors, values = learner.state()
        return learner.num_updates, {name: tensor.numpy() for name, tensor in tensors.items()}, values

    @ends_broken_process
    @ray.method(max_task_retries=-1)
    def begin(self, state: tuple[int, Arrays, Mapping[str, Any]] | None) -> tuple[int, Arrays, Mapping[str, Any]]:
        """Begin with the nets of the first policy set, or go on from a ``state``; return the state that it has then."""
        import torch

        if state is not None:
            _, arrays, values = state
            tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
            with _dying_with_learners():
                self._learner.restore(tensors, values)
        self._has_begun = True
        return self.state() if state is None else state

    def _begun(self) -> Learner:
        if not self._has_begun:
            raise NotBegunError("this learner was started again and has forgotten what it learned")
        return self._learner


@contextmanager
def _dying_with_learners() -> Iterator[None]:
    """End this process if one of several learners is lost: Ray restarts it, and it starts new learners."""
    from suphx_platform.on_ray.learner_group import LearnersLostError

    try:
        yield
    except LearnersLostError:
        logging.getLogger(__name__).exception("the learner starts again")
        os._exit(1)


def learner_resources(cluster: RayLayoutConfig) -> dict[str, float]:
    """Return what each of several learners takes."""
    return {"CPU": cluster.cpus_per_learner, "GPU": cluster.gpus_per_learner, "learner": PLACE}


def _policy_sets(server: Any) -> Any:
    return ray.get(ray.get(server.policy_sets.remote()))


def _new_engine(
    config: ReinforcementConfig, server_name: str, name: str, *, has_thread: bool = False
) -> FetchingEngine:
    from suphx_platform.on_ray.fetching_engine import FetchingEngine

    return FetchingEngine(config, server_name, name, has_thread=has_thread)
