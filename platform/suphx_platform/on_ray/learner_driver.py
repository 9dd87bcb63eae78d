"""The learner actor: gets batches from ready shards, publishes versions, and repeats its last updates after it died.

Its state is copied every ``learner_copy_interval`` updates. The batches since then are kept (as references, in Ray's
object store): a learner that Ray restarts gets the copy and learns from these batches once more, in the same order, so
that it ends where it was; versions never go back and no update is counted twice. Copies and versions are kept
where this process is: they outlive the learner's machine. The batches do not; what was learned from them is lost then.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray
import torch

from suphx.selfplay.agents.policy_set import PolicySet
from suphx_platform.backend.backend import BackendState, DivergedBatchError, Fault, Learned
from suphx_platform.on_ray.actor_supervisor import (
    CALL_ERRORS,
    ActorSupervisor,
    cause_of,
    first_line,
    has_lost_answer,
    is_death,
)
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
class _SentBatch:
    """A batch that was sent to the learner since the last copy of its state."""

    parts: Any
    """Reference of the decisions."""
    staleness: float
    update: int = 0
    """Number of the update that was made from it; 0 until it is made."""


class LearnerDriver:
    """Consumes: batches. Produces: updates and versions. Waits for: shards that have a batch.

    Each ``weight_sync_interval`` updates make a version. An update that makes one is reported when the parameter server
    has the version, and later updates after it.
    """

    def __init__(
        self, config: ReinforcementConfig, topology: Topology, supervisor: ActorSupervisor, simulators: SimulatorGroup
    ) -> None:
        self._config = config
        self._actor, self._server, self._engines = topology.learner, topology.server, topology.engines
        self._supervisor = supervisor
        self._simulators = simulators
        self._updates = 0
        self._incarnation = 0
        self._is_restoring = False  # the learner has been started and does not have its state yet
        self._has_lost_batches = False
        self._is_taking = False
        self._is_publishing = False
        self._due: deque[int] = deque()  # updates whose versions the server does not have yet
        self._is_copying = False
        self._ahead = 1 if config.cluster.pace == "lockstep" else _AHEAD
        self._unreported: deque[Learned] = deque()
        self._copy: Any = None
        self._sent: deque[_SentBatch] = deque()
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
        # A learner that starts waits for the server. If both died, no other call would notice it.
        self._supervisor.when_awaiting("server", self._begin_server)

    @property
    def is_busy(self) -> bool:
        """Tell whether the learner restarts, or an update or a version is not finished."""
        is_working = self._is_restoring or self._is_taking or self._num_open > 0
        return is_working or bool(self._due or self._unreported)

    def work(self, *, may_learn: bool) -> None:
        """Take the next batch if the learner has not enough to do; never one more than the run's updates need."""
        num_open, limit = self._num_open, self._config.max_updates
        is_last = 0 < limit <= self._updates + num_open
        is_occupied = self._is_restoring or self._is_taking or len(self._due) > 1 or num_open >= self._ahead
        if not may_learn or is_last or is_occupied:
            return
        shard = self._simulators.next_ready()
        if shard is not None:
            self._take(shard)

    def state(self, *, counts: BufferCounts, next_simulator: int) -> BackendState:
        """Return the learner's state and the versions, with the counts of the simulators.

        A learner that died first repeats the updates since the copy of its state.
        """
        _, arrays, values = self._answer_of("state")
        tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
        return BackendState(
            learner=(tensors, values),
            latest=with_weights(self.latest),
            older=[with_weights(version) for version in self._older],
            counts=counts,
            next_simulator=next_simulator,
        )

    def weights(self) -> Weights:
        """Return the learner's weights after all updates that it was given."""
        weights: Weights = self._answer_of("weights")
        return weights

    @property
    def _num_open(self) -> int:
        """Batches from which the learner has not learned yet."""
        return sum(batch.update == 0 for batch in self._sent)

    def _answer_of(self, method: str) -> Any:
        """Return what a ``method`` of the learner returns; if it dies meanwhile, that of the restarted one."""
        while True:
            while self._is_restoring:
                self._supervisor.work()
                self._supervisor.calls.wait(_WAIT_SECONDS)
            incarnation = self._incarnation
            try:
                return self._supervisor.answer("learner", self._actor, getattr(self._actor, method).remote())
            except CALL_ERRORS as error:
                self._recover(incarnation, error)

    def _take(self, shard: Shard) -> None:
        self._is_taking = True
        incarnation = shard.incarnation
        report, parts = shard.actor.take.remote(self.latest.number)

        def on_result(answer: tuple[float | None, BufferStatus]) -> None:
            staleness, status = answer
            self._is_taking = False
            if shard.incarnation == incarnation:
                self._simulators.note_status(shard, status, has_given=True)
            if staleness is not None:
                batch = _SentBatch(parts, staleness)
                self._sent.append(batch)
                self._learn(batch)

        def on_error(error: Exception) -> None:
            self._is_taking = False
            self._simulators.replace_lost(shard, incarnation, error)

        self._add(report, on_result, on_error, shard.part, shard.actor)

    def _learn(self, batch: _SentBatch) -> None:
        if self._is_restoring:
            return  # all batches are sent again after that
        incarnation = self._incarnation
        reference = self._actor.learn.remote(batch.parts, batch.staleness)

        def on_result(learned: Learned) -> None:
            if self._incarnation == incarnation:
                self._count(batch, learned)

        def on_error(error: Exception) -> None:
            if self._incarnation == incarnation:
                self._handle_failed_update(batch, error)

        self._add(reference, on_result, on_error)

    def _count(self, batch: _SentBatch, learned: Learned) -> None:
        """Count an update, unless it repeats one that was counted before the learner died."""
        self._supervisor.succeed("learner")
        batch.update = learned.number
        if learned.number > self._updates:
            self._updates = learned.number
            self._unreported.append(learned)
            if learned.number % self._config.weight_sync_interval == 0:
                self._due.append(learned.number)
        self._publish_if_due()
        self._report_updates()
        if len(self._sent) >= self._config.cluster.learner_copy_interval:
            self._copy_state()

    def _report_updates(self) -> None:
        """Emit the updates before the first one whose version the server does not have yet."""
        first_due = self._due[0] if self._due else math.inf
        while self._unreported and self._unreported[0].number < first_due:
            self._supervisor.emit(self._unreported.popleft())

    def _handle_failed_update(self, batch: _SentBatch, error: Exception) -> None:
        cause = cause_of(error)
        if isinstance(cause, DivergedBatchError):
            raise cause
        if isinstance(error, ray.exceptions.ObjectLostError):
            self._drop_lost_batch(batch, error)
        elif is_death(error):
            self._recover(self._incarnation, error)
        else:  # it cannot be learned from
            self._supervisor.fail("learner", error)
            self._sent.remove(batch)

    def _drop_lost_batch(self, batch: _SentBatch, error: Exception) -> None:
        """Continue without a batch that was lost with its node; emit one fault for all of them."""
        self._sent.remove(batch)
        if not self._has_lost_batches:
            self._has_lost_batches = True
            self._supervisor.emit(Fault("learner", "failed", f"batches are lost with their node: {first_line(error)}"))

    def _copy_state(self) -> None:
        """Copy the learner's state; the batches before it are not needed any more then."""
        if self._is_copying:
            return
        self._is_copying = True
        incarnation = self._incarnation

        def on_result(state: tuple[int, Any, Any]) -> None:
            if self._incarnation != incarnation:  # it died since: the restarted one gets the copy before this one
                return
            self._is_copying = False
            self._copy = ray.put(state)
            self._sent = deque(batch for batch in self._sent if batch.update == 0 or batch.update > state[0])

        self._add(self._actor.state.remote(), on_result, lambda error: self._recover(incarnation, error))

    def _recover(self, incarnation: int, error: Exception) -> None:
        """Restore the learner if its ``incarnation`` has died, or its answer is lost; raise any other error."""
        if not has_lost_answer(error):
            raise cause_of(error)
        if self._incarnation == incarnation:  # else it is being restored already
            self._supervisor.fail("learner", error)
            self._restore()

    def _restore(self) -> None:
        """Give a learner that has just been started its last copy, if there is one, and all batches since then."""
        self._incarnation += 1
        self._is_restoring = True
        self._has_lost_batches = self._is_copying = False
        incarnation = self._incarnation

        def on_result(state: tuple[int, Any, Any]) -> None:
            if self._incarnation != incarnation:
                return
            self._is_restoring = False
            if self._copy is None:
                self._copy = ray.put(state)
            for batch in self._sent:
                batch.update = 0
            for batch in list(self._sent):
                self._learn(batch)
            self._publish_if_due()

        def on_error(error: Exception) -> None:
            if self._incarnation == incarnation:
                self._supervisor.fail("learner", error)
                self._restore()

        self._add(self._actor.begin.remote(self._copy), on_result, on_error)

    def _publish_if_due(self) -> None:
        """Have the parameter server make the learner's weights its newest version, and all engines fetch it."""
        if not self._due or self._is_publishing or self._is_restoring:
            return
        self._is_publishing = True
        incarnation = self._incarnation

        def on_result(weights: Weights) -> None:
            self._send_to_server([ray.put(weights)])

        def on_error(error: Exception) -> None:
            self._is_publishing = False
            self._recover(incarnation, error)
            self._publish_if_due()

        self._add(self._actor.weights.remote(), on_result, on_error)

    def _send_to_server(self, weights: list[Any]) -> None:
        def on_result(versions: tuple[PolicyVersion, list[PolicyVersion]]) -> None:
            self._is_publishing = False
            self._due.popleft()
            self._supervisor.succeed("server")
            self.latest, self._older = versions
            self._simulators.version = self.latest.number
            self._publish_if_due()
            self._report_updates()
            for number, engine in enumerate(self._engines):
                self._request_fetch(f"engine {number}", engine)

        def on_error(error: Exception) -> None:
            self._supervisor.fail("server", error)
            self._begin_server()
            self._send_to_server(weights)

        self._add(self._server.publish.remote(weights), on_result, on_error, "server", self._server)

    def _begin_server(self) -> None:
        self._server.begin.remote(self._policy_sets, self.latest, self._older)

    def _request_fetch(self, part: str, engine: Any) -> None:
        def on_result(_: int) -> None:
            self._supervisor.succeed(part)

        def on_error(error: Exception) -> None:
            self._supervisor.fail_unless_dead(part, error)  # it fetches the newest version when it starts again

        self._add(engine.fetch.remote(), on_result, on_error, part, engine)

    def _add(self, reference: Any, on_result: Any, on_error: Any, part: str = "learner", actor: Any = None) -> None:
        seconds = self._config.cluster.start_seconds
        call = InFlightCall(
            part=part, actor=actor or self._actor, on_result=on_result, on_error=on_error, seconds=seconds
        )
        self._supervisor.calls.add(reference, call)
