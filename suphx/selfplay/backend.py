"""What a trainer needs of self-play: one interface, its events and its saved state, for every game and algorithm.

A backend has the five boxes of the paper's Figure 6 (simulators, engines, buffers, a learner, versions of weights), in
one process or as processes of a cluster. Policy gradient learns from decisions of games that go on; Deep Monte-Carlo
from rounds of whole games. At the pace lockstep, all backends of a configuration give the same numbers.

>>> for event in backend.advance():  # again and again
...     print(event)  # Played, Learned or Fault
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from suphx.experience.decisions import Decisions
from suphx.selfplay.buffer import BufferCounts
from suphx.selfplay.weights import PolicyVersion, Versions, Weights

if TYPE_CHECKING:
    from torch import Tensor  # nets are not needed where games are played

LearnerState: TypeAlias = "tuple[Mapping[str, Tensor], Mapping[str, Any]]"
"""Tensors (nets, optimizers) and plain values of a learner; ``num_updates`` is one of the values."""
Progress = Callable[[float], None]
"""Gets how many games of a match have ended since the last call."""


@dataclass(frozen=True, slots=True)
class Played:
    """Some steps, or a round, were played."""

    decisions: list[Decisions]
    """Of deals that ended; one part for each head that learns, perhaps empty."""
    num_games: int
    num_deals: int
    num_decisions: int
    """Of all seats."""
    seconds: float
    waited_seconds: float
    """Part of it in which no half of the tables had policy outputs."""


@dataclass(frozen=True, slots=True)
class Learned:
    """One update was made: of Deep Monte-Carlo, from one round."""

    number: int
    """1, 2, … over the whole run."""
    figures: Mapping[str, float]
    """Policy gradient: those of policy_gradient.py and the learner, as ``<head>_<figure>``. Deep Monte-Carlo:
    ``loss_sum``, over all samples. Both: ``staleness``, the mean number of versions behind."""
    seconds: float
    num_decisions: Mapping[str, int] = field(default_factory=dict)
    """Decisions that each net learned from, by its name."""


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
    versions: Versions
    """Of Deep Monte-Carlo: the weights after the last round."""
    counts: BufferCounts = field(default_factory=BufferCounts)
    next_simulator: int = 0
    """Number of the next simulator (policy gradient), or of the next round (Deep Monte-Carlo). No number is used twice:
    the same number would play the same games."""
    simulators: list[Mapping[str, np.ndarray]] = field(default_factory=list)
    buffers: list[tuple[Mapping[str, np.ndarray], Mapping[str, Any]]] = field(default_factory=list)
    held: list[list[Decisions]] = field(default_factory=list)
    """Of each of ``simulators``: decisions, by head, for which the buffer had no room yet."""


class Match(Protocol):
    """The description of one match of a trainer's nets."""

    @property
    def keeps_games(self) -> bool:
        """Whether its folder keeps what was played, so that a match that was stopped continues."""

    def play(self, progress: Progress | None = None) -> Any:
        """Play it in this process and return its outcome; ``progress`` may get parts of games."""


class Backend(Protocol):
    """The five parts of self-play, in one process or as Ray actors."""

    @property
    def version(self) -> int:
        """The number of the newest policy version; of Deep Monte-Carlo, rounds that it has learned from."""

    @property
    def counts(self) -> BufferCounts:
        """Decisions that went through the buffers since the beginning of the run."""

    @property
    def gauges(self) -> Mapping[str, float]:
        """Current measurements: ``buffer_bytes``, and others that depend on the backend."""

    @property
    def is_waiting_for_parts(self) -> bool:
        """Whether nothing can go on before parts are there: this time is none of the run."""

    def advance(self) -> list[Event]:
        """Let the parts work for about a second at most; return what happened, in order; perhaps nothing.

        DivergedError; ValueError if no progress is possible with these settings; the error of a part that fails
        repeatedly.
        """

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        """Have ``settle``, ``weights`` and ``state`` raise PartUnavailableError once a stop ``is_made`` and they would
        wait for a missing part; a match that is played at once ends with an InterruptedError, unless it keeps its
        games.
        """

    def settle(self) -> list[Event]:
        """Finish started updates and publish their versions; return what happened. To be called before ``state`` and
        ``weights``, so that both belong to the last reported update.
        """

    def newest(self) -> PolicyVersion:
        """Return the newest policy version."""

    def weights(self) -> Weights:
        """Return the weights that matches and checkpoints get: after all updates, which may be more than the newest
        version has; of Deep Monte-Carlo, averaged."""

    def play_match(self, order: Any, progress: Progress) -> Future[Any]:
        """Have ``order``, a ``Match``, played, at once or while the other work continues; ``progress`` may get parts of
        its games. The future has a ChildProcessError if the match was lost with its process or node.
        """

    def state(self) -> BackendState:
        """Return the state from which a new backend resumes."""

    def close(self) -> None:
        """Stop all parts."""
