"""The settings of Deep Monte-Carlo over Ray: how many processes play, where they are placed, how long to wait."""

from __future__ import annotations

from dataclasses import dataclass

from suphx_platform.parts.ray_layout_config import Pace, check_layout


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundLayoutConfig:
    """Processes and their placement. Ray nodes offer the resources ``simulator`` and ``learner``; each simulator and
    the learner take one.

    Without a cluster (``RAY_ADDRESS``) Ray is started on this machine, with all that is asked for here.
    """

    on_ray: bool = False
    """Let simulators and the learner be Ray actors. When false, one process alternates between playing and learning."""
    pace: Pace = "free"
    """free: simulators play while the learner learns. lockstep: one thing at a time; the numbers are those of one
    process with the same ``learning.threads`` (not 0)."""
    num_simulators: int = 1
    """Number of simulators, each with nets of its own; each plays rounds of ``learning.games`` games."""
    rounds_per_simulator: int = 2
    """For each simulator, rounds that wait for the learner or are being played, at most: simulators pause when there
    are as many. More rounds bridge longer pauses of the learner, and make older what it learns from."""
    weight_sync_rounds: int = 1
    """Rounds between two updates of the simulators' weights. lockstep: 1."""
    cpus_per_simulator: float = 1.0
    """Logical CPUs that Ray reserves per simulator."""
    cpus_per_learner: float = 1.0
    """Logical CPUs of the learner."""
    gpus_per_learner: float = 0.0
    """GPUs of the learner; see ``learning.device``."""
    object_store_bytes: int = 2**30
    """Size of Ray's object store when Ray is started on this machine; the nodes of a cluster have their own."""
    learner_copy_rounds: int = 8
    """Rounds between two copies of the learner's state. The rounds since the last copy are kept, so that a learner that
    dies can learn from them again."""
    hang_seconds: float = 60.0
    """A process without a heartbeat is killed and restarted after this time."""
    start_seconds: float = 600.0
    """Time after which a start is tried again, and time limit for the answer to any other call. Processes for which
    the nodes have no room are waited for."""
    max_failures: int = 10
    """Number of times in a row that one process may die or fail before the run ends with its error."""

    def __post_init__(self) -> None:
        names = ("num_simulators", "rounds_per_simulator", "weight_sync_rounds", "learner_copy_rounds", "max_failures")
        check_layout(self, least_1=names)
        if self.pace == "lockstep" and self.weight_sync_rounds > 1:
            raise ValueError(f"weight_sync_rounds is {self.weight_sync_rounds}: with pace lockstep use 1")
