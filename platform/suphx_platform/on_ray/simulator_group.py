"""Simulator actors that fill the shards of the replay buffer: who plays next, who waits for room, who died."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import ray

from suphx.experience.decisions import Decisions
from suphx_platform.backend.backend import BackendState
from suphx_platform.on_ray.supervision.actor_supervisor import CALL_ERRORS, ActorSupervisor, has_lost_answer, is_death
from suphx_platform.on_ray.topology import Topology
from suphx_platform.parts.reinforcement_config import ReinforcementConfig
from suphx_platform.parts.replay_buffer import BufferCounts, BufferStatus
from suphx_platform.parts.self_play_simulator import Played

_AHEAD = 2
"""Tasks that a simulator has at a time, so that it never waits for the next one."""


@dataclass(slots=True, eq=False)
class Shard:
    """A part of the replay buffer."""

    part: str
    actor: Any
    status: BufferStatus = field(default_factory=lambda: BufferStatus(False, 0, 0, BufferCounts()))
    """Its last report."""
    is_full: bool = False
    """It refused what came last, and nothing was taken since."""
    incarnation: int = 0
    """Times that it was lost; answers of an earlier incarnation are ignored."""
    is_begun: bool = False
    """Its incarnation is here: nothing is asked of it before."""


@dataclass(slots=True, eq=False)
class _SimulatorHandle:
    """A simulator, and its decisions on their way to its shard."""

    part: str
    actor: Any
    shard: Shard
    incarnation: int = 0
    """Times that it was told to begin; answers of an earlier incarnation are ignored."""
    is_begun: bool = False
    num_playing: int = 0
    pending: deque[Any] = field(default_factory=deque)
    """References of decisions that the shard does not have yet."""
    is_adding: bool = False


class SimulatorGroup:
    """Consumes: room in buffers. Produces: decisions in them. Waits for: a shard to have room again.

    Starts the games of restarted simulators, and holds their decisions back while a shard is full.
    """

    def __init__(self, config: ReinforcementConfig, topology: Topology, supervisor: ActorSupervisor) -> None:
        self._config = config
        self._supervisor = supervisor
        self._is_free = config.cluster.pace == "free"
        self.shards = [Shard(f"buffer {number}", actor) for number, actor in enumerate(topology.buffers)]
        self._handles = [
            _SimulatorHandle(f"simulator {number}", actor, self.shards[number % len(self.shards)])
            for number, actor in enumerate(topology.simulators)
        ]
        self._to_do: set[_SimulatorHandle] = set()
        self._past = BufferCounts()
        self._next_shard = 0
        self.next_number = 0
        """Of the next simulator that begins."""
        self.version = 0
        """The newest policy version."""

    @property
    def counts(self) -> BufferCounts:
        """Decisions that went through all shards, dead ones too."""
        total = self._past
        for shard in self.shards:
            total = total.plus(shard.status.counts)
        return total

    @property
    def buffer_bytes(self) -> int:
        """Bytes of all decisions that wait in shards."""
        return sum(shard.status.num_bytes for shard in self.shards)

    @property
    def num_pending(self) -> int:
        """Fragments of decisions that no shard has taken yet."""
        return sum(len(handle.pending) for handle in self._handles)

    @property
    def is_empty(self) -> bool:
        """Tell whether no shard has a batch."""
        return not any(shard.status.is_ready for shard in self.shards)

    @property
    def is_away(self) -> bool:
        """Tell whether no simulator is here."""
        return not any(handle.is_begun for handle in self._handles)

    @property
    def is_stuck(self) -> bool:
        """Tell whether some wait for room in a shard that has no batch to give."""
        return any(
            handle.pending and handle.shard.is_full and not handle.shard.status.is_ready for handle in self._handles
        )

    def begin(self, state: BackendState | None) -> None:
        """Tell all simulators to begin; go on with the games and decisions of ``state`` if it has as many."""
        simulators: list[Mapping[str, np.ndarray] | None] = [None] * len(self._handles)
        buffers: list[Any] = [None] * len(self.shards)
        held: list[list[Decisions]] = [[] for _ in self._handles]
        if state is not None:
            self.next_number, self._past = state.next_simulator, state.counts
            if (len(state.simulators), len(state.buffers)) == (len(self._handles), len(self.shards)):
                simulators, buffers, held = list(state.simulators), list(state.buffers), state.held
        for shard, part in zip(self.shards, buffers, strict=True):
            self._begin_shard(shard, part)
        if any(part is not None for part in buffers):
            for shard in self.shards:
                self._wait_for(shard)
                self._past = self._past.minus(shard.status.counts)  # leaves what went through dead shards
        for handle, games, fragment in zip(self._handles, simulators, held, strict=True):
            if fragment:
                handle.pending.append(ray.put(fragment))
                handle.shard.is_full = True
            self._begin(handle, games)

    def add_state(self, state: BackendState) -> None:
        """Add the states of all simulators and shards, and the decisions on their way, to ``state``: between two tasks.

        A part that died first is restarted, and its new state is added.
        """
        state.simulators = [self._state_of_simulator(handle) for handle in self._handles]
        state.buffers = [self._state_of_shard(shard) for shard in self.shards]
        state.held = [self._held_of(handle) for handle in self._handles]

    def _held_of(self, handle: _SimulatorHandle) -> list[Decisions]:
        """Return the decisions that wait for room in the shard; in lockstep one fragment at most."""
        held: list[Decisions] = []
        for fragment in handle.pending:
            try:
                held += self._supervisor.answer(handle.part, fragment)
            except ray.exceptions.ObjectLostError as error:
                self._supervisor.fail(handle.part, error)
        return held

    def _state_of_simulator(self, handle: _SimulatorHandle) -> Mapping[str, np.ndarray]:
        while True:
            self._wait_for(handle)
            incarnation = handle.incarnation
            try:
                state: Mapping[str, np.ndarray] = self._supervisor.answer(handle.part, handle.actor.state.remote())
            except CALL_ERRORS as error:
                self._handle_error(handle, incarnation, error)
            else:
                return state

    def _state_of_shard(self, shard: Shard) -> tuple[Mapping[str, np.ndarray], Mapping[str, Any]]:
        while True:
            self._wait_for(shard)
            incarnation = shard.incarnation
            try:
                state: tuple[Mapping[str, np.ndarray], Mapping[str, Any]] = self._supervisor.answer(
                    shard.part, shard.actor.state.remote()
                )
            except CALL_ERRORS as error:
                if not has_lost_answer(error):
                    raise
                self.replace_lost(shard, incarnation, error)
            else:
                return state

    def work(self, *, may_play: bool) -> None:
        """Deliver waiting decisions, and give tasks to simulators that may play."""
        limit = _AHEAD if self._is_free else 1
        for handle in list(self._to_do):
            self._hand_over(handle)
            while may_play and handle.is_begun and handle.num_playing + len(handle.pending) < limit:
                self._play(handle)
            if may_play or not handle.is_begun:
                self._to_do.discard(handle)

    def next_ready(self) -> Shard | None:
        """Return a shard that has a batch, all by turns."""
        for step in range(len(self.shards)):
            shard = self.shards[(self._next_shard + step) % len(self.shards)]
            if shard.status.is_ready:
                self._next_shard = (self._next_shard + step + 1) % len(self.shards)
                return shard
        return None

    def note_status(self, shard: Shard, status: BufferStatus, *, has_given: bool) -> None:
        """Note the status of a shard; ``has_given``: it may have room again."""
        shard.status = status
        self._supervisor.succeed(shard.part)
        if has_given:
            shard.is_full = False
            self._look_at(shard)

    def replace_lost(self, shard: Shard, incarnation: int, error: Exception) -> None:
        """Count what was lost with a shard that died in its ``incarnation``; the restarted one gets what is pending."""
        if shard.incarnation != incarnation:
            return
        self._supervisor.fail(shard.part, error)
        shard.incarnation += 1
        last = shard.status
        if last.num_decisions or last.counts != BufferCounts():
            self._past = self._past.plus(last.counts).plus(BufferCounts(lost=last.num_decisions))
        shard.status = BufferStatus(False, 0, 0, BufferCounts())
        shard.is_full = False
        self._begin_shard(shard)

    def _begin_shard(self, shard: Shard, state: Any = None) -> None:
        """Have a shard begin, perhaps with a ``state``. Ray repeats the call until a node has room for the shard."""
        shard.is_begun = False
        incarnation = shard.incarnation

        def on_result(status: BufferStatus) -> None:
            shard.is_begun, shard.status = True, status
            self._look_at(shard)

        def on_error(error: Exception) -> None:
            self.replace_lost(shard, incarnation, error)

        self._supervisor.call(shard.part, shard.actor.begin.remote(incarnation, state), on_result, on_error)

    def _wait_for(self, part: Shard | _SimulatorHandle) -> None:
        """Handle answers until a part has begun; PartAwayError if the run is to stop meanwhile and the part is away."""
        while not part.is_begun:
            self._supervisor.check_stop(part.part)
            self._supervisor.wait()

    def _begin(self, handle: _SimulatorHandle, games: Mapping[str, np.ndarray] | None = None) -> None:
        handle.incarnation += 1
        handle.is_begun, handle.num_playing = False, 0
        number, self.next_number = self.next_number, self.next_number + 1
        incarnation = handle.incarnation

        def on_result(_: None) -> None:
            if handle.incarnation == incarnation:
                handle.is_begun = True
                self._to_do.add(handle)

        self._call(handle, handle.actor.begin.remote(number, games), on_result, incarnation)

    def _play(self, handle: _SimulatorHandle) -> None:
        handle.num_playing += 1
        incarnation = handle.incarnation
        report, decisions = handle.actor.play.remote(
            self._config.rollout_fragment_length, not self._is_free, self.version
        )

        def on_result(played: Played) -> None:
            if handle.incarnation != incarnation:
                return
            handle.num_playing -= 1
            handle.pending.append(decisions)
            self._supervisor.succeed(handle.part)
            self._supervisor.emit(played)
            self._hand_over(handle)
            self._to_do.add(handle)

        self._call(handle, report, on_result, incarnation)

    def _call(self, handle: _SimulatorHandle, reference: Any, on_result: Any, incarnation: int) -> None:
        def on_error(error: Exception) -> None:
            self._handle_error(handle, incarnation, error)

        self._supervisor.call(handle.part, reference, on_result, on_error)

    def _handle_error(self, handle: _SimulatorHandle, incarnation: int, error: Exception) -> None:
        """Restart the games of a simulator whose call failed, unless another call of this incarnation failed before."""
        if handle.incarnation == incarnation:
            self._supervisor.fail(handle.part, error)
            self._begin(handle)

    def _hand_over(self, handle: _SimulatorHandle) -> None:
        """Offer the oldest decisions that are held, unless the shard is away or known to be full."""
        shard = handle.shard
        if not handle.pending or handle.is_adding or shard.is_full or not shard.is_begun:
            return
        incarnation = shard.incarnation
        handle.is_adding = True
        decisions = handle.pending[0]

        def on_result(answer: tuple[bool, BufferStatus]) -> None:
            is_taken, status = answer
            handle.is_adding = False
            if is_taken:
                handle.pending.popleft()
            if shard.incarnation == incarnation:
                shard.is_full = not is_taken
                self.note_status(shard, status, has_given=False)
            self._to_do.add(handle)

        def on_error(error: Exception) -> None:
            handle.is_adding = False
            if is_death(error):
                self.replace_lost(shard, incarnation, error)
            else:  # the decisions went with the node on which they were
                self._supervisor.fail(handle.part, error)
                handle.pending.popleft()
            self._to_do.add(handle)

        self._supervisor.call(shard.part, shard.actor.add.remote(decisions), on_result, on_error)

    def _look_at(self, shard: Shard) -> None:
        self._to_do.update(handle for handle in self._handles if handle.shard is shard)
