"""What runs in the processes of a run: thin wrappers around the plain classes of the paper's Figure 6.

Data goes from actor to actor: a simulator gives what it played to its buffer shard, which holds it back while there is
no room; the learner takes batches from the shards; engines fetch weights from the parameter server. The driver
(backend.py) gets counts, and makes another actor in the place of one that died (supervisor.py). A new actor has no
state until it is told to ``begin``; engines ask the parameter server themselves.
"""

from __future__ import annotations

import asyncio
import pickle
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import ray

from suphx.experience.observation import PolicyOutputs
from suphx.experience.sparse_planes import SparseObservations
from suphx.selfplay.backend import Learned, Played
from suphx.selfplay.buffer import BufferStatus, ReplayBuffer, RoundBuffer
from suphx.selfplay.requests import Request
from suphx.selfplay.weights import ParameterServer, Versions, Weights
from suphx_platform.ray.process import (
    BACK_OFF_SECONDS,
    Health,
    NotBegunError,
    Peer,
    PeerLostError,
    RayActor,
    ending_broken_process,
    ends_broken_process,
    health_of_process,
)

if TYPE_CHECKING:
    from suphx.training.learner import Learner
    from suphx.training.monte_carlo import RoundLearner
    from suphx_platform.ray.fetching_engine import Fetching, FetchingEngine

# What needs torch or RLlib is imported where it runs: simulators, buffers and the server must stay small.

Arrays = Mapping[str, np.ndarray]
LearnerCopy = tuple[int, Arrays, Mapping[str, Any]]
"""Updates, and all that a learner needs to go on from there."""
T = TypeVar("T")
R = TypeVar("R")
Buffer: TypeAlias = ReplayBuffer | RoundBuffer
_HOLD_SECONDS = 2.0
"""How long a simulator waits for room before it answers its driver."""


