"""Who runs where: the parts of the paper's Figure 6 as Ray actors, placed by the resources that nodes offer."""

from __future__ import annotations

import math
import pickle
import time
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import ray

from suphx.selfplay.layout import BESIDE, PLACE, RayLayoutConfig
from suphx_platform.ray.actors import (
    BufferActor,
    InferenceEngineActor,
    LearnerActor,
    ParameterServerActor,
    SimulatorActor,
)
from suphx_platform.ray.engine_client import EngineClient
from suphx_platform.ray.parts import RunParts
from suphx_platform.ray.process import Peer, RayActor
from suphx_platform.ray.session import free_room

_FETCH_THREADS = 16
_MANY = 100_000
_NAME_SECONDS = 30.0


class Topology:
    """All actors of a run; they are placed as soon as nodes offer what they need.

    >>> with ray_session(**local_needs(parts.layout)):
    ...     topology = Topology(parts)
    ...     topology.actors["simulator 0"].begin.remote(0, 0)
    """

    def __init__(self, parts: RunParts) -> None:
        """Nobody does anything until the server has begun."""
        self._run = f"suphx-{uuid.uuid4().hex[:8]}"
        self._makers: dict[str, Callable[[], Any]] = {}
        self._plan(parts)
        self.actors: dict[str, Any] = {part: make() for part, make in self._makers.items()}
        """By name."""

    def renew(self, part: str) -> Any:
        """Kill an actor and return another one in its place; it gets the same name, by which other actors find it."""
        ray.kill(self.actors[part])
        ends = time.monotonic() + _NAME_SECONDS
        while True:
            try:
                self.actors[part] = self._makers[part]()
            except ValueError:  # Ray has not given up the name yet
                if time.monotonic() > ends:
                    raise
                time.sleep(0.1)
            else:
                return self.actors[part]

    def close(self) -> None:
        """End all actors, and give back what several learners had reserved."""
        for actor in self.actors.values():
            ray.kill(actor)
        free_room(self._name("learners"))

    def _name(self, part: str) -> str:
        """Return what an actor is called in Ray: other actors find one that was replaced by its name."""
        return f"{self._run} {part}"

    def _plan(self, parts: RunParts) -> None:
        layout, server = parts.layout, self._name("server")
        # Buffers and versions are kept near the learner and reserve almost none of its resource.
        beside: dict[str, Any] = {"num_cpus": 0, "resources": {"learner": BESIDE}}
        self._add("server", ParameterServerActor, beside, parts.keeps_older, fetch=_FETCH_THREADS)
        shards = [f"buffer {number}" for number in range(layout.num_buffers)]
        for shard in shards:
            self._add(shard, BufferActor, beside | {"max_concurrency": _MANY}, parts.new_buffer)
        new_learner = partial(parts.new_learner, server, self._name("learners"))
        learner = {
            "num_cpus": layout.cpus_per_learner,
            "num_gpus": layout.gpus_per_learner,
            "resources": {"learner": PLACE},
        }
        self._add(
            "learner",
            LearnerActor,
            beside if parts.num_learners > 1 else learner,
            new_learner,
            [self._name(shard) for shard in shards],
            *(parts.updates_per_version, parts.publish_every, layout.learner_copy_interval),
        )
        engine = {"num_cpus": layout.cpus_per_engine, "num_gpus": layout.gpus_per_engine}
        engines = [f"engine {number}" for number in range(layout.num_engines)]
        for name in engines:
            new_engine = partial(parts.new_engine, server, name)
            needs = {**engine, "resources": {"inference": 1}, "max_concurrency": _MANY}
            self._add(name, InferenceEngineActor, needs, new_engine)
        simulator = {"num_cpus": layout.cpus_per_simulator, "resources": {"simulator": PLACE}}
        for number in range(layout.num_simulators):
            name = f"simulator {number}"
            asked: Any = partial(EngineClient, [Peer(self._name(engine)) for engine in engines], number, layout)
            if not engines:
                asked = pickle.dumps(partial(parts.new_engine, server, name))
            shard = self._name(shards[number % len(shards)])
            self._add(name, SimulatorActor, simulator, parts.new_simulator, asked, shard)

    def _add(self, part: str, kind: type[RayActor], needs: Mapping[str, Any], *arguments: Any, **groups: int) -> None:
        self._makers[part] = partial(new_ray_actor, self._name(part), kind, needs, *arguments, **groups)


def new_ray_actor(name: str, kind: type[RayActor], needs: Mapping[str, Any], *arguments: Any, **groups: int) -> Any:
    """Return an actor, a thread of which answers health checks."""
    settings: dict[str, Any] = {"concurrency_groups": {"health": 1, **groups}}
    return ray.remote(**settings)(kind).options(name=name, **needs).remote(*arguments)


def local_needs(layout: RayLayoutConfig, num_learners: int = 1) -> dict[str, Any]:
    """Return what Ray must offer where it is started on this machine: the arguments of ``ray_session``."""
    cpus = (
        layout.num_simulators * layout.cpus_per_simulator
        + layout.num_engines * layout.cpus_per_engine
        + num_learners * layout.cpus_per_learner
    )
    gpus = layout.num_engines * layout.gpus_per_engine + num_learners * layout.gpus_per_learner
    return {
        "num_cpus": math.ceil(cpus) + 1,
        "num_gpus": math.ceil(gpus),
        "resources": {
            "simulator": layout.num_simulators,
            "learner": num_learners,
            **({"inference": layout.num_engines} if layout.num_engines else {}),
        },
        "object_store_bytes": layout.object_store_bytes,
    }
