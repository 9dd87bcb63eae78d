"""Who runs where: the parts of the paper's Figure 6 as Ray actors, placed by the resources that nodes offer.

>>> with ray_session(**local_needs(config)):
...     topology = Topology(config, context)
...     ray.get(topology.simulators[0].begin.remote(0))
...     played, decisions = topology.simulators[0].play.remote(16, True, 0)
"""

from __future__ import annotations

import math
import pickle
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ray

from suphx.selfplay.layout import BESIDE, PLACE
from suphx.selfplay.simulator import SimulatorContext
from suphx_platform.on_ray.actor.ray_actor import RayActor
from suphx_platform.on_ray.learner_room import free_room
from suphx_platform.on_ray.ray_actors import (
    InferenceEngineActor,
    LearnerActor,
    OwnEngine,
    ParameterServerActor,
    ReplayBufferActor,
    SimulatorActor,
    learner_resources,
)

if TYPE_CHECKING:
    from suphx.training.reinforcement_config import ReinforcementConfig

_EVALUATE_THREADS = 64
_FETCH_THREADS = 16


class Topology:
    """All actors of a run; they are placed as soon as nodes offer what they need."""

    def __init__(
        self, config: ReinforcementConfig, context: SimulatorContext, *, max_batches: int | None = None
    ) -> None:
        """``context``: what is the same for all simulators; ``max_batches``: of a head that wait in a buffer.

        Nobody does anything until the server has begun.
        """
        self._run = f"suphx-{uuid.uuid4().hex[:8]}"
        self._room = self._name("learners")
        cluster = config.cluster
        # Buffers and versions are kept near the learner and reserve almost none of its resource.
        beside: dict[str, Any] = {"num_cpus": 0, "resources": {"learner": BESIDE}}
        engine = {"num_cpus": cluster.cpus_per_engine, "num_gpus": cluster.gpus_per_engine}
        simulator = {"num_cpus": cluster.cpus_per_simulator, "resources": {"simulator": PLACE}}
        is_lockstep = cluster.pace == "lockstep"
        heads, num_older = config.head_numbers, config.simulator.opponents.num_older_that_play
        server = self._name("server")
        engines = [self._name(f"engine {number}") for number in range(cluster.num_engines)]
        self.server = self._new("server", ParameterServerActor, beside, config.server, num_older, fetch=_FETCH_THREADS)
        self.buffers = [
            self._new(f"buffer {number}", ReplayBufferActor, beside, config.buffer, heads, max_batches, is_lockstep)
            for number in range(cluster.num_buffers)
        ]
        self.learner = self._new("learner", LearnerActor, _learner_options(config), config, server, self._room)
        self.engines = [
            self._new(
                f"engine {number}",
                InferenceEngineActor,
                {**engine, "resources": {"inference": 1}},
                *(config, server, f"engine {number}"),
                evaluate=_EVALUATE_THREADS,
            )
            for number in range(cluster.num_engines)
        ]
        own = OwnEngine(pickle.dumps(config), server)
        self.simulators = [
            self._new(
                f"simulator {number}",
                SimulatorActor,
                simulator,
                *(config.simulator, replace(context, index=number), cluster, engines or own),
            )
            for number in range(cluster.num_simulators)
        ]

    def _name(self, part: str) -> str:
        """Return what an actor is called in Ray: actors that start again find each other by name."""
        return f"{self._run} {part}"

    def _new(self, part: str, kind: type[RayActor], needs: Mapping[str, Any], *arguments: Any, **groups: int) -> Any:
        return new_ray_actor(self._name(part), kind, needs, *arguments, **groups)

    def parts(self) -> dict[str, Any]:
        """Return all actors by name."""
        named = {"server": self.server, "learner": self.learner}
        for role in ("engine", "buffer", "simulator"):
            named |= {f"{role} {number}": actor for number, actor in enumerate(getattr(self, f"{role}s"))}
        return named

    def close(self) -> None:
        """End all actors, and give back what several learners had reserved."""
        for actor in self.parts().values():
            ray.kill(actor)
        free_room(self._room)


def new_ray_actor(name: str, kind: type[RayActor], needs: Mapping[str, Any], *arguments: Any, **groups: int) -> Any:
    """Return an actor that Ray restarts whenever it dies; a thread of its own answers health checks."""
    settings: dict[str, Any] = {"max_restarts": -1, "concurrency_groups": {"health": 1, **groups}}
    return ray.remote(**settings)(kind).options(name=name, **needs).remote(*arguments)


def local_needs(config: ReinforcementConfig) -> dict[str, Any]:
    """Return what Ray must offer where it is started on this machine: the arguments of ``ray_session``."""
    cluster = config.cluster
    num_learners = config.learner.num_learners
    cpus = (
        cluster.num_simulators * cluster.cpus_per_simulator
        + cluster.num_engines * cluster.cpus_per_engine
        + num_learners * cluster.cpus_per_learner
    )
    gpus = cluster.num_engines * cluster.gpus_per_engine + num_learners * cluster.gpus_per_learner
    return {
        "num_cpus": math.ceil(cpus) + 1,
        "num_gpus": math.ceil(gpus),
        "resources": {
            "simulator": cluster.num_simulators,
            "learner": num_learners,
            **({"inference": cluster.num_engines} if cluster.num_engines else {}),
        },
        "object_store_bytes": cluster.object_store_bytes,
    }


def learner_needs(config: ReinforcementConfig) -> dict[str, str]:
    """Return what several learners wait for, which the actor that starts them cannot log on the driver, by part."""
    num_learners, device = config.learner.num_learners, config.learner.device
    if num_learners == 1:
        return {}
    amounts = learner_resources(config.cluster)
    amounts = {kind: amount for kind, amount in amounts.items() if amount and (kind, device) != ("GPU", "cpu")}
    return {"learner": f"the learner needs room for {num_learners} learners with {amounts} each, all at once"}


def _learner_options(config: ReinforcementConfig) -> dict[str, Any]:
    """Return what the learner takes; with several learners, each RLlib learner takes its own resources instead."""
    cluster = config.cluster
    if config.learner.num_learners > 1:
        return {"num_cpus": 0, "resources": {"learner": BESIDE}}
    return {
        "num_cpus": cluster.cpus_per_learner,
        "num_gpus": cluster.gpus_per_learner,
        "resources": {"learner": PLACE},
    }
