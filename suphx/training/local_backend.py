"""The data flow of the paper's Figure 6 in one process.

>>> backend = LocalBackend(config, play)
>>> for event in backend.advance():  # again and again
...     print(event)  # Played, Learned or Fault
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from suphx.experience.decisions import Decisions
from suphx.games.learning import LearningOption
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.backend import BackendState, Event, Learned, LearnerState, Played, Progress
from suphx.selfplay.buffer import BufferCounts, ReplayBuffer
from suphx.selfplay.engine import InferenceEngine, LocalEngine
from suphx.selfplay.simulator import SelfPlaySimulator, SimulatorContext
from suphx.selfplay.weights import ParameterServer, PolicyVersion, Weights
from suphx.training.learner import Learner
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx.training.reward import GlobalReward, Prediction


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


class LocalParts:
    """What backends have in common whose parts are all in this process."""

    _is_stopping: Callable[[], bool] = staticmethod(lambda: False)

    @property
    def is_waiting_for_parts(self) -> bool:
        """All parts are always there."""
        return False

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        """Have a match during the run end once a stop ``is_made``."""
        self._is_stopping = is_made

    def settle(self) -> list[Event]:
        """Do nothing: between two calls of ``advance`` no update is under way."""
        return []

    def play_match(self, order: Any, progress: Progress) -> Future[Any]:
        """Play a match now, to its end or until a stop: the future then has an InterruptedError, or a ChildProcessError
        if a worker died. A match that keeps its games, at the end of the run, is stopped by the process itself.
        """
        future: Future[Any] = Future()

        def check_stop() -> None:
            if self._is_stopping() and not order.keeps_games:
                raise InterruptedError("the match was stopped")

        def go_on(games: float) -> None:
            check_stop()
            progress(games)

        try:
            check_stop()
            future.set_result(order.play(go_on))
        except (InterruptedError, ChildProcessError) as error:
            future.set_exception(error)
        return future


class LocalBackend(LocalParts):
    """Consumes and produces: its own parts' work in a fixed order, so that equal seeds give equal numbers.

    With ``overlap``, a thread learns from a batch while this one plays the games of the next batch with the version
    before that update; what is played does not depend on how long either takes.
    """

    def __init__(self, config: ReinforcementConfig, play: SelfPlay, state: BackendState | None = None) -> None:
        """Build all parts; go on from ``state``. Raises ValueError or KeyError if that is of other parts."""
        heads, opponents = config.head_numbers, config.simulator.opponents
        self._config = config
        teachers = [] if play.teacher is None else [play.teacher.net(head) for head in heads]
        nets, every = [play.start.net(head) for head in heads], config.report_every
        self._learner = Learner(config.learner, nets, teachers=teachers, report_every=every)
        self._buffer = ReplayBuffer(config.buffer, heads)
        is_same = state is not None and len(state.simulators) == len(state.buffers) == 1
        index = 0 if state is None else state.next_simulator - is_same
        self._next_simulator = index + 1
        weak, plays_older = play.weak if opponents.weak else None, opponents.older > 0
        engine = InferenceEngine(config.engine, play.start, weak, heads=heads, plays_older=plays_older)
        self._engine, self._local = engine, LocalEngine(engine, config.engine.threads)
        self._simulator = SelfPlaySimulator(config.simulator, new_context(config, play, index), self._local)
        self._learning = ThreadPoolExecutor(1, thread_name_prefix="learner") if config.overlap else None
        self._held: list[Decisions] | None = None
        versions = [PolicyVersion(0, self._learner.weights())] if state is None else state.versions
        self._server = ParameterServer(versions, keeps_older=plays_older)
        if state is not None:
            self._learner.restore(*state.learner)
            self._fetch()
            if is_same:
                self._simulator.restore(state.simulators[0])
                self._buffer.restore(*state.buffers[0])
                self._held = state.held[0] or None
            self._buffer.counts = state.counts

    @property
    def version(self) -> int:
        """The number of the newest policy version."""
        return self._server.latest

    @property
    def counts(self) -> BufferCounts:
        """Decisions that went through the buffer."""
        return self._buffer.counts

    @property
    def gauges(self) -> Mapping[str, float]:
        """Figures of the moment."""
        return {"buffer_bytes": self._buffer.num_bytes}

    def advance(self) -> list[Event]:
        """Learn if there are decisions for it, and play until there are some for the next update."""
        self._put()
        batch = self._buffer.take(self._server.latest)
        if batch is None:
            self._put()  # stale decisions may have made room
            if self._held is not None:
                needed = self._buffer.num_bytes + sum(part.nbytes for part in self._held)
                raise full_error(needed)
            return [self._play()]
        if self._learning is None:
            return [self._publish(self._learner.learn(batch.parts, batch.staleness))]
        learned = self._learning.submit(self._learner.learn, batch.parts, batch.staleness)
        played: list[Event] = []
        self._put()
        while self._held is None and not self._buffer.status().is_ready:
            played.append(self._play())
        return [*played, self._publish(learned.result())]

    def newest(self) -> PolicyVersion:
        """Return the newest policy version."""
        return self._server.versions[0]

    def weights(self) -> Weights:
        """Return copies of the learner's weights."""
        return self._learner.weights()

    def state(self) -> BackendState:
        """Return all that a new backend needs to go on with the same numbers."""
        return BackendState(
            learner=self._learner.state(),
            versions=self._server.versions,
            counts=self._buffer.counts,
            next_simulator=self._next_simulator,
            simulators=[self._simulator.state()],
            buffers=[self._buffer.state()],
            held=[self._held or []],
        )

    def close(self) -> None:
        """End the threads."""
        if self._learning is not None:
            self._learning.shutdown()
        self._local.close()

    def _play(self) -> Played:
        """Play some steps; what comes of them goes into the buffer, or is held if that is full."""
        played = self._simulator.play(self._config.rollout_fragment_length, version=self._server.latest)
        self._held = list(played.decisions)
        self._put()
        return played

    def _put(self) -> None:
        """Put decisions that are held into the buffer, if it has room."""
        if self._held is not None and self._buffer.add(self._held):
            self._held = None

    def _publish(self, learned: Learned) -> Learned:
        """Make a new version if it is time after this update; return the update."""
        if learned.number % self._config.weight_sync_interval == 0:
            self._server.publish(self._learner.weights())
            self._fetch()
        return learned

    def _fetch(self) -> None:
        versions = self._server.newer_than(self._engine.version, "engine 0")
        if versions is not None:
            self._engine.load(versions)


def new_context(config: ReinforcementConfig, play: SelfPlay, index: int) -> SimulatorContext:
    """Return the context of the simulator ``index`` of a run."""
    options: set[LearningOption] = {"hidden"} if config.sees_hidden else set()
    return SimulatorContext(
        encoder=play.encoder,
        game=config.game,
        heads=config.head_numbers,
        run_seed=play.seed,
        options=frozenset(options),
        new_reward=None if play.prediction is None else partial(GlobalReward, play.prediction),
        keep_probability_after=config.oracle.keep_probability_after,
        updates_per_version=config.weight_sync_interval,
        index=index,
    )


def full_error(needed_bytes: int) -> ValueError:
    """Return the error of a buffer that is full before it holds a batch."""
    return ValueError(
        f"the replay buffer cannot hold a batch and what comes in at a time: raise "
        f"reinforcement.buffer.capacity_bytes above {needed_bytes:,}, or lower reinforcement.buffer.batch_size, "
        "reinforcement.simulator.num_tables or reinforcement.rollout_fragment_length"
    )
