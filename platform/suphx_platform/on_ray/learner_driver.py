"""The learner actor: gets batches from ready shards, publishes versions, and repeats its last updates after it died.

Its state is copied every ``learner_copy_interval`` updates. The batches since then are kept (as references, in Ray's
object store): a learner that Ray restarts gets the copy and learns from these batches once more, in the same order, so
that it ends where it was; versions never go back and no update is counted twice. Copies and versions are kept
where this process is: they outlive the learner's machine. The batches do not; what was learned from them is lost then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray
import torch

from suphx.selfplay.agents.policy_set import PolicySet
from suphx_platform.backend.local_backend import BackendState, DivergedBatchError, Fault, Learned
from suphx_platform.on_ray.actor_supervisor import ActorSupervisor, cause_of, first_line, is_death
from suphx_platform.on_ray.fetching_engine import with_weights
from suphx_platform.on_ray.in_flight_calls import InFlightCall
from suphx_platform.on_ray.simulator_group import Shard, SimulatorGroup
from suphx_platform.on_ray.topology import Topology
from suphx_platform.parts.parameter_server import PolicyVersion, Weights
from suphx_platform.parts.reinforcement_config import ReinforcementConfig
from suphx_platform.parts.replay_buffer import BufferCounts, BufferStatus

_AHEAD = 2
"""Batches that the learner has at a time, so that it never waits for the next one."""
_WAIT_SECONDS = 0.5


@dataclass(slots=True, eq=False)
class _Ticket:
    """A batch that the learner has been given since the last copy of its state."""

    parts: Any
    """Reference of the decisions."""
    staleness: float
    number: int = 0
    """Of the update; 0 until it is made."""


class LearnerDriver:
    """Consumes: batches. Produces: updates and versions. Waits for: shards that have a batch."""

    def __init__(
        self, config: ReinforcementConfig, topology: Topology, supervisor: ActorSupervisor, simulators: SimulatorGroup
    ) -> None:
        self._config = config
        self._actor, self._server, self._engines = topology.learner, topology.server, topology.engines
        self._supervisor = supervisor
        self._simulators = simulators
        self._updates = 0
        self._incarnation = 0
        self.is_restoring = False
        """The learner has been started and does not have its state yet."""
        self._has_lost_batches = False
        self._is_taking = False
        self._is_publishing = False
        self._is_publish_due = False
        self._is_protecting = False
        self._is_lockstep = config.cluster.pace == "lockstep"
        self._unsaid: deque[Learned] = deque()
        self._copy: Any = None
        self._tickets: deque[_Ticket] = deque()
        self._older: list[PolicyVersion] = []
        self.latest: PolicyVersion
        """The newest version; its weights are a list of one reference."""

    def begin(self, policy_sets: Sequence[PolicySet], state: BackendState | None) -> None:
        """Give the learner and the parameter server what they begin with; ``policy_sets``: start, weak, teacher."""
        self._policy_sets = [ray.put(policy_set) for policy_set in policy_sets]
        if state is None:
            self.latest = PolicyVersion(0, [ray.put(policy_sets[0].weights(self._config.head_numbers))])
            self._older = [self.latest]
        else:
            references = {version.number: [ray.put(version.weights)] for version in (*state.older, state.latest)}
            self.latest = PolicyVersion(state.latest.number, references[state.latest.number])
            self._older = [PolicyVersion(version.number, references[version.number]) for version in state.older]
            tensors, values = state.learner
            self._copy = ray.put((values["num_updates"], {n: t.numpy() for n, t in tensors.items()}, values))
            self._updates = values["num_updates"]
        self._restore()
        self._simulators.version = self.latest.number
        self._begin_server()
        # A learner that starts waits for the server: if both died, nobody would find out by work that it awaits this.
        self._supervisor.when_awaiting("server", self._begin_server)

    def work(self, *, may_learn: bool) -> None:
        """Take the next batch if the learner has not enough to do."""
        num_open = sum(ticket.number == 0 for ticket in self._tickets)
        limit = 1 if self._is_lockstep else _AHEAD
        is_overdue = self._is_publish_due and self._is_publishing
        if not may_learn or self.is_restoring or self._is_taking or is_overdue or num_open >= limit:
            return
        shard = self._simulators.next_ready()
        if shard is not None:
            self._take(shard)

    def state(self, *, counts: BufferCounts, next_simulator: int) -> BackendState:
        """Return the learner's state and the versions, with the counts of the simulators.

        A learner that is dead learns first what it has forgotten.
        """
        _, arrays, values = self._learner_state()
        tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
        return BackendState(
            learner=(tensors, values),
            latest=with_weights(self.latest),
            older=[with_weights(version) for version in self._older],
            counts=counts,
            next_simulator=next_simulator,
        )

    def _learner_state(self) -> tuple[int, Mapping[str, np.ndarray], Mapping[str, Any]]:
        while True:
            while self.is_restoring:
                self._supervisor.work()
                self._supervisor.calls.wait(_WAIT_SECONDS)
            try:
                state: tuple[int, Mapping[str, np.ndarray], Mapping[str, Any]] = ray.get(self._actor.state.remote())
            except (ray.exceptions.RayActorError, ray.exceptions.RayTaskError) as error:
                if not is_death(error):
                    raise
                self._supervisor.fail("learner", error)
                self._restore()
            else:
                return state

    def _take(self, shard: Shard) -> None:
        self._is_taking = True
        incarnation = shard.incarnation
        report, parts = shard.actor.take.remote(self.latest.number)

        def on_result(answer: tuple[float | None, BufferStatus]) -> None:
            staleness, status = answer
            self._is_taking = False
            if shard.incarnation == incarnation:
                self._simulators.hear(shard, status, has_given=True)
            if staleness is not None:
                ticket = _Ticket(parts, staleness)
                self._tickets.append(ticket)
                self._learn(ticket, self._updates + sum(other.number == 0 for other in self._tickets))

        def on_error(error: Exception) -> None:
            self._is_taking = False
            self._simulators.lose(shard, incarnation, error)

        self._add(report, on_result, on_error, shard.part, shard.actor)

    def _learn(self, ticket: _Ticket, number: int) -> None:
        """Have the learner make the update ``number`` from a batch."""
        if self.is_restoring:
            return  # all tickets are handed in again after that
        incarnation = self._incarnation
        measures_kl = number % self._config.report_every == 0
        reference = self._actor.learn.remote(ticket.parts, ticket.staleness, measures_kl)

        def on_result(learned: Learned) -> None:
            if self._incarnation == incarnation:
                self._count(ticket, learned)

        def on_error(error: Exception) -> None:
            if self._incarnation == incarnation:
                self._lose(ticket, error)

        self._add(reference, on_result, on_error)

    def _count(self, ticket: _Ticket, learned: Learned) -> None:
        """Count an update that is new; one that is made again is none."""
        self._supervisor.succeed("learner")
        ticket.number = learned.number
        if learned.number > self._updates:
            self._updates = learned.number
            self._unsaid.append(learned)
            if learned.number % self._config.weight_sync_interval == 0:
                self._is_publish_due = True
        if self._is_publish_due and not self._is_publishing:
            self._publish()
        if not (self._is_lockstep and self._is_publishing):
            self._say()
        if len(self._tickets) >= self._config.cluster.learner_copy_interval:
            self._protect()

    def _say(self) -> None:
        """Tell of the updates; in lockstep, of one that makes a version when that is there."""
        while self._unsaid:
            self._supervisor.emit(self._unsaid.popleft())

    def _lose(self, ticket: _Ticket, error: Exception) -> None:
        cause = cause_of(error)
        if isinstance(cause, DivergedBatchError):
            raise cause
        if isinstance(error, ray.exceptions.ObjectLostError):
            self._lose_batch(ticket, error)
            return
        self._supervisor.fail("learner", error)
        if is_death(error):
            self._restore()
        else:  # it cannot be learned from
            self._tickets.remove(ticket)

    def _lose_batch(self, ticket: _Ticket, error: Exception) -> None:
        """Go on without a batch that went with the node on which it was; tell it once for all of them."""
        self._tickets.remove(ticket)
        if not self._has_lost_batches:
            self._has_lost_batches = True
            self._supervisor.emit(Fault("learner", "failed", f"batches are lost with their node: {first_line(error)}"))

    def _protect(self) -> None:
        """Take a copy of the learner's state; the batches before it are not needed any more then."""
        if self._is_protecting:
            return
        self._is_protecting = True
        incarnation = self._incarnation

        def on_result(state: tuple[int, Any, Any]) -> None:
            if self._incarnation != incarnation:  # it died since: the restarted one gets the copy before this one
                return
            self._is_protecting = False
            self._copy = ray.put(state)
            self._tickets = deque(t for t in self._tickets if t.number == 0 or t.number > state[0])

        def on_error(error: Exception) -> None:
            if self._incarnation == incarnation:
                self._is_protecting = False
            if not is_death(error):
                raise cause_of(error)

        self._add(self._actor.state.remote(), on_result, on_error)

    def _restore(self) -> None:
        """Give a learner that has just been started its last copy, if there is one, and all batches since then."""
        self._incarnation += 1
        self.is_restoring = True
        self._has_lost_batches = self._is_protecting = False
        incarnation = self._incarnation

        def on_result(state: tuple[int, Any, Any]) -> None:
            if self._incarnation != incarnation:
                return
            self.is_restoring = False
            if self._copy is None:
                self._copy = ray.put(state)
            for ticket in self._tickets:
                ticket.number = 0
            for number, ticket in enumerate(list(self._tickets), state[0] + 1):
                self._learn(ticket, number)

        def on_error(error: Exception) -> None:
            if self._incarnation == incarnation:
                self._supervisor.fail("learner", error)
                self._restore()

        self._add(self._actor.begin.remote(self._copy), on_result, on_error)

    def _publish(self) -> None:
        """Have the parameter server make the learner's weights its newest version, and all engines fetch it."""
        self._is_publishing, self._is_publish_due = True, False

        def on_result(weights: Weights) -> None:
            self._hand_to_server([ray.put(weights)])

        def on_error(error: Exception) -> None:
            self._is_publishing, self._is_publish_due = False, True
            if not is_death(error):
                raise cause_of(error)

        self._add(self._actor.weights.remote(), on_result, on_error)

    def _hand_to_server(self, weights: list[Any]) -> None:
        def on_result(versions: tuple[PolicyVersion, list[PolicyVersion]]) -> None:
            self._is_publishing = False
            self._supervisor.succeed("server")
            self.latest, self._older = versions
            self._simulators.version = self.latest.number
            self._say()
            for number, engine in enumerate(self._engines):
                self._have_fetched(f"engine {number}", engine)

        def on_error(error: Exception) -> None:
            self._supervisor.fail("server", error)
            self._begin_server()
            self._hand_to_server(weights)

        self._add(self._server.publish.remote(weights), on_result, on_error, "server", self._server)

    def _begin_server(self) -> None:
        self._server.begin.remote(self._policy_sets, self.latest, self._older)

    def _have_fetched(self, part: str, engine: Any) -> None:
        def on_result(_: int) -> None:
            self._supervisor.succeed(part)

        def on_error(error: Exception) -> None:
            self._supervisor.miss(part, error)  # it fetches the newest version when it starts again

        self._add(engine.fetch.remote(), on_result, on_error, part, engine)

    def _add(self, reference: Any, on_result: Any, on_error: Any, part: str = "learner", actor: Any = None) -> None:
        seconds = self._config.cluster.start_seconds
        call = InFlightCall(
            part=part, actor=actor or self._actor, on_result=on_result, on_error=on_error, seconds=seconds
        )
        self._supervisor.calls.add(reference, call)
