"""The settings of a self-play run whose parts are processes that Ray places: how many of each, and how long to wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Pace = Literal["free", "lockstep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConfig:
    """Who runs where. Nodes offer the resources ``simulator``, ``inference`` and ``learner``; every actor takes one.

    Without a cluster (``RAY_ADDRESS``) Ray is started on this machine, with all that is asked for here.
    """

    on_ray: bool = False
    """Let Ray place the parts; else all are in the process of the command, which play and learn by turns."""
    pace: Pace = "free"
    """free: everybody works as fast as he can; lockstep: one thing at a time, which with one actor of each gives the
    same numbers as one process."""
    num_simulators: int = 1
    """Simulators, of ``simulator.num_tables`` tables each."""
    num_engines: int = 1
    """Inference engines; simulator i asks engine i modulo this. 0: every simulator has one of its own in its process,
    so that nothing is sent between them: best where there is no GPU, at the price of torch in every simulator."""
    num_buffers: int = 1
    """Shards of the replay buffer, of ``buffer.capacity_bytes`` each; simulator i fills shard i modulo this."""
    cpus_per_simulator: float = 1.0
    """Logical CPUs that Ray keeps for each simulator."""
    cpus_per_engine: float = 1.0
    """Logical CPUs that Ray keeps for each engine."""
    gpus_per_engine: float = 0.0
    """GPUs, or the part of one, for each engine."""
    cpus_per_learner: float = 1.0
    """Logical CPUs for the learner."""
    gpus_per_learner: float = 0.0
    """GPUs for the learner; with ``learner.num_learners`` above 1, for each of them."""
    object_store_bytes: int = 2**30
    """Size of Ray's object store where Ray is started on this machine; a cluster's nodes have their own."""
    protect_every: int = 8
    """Updates between two copies of the learner's state. The batches since the last one are kept, so that a learner
    that dies makes its updates again."""
    hang_seconds: float = 60.0
    """A part that does not even say that it lives for so long, or an engine that leaves a request unanswered, is killed
    and started again; requests go elsewhere meanwhile."""
    start_seconds: float = 600.0
    """How long a part may take to be placed and started, and any other call to be answered."""
    max_failures: int = 10
    """Times in a row that one part may die or fail before the run ends with its error."""

    def __post_init__(self) -> None:
        if self.pace not in get_args(Pace):
            raise ValueError(f"pace is {self.pace!r}: use one of {', '.join(get_args(Pace))}")
        for name in ("num_simulators", "num_buffers", "protect_every", "max_failures"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use 1 or more")
        if self.num_engines < 0:
            raise ValueError(f"num_engines is {self.num_engines}: use 0 or more")
        for role in ("simulator", "engine", "learner"):
            for kind in ("cpus", "gpus"):
                name = f"{kind}_per_{role}"
                if getattr(self, name, 0) < 0:
                    raise ValueError(f"{name} is {getattr(self, name)}: use 0 or more")
        if self.object_store_bytes < 80 * 2**20:
            raise ValueError(f"object_store_bytes is {self.object_store_bytes:,}: Ray needs at least 83,886,080")
        if not 1 <= self.hang_seconds <= self.start_seconds:
            raise ValueError(
                f"hang_seconds is {self.hang_seconds}, start_seconds {self.start_seconds}: use 1 or more, "
                "and no more time for a hang than for a start"
            )
