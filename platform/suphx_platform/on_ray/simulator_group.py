"""Simulator actors that fill the shards of the replay buffer: who plays next, who waits for room, who died."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import ray

from suphx.experience.decisions import Decisions
from suphx.selfplay.backend import BackendState, Played
from suphx.selfplay.buffer import BufferCounts, BufferStatus
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.on_ray.ray_actors import BufferState
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor, is_death
from suphx_platform.on_ray.topology import Topology

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
    state: BufferState | None = None
    """In lockstep: after its last report. A shard that was lost begins with it."""


@dataclass(slots=True, eq=False)
class _SimulatorHandle:
    """A simulator, and its decisions on their way to its shard."""

    part: str
    actor: Any
    shard: Shard
    incarnation: int = 0
    """Times that it was told to begin; answers of an earlier incarnation are ignored."""
    number: int | None = None
    """Of the simulator whose games it plays."""
    state: Mapping[str, np.ndarray] | None = None
    """In lockstep: after its last report. A simulator that was lost begins with it."""
    is_begun: bool = False
    num_playing: int = 0
    pending: deque[Any] = field(default_factory=deque)
    """References of decisions that the shard does not have yet."""
    is_adding: bool = False


class SimulatorGroup:
    """Consumes: room in buffers. Produces: decisions in them. Waits for: a shard to have room again.

    Starts the games of restarted simulators, and holds their decisions back while a shard is full. At free pace, a
    simulator or shard that dies loses its games or decisions. In lockstep, each report brings the state, and the next
    incarnation begins with it and repeats what had not been reported: a death changes no number.
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
        held: list[list[Decisions]] = [[] for _ in self._handles]
        is_restored = False
        if state is not None:
            self.next_number, self._past = state.next_simulator, state.counts
            if (len(state.simulators), len(state.buffers)) == (len(self._handles), len(self.shards)):
                is_restored, held = True, state.held
                for handle, games in zip(self._handles, state.simulators, strict=True):
                    handle.state = games
                for shard, content in zip(self.shards, state.buffers, strict=True):
                    shard.state = content
        for shard in self.shards:
            self._begin_shard(shard)
        if is_restored:
            for shard in self.shards:
                self._wait_for(shard)
                self._past = self._past.minus(shard.status.counts)  # leaves what went through dead shards
        for handle, fragment in zip(self._handles, held, strict=True):
            if fragment:
                handle.pending.append(ray.put(fragment))
                handle.shard.is_full = True
            self._begin(handle)

    def add_state(self, state: BackendState) -> None:
        """Add the states of all simulators and shards, and the decisions on their way, to ``state``: between two tasks.

        Only in lockstep. Waits for parts that have never begun; others may be away.
        """
        parts: list[Shard | _SimulatorHandle] = [*self._handles, *self.shards]
        for part in parts:
            if part.state is None:
                self._wait_for(part)
        state.simulators = [handle.state for handle in self._handles if handle.state is not None]
        state.buffers = [shard.state for shard in self.shards if shard.state is not None]
        state.held = [[part for kept in handle.pending for part in ray.get(kept)] for handle in self._handles]

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
        if shard.state is not None:
            shard.status = replace(last, is_ready=False)
        else:
            self._past = self._past.plus(last.counts).plus(BufferCounts(lost=last.num_decisions))
            shard.status = BufferStatus(False, 0, 0, BufferCounts())
            shard.is_full = False
        self._begin_shard(shard)

    def _begin_shard(self, shard: Shard) -> None:
        """Have a shard begin, with its state if it has one. Ray repeats the call until a node has room for it."""
        shard.is_begun = False
        incarnation = shard.incarnation

        def on_result(report: tuple[BufferStatus, BufferState | None]) -> None:
            shard.is_begun = True
            shard.status, shard.state = report
            self._look_at(shard)

        def on_error(error: Exception) -> None:
            self.replace_lost(shard, incarnation, error)

        self._supervisor.call(shard.part, shard.actor.begin.remote(incarnation, shard.state), on_result, on_error)

    def _wait_for(self, part: Shard | _SimulatorHandle) -> None:
        """Handle answers until a part has begun; PartAwayError if the run is to stop meanwhile and the part is away."""
        while not part.is_begun:
            self._supervisor.check_stop(part.part)
            self._supervisor.wait()

    def _begin(self, handle: _SimulatorHandle) -> None:
        handle.incarnation += 1
        handle.is_begun, handle.num_playing = False, 0
        if self._is_free or handle.number is None:  # the games of a dead simulator are not played again at free pace
            handle.number, self.next_number = self.next_number, self.next_number + 1
        incarnation = handle.incarnation

        def on_result(state: Mapping[str, np.ndarray] | None) -> None:
            if handle.incarnation == incarnation:
                handle.is_begun, handle.state = True, state
                self._to_do.add(handle)

        self._call(handle, handle.actor.begin.remote(handle.number, handle.state), on_result, incarnation)

    def _play(self, handle: _SimulatorHandle) -> None:
        handle.num_playing += 1
        incarnation = handle.incarnation
        report, decisions = handle.actor.play.remote(
            self._config.rollout_fragment_length, not self._is_free, self.version
        )

        def on_result(answer: tuple[Played, Mapping[str, np.ndarray] | None]) -> None:
            if handle.incarnation != incarnation:
                return
            played, handle.state = answer
            handle.num_playing -= 1
            handle.pending.append(decisions if self._is_free else ray.put(played.decisions))
            self._supervisor.succeed(handle.part)
            self._supervisor.emit(replace(played, decisions=[]))
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

        def on_result(answer: tuple[bool, BufferStatus, BufferState | None]) -> None:
            is_taken, status, state = answer
            handle.is_adding = False
            is_current = shard.incarnation == incarnation
            if is_taken and (is_current or self._is_free):
                handle.pending.popleft()
            if is_current:
                shard.is_full, shard.state = not is_taken, state
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