class SimulatorActor(RayActor):
    """A simulator, which gives what it plays to its shard.

    Consumes: outputs of an engine. Produces: fragments in its shard. Waits for: room there. Unblocked by: the learner.
    While one fragment is on its way (``_held``), the next one is played (``_next``); then it waits. Whole rounds are
    handed over before the next one is played; so are fragments while the shard has no room, as what waits grows old.
    """

    def __init__(
        self, new_simulator: Callable[[int, Any], Any], new_engine: Callable[[], Any] | bytes, shard: str
    ) -> None:
        """``new_simulator`` makes what has ``play``, ``state`` and ``restore`` of ``SelfPlaySimulator``, which may play
        rounds by their numbers instead of steps. ``new_engine`` makes what that asks, pickled if it is an engine of its
        own: whoever reads that loads torch, which no other simulator needs. ``shard``: its name.
        """
        self._new_simulator = new_simulator
        self._own: Fetching | None = None
        if isinstance(new_engine, bytes):
            self._engine = self._own = pickle.loads(new_engine)()
        else:
            self._engine = new_engine()
        self._shard = Peer(shard)
        self._simulator: Any = None
        self._held: Sequence[Any] | None = None
        self._next: Sequence[Any] | None = None
        self._asked: Any = None
        self._version = 0
        self._num_alone = 0
        """Fragments, with the one on its way, that must have been taken before another one is played."""

    def begin(self, number: int, version: int, state: tuple[Arrays, Sequence[Any]] | None = None) -> None:
        """Deal the games of simulator ``number``, or go on from a ``state``, which may have decisions on their way."""
        if self._own is not None:
            self._own.begin()
        self._simulator = self._new_simulator(number, self._engine)
        self._held, self._next, self._asked, self._version = None, None, None, version
        self._num_alone = 0
        if state is not None:
            arrays, held = state
            self._simulator.restore({name: np.array(value) for name, value in arrays.items()})
            self._held = held or None

    @ends_broken_process
    def play(self, order: int, version: int, seconds: float | None) -> Played:
        """Play, for ``seconds`` or once (None: one order), and give it to the shard; return the sums.

        Ends early if the shard has no room: the next call continues.
        """
        self._version = max(self._version, version)
        ends = time.monotonic() + (seconds or 0.0)
        total: Played | None = None
        while (total is None or time.monotonic() < ends) and self._has_room(overlaps=seconds is not None):
            played = self._play(order, drains=False)
            self._next = played.decisions
            if self._held is None:
                self._hand_over()
            if total is not None:
                played = replace(
                    played,
                    num_games=total.num_games + played.num_games,
                    num_deals=total.num_deals + played.num_deals,
                    num_decisions=total.num_decisions + played.num_decisions,
                    seconds=total.seconds + played.seconds,
                    waited_seconds=total.waited_seconds + played.waited_seconds,
                )
            total = replace(played, decisions=[])
        return total or Played([], 0, 0, 0, 0.0, 0.0)

    @ends_broken_process
    def play_once(self, order: int, version: int) -> tuple[Played, bool]:
        """Play once, in lockstep; return the sums, and whether the shard has taken what was played."""
        self._version = version
        played = self._play(order, drains=True)
        self._held = played.decisions
        return replace(played, decisions=[]), self.deliver()

    def _play(self, order: int, *, drains: bool) -> Played:
        if self._own is not None and self._own.engine.version < self._version:
            self._own.fetch()
        played: Played = self._begun().play(order, version=self._version, drains=drains)
        return played

    def deliver(self) -> bool:
        """Offer what is held to the shard; return whether nothing is held any more."""
        if self._held is not None and self._shard.ask("add", self._held) is not None:
            self._held = None
        return self._held is None

    def state(self) -> tuple[Arrays, Sequence[Any]]:
        """Return all that ``begin`` needs."""
        return self._begun().state(), [*(self._held or []), *(self._next or [])]

    @ray.method(concurrency_group="health")
    def health(self) -> Health:
        """Say that the process lives, and what an engine of its own has done."""
        counts = None if self._own is None else getattr(self._own.engine, "counts", None)
        return replace(health_of_process(), counts=counts)

    def _hand_over(self) -> None:
        """Offer what was played last to the shard; do not wait for its answer."""
        self._held, self._next = self._next, None
        with suppress(PeerLostError):
            self._asked = self._shard.call("add", self._held)

    def _has_room(self, *, overlaps: bool) -> bool:
        """Return whether another fragment may be played, while one is on its way (``overlaps``) or when none is."""
        if self._next is not None:
            if not self._has_delivered():
                return False
            self._hand_over()
        return (overlaps and not self._num_alone) or self._has_delivered()

    def _has_delivered(self) -> bool:
        """Return whether the shard has taken what was played before; wait for room for a while."""
        ends = time.monotonic() + _HOLD_SECONDS
        while self._held is not None:
            try:
                if self._asked is None:
                    self._asked = self._shard.call("add", self._held)
                ready, _ = ray.wait([self._asked], timeout=max(0.0, ends - time.monotonic()))
                if not ready:
                    return False
                asked, self._asked = self._asked, None
                answer: int | bool | None = self._shard.answer(asked)
            except PeerLostError:  # the shard is lost with all that it had: the next one gets it
                time.sleep(BACK_OFF_SECONDS)
                if time.monotonic() > ends:
                    return False
                continue
            if answer is None:
                self._num_alone = 2  # this one, and the next: only if that is taken at once, there is room again
                self._asked = self._shard.call("room", sum(map(len, self._held)))
            elif answer is not True:  # it was no answer about room
                self._held, self._version = None, max(self._version, answer)
                self._num_alone = max(0, self._num_alone - 1)
        return True

    def _begun(self) -> Any:
        if self._simulator is None:
            raise NotBegunError("this simulator has no games yet")
        return self._simulator


