"""What the main loop of self-play needs of a backend: its interface, its events, its saved state.

The two backends are ``LocalBackend`` (local_backend.py) and ``RayBackend`` (on_ray/ray_backend.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from suphx.experience.decisions import Decisions
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.training.optimizer import DivergedError
from suphx.training.reward import Prediction
from suphx_platform.backend.self_play_match import MatchOrder, MatchOutcome
from suphx_platform.parts.parameter_server import PolicyVersion, Weights
from suphx_platform.parts.replay_buffer import BufferCounts
from suphx_platform.parts.self_play_simulator import Played

LearnerState = tuple[Mapping[str, Tensor], Mapping[str, Any]]
"""What ``Learner.state`` returns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlay:
    """What plays and learns."""

    start: PolicySet
    weak: PolicySet
    encoder: str
    rules_version: str
    seed: int
    prediction: Prediction | None = None
    """What rewards are differences of; None: they are round scores."""
    teacher: PolicySet | None = None
    """Nets with oracle planes that the learning nets imitate (suphx/training/policy_gradient.py)."""
    opponent: PolicySet | None = None
    """Nets that the matches called ``start`` are against; None: those that self-play begins with."""
    carried: LearnerState | None = None
    """Learner state of an earlier stage: its critics, optimizers and entropy control are reused."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Goes into the headers of the checkpoints."""


@dataclass(frozen=True, slots=True)
class Learned:
    """One update was made."""

    number: int
    """1, 2, … over the whole run."""
    figures: Mapping[str, float]
    """Of suphx.training.policy_gradient and the learner, as ``<head>_<figure>``; ``staleness``."""
    seconds: float
    num_decisions: Mapping[str, int] = field(default_factory=dict)
    """Decisions that each head learned from, by its name."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A part failed, and what was done about it."""

    part: str
    """simulator, engine, buffer, server or learner; with its number where there are several."""
    kind: str
    """died, hung or failed."""
    message: str

    @property
    def name(self) -> str:
        """Return what it is counted under: ``engine_died``."""
        return f"{self.part.split()[0]}_{self.kind}"


Event = Played | Learned | Fault


@dataclass(slots=True, kw_only=True)
class BackendState:
    """All that a backend needs to resume. Games and decisions that it does not include are started again."""

    learner: LearnerState
    latest: PolicyVersion
    older: list[PolicyVersion]
    counts: BufferCounts
    next_simulator: int
    """Number of the next simulator. No number is used twice: the same number would play the same games."""
    simulators: list[Mapping[str, np.ndarray]] = field(default_factory=list)
    buffers: list[tuple[Mapping[str, np.ndarray], Mapping[str, Any]]] = field(default_factory=list)
    held: list[list[Decisions]] = field(default_factory=list)
    """Of each of ``simulators``: decisions, by head, for which the buffer had no room yet."""


class DivergedBatchError(DivergedError):
    """A loss or gradient was not finite; no weights were changed by it."""

    def __init__(self, message: str, parts: Mapping[int, Decisions]) -> None:
        """``parts``: the decisions of the update, by head."""
        super().__init__(message)
        self.parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.parts)


class Backend(Protocol):
    """The five parts of self-play, in one process (LocalBackend) or as Ray actors (RayBackend)."""

    @property
    def version(self) -> int:
        """The number of the newest policy version."""
        ...

    @property
    def counts(self) -> BufferCounts:
        """Decisions that went through the buffers since the beginning of the run."""
        ...

    @property
    def gauges(self) -> Mapping[str, float]:
        """Current measurements: ``buffer_bytes``, and others that depend on the backend."""
        ...

    @property
    def is_waiting_for_parts(self) -> bool:
        """Whether nothing can go on before parts are there: this time is none of the run."""
        ...

    def advance(self) -> list[Event]:
        """Let the parts work; return what happened, in order; perhaps nothing.

        Raises DivergedBatchError; ValueError if no progress is possible with these settings; the error of a part that
        fails repeatedly.
        """
        ...

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        """Have ``settle``, ``weights`` and ``state`` raise PartAwayError once a stop ``is_made`` and a part is away
        for which they would wait.

        A match that ``play_match`` plays at once ends with an InterruptedError then, unless it keeps its games.
        """
        ...

    def settle(self) -> list[Event]:
        """Finish started updates and publish their versions; return what happened, as ``advance`` does.

        Call this before ``state`` and ``weights``, so that both belong to the last reported update.
        """
        ...

    def newest(self) -> PolicyVersion:
        """Return the newest policy version."""
        ...

    def weights(self) -> Weights:
        """Return the learner's weights, which may have more updates than the newest version."""
        ...

    def play_match(self, order: MatchOrder, progress: Callable[[float, bool], None]) -> Future[MatchOutcome]:
        """Have a match played, at once or while the other work goes on; ``progress`` may get parts of its hanchans."""
        ...

    def state(self) -> BackendState:
        """Return the state from which a new backend resumes."""
        ...

    def close(self) -> None:
        """Stop all parts."""
        ...
