"""The data flow of the paper's Figure 6 over processes: the driver counts, decides, and replaces what died.

At free pace every part works as fast as it can, and data goes from actor to actor (actors.py): this process only says
how long to work, hears what came of it, and makes versions of the learner's weights. A simulator or shard that dies
loses its games or decisions; a learner resumes from the last copy of its state, and makes the updates since then again.

In lockstep one thing is done at a time, so that the numbers are those of one process. When a part dies, all parts go
back to the last snapshot, and do again what they have done since then: a death changes no number.

Weights and copies of states come here, so that they survive the machines of their parts.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np
import ray
import torch

from suphx.selfplay.backend import Backend, BackendState, Event, Fault, Learned, Played, Progress
from suphx.selfplay.buffer import BufferCounts, BufferStatus
from suphx.selfplay.weights import PolicyVersion, Versions, Weights
from suphx.training.local_backend import full_error
from suphx_platform.ray.actors import LearnerCopy, Worked
from suphx_platform.ray.fetching_engine import with_weights
from suphx_platform.ray.parts import RunParts
from suphx_platform.ray.session import ray_session
from suphx_platform.ray.supervisor import LOST, Answer, Supervisor
from suphx_platform.ray.topology import Topology, local_needs

_AHEAD = 2
"""Calls that a simulator or the learner has at a time, so that it never waits for the next one."""
_WORK_SECONDS = 1.0
"""How long the learner works before it tells what it did; simulators longer, the more there are."""
_CALLS_PER_SECOND = 500
"""Of all simulators: more would keep the driver busy."""
T = TypeVar("T")
_logger = logging.getLogger(__name__)


class _LostError(Exception):
    """A part was lost while the caller waited for an answer."""


@dataclass(slots=True)
class _Snapshot:
    """All that the parts begin with. Weights are lists of one reference each, other big things references."""

    versions: Versions
    learner: Any = None
    num_learned: int = 0
    next_number: int = 0
    turn: int = 0
    simulators: Mapping[str, Any] = field(default_factory=dict)
    buffers: Mapping[str, Any] = field(default_factory=dict)


class RayBackend(Backend):
    """Consumes: answers of actors. Produces: their next calls, and events. Waits for: the next answer."""

    def __init__(
        self, parts: RunParts, state: BackendState | None = None, *, new_matches: Callable[[], Any] | None = None
    ) -> None:
        """Have all actors placed and begin; go on from ``state``. ``new_matches`` makes who plays matches meanwhile
        (``TaskMatches``, or what has its methods); None: there are none.
        """
        self._parts, self._new_matches = parts, new_matches
        self._stack = ExitStack()
        try:
            self._start(state)
        except BaseException:
            self._stack.close()
            raise

    def _start(self, state: BackendState | None) -> None:
        layout = self._parts.layout
        self._stack.enter_context(ray_session(**local_needs(layout, self._parts.num_learners)))
        self._topology = Topology(self._parts)
        self._stack.callback(self._topology.close)
        self._matches = None if self._new_matches is None else self._new_matches()
        if self._matches is not None:
            self._stack.callback(self._matches.close)
        self.actors: Mapping[str, Any] = self._topology.actors
        self._simulators = [part for part in self.actors if part.startswith("simulator")]
        self._buffers = [part for part in self.actors if part.startswith("buffer")]
        self._engines = [part for part in self.actors if part.startswith("engine")]
        self.supervisor = Supervisor(
            layout,
            self.actors,
            renew=self._topology.renew,
            needs={part: self._engines for part in self._simulators if self._engines},
            remedy=self._parts.remedy,
            needs_text={"learner": self._parts.learner_needs} if self._parts.learner_needs else {},
        )
        self._policy_sets = [ray.put(policy_set) for policy_set in self._parts.policy_sets]
        self._begun: set[str] = set()
        self._statuses = {part: BufferStatus(False, 0, 0, BufferCounts()) for part in self._buffers}
        self._past = BufferCounts()
        self._playing_seconds, self._num_faults = 0.0, 0
        self._begin_all(self._first(state))
        if state is not None:
            self._past = state.counts
            for _, values in state.buffers if self._snapshot.buffers else []:  # these counts come back with the buffers
                self._past = self._past.plus(BufferCounts(**values["counts"]), -1)

    def _first(self, state: BackendState | None) -> _Snapshot:
        if state is None:
            return _Snapshot([PolicyVersion(0, [ray.put(self._parts.first_weights)])])
        references = {version.number: [ray.put(version.weights)] for version in state.versions}
        tensors, values = state.learner
        copy: LearnerCopy = (values["num_updates"], {n: t.numpy() for n, t in tensors.items()}, values)
        snapshot = _Snapshot(
            versions=[PolicyVersion(each.number, references[each.number]) for each in state.versions],
            learner=ray.put(copy),
            num_learned=values["num_updates"],
            next_number=state.next_simulator,
        )
        if (len(state.simulators), len(state.buffers)) == (len(self._simulators), len(self._buffers)):
            games = zip(state.simulators, state.held, strict=True)
            snapshot.simulators = {part: ray.put(own) for part, own in zip(self._simulators, games, strict=True)}
            snapshot.buffers = {part: ray.put(own) for part, own in zip(self._buffers, state.buffers, strict=True)}
        return snapshot

    # what the trainer sees

    @property
    def version(self) -> int:
        """The number of the newest policy version."""
        return self._versions[0].number

    @property
    def counts(self) -> BufferCounts:
        """Decisions that went through all buffers, dead ones too."""
        total = self._past
        for status in self._statuses.values():
            total = total.plus(status.counts)
        return total

    @property
    def gauges(self) -> Mapping[str, float]:
        """Figures of the moment: of buffers, of the largest process of each kind, rates of engines."""
        if self._parts.steps is None:
            return {
                "simulators": float(len(self.supervisor.health.keys() & set(self._simulators))),
                "buffered_rounds": float(sum(status.num_decisions for status in self._statuses.values())),
                "playing_seconds": self._playing_seconds,
                "faults": float(self._num_faults),
            }
        gauges: dict[str, float] = {
            "buffer_bytes": sum(status.num_bytes for status in self._statuses.values()),
            **self.supervisor.engine_rates.gauges(),
        }
        for part, health in self.supervisor.health.items():
            name = f"{part.split()[0]}_memory_bytes"
            gauges[name] = max(gauges.get(name, 0.0), health.memory_bytes)
            if part == "server":
                gauges["engine_versions_behind"] = health.versions_behind
        return gauges

    @property
    def is_waiting_for_parts(self) -> bool:
        """Whether the learner or all simulators are unavailable: not scheduled yet, starting, or lost."""
        return "learner" not in self._begun or self._begun.isdisjoint(self._simulators)

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        """Do not wait for a part that is unavailable once a stop ``is_made``."""
        self.supervisor.is_stopping = is_made

    def newest(self) -> PolicyVersion:
        """Return the newest policy version with its weights."""
        return with_weights(self._versions[0])

    def play_match(self, order: Any, progress: Progress) -> Future[Any]:
        """Have a match played beside simulators, while training continues."""
        assert self._matches is not None
        return cast("Future[Any]", self._matches.play(order))

    def close(self) -> None:
        """End all actors, and Ray if it was started for them."""
        self._stack.close()

    def _state(self, copy: LearnerCopy) -> BackendState:
        _, arrays, values = copy
        return BackendState(
            learner=({name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}, values),
            versions=[with_weights(version) for version in self._versions],
            counts=self.counts,
            next_simulator=self._next_number,
        )

    def _events(self) -> list[Event]:
        events = self.supervisor.events()
        self._num_faults += sum(isinstance(event, Fault) for event in events)
        self._playing_seconds += sum(event.seconds for event in events if isinstance(event, Played))
        return events

    # begin, and begin again

    def _begin_all(self, snapshot: _Snapshot) -> None:
        self._snapshot = snapshot
        self._versions = snapshot.versions
        self._copy, self._num_learned = snapshot.learner, snapshot.num_learned
        self._next_number = snapshot.next_number
        self._begin_parts()

    def _begin_parts(self) -> None:
        for part in ("server", *self._buffers, "learner", *self._simulators):
            self._begin(part)

    def _begin(self, part: str) -> None:
        """Have a part begin, or begin again; one for which no node has room answers later."""
        self._begun.discard(part)
        self.supervisor.begin_life(part)
        if part == "server":
            self.supervisor.call(part, "begin", self._policy_sets, self._versions)
        elif part == "learner":
            self.supervisor.call(part, "begin", self._copy)
        elif part in self._statuses:
            self.supervisor.call(part, "begin", self._snapshot.buffers.get(part))
        elif part in self._engines:
            self.supervisor.call(part, "begin")
        else:
            number = self._number_of(part)
            self.supervisor.call(part, "begin", number, self.version, self._snapshot.simulators.get(part))

    def _number_of(self, part: str) -> int:
        """Return the number of the games of a simulator that begins."""
        raise NotImplementedError

    def _handle(self, answer: Answer) -> None:
        """Go on with the answer of a part, by the method that was called."""
        if answer.method == LOST:
            self._lose(answer.part)
        elif answer.method == "begin":
            self._begun.add(answer.part)
            self._after_begin(answer.part, answer.value)
        else:
            getattr(self, f"_after_{answer.method}")(answer.part, answer.value)

    def _lose(self, part: str) -> None:
        """Do what follows from the loss of a part that has been told of."""
        raise NotImplementedError

    def _after_begin(self, part: str, value: Any) -> None:
        if part == "learner":
            if self._copy is None:
                self._copy = self._snapshot.learner = ray.put(value)
        elif part in self._statuses:
            self._statuses[part] = value


class FreeBackend(RayBackend):
    """Every part works as fast as it can."""

    def _start(self, state: BackendState | None) -> None:
        self._idle: set[str] = set()
        """Simulators that may have too little to do."""
        self._orders: dict[str, deque[int]] = {}
        """By simulator, the rounds that it was given and has not played."""
        self._again: deque[int] = deque()
        """Rounds that nobody has played, whose numbers were given away."""
        self._untold: deque[Learned] = deque()
        """Updates from the first one on whose version the server does not have yet."""
        self._due: deque[tuple[int, Any]] = deque()
        """Updates that make versions, and references of their weights."""
        self._is_publishing = False
        self._made = 0
        super()._start(state)
        num_simulators = len(self._simulators)
        self._play_seconds = _WORK_SECONDS + _AHEAD * num_simulators / _CALLS_PER_SECOND
        for part in self._simulators:
            self._orders.setdefault(part, deque())

    def advance(self) -> list[Event]:
        """Give everybody something to do and wait for an answer; return what happened."""
        self._work(may_learn=True)
        for part in self._begun.intersection(self._buffers) & self.supervisor.health.keys():
            status = self.supervisor.health[part].status
            if status is not None:
                self._statuses[part] = status
                if status.is_stuck:
                    raise full_error(self._parts.capacity_bytes)
        return self._events()

    def settle(self) -> list[Event]:
        """Wait until all updates that were begun are made and their versions are published; return what happened.

        Simulators play on. Raises PartUnavailableError.
        """
        self._finish_updates()
        for part in self._buffers:
            if part in self._begun and part in self.supervisor.health:
                with suppress(_LostError):
                    self._statuses[part] = self._ask(part, "status")
        return self._events()

    def weights(self) -> Weights:
        """Return the weights that matches and checkpoints get."""
        return cast(Weights, self._ask_learner("weights"))

    def state(self) -> BackendState:
        """Return what a new backend needs, without games under way and decisions in buffers."""
        return self._state(self._ask_learner("state"))

    @property
    def _is_busy(self) -> bool:
        """Tell whether the learner restarts or works, or a version is not published."""
        is_unavailable = "learner" not in self._begun or self._made < self._num_learned
        return is_unavailable or self.supervisor.num_calls("learner") > 0 or bool(self._due)

    def _finish_updates(self) -> None:
        """Wait until all updates that were begun are made, and published."""
        while self._is_busy:
            if "learner" not in self._begun:
                self.supervisor.check_stop("learner")
            if self._due:
                self.supervisor.check_stop("server")
            self._work(may_learn=False)

    def _ask_learner(self, method: str) -> Any:
        """Return what the learner says after all updates; if it dies meanwhile, the one that has made them again."""
        while True:
            self._finish_updates()
            with suppress(_LostError):
                return self._ask("learner", method)

    def _ask(self, part: str, method: str) -> Any:
        """Return what a part answers, while others go on. Raises _LostError if it is lost, PartUnavailableError."""
        self.supervisor.call(part, method)
        while True:
            self.supervisor.check_stop(part)
            found: list[Answer] = []
            is_lost = False
            for answer in self.supervisor.wait():  # all are handled: others may have been lost with the same node
                if (answer.part, answer.method) == (part, method):
                    found.append(answer)
                else:
                    self._handle(answer)
                    is_lost = is_lost or (answer.part, answer.method) == (part, LOST)
            if found:
                return found[0].value
            if is_lost:
                raise _LostError

    def _work(self, *, may_learn: bool) -> None:
        """Give the parts something to do, and handle answers; ``may_learn``: beyond what is known to be learned."""
        if "learner" in self._begun:
            until = self._parts.stop_after(self._num_learned) if may_learn else self._num_learned
            while self._made < until and self.supervisor.num_calls("learner") < _AHEAD and len(self._due) < _AHEAD:
                self.supervisor.call("learner", "work", until, _WORK_SECONDS)
        for part in list(self._idle):
            while self.supervisor.num_calls(part) < _AHEAD:
                self._play(part)
        self._idle.clear()
        for answer in self.supervisor.wait():
            self._handle(answer)

    def _play(self, part: str) -> None:
        if self._parts.steps is not None:
            self.supervisor.call(part, "play", self._parts.steps, self.version, self._play_seconds)
            return
        if self._again:
            number = self._again.popleft()
        else:
            number, self._next_number = self._next_number, self._next_number + 1
        self._orders[part].append(number)
        self.supervisor.call(part, "play", number, self.version, None)

    def _number_of(self, part: str) -> int:
        """Return a new number: the games of a dead simulator are not played again."""
        if self._parts.steps is None:
            return 0
        number, self._next_number = self._next_number, self._next_number + 1
        return number

    def _lose(self, part: str) -> None:
        self._idle.discard(part)
        if part in self._orders:
            self._again.extend(self._orders[part])
            self._orders[part].clear()
        elif part == "server":
            self._is_publishing = False
        elif part in self._statuses:
            last, self._statuses[part] = self._statuses[part], BufferStatus(False, 0, 0, BufferCounts())
            self._past = self._past.plus(last.counts).plus(BufferCounts(lost=last.num_decisions))
        if part not in self._engines:  # which fetch the newest version by themselves
            self._snapshot = replace(self._snapshot, simulators={}, buffers={})
            self._begin(part)

    def _after_begin(self, part: str, value: Any) -> None:
        super()._after_begin(part, value)
        if part in self._orders or part.startswith("simulator"):
            self._idle.add(part)
        elif part == "learner":
            self._made = value[0]
        elif part == "server":
            self._publish()

    def _after_play(self, part: str, played: Played) -> None:
        self._idle.add(part)
        if self._parts.steps is None:
            number = self._orders[part].popleft()
            if not played.num_games:  # the buffer had no room
                self._again.append(number)
                return
        if played.num_decisions or played.seconds:
            self.supervisor.succeed(part)
            self.supervisor.emit(played)

    def _after_work(self, part: str, worked: Worked) -> None:
        for learned in worked.learned:
            self._made = learned.number
            if learned.number > self._num_learned:  # repeated updates are no success: a later one may kill it each time
                self._num_learned = learned.number
                self.supervisor.succeed(part)
                self._untold.append(learned)
        if worked.copy is not None:
            self._copy = ray.put(worked.copy)
        if worked.weights is not None and self._version_of(self._made) > self.version:
            self._due.append((self._made, ray.put(worked.weights)))
            self._publish()
        self._tell()

    def _version_of(self, num_updates: int) -> int:
        return num_updates // self._parts.updates_per_version

    def _tell(self) -> None:
        """Emit the updates before the first one whose version the server does not have yet."""
        while self._untold and (not self._due or self._untold[0].number < self._due[0][0]):
            self.supervisor.emit(self._untold.popleft())

    def _publish(self) -> None:
        """Have the parameter server make the oldest weights that are due its newest version."""
        if self._due and not self._is_publishing and "server" in self._begun:
            self._is_publishing = True
            number, weights = self._due[0]
            self.supervisor.call("server", "publish", [weights], self._version_of(number))

    def _after_publish(self, part: str, versions: Versions) -> None:
        self._is_publishing = False
        self._due.popleft()
        self.supervisor.succeed(part)
        self._versions = versions
        self._publish()
        self._tell()
        for engine in self._engines:
            self.supervisor.call(engine, "fetch")

    def _after_fetch(self, part: str, version: int) -> None:
        self.supervisor.succeed(part)


class LockstepBackend(RayBackend):
    """One thing at a time; a part that dies takes all parts back to the last snapshot, from which they go on."""

    def _start(self, state: BackendState | None) -> None:
        self._numbers: dict[str, int] = {}
        """Of the simulators' games."""
        self._held: set[str] = set()
        """Simulators whose shard had no room for what they have played, or that may have such decisions."""
        self._done = self._told = 0
        """Events since the snapshot: that have happened in this life of the parts, and that the trainer knows."""
        self._wants_snapshot = self._has_unlearned = False
        super()._start(state)

    def advance(self) -> list[Event]:
        """Do the next thing, if all parts are here; return what happened. A round is played and learned from.

        A snapshot is taken before it, not after: who is told of an update may ask for its version and counts at once.
        """
        if self._begun < self.actors.keys():
            self._wait_for_parts()
            return self._events()
        try:
            self._catch_up()
            if self._wants_snapshot:
                self._take_snapshot(self._copy)
            self._go_on()
            if self._has_unlearned:
                self._go_on()
        except _LostError:
            self._begin_all(self._snapshot)
        return self._events()

    def newest(self) -> PolicyVersion:
        """Return the newest policy version with its weights."""
        return self._certainly(super().newest)

    def settle(self) -> list[Event]:
        """Learn from a round that was played; between two calls of ``advance`` nothing else is under way."""
        if self._has_unlearned:
            self._certainly(self._go_on)
        return self._events()

    def weights(self) -> Weights:
        """Return the weights that matches and checkpoints get."""
        return cast(Weights, self._certainly(lambda: self._ask("learner", "weights")))

    def state(self) -> BackendState:
        """Return all that a new backend needs to go on with the same numbers."""

        def whole_state() -> BackendState:
            copy = self._ask("learner", "state")
            games, buffers = self._take_snapshot(ray.put(copy))
            state = self._state(copy)
            state.simulators, state.held = [arrays for arrays, _ in games], [list(held) for _, held in games]
            state.buffers = buffers
            return state

        return self._certainly(whole_state)

    def _certainly(self, act: Callable[[], T]) -> T:
        """Return what ``act`` gives after all that was told has happened, whoever dies meanwhile.

        Raises PartUnavailableError if the run is to stop while a part is unavailable.
        """
        while True:
            while missing := self.actors.keys() - self._begun:
                for part in missing:
                    self.supervisor.check_stop(part)
                self._wait_for_parts()
            try:
                self._catch_up()
                return act()
            except _LostError:
                self._begin_all(self._snapshot)

    def _wait_for_parts(self) -> None:
        for answer in self.supervisor.wait():
            self._handle(answer)

    def _catch_up(self) -> None:
        """Do again what the trainer knows of."""
        while self._done < self._told:
            self._step()
            self._done += 1

    def _go_on(self) -> None:
        event = self._step()
        self._done, self._told = self._done + 1, self._told + 1
        self.supervisor.emit(event)

    def _step(self) -> Event:
        """Learn if there are decisions for it, else let the next simulator play."""
        if self.supervisor.wait(0):  # nothing was called: a part is lost
            raise _LostError
        self._deliver()
        worked: Worked = self._ask("learner", "work_once")
        if worked.learned:
            self._note(worked)
            event: Event = worked.learned[0]
        else:
            self._deliver()
            if self._held:
                raise full_error(self._parts.capacity_bytes)
            event = self._play()
        for part in self._buffers:
            self._statuses[part] = self._ask(part, "status")
        self._has_unlearned = self._parts.steps is None and isinstance(event, Played)
        return event

    def _deliver(self) -> None:
        """Have simulators give to their shards what these had no room for."""
        self._held = {part for part in self._held if not self._ask(part, "deliver")}

    def _play(self) -> Played:
        part = self._simulators[self._turn % len(self._simulators)]
        self._turn += 1
        order = self._parts.steps
        if order is None:
            order, self._next_number = self._next_number, self._next_number + 1
        played, is_delivered = self._ask(part, "play_once", order, self.version)
        self.supervisor.succeed(part)
        if not is_delivered:
            self._held.add(part)
        return cast(Played, played)

    def _note(self, worked: Worked) -> None:
        """Publish what was learned, and note whether it is time for a snapshot."""
        self._num_learned = worked.learned[0].number
        if worked.weights is not None:
            number = self._num_learned // self._parts.updates_per_version
            weights = [ray.put(worked.weights)]
            self._versions = self._ask("server", "publish", weights, number)
            for engine in self._engines:
                self._ask(engine, "fetch")
        if worked.copy is not None:
            self._copy, self._wants_snapshot = ray.put(worked.copy), True
        for part in ("learner", "server", *self._engines):
            self.supervisor.succeed(part)

    def _take_snapshot(self, copy: Any) -> tuple[list[Any], list[Any]]:
        """Note all states as they are; return those of simulators and of buffers."""
        games = [self._ask(part, "state") for part in self._simulators]
        buffers = [self._ask(part, "state") for part in self._buffers]
        self._snapshot = _Snapshot(
            versions=self._versions,
            learner=copy,
            num_learned=self._num_learned,
            next_number=self._next_number,
            turn=self._turn,
            simulators={part: ray.put(own) for part, own in zip(self._simulators, games, strict=True)},
            buffers={part: ray.put(own) for part, own in zip(self._buffers, buffers, strict=True)},
        )
        self._done = self._told = 0
        self._wants_snapshot = False
        return games, buffers

    def _ask(self, part: str, method: str, *arguments: Any) -> Any:
        """Return what a part answers. Raises _LostError if any part is lost, PartUnavailableError."""
        self.supervisor.call(part, method, *arguments)
        while True:
            self.supervisor.check_stop(part)
            answers = self.supervisor.wait()
            if any(answer.method == LOST for answer in answers):
                raise _LostError
            if answers:  # nothing else is under way
                return answers[0].value

    def _begin_parts(self) -> None:
        """Have the server begin, then all others, as engines fetch what it has, and buffers last."""
        self._turn, self._done, self._wants_snapshot, self._has_unlearned = self._snapshot.turn, 0, False, False
        self._held = set(self._simulators)  # whether they hold something is in their states
        self._begun.clear()
        for part in self.actors:
            self.supervisor.begin_life(part)  # an answer may be under way
        self._begin("server")

    def _after_begin(self, part: str, value: Any) -> None:
        super()._after_begin(part, value)
        if part == "server":
            for other in self.actors.keys() - {part, *self._buffers}:
                self._begin(other)
        elif self._have_others_begun():
            for buffer in self._buffers:
                if buffer not in self._begun and not self.supervisor.num_calls(buffer):
                    self._begin(buffer)

    def _have_others_begun(self) -> bool:
        """Tell whether all parts but the buffers have begun, so that none of them is at a call of before: a simulator
        whose engine was lost ends its step when there is a new one, and would add that to a buffer that has begun.
        """
        return self.actors.keys() - self._begun <= set(self._buffers)

    def _lose(self, part: str) -> None:
        """Begin again: nothing was done since the snapshot, as not all parts are here."""
        self._begun.discard(part)
        if part not in self._buffers or self._have_others_begun():
            self._begin(part)

    def _number_of(self, part: str) -> int:
        if part not in self._numbers:
            self._numbers[part], self._next_number = (
                self._next_number,
                self._next_number + (self._parts.steps is not None),
            )
        return self._numbers[part]


def ray_backend(
    parts: RunParts, state: BackendState | None = None, *, new_matches: Callable[[], Any] | None = None
) -> FreeBackend | LockstepBackend:
    """Return the backend for the pace of a layout."""
    kind = LockstepBackend if parts.layout.pace == "lockstep" else FreeBackend
    return kind(parts, state, new_matches=new_matches)