class InferenceEngineActor(RayActor):
    """An inference engine with the newest weights of the parameter server.

    One loop collects requests and has them answered together; new weights come between two batches. Consumes:
    requests. Produces: outputs. Waits for: the first request, and for others as long as ``wait_seconds`` says.
    """

    def __init__(self, new_engine: Callable[[], FetchingEngine]) -> None:
        # Requests come out of Ray's shared memory, which nobody may write to; nor does anybody.
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        self._own = new_engine()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="inference")  # torch keeps memory for each thread
        self._fetching = asyncio.Lock()
        self._waiting: deque[_Waiting] = deque()
        self._answering: asyncio.Task[None] | None = None
        self._oldest_since: float | None = None
        """Since when the oldest request without a reply waits."""

    async def begin(self) -> int:
        """Take the newest weights, also if those here are newer; return their version."""
        async with self._fetching:
            self._own.forget()
        return await self.fetch()

    async def fetch(self) -> int:
        """Take the newest weights if they are newer than those here; return their version."""
        async with self._fetching:
            update = await asyncio.to_thread(self._own.ask_newest)  # answers go on while the server is asked
            await self._compute(self._own.take, update)
            version: int = self._own.engine.version
            return version

    async def evaluate(self, request: Sequence[SparseObservations]) -> list[PolicyOutputs]:
        """Return what ``InferenceEngine.evaluate`` returns, for all requests that wait at a time."""
        own = _Waiting([part.dense() for part in request], asyncio.get_running_loop().create_future(), time.monotonic())
        self._waiting.append(own)
        if self._answering is None or self._answering.done():
            self._oldest_since = own.since
            self._answering = asyncio.create_task(self._answer_all())
        return await own.reply

    @ray.method(concurrency_group="health")
    async def health(self) -> Health:
        """Say that the process lives, and how long the oldest request has been waiting."""
        since = self._oldest_since
        waiting = 0.0 if since is None else time.monotonic() - since
        return replace(health_of_process(), waiting_seconds=waiting, counts=self._own.engine.counts)

    async def _answer_all(self) -> None:
        while self._waiting:
            self._oldest_since = self._waiting[0].since
            batch = await self._next_batch()
            try:
                replies = await self._compute(self._own.evaluate_together, [each.request for each in batch])
            except Exception as error:  # noqa: BLE001 - it is raised again at every caller of the batch
                for each in batch:
                    each.reply.set_exception(error)
            else:
                for each, reply in zip(batch, replies, strict=True):
                    each.reply.set_result(reply)
        self._oldest_since = None

    async def _next_batch(self) -> list[_Waiting]:
        """Return the requests to answer together; the first one waits for others."""
        config = self._own.engine.config
        if sum(each.num_observations for each in self._waiting) < config.max_batch_size:
            await asyncio.sleep(config.wait_seconds)
        batch = [self._waiting.popleft()]
        num_observations = batch[0].num_observations
        while self._waiting and num_observations < config.max_batch_size:
            batch.append(self._waiting.popleft())
            num_observations += batch[-1].num_observations
        return batch

    async def _compute(self, act: Callable[[T], R], argument: T) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._thread, ends_broken_process(act), argument)


@dataclass(frozen=True, slots=True)
class _Waiting:
    request: Request
    reply: asyncio.Future[list[PolicyOutputs]]
    since: float

    @property
    def num_observations(self) -> int:
        return sum(map(len, self.request))


