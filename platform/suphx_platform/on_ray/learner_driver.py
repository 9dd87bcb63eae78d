"""The learner of a run over Ray: gets batches from ready shards, and its weights become versions.

restored_learner.py repeats its last updates after it died: versions never go back and no update is counted twice.
Versions are kept where this process is: they outlive the learner's machine.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import ray
import torch

from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.backend import BackendState, Learned
from suphx.selfplay.buffer import BufferCounts
from suphx.selfplay.weights import PolicyVersion, Weights
from suphx.training.learner import DivergedBatchError
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.on_ray.fetching_engine import with_weights
from suphx_platform.on_ray.ray_actors import Taken
from suphx_platform.on_ray.simulator_group import Shard, SimulatorGroup
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor
from suphx_platform.on_ray.supervision.restored_learner import LearnerRules, RestoredLearner
from suphx_platform.on_ray.topology import Topology

_AHEAD = 2
"""Batches that the learner has at a time, so that it never waits for the next one."""


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
        self._is_taking = False
        self._is_publishing = False
        self._is_server_beginning = False
        self._unsent: list[Any] | None = None  # weights for the server, as soon as it has begun again
        self._due: deque[int] = deque()  # updates whose versions the server does not have yet
        self._ahead = 1 if config.cluster.pace == "lockstep" else _AHEAD
        self._unreported: deque[Learned] = deque()
        self._older: list[PolicyVersion] = []
        self._learner: RestoredLearner[Learned]
        self.latest: PolicyVersion
        """The newest version; its weights are a list of one reference."""

    def begin(self, policy_sets: Sequence[PolicySet], state: BackendState | None) -> None:
        """Give the learner and the parameter server what they begin with; ``policy_sets``: start, weak, teacher."""
        self._policy_sets = [ray.put(policy_set) for policy_set in policy_sets]
        copy, num_learned = None, 0
        if state is None:
            self.latest = PolicyVersion(0, [ray.put(policy_sets[0].weights(self._config.head_numbers))])
            self._older = [self.latest]
        else:
            references = {version.number: [ray.put(version.weights)] for version in (*state.older, state.latest)}
            self.latest = PolicyVersion(state.latest.number, references[state.latest.number])
            self._older = [PolicyVersion(version.number, references[version.number]) for version in state.older]
            tensors, values = state.learner
            num_learned = values["num_updates"]
            copy = ray.put((num_learned, {n: t.numpy() for n, t in tensors.items()}, values))
        rules: LearnerRules[Learned] = LearnerRules(
            count_of=lambda learned: learned.number,
            diverged=DivergedBatchError,
            copy_interval=self._config.cluster.learner_copy_interval,
        )
        self._learner = RestoredLearner(
            self._actor,
            self._supervisor,
            rules,
            num_learned=num_learned,
            copy=copy,
            on_learned=self._count,
            on_begun=self._publish_if_due,
        )
        self._learner.begin()
        self._simulators.version = self.latest.number
        self._begin_server()
        # A learner that starts waits for the server. If both died, no other call would notice it.
        self._supervisor.when_awaiting("server", self._begin_server)

    @property
    def is_busy(self) -> bool:
        """Tell whether the learner restarts, or an update or a version is not finished."""
        is_working = self._learner.is_restoring or self._is_taking or self._learner.num_open > 0
        return is_working or bool(self._due or self._unreported)

    def work(self, *, may_learn: bool) -> None:
        """Take the next batch if the learner has not enough to do; never one more than the run's updates need."""
        num_open, limit = self._learner.num_open, self._config.max_updates
        is_last = 0 < limit <= self._learner.num_learned + num_open
        is_occupied = self._learner.is_restoring or self._is_taking or len(self._due) > 1 or num_open >= self._ahead
        if not may_learn or is_last or is_occupied:
            return
        shard = self._simulators.next_ready()
        if shard is not None:
            self._take(shard)

    @property
    def is_away(self) -> bool:
        """Tell whether the learner is not here, or does not have its state yet."""
        return self._learner.is_restoring

    def check_stop(self) -> None:
        """Raise PartAwayError if the run is to stop while the learner, or a server that has work, is away."""
        self._learner.check_stop()
        if self._due:
            self._supervisor.check_stop("server")

    def state(self, *, counts: BufferCounts, next_simulator: int) -> BackendState:
        """Return the learner's state and the versions, with the counts of the simulators.

        A learner that died first repeats the updates since the copy of its state.
        """
        _, arrays, values = self._learner.answer("state")
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
        weights: Weights = self._learner.answer("weights")
        return weights

    def _take(self, shard: Shard) -> None:
        self._is_taking = True
        incarnation = shard.incarnation
        report, parts = shard.actor.take.remote(self.latest.number)

        def on_result(taken: Taken) -> None:
            self._is_taking = False
            if shard.incarnation == incarnation:
                shard.state = taken.state
                self._simulators.note_status(shard, taken.status, has_given=True)
            if taken.staleness is not None:
                self._learner.learn(parts if taken.parts is None else ray.put(taken.parts), taken.staleness)

        def on_error(error: Exception) -> None:
            self._is_taking = False
            self._simulators.replace_lost(shard, incarnation, error)

        self._supervisor.call(shard.part, report, on_result, on_error)

    def _count(self, learned: Learned) -> None:
        self._unreported.append(learned)
        if learned.number % self._config.weight_sync_interval == 0:
            self._due.append(learned.number)
        self._publish_if_due()
        self._report_updates()

    def _report_updates(self) -> None:
        """Emit the updates before the first one whose version the server does not have yet."""
        first_due = self._due[0] if self._due else math.inf
        while self._unreported and self._unreported[0].number < first_due:
            self._supervisor.emit(self._unreported.popleft())

    def _publish_if_due(self) -> None:
        """Have the parameter server make the learner's weights its newest version, and all engines fetch it."""
        if not self._due or self._is_publishing or self._learner.is_restoring:
            return
        self._is_publishing = True
        incarnation = self._learner.incarnation

        def on_result(weights: Weights) -> None:
            self._send_to_server([ray.put(weights)])

        def on_error(error: Exception) -> None:
            self._is_publishing = False
            self._learner.recover(incarnation, error)
            self._publish_if_due()

        self._learner.call("weights", on_result, on_error)

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
            self._unsent = weights
            self._begin_server()

        self._supervisor.call(
            "server", self._server.publish.remote(weights, self.latest.number + 1), on_result, on_error
        )

    def _begin_server(self) -> None:
        """Have the server begin, unless it is about to. Ray repeats the call until a node has room for the server."""
        if self._is_server_beginning:
            return
        self._is_server_beginning = True

        def on_result(_: None) -> None:
            self._is_server_beginning = False
            weights, self._unsent = self._unsent, None
            if weights is not None:
                self._send_to_server(weights)

        def on_error(error: Exception) -> None:
            self._is_server_beginning = False
            self._supervisor.fail("server", error)
            self._begin_server()

        reference = self._server.begin.remote(self._policy_sets, self.latest, self._older)
        self._supervisor.call("server", reference, on_result, on_error)

    def _request_fetch(self, part: str, engine: Any) -> None:
        def on_result(_: int) -> None:
            self._supervisor.succeed(part)

        def on_error(error: Exception) -> None:
            self._supervisor.fail_unless_dead(part, error)  # it fetches the newest version when it starts again

        self._supervisor.call(part, engine.fetch.remote(), on_result, on_error)
