"""The learner as a process: it takes batches from ready shards, publishes versions, and is made to learn again what it
forgot when it died.

Of its state a copy is taken every ``protect_every`` updates. The batches since then are kept (as references, in Ray's
object store): a learner that Ray had to start again gets the copy and learns from these batches once more, in the same
order, so that it ends where it was; versions never go back and no update is counted twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray
import torch

from suphx_platform.fetching_engine import with_weights
from suphx_platform.flow import DivergedBatchError, FlowState, Learned
from suphx_platform.parameter_server import Version
from suphx_platform.part_watch import PartWatch, cause_of
from suphx_platform.ray_calls import Call
from suphx_platform.reinforcement_config import ReinforcementConfig
from suphx_platform.replay_buffer import BufferCounts, BufferStatus
from suphx_platform.simulator_crew import Shard, SimulatorCrew
from suphx_platform.topology import Topology

_AHEAD = 2
"""Batches that the learner has at a time, so that it never waits for the next one."""


@dataclass(slots=True, eq=False)
class _Ticket:
    """A batch that the learner has been given since the last copy of its state."""

    parts: Any
    """Reference of the decisions."""
    staleness: float
    number: int = 0
    """Of the update; 0 until it is made."""


class LearnerSeat:
    """Consumes: batches. Produces: updates and versions. Waits for: shards that have a batch."""

    def __init__(self, config: ReinforcementConfig, topology: Topology, watch: PartWatch, crew: SimulatorCrew) -> None:
        self._config = config
        self._actor, self._server, self._engines = topology.learner, topology.server, topology.engines
        self._watch = watch
        self._crew = crew
        self._updates = 0
        self._life = 0
        self._is_restoring = False
        self._is_taking = False
        self._is_publishing = False
        self._is_publish_due = False
        self._is_protecting = False
        self._is_lockstep = config.cluster.pace == "lockstep"
        self._unsaid: deque[Learned] = deque()
        self._copy: Any = None
        self._tickets: deque[_Ticket] = deque()
        self._older: list[Version] = []
        self.latest: Version
        """The newest version; its weights are a list of one reference."""

    def begin(self, players: Sequence[Any], state: FlowState | None) -> None:
        """Give the learner and the parameter server what they begin with; ``players``: to start with, and weak."""
        self._players = [ray.put(player) for player in players]
        if state is None:
            self.latest = Version(0, [self._actor.weights.remote()])
            self._older = [self.latest]
        else:
            references = {version.number: [ray.put(version.weights)] for version in (*state.older, state.latest)}
            self.latest = Version(state.latest.number, references[state.latest.number])
            self._older = [Version(version.number, references[version.number]) for version in state.older]
            tensors, values = state.learner
            self._copy = ray.put((values["num_updates"], {n: t.numpy() for n, t in tensors.items()}, values))
            self._updates = values["num_updates"]
            self._restore()
        self._crew.version = self.latest.number
        self._server.begin.remote(self._players, self.latest, self._older)

    @property
    def is_idle(self) -> bool:
        """Tell whether nothing is on its way to the learner."""
        return not (self._is_restoring or self._is_taking or any(ticket.number == 0 for ticket in self._tickets))

    def work(self, *, may_learn: bool) -> None:
        """Take the next batch if the learner has not enough to do."""
        num_open = sum(ticket.number == 0 for ticket in self._tickets)
        limit = 1 if self._is_lockstep else _AHEAD
        is_overdue = self._is_publish_due and self._is_publishing
        if not may_learn or self._is_restoring or self._is_taking or is_overdue or num_open >= limit:
            return
        shard = self._crew.next_ready()
        if shard is not None:
            self._take(shard)

    def state(self) -> FlowState:
        """Return the learner's state and the versions; if the learner is dead, the last copy of its state."""
        try:
            _, arrays, values = ray.get(self._actor.state.remote())
        except ray.exceptions.RayActorError:
            if self._copy is None:
                raise
            _, arrays, values = ray.get(self._copy)
        tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
        return FlowState(
            learner=(tensors, values),
            latest=with_weights(self.latest),
            older=[with_weights(version) for version in self._older],
            counts=BufferCounts(),
            next_simulator=0,
        )

    def _take(self, shard: Shard) -> None:
        self._is_taking = True
        report, parts = shard.actor.take.remote(self.latest.number)

        def then(answer: tuple[float | None, BufferStatus]) -> None:
            staleness, status = answer
            self._is_taking = False
            self._crew.hear(shard, status, has_given=True)
            if staleness is not None:
                ticket = _Ticket(parts, staleness)
                self._tickets.append(ticket)
                self._learn(ticket)

        def lost(error: Exception) -> None:
            self._is_taking = False
            self._crew.lose(shard, error)

        self._add(report, then, lost, shard.part, shard.actor)

    def _learn(self, ticket: _Ticket) -> None:
        if self._is_restoring:
            return  # all tickets are handed in again after that
        life = self._life
        number = self._updates + sum(other.number == 0 for other in self._tickets)
        measures_kl = number % self._config.report_every == 0
        reference = self._actor.learn.remote(ticket.parts, ticket.staleness, measures_kl)

        def then(learned: Learned) -> None:
            if self._life == life:
                self._count(ticket, learned)

        def lost(error: Exception) -> None:
            if self._life == life:
                self._lose(ticket, error)

        self._add(reference, then, lost)

    def _count(self, ticket: _Ticket, learned: Learned) -> None:
        """Count an update that is new; one that is made again is none."""
        self._watch.succeed("learner")
        ticket.number = learned.number
        if learned.number > self._updates:
            self._updates = learned.number
            self._unsaid.append(learned)
            if learned.number % self._config.publish_every == 0:
                self._is_publish_due = True
        if self._is_publish_due and not self._is_publishing:
            self._publish()
        if not (self._is_lockstep and self._is_publishing):
            self._say()
        if len(self._tickets) >= self._config.cluster.protect_every:
            self._protect()

    def _say(self) -> None:
        """Tell of the updates; in lockstep, of one that makes a version when that is there."""
        while self._unsaid:
            self._watch.emit(self._unsaid.popleft())

    def _lose(self, ticket: _Ticket, error: Exception) -> None:
        cause = cause_of(error)
        if isinstance(cause, DivergedBatchError):
            raise cause
        self._watch.fail("learner", error)
        if isinstance(error, ray.exceptions.RayActorError):
            self._restore()
        else:  # the batch went with the node on which it was, or cannot be learned from
            self._tickets.remove(ticket)

    def _protect(self) -> None:
        """Take a copy of the learner's state; the batches before it are not needed any more then."""
        if self._is_protecting:
            return
        self._is_protecting = True
        reference = self._actor.state.remote()

        def then(state: tuple[int, Any, Any]) -> None:
            self._is_protecting = False
            self._copy = reference
            self._tickets = deque(t for t in self._tickets if t.number == 0 or t.number > state[0])

        def lost(error: Exception) -> None:
            self._is_protecting = False
            if not isinstance(error, ray.exceptions.RayActorError):
                raise cause_of(error)

        self._add(reference, then, lost)

    def _restore(self) -> None:
        """Give a learner that was started again its last copy, and all batches since then."""
        self._life += 1
        self._is_restoring = True
        life = self._life

        def then(_: None) -> None:
            if self._life != life:
                return
            self._is_restoring = False
            for ticket in self._tickets:
                ticket.number = 0
            for ticket in list(self._tickets):
                self._learn(ticket)

        def lost(error: Exception) -> None:
            if self._life == life:
                self._watch.fail("learner", error)
                self._restore()

        self._add(self._actor.restore.remote(self._copy), then, lost)

    def _publish(self) -> None:
        """Have the parameter server make the learner's weights its newest version, and all engines fetch it."""
        self._is_publishing, self._is_publish_due = True, False
        weights = self._actor.weights.remote()

        def then(_: Any) -> None:
            self._hand_to_server([weights])

        def lost(error: Exception) -> None:
            self._is_publishing, self._is_publish_due = False, True
            if not isinstance(error, ray.exceptions.RayActorError):
                raise cause_of(error)

        self._add(weights, then, lost)

    def _hand_to_server(self, weights: list[Any]) -> None:
        def then(versions: tuple[Version, list[Version]]) -> None:
            self._is_publishing = False
            self._watch.succeed("server")
            self.latest, self._older = versions
            self._crew.version = self.latest.number
            self._say()
            for number, engine in enumerate(self._engines):
                self._have_fetched(f"engine {number}", engine)

        def lost(error: Exception) -> None:
            self._watch.fail("server", error)
            self._server.begin.remote(self._players, self.latest, self._older)
            self._hand_to_server(weights)

        self._add(self._server.publish.remote(weights), then, lost, "server", self._server)

    def _have_fetched(self, part: str, engine: Any) -> None:
        def then(_: int) -> None:
            self._watch.succeed(part)

        def lost(error: Exception) -> None:
            self._watch.miss(part, error)  # it fetches the newest version when it starts again

        self._add(engine.fetch.remote(), then, lost, part, engine)

    def _add(self, reference: Any, then: Any, lost: Any, part: str = "learner", actor: Any = None) -> None:
        seconds = self._config.cluster.start_seconds
        call = Call(part=part, actor=actor or self._actor, then=then, lost=lost, seconds=seconds)
        self._watch.calls.add(reference, call)