class BufferActor(RayActor):
    """A shard of the replay buffer.

    Consumes: fragments. Produces: batches. Waits for: nothing. Unblocked by: the learner, which makes room.
    """

    def __init__(self, new_buffer: Callable[[], Buffer]) -> None:
        self._new_buffer = new_buffer
        self._buffer: Buffer | None = None
        self._version = 0
        self._is_dry = self._is_stuck = False
        self._waiting: list[tuple[int, asyncio.Event]] = []
        """Decisions that want room, and who is told."""
        self._ready = asyncio.Condition()

    async def begin(self, state: tuple[Arrays, Mapping[str, Any]] | None = None) -> BufferStatus:
        """Start empty, or from a ``state``."""
        self._is_dry = self._is_stuck = False
        self._buffer = self._new_buffer()
        if state is not None:
            arrays, values = state
            self._buffer.restore({name: np.array(array) for name, array in arrays.items()}, values)
        return self._buffer.status()

    async def add(self, parts: list[Any]) -> int | None:
        """Take decisions in and return the newest version; None if there is no room: then ask for ``room``."""
        buffer = self._begun()
        own = [part.copied() for part in parts]  # a copy, so that Ray can free the shared memory at once
        if not buffer.add(own):
            self._is_stuck = self._is_dry  # nobody can take, nobody can add
            return None
        self._is_dry = self._is_stuck = False
        async with self._ready:
            self._ready.notify_all()
        return self._version

    async def room(self, num_decisions: int) -> bool:
        """Return as soon as there may be room for so many decisions, to one after another."""
        event = asyncio.Event()
        self._waiting.append((num_decisions, event))
        if self._is_dry:
            self._make_room(1)
        await event.wait()
        return True

    async def take(self, version: int, seconds: float = 0.0) -> tuple[float | None, Any]:
        """Return the staleness of a batch, None if there is none within ``seconds``, and the batch."""
        self._version = max(version, self._version)
        ends = time.monotonic() + seconds
        while True:
            buffer = self._begun()
            before = buffer.status().num_decisions
            batch = buffer.take(version)
            self._is_dry = batch is None
            self._make_room(before - buffer.status().num_decisions or 1)
            left = ends - time.monotonic()
            if batch is not None or left <= 0:
                return (None, None) if batch is None else (batch.staleness, batch.parts)
            async with self._ready:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._ready.wait(), left)

    async def status(self) -> BufferStatus:
        """Return how it is."""
        return self._begun().status()

    async def state(self) -> tuple[Arrays, Mapping[str, Any]]:
        """Return all that ``begin`` needs."""
        return self._begun().state()

    @ray.method(concurrency_group="health")
    async def health(self) -> Health:
        """Say that the process lives, and how the buffer is."""
        if self._buffer is None:
            return health_of_process()
        return replace(health_of_process(), status=replace(self._buffer.status(), is_stuck=self._is_stuck))

    def _make_room(self, num_decisions: int) -> None:
        """Tell those who wait that there is room for so many decisions: not all at once, most would be refused."""
        while self._waiting and num_decisions > 0:
            wanted, event = self._waiting.pop(0)
            num_decisions -= wanted
            event.set()

    def _begun(self) -> Buffer:
        if self._buffer is None:
            raise NotBegunError("this buffer was lost, and another one is in its place")
        return self._buffer


class ParameterServerActor(RayActor):
    """The parameter server: nets, and versions of their weights, once in Ray's object store for all who fetch them."""

    def __init__(self, keeps_older: bool) -> None:
        self._keeps_older = keeps_older
        self._has_begun = threading.Event()

    def begin(self, policy_sets: list[Any], versions: Versions) -> None:
        """Have these nets and versions: references of policy sets (the one to start with, the weak one, perhaps a
        teacher); versions whose weights are lists of one reference each.
        """
        self._policy_sets = policy_sets
        self._server = ParameterServer(versions, keeps_older=self._keeps_older)
        self._has_begun.set()

    @ray.method(concurrency_group="fetch")
    def policy_sets(self) -> list[Any]:
        """Return the references of the policy sets as soon as they are here."""
        self._has_begun.wait()
        return self._policy_sets

    def publish(self, weights: Any, number: int) -> Versions:
        """Make ``weights``, a list of one object reference, version ``number``, the newest; return all versions now.

        The same call again, as after an answer that was lost, changes nothing.
        """
        if number > self._server.latest:
            self._server.publish(weights, number)
        return self._server.versions

    @ray.method(concurrency_group="fetch")
    def newer_than(self, number: int, fetcher: str) -> Versions | None:
        """Return the versions if the newest one is newer than ``number``."""
        self._has_begun.wait()
        return self._server.newer_than(number, fetcher)

    @ray.method(concurrency_group="health")
    def health(self) -> Health:
        """Say that the process lives, and how far engines are behind."""
        if not self._has_begun.is_set():
            return health_of_process()
        return replace(health_of_process(), versions_behind=max(self._server.behind().values(), default=0))


@dataclass(slots=True)
class Worked:
    """What a learner did in one call."""

    learned: list[Learned] = field(default_factory=list)
    weights: Weights | None = None
    """After the last update, if that makes a version."""
    copy: LearnerCopy | None = None
    """After the last update, if it is time to copy the state."""


