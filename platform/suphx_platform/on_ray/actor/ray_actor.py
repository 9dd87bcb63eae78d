"""What all actors of a run have: an answer to the question of their health, and how they say that they forgot all."""

from __future__ import annotations

import os
import uuid
from dataclasses import dataclass

import ray

from suphx.selfplay.requests import EngineCounts
from suphx_platform.on_ray.actor.process_memory import private_bytes

_INCARNATION = uuid.uuid4().hex
"""Of this process, which is one incarnation of a part: Ray gives each one a process of its own."""


class NotBegunError(RuntimeError):
    """A part was started again since it was last told what to do, and has forgotten all: tell it again."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.incarnation = _INCARNATION


@dataclass(frozen=True, slots=True)
class Health:
    """What a part says of its process."""

    process: int
    node: str
    memory_bytes: int
    """Private memory: what the process would free by ending."""
    incarnation: str
    """Another one whenever the part was started again."""
    waiting_seconds: float = 0.0
    """Of an engine: how long its oldest request has been waiting."""
    counts: EngineCounts | None = None
    """Of an engine: what it has done."""
    versions_behind: int = 0
    """Of the parameter server: how far the slowest engine is behind."""
    awaits_begin: bool = False
    """Of the parameter server: it has been started and not told what to begin with; all who need it wait."""


class RayActor:
    """What all actors have."""

    @ray.method(concurrency_group="health")
    def health(self) -> Health:
        """Say that the process lives, whatever else it is doing."""
        return health_of_process()


def health_of_process() -> Health:
    """Return what every actor can say of its process."""
    return Health(os.getpid(), ray.util.get_node_ip_address(), private_bytes(), _INCARNATION)
