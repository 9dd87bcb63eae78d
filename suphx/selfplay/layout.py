"""The settings of a self-play run whose parts are processes that Ray places: how many of each, and how long to
wait."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Literal, TypeAlias

from suphx.number_range import Interval, Range, check_ranges

Pace = Literal["free", "lockstep"]
MIN_OBJECT_STORE_BYTES = 80 * 2**20
"""Ray needs it."""
ObjectStoreBytes: TypeAlias = Annotated[int, Range(MIN_OBJECT_STORE_BYTES, 2**39)]
Cpus: TypeAlias = Annotated[float, Range(0, 1024)]
Gpus: TypeAlias = Annotated[float, Range(0, 64)]
Timeout: TypeAlias = Annotated[float, Range(1, 1_000_000)]
PLACE, BESIDE = 0.99, 0.0001
"""Share of a node's resource that an actor takes: the one it is for; one that only has to be near it. Ray counts in
steps of 0.0001."""
MAX_BUFFERS = round((1 - PLACE) / BESIDE) - 2
"""Buffers that fit beside a learner, with the parameter server and the actor that drives several learners."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessConfig:
    """What all runs whose parts are processes have in common."""

    on_ray: bool = False
    """Run the parts as Ray actors. When false, all parts run in the process of the command."""
    pace: Pace = "free"
    """free: every part works as fast as it can. lockstep: one thing at a time; with one actor of each kind the numbers
    are those of one process, for Deep Monte-Carlo with the same ``learning.threads`` (not 0)."""
    num_simulators: Annotated[int, Range(1, 10_000)] = 1
    """Number of simulators, with ``simulator.num_tables`` tables each; of Deep Monte-Carlo, each with nets of its own
    and rounds of ``learning.games`` games."""
    cpus_per_simulator: Cpus = 1.0
    """Logical CPUs that Ray reserves per simulator."""
    cpus_per_learner: Cpus = 1.0
    """Logical CPUs of the learner."""
    gpus_per_learner: Gpus = 0.0
    """GPUs of the learner; with ``learner.num_learners`` above 1, of each learner."""
    object_store_bytes: ObjectStoreBytes = 2**30
    """Size of Ray's object store when Ray is started on this machine; the nodes of a cluster have their own."""
    hang_seconds: Timeout = 60.0
    """A part without a heartbeat, or an engine with an unanswered request, is killed and replaced after this time; its
    requests go to other engines meanwhile."""
    start_seconds: Timeout = 600.0
    """Time after which a start is tried again, and time limit for the answer to any other call. Parts for which the
    nodes have no room are waited for."""
    max_failures: Annotated[int, Range(1, 1_000_000)] = 10
    """Number of times in a row that one part may die or fail before the run ends with its error."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.hang_seconds > self.start_seconds:
            raise ValueError(
                f"hang_seconds is {self.hang_seconds}, start_seconds {self.start_seconds}: use no more time for a hang "
                "than for a start"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RayLayoutConfig(ProcessConfig):
    """Processes and their placement. Ray nodes offer the resources ``simulator``, ``inference`` and ``learner``; each
    simulator, engine and learner takes one. Buffers and the parameter server run beside the learner.

    Without a cluster (``RAY_ADDRESS``) Ray is started on this machine, with all that is asked for here.
    """

    num_engines: Annotated[int, Range(0, 10_000)] = 1
    """Number of inference engines; simulator i uses engine i modulo this number. 0: every simulator has an engine in
    its own process, so that no request is sent. This is fastest without a GPU, but needs torch in every simulator."""
    num_buffers: Annotated[int, Range(1, MAX_BUFFERS)] = 1
    """Number of shards of the replay buffer, with ``buffer.capacity_bytes`` each; simulator i fills shard i modulo this
    number. At most 98, because all of them may run beside one learner."""
    cpus_per_engine: Cpus = 1.0
    """Logical CPUs that Ray reserves per engine."""
    gpus_per_engine: Gpus = 0.0
    """GPUs per engine; a fraction shares one GPU."""
    learner_copy_interval: Annotated[int, Range(1, 10_000)] = 8
    """Updates between two copies of the learner's state, from which a learner that dies continues: it makes the updates
    since then again, from newer decisions. lockstep: between two snapshots of all parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundLayoutConfig(ProcessConfig):
    """Processes and their placement. Ray nodes offer the resources ``simulator`` and ``learner``; each simulator and
    the learner take one.

    Without a cluster (``RAY_ADDRESS``) Ray is started on this machine, with all that is asked for here.
    """

    rounds_per_simulator: Annotated[int, Range(1, 1024)] = 2
    """For each simulator, rounds that wait for the learner or are being played, at most: simulators pause when there
    are as many. More rounds bridge longer pauses of the learner, and make older what it learns from."""
    weight_sync_rounds: Interval = 1
    """Rounds between two updates of the simulators' weights. lockstep: 1."""
    learner_copy_rounds: Annotated[int, Range(1, 10_000)] = 8
    """Rounds between two copies of the learner's state, from which a learner that dies continues, with other rounds.
    lockstep: between two snapshots of all parts."""

    def __post_init__(self) -> None:
        ProcessConfig.__post_init__(self)
        if self.pace == "lockstep" and self.weight_sync_rounds > 1:
            raise ValueError(f"weight_sync_rounds is {self.weight_sync_rounds}: with pace lockstep use 1")

    def as_ray_layout(self) -> RayLayoutConfig:
        """Return the same as for policy gradient: an engine in each simulator, one buffer."""
        common = {field.name: getattr(self, field.name) for field in fields(ProcessConfig)}
        return RayLayoutConfig(num_engines=0, learner_copy_interval=self.learner_copy_rounds, **common)