class LearnerActor(RayActor):
    """The learner, which takes batches from the shards; it learns once it has been told from where.

    Batches of the updates since the last copy of its state are lost with it: the next one makes these updates from
    newer decisions.

    Consumes: batches. Produces: updates, weights, copies of its state. Waits for: shards that have a batch.
    """

    def __init__(
        self,
        new_learner: Callable[[], Any],
        shards: Sequence[str],
        updates_per_version: int,
        publish_every: int,
        copy_interval: int,
    ) -> None:
        """``new_learner`` makes a ``Learner`` or ``RoundLearner``; ``shards``: their names. A version is the number of
        updates divided by ``updates_per_version``.
        """
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        with ending_broken_process():
            self._learner: Learner | RoundLearner = new_learner()
        self._has_begun = False
        self._shards, self._next_shard = [Peer(name) for name in shards], -1
        self._updates_per_version, self._publish_every = updates_per_version, publish_every
        self._copy_interval, self._copied = copy_interval, 0
        self._taking: Any = None
        self._error: Exception | None = None

    @ends_broken_process
    def begin(self, copy: LearnerCopy | None) -> LearnerCopy:
        """Begin with the nets of the start, or go on from a ``copy``; return the state that it has then."""
        if copy is not None:
            import torch

            _, arrays, values = copy
            tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}
            self._learner.restore(tensors, values)
        self._has_begun = True
        self._copied, self._taking = self._learner.num_updates, None
        return self.state() if copy is None else copy

    @ends_broken_process
    def work(self, until: int, seconds: float) -> Worked:
        """Learn from batches of the shards, all by turns, for about ``seconds``, to the update ``until`` at most.

        Ends after an update that makes a version, and when its state is to be copied. Raises DivergedError.
        """
        learner, done, ends = self._begun(), Worked(), time.monotonic() + seconds
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        while learner.num_updates < until and time.monotonic() < ends:
            found = self._take()
            if found is None:
                continue
            if learner.num_updates + 1 < until:
                with suppress(PeerLostError):
                    self._ask(ahead=1)  # the next batch comes while this one is learned from
            try:
                done.learned.append(learner.learn(found[1], found[0]))
            except Exception as error:
                if not done.learned:
                    raise
                self._error = error  # the updates before it are told first
                break
            if self._finish(done):
                break
        return done

    @ends_broken_process
    def work_once(self) -> Worked:
        """Make one update if a shard has a batch, in lockstep."""
        done = Worked()
        for _ in self._shards:
            staleness, parts = self._turn().ask("take", self._version())
            if staleness is not None:
                done.learned.append(self._begun().learn(parts, staleness))
                self._finish(done)
                break
        return done

    @ends_broken_process
    def weights(self) -> Weights:
        """Return the weights that matches and checkpoints get."""
        return self._begun().match_weights()

    @ends_broken_process
    def state(self) -> LearnerCopy:
        """Return the number of updates, and all that ``begin`` needs."""
        tensors, values = self._begun().state()
        return self._learner.num_updates, {name: tensor.numpy() for name, tensor in tensors.items()}, values

    def _finish(self, done: Worked) -> bool:
        """Add weights and a copy to what was done if it is time to; return whether something was added."""
        learner = self._begun()
        if learner.num_updates % self._publish_every == 0:
            done.weights = learner.weights()
        if learner.num_updates - self._copied >= self._copy_interval:
            self._copied, done.copy = learner.num_updates, self.state()
        return done.weights is not None or done.copy is not None

    def _take(self) -> tuple[float, Any] | None:
        """Return the batch that was asked for, or None if the shard that was asked has none."""
        try:
            self._ask()
            taking, self._taking = self._taking, None
            staleness, parts = self._shards[self._next_shard].answer(taking)
        except PeerLostError:  # the shard is being started again
            time.sleep(BACK_OFF_SECONDS / len(self._shards))
            return None
        return None if staleness is None else (staleness, parts)

    def _ask(self, ahead: int = 0) -> None:
        if self._taking is None:
            seconds = 0.5 / len(self._shards)
            self._taking = self._turn().call("take", self._version(ahead), seconds)

    def _turn(self) -> Peer:
        self._next_shard = (self._next_shard + 1) % len(self._shards)
        return self._shards[self._next_shard]

    def _version(self, ahead: int = 0) -> int:
        return (self._begun().num_updates + ahead) // self._updates_per_version

    def _begun(self) -> Learner | RoundLearner:
        if not self._has_begun:
            raise NotBegunError("this learner was not told yet where to go on")
        return self._learner
