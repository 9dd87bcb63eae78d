"""What the driver tells its parts, in an order of answers that real processes rarely produce."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray.exceptions import ActorUnavailableError, RayTaskError, WorkerCrashedError

from suphx.selfplay.backend import Event, Fault, Learned, Played
from suphx.selfplay.buffer import BufferCounts, BufferStatus
from suphx.selfplay.layout import RayLayoutConfig
from suphx.selfplay.weights import PolicyVersion
from suphx.training.trainer import PartUnavailableError
from suphx_platform.ray import backend as module
from suphx_platform.ray.actors import Worked
from suphx_platform.ray.backend import FreeBackend, LockstepBackend, RayBackend
from suphx_platform.ray.parts import RunParts
from suphx_platform.ray.process import Health
from suphx_platform.ray.task_matches import outcome_or_loss
from tests.suphx_platform.ray.answered_actor import Actor, Call, stop_when

EMPTY = BufferStatus(False, 0, 0, BufferCounts())
PLAYED = Played([], 0, 0, 10, 1.0, 0.0)
GONE = ActorUnavailableError("gone", None)


class FakeTopology:
    def __init__(self, parts: RunParts) -> None:
        self.actors: dict[str, Any] = {name: Actor() for name in ("server", "buffer 0", "learner", "simulator 0")}

    def renew(self, part: str) -> Actor:
        self.actors[part] = Actor()
        return self.actors[part]  # type: ignore[no-any-return]

    def close(self) -> None: ...


@pytest.fixture(autouse=True)
def _without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Topology", FakeTopology)
    monkeypatch.setattr(module, "ray_session", lambda **_: nullcontext())
    monkeypatch.setattr(ray, "put", lambda value: value)
    monkeypatch.setattr(ray, "get", lambda value: value)
    monkeypatch.setattr("suphx_platform.ray.supervisor._WAIT_SECONDS", 0.01)


def new_parts(pace: Any = "free", **options: Any) -> RunParts:
    nothing: Any = None
    return RunParts(
        layout=RayLayoutConfig(on_ray=True, pace=pace),
        new_simulator=nothing,
        new_engine=nothing,
        new_buffer=nothing,
        new_learner=nothing,
        first_weights={},
        steps=16,
        **options,
    )


class Driven:
    """A backend whose parts answer when the test says so."""

    def __init__(self, kind: type[RayBackend], parts: RunParts) -> None:
        self.backend = kind(parts)
        self.events: list[Event] = []

    @property
    def actors(self) -> Mapping[str, Any]:
        return self.backend.actors

    def open(self, part: str, method: str) -> list[Call]:
        return [call for call in self.actors[part].calls if call.method == method and not call.answer.done()]

    def answer(self, part: str, method: str, value: Any) -> tuple[Any, ...]:
        """Answer the oldest open call; return its arguments."""
        call = self.open(part, method)[0]
        if isinstance(value, Exception):
            call.answer.set_exception(value)
        else:
            call.answer.set_result(value)
        return call.arguments

    def go_on(self, times: int = 1) -> None:
        for _ in range(times):
            self.events += self.backend.advance()

    def begin(self) -> None:
        self.answer("server", "begin", None)
        self.go_on()
        self.answer("buffer 0", "begin", EMPTY)
        self.answer("learner", "begin", (0, {}, {"num_updates": 0}))
        self.answer("simulator 0", "begin", None)
        self.go_on()

    @property
    def learned(self) -> list[int]:
        return [event.number for event in self.events if isinstance(event, Learned)]


def worked(*numbers: int, **more: Any) -> Worked:
    return Worked([Learned(number, {}, 0.0) for number in numbers], **more)


def test_a_learner_has_two_calls_and_does_not_go_beyond_the_update_at_which_the_trainer_looks() -> None:
    driven = Driven(FreeBackend, new_parts(stops=(4,), max_updates=6))
    driven.begin()
    driven.go_on()
    assert [call.arguments[0] for call in driven.open("learner", "work")] == [4, 4]
    driven.answer("learner", "work", worked(1, 2, 3, 4))
    driven.answer("learner", "work", worked())
    driven.go_on()
    assert driven.learned == [1, 2, 3, 4]
    assert driven.open("learner", "work") == []
    driven.go_on()
    assert [call.arguments[0] for call in driven.open("learner", "work")] == [6, 6]
    driven.answer("learner", "work", worked(5, 6))
    driven.answer("learner", "work", worked())
    driven.go_on(2)
    assert driven.open("learner", "work") == [], "all updates are made"


def test_updates_from_one_that_makes_a_version_on_are_told_when_the_server_has_it() -> None:
    driven = Driven(FreeBackend, new_parts(updates_per_version=2, publish_every=2))
    driven.begin()
    driven.go_on()
    driven.answer("learner", "work", worked(1, 2, weights={"discard": {}}))
    driven.answer("learner", "work", worked(3))
    driven.go_on()
    assert driven.learned == [1]
    assert driven.answer("server", "publish", [PolicyVersion(1, [{}])]) == ([{"discard": {}}], 1)
    driven.go_on()
    assert (driven.learned, driven.backend.version) == ([1, 2, 3], 1)


def test_a_learner_that_died_goes_on_from_its_last_copy_and_no_update_is_told_twice() -> None:
    driven = Driven(FreeBackend, new_parts())
    driven.begin()
    driven.go_on()
    copy: Any = (2, {}, {"num_updates": 2})
    driven.answer("learner", "work", worked(1, 2, copy=copy))
    driven.answer("learner", "work", worked(3))
    driven.go_on(2)
    driven.answer("learner", "work", GONE)
    driven.go_on()
    assert [event.name for event in driven.events if isinstance(event, Fault)] == ["learner_died"]
    assert driven.answer("learner", "begin", copy) == (copy,)
    driven.go_on(2)
    new = driven.open("learner", "work")[-1]
    new.answer.set_result(worked(3, 4))
    driven.go_on()
    assert driven.learned == [1, 2, 3, 4]


def test_a_simulator_that_died_begins_with_a_new_number_and_a_lost_buffer_is_counted() -> None:
    driven = Driven(FreeBackend, new_parts())
    driven.begin()
    driven.go_on()
    driven.answer("simulator 0", "play", PLAYED)
    driven.answer("simulator 0", "play", GONE)
    driven.go_on()
    assert driven.answer("simulator 0", "begin", None)[0] == 1
    lost = BufferStatus(False, 7, 100, BufferCounts(added=10, learned=3))
    driven.backend._statuses["buffer 0"] = lost
    driven.backend._lose("buffer 0")
    assert driven.backend.counts == BufferCounts(added=10, learned=3, lost=7)
    assert driven.answer("buffer 0", "begin", EMPTY) == (None,)


def test_all_parts_that_are_lost_with_one_that_was_asked_begin_again() -> None:
    driven = Driven(FreeBackend, new_parts())
    driven.begin()
    driven.backend.supervisor.health["buffer 0"] = Health(1, "here", 0)

    def lose(*arguments: Any) -> Call:
        for part in ("buffer 0", "server"):  # as with the node of both
            driven.answer(part, "health", GONE)
        return Call("status", (), Future())

    driven.actors["buffer 0"].status = SimpleNamespace(remote=lose)
    driven.events += driven.backend.settle()
    assert [len(driven.open(part, "begin")) for part in ("buffer 0", "server")] == [1, 1]


@pytest.mark.parametrize("kind", [FreeBackend, LockstepBackend])
def test_a_stop_does_not_wait_for_a_learner_that_is_away(kind: type[RayBackend]) -> None:
    pace = "free" if kind is FreeBackend else "lockstep"
    driven = Driven(kind, new_parts(pace))
    driven.answer("server", "begin", None)
    driven.go_on()
    for part in ("server", "buffer 0", "simulator 0"):
        driven.backend.supervisor.health[part] = Health(1, "here", 0)
    stop_when(driven.backend.supervisor, lambda: True)
    with pytest.raises(PartUnavailableError, match="is unavailable"):
        driven.backend.state()


def test_in_lockstep_buffers_begin_when_nobody_is_at_a_call_of_before() -> None:
    driven = Driven(LockstepBackend, new_parts("lockstep"))

    def begin(part: str, value: Any) -> None:
        driven.answer(part, "begin", value)
        driven.go_on()

    begin("server", None)
    begin("learner", (0, {}, {"num_updates": 0}))
    assert not driven.open("buffer 0", "begin"), "the simulator may still play"
    driven.answer("buffer 0", "health", GONE)
    driven.go_on()
    assert not driven.open("buffer 0", "begin")
    begin("simulator 0", None)
    begin("buffer 0", EMPTY)
    assert driven.backend.actors.keys() == driven.backend._begun


class Answering(Driven):
    """Parts answer at once: the learner has a batch after every second fragment."""

    def __init__(self, parts: RunParts) -> None:
        super().__init__(LockstepBackend, parts)
        self.num_played = self.num_learned = 0
        self.fails_at: list[tuple[str, int]] = []
        self.told_versions: list[tuple[int, int]] = []
        """Of each update: its number, and the version when it was told."""
        self.begun_from: dict[str, list[int]] = {"learner": [], "simulator 0": []}
        """Updates and fragments with which these began."""

    def go_on(self, times: int = 1) -> None:
        for _ in range(times):
            for part, actor in self.actors.items():
                actor.answers = lambda method, arguments, part=part: self.answer_of(part, method, arguments)
            events = self.backend.advance()
            self.events += events
            self.told_versions += [(each.number, self.backend.version) for each in events if isinstance(each, Learned)]

    def fails(self, method: str) -> bool:
        here = (method, self.num_played)
        if here in self.fails_at:
            self.fails_at.remove(here)
            return True
        return False

    def answer_of(self, part: str, method: str, arguments: tuple[Any, ...]) -> Any:
        if method == "begin":
            if part == "learner" and arguments[0] is not None:
                self.num_learned = arguments[0][0]
                self.begun_from[part].append(self.num_learned)
            if part == "simulator 0":
                self.num_played = 0 if arguments[2] is None else arguments[2][0]
                self.begun_from[part].append(self.num_played)
            return {"learner": (0, {}, {"num_updates": 0}), "buffer 0": EMPTY}.get(part)
        if method == "play_once":
            self.num_played += 1
            return GONE if self.fails("play_once") else (PLAYED, True)
        if method == "work_once":
            if self.num_played < 2 * (self.num_learned + 1):
                return Worked()
            self.num_learned += 1
            copy: Any = (self.num_learned, {}, {"num_updates": self.num_learned})
            return worked(self.num_learned, weights={}, copy=copy if self.num_learned == 2 else None)
        if method == "publish":
            return [PolicyVersion(arguments[1], [{}])]
        if method == "state" and self.fails("state"):
            return GONE
        answers = {"deliver": True, "status": EMPTY, "state": (self.num_played, [])}
        return answers[method]


def test_in_lockstep_a_death_takes_all_parts_back_to_the_snapshot_and_nothing_is_told_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Immediate(Actor):
        answers: Any = None

        def __getattr__(self, method: str) -> Any:
            remote = super().__getattr__(method).remote

            def answered(*arguments: Any) -> Call:
                call: Call = remote(*arguments)
                if method != "health" and self.answers is not None:
                    value = self.answers(method, arguments)
                    if isinstance(value, Exception):
                        call.answer.set_exception(value)
                    else:
                        call.answer.set_result(value)
                return call

            return type("Method", (), {"remote": staticmethod(answered)})

    monkeypatch.setattr("tests.suphx_platform.ray.test_backend_steps.Actor", Immediate)
    driven = Answering(new_parts("lockstep"))
    driven.answer("server", "begin", None)
    driven.go_on(2)
    # While the snapshot of the second update is taken, and after it.
    driven.fails_at = [("state", 4), ("play_once", 7), ("play_once", 9)]
    driven.go_on(60)
    told = [type(event).__name__ for event in driven.events if not isinstance(event, Fault)]
    assert driven.learned == list(range(1, len(driven.learned) + 1))
    assert len(driven.learned) > 5
    assert told == (["Played", "Played", "Learned"] * 20)[: len(told)]
    assert [event.name for event in driven.events if isinstance(event, Fault)] == ["simulator_died"] * 3
    assert not driven.fails_at
    assert driven.begun_from == {"learner": [0, 2, 2], "simulator 0": [0, 0, 4, 4]}
    assert all(number == version for number, version in driven.told_versions), driven.told_versions


def test_a_match_whose_process_was_lost_is_told_apart_from_one_that_failed() -> None:
    found: list[Future[Any]] = [Future(), Future(), Future()]
    won, lost, failed = map(outcome_or_loss, found)
    assert not won.done()
    found[0].set_result("won")
    assert won.result() == "won"
    found[1].set_exception(WorkerCrashedError())
    with pytest.raises(ChildProcessError, match=r"The worker died unexpectedly .*: see the logs of Ray's workers"):
        lost.result()
    found[2].set_exception(RayTaskError("evaluate", "wrong rules", ValueError("wrong rules")))
    with pytest.raises(RayTaskError, match="wrong rules"):
        failed.result()
