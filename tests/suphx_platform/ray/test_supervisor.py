from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray.core.generated import common_pb2
from ray.exceptions import ActorDiedError, ActorUnavailableError, RayTaskError

from suphx.selfplay.backend import Fault
from suphx.selfplay.layout import RayLayoutConfig
from suphx.selfplay.requests import EngineCounts
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx.training.trainer import PartAwayError
from suphx_platform.ray import supervisor as module
from suphx_platform.ray.parts import needs_of_learners
from suphx_platform.ray.process import Health, NotBegunError
from suphx_platform.ray.supervisor import RESTARTED, EngineRates, MissingParts, Supervisor
from tests.suphx_platform.ray.answered_actor import Actor, Call, stop_when

PART = "buffer 0"
GONE = ActorUnavailableError("gone", None)


class Supervised(Supervisor):
    """A supervisor of actors that answer when the test says so."""

    def __init__(self, *parts: str, **options: Any) -> None:
        self.actors: dict[str, Any] = {part: Actor() for part in parts or (PART,)}
        self.renewed: list[str] = []
        layout = options.pop("layout", RayLayoutConfig(max_failures=2))
        super().__init__(layout, self.actors, renew=self._new, **options)

    def _new(self, part: str) -> Actor:
        self.renewed.append(part)
        return Actor()

    def work(self, part: str = PART) -> Future[Any]:
        """Have a part do something."""
        self.call(part, "add")
        answer: Future[Any] = self.actors[part].last("add")
        return answer

    def go_on(self) -> list[Any]:
        """Handle the answers that are there; return values."""
        answers = self.wait(0)
        for answer in answers:
            if answer.error is not None:
                self.fail(answer.part, answer.error)
            elif answer.method != RESTARTED:
                self.succeed(answer.part)
        return [answer.value for answer in answers]

    def die(self, answer: Future[Any], error: Exception = GONE) -> None:
        answer.set_exception(error)
        self.go_on()

    def hear(self, life: str) -> None:
        """Have the part say that it is in this life."""
        self._due = [(0.0, PART)]
        self.wait(0)
        self.actors[PART].last("health").set_result(Health(1, "here", 0, life))
        self.go_on()

    def forget(self, life: str) -> None:
        error = NotBegunError("started again")
        error.incarnation = life
        self.die(self.work(), RayTaskError("add", "", error))

    def faults(self) -> list[str]:
        return [event.name for event in self.events() if isinstance(event, Fault)]


def drained() -> ActorDiedError:
    """What Ray raises for a call of an actor whose node was drained, although it starts the actor elsewhere."""
    messages: Any = common_pb2
    death = messages.NodeDeathInfo(reason=messages.NodeDeathInfo.AUTOSCALER_DRAIN_PREEMPTED)
    return ActorDiedError(messages.ActorDiedErrorContext(node_death_info=death, actor_id=bytes(16)))


def ended() -> ActorDiedError:
    """What Ray raises for a call of an actor whose process has ended by itself: it does not start it again."""
    messages: Any = common_pb2
    return ActorDiedError(messages.ActorDiedErrorContext(actor_id=bytes(16)))


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The actors that were killed, instead of killing any."""
    killed: list[object] = []
    monkeypatch.setattr("suphx_platform.ray.supervisor.ray.kill", lambda actor, **_: killed.append(actor))
    return killed


def test_all_calls_that_a_death_ends_are_one_fault() -> None:
    supervisor = Supervised()
    supervisor.hear("first")
    first, second = supervisor.work(), supervisor.work()
    supervisor.die(first)
    third, fourth = supervisor.work(), supervisor.work()
    supervisor.die(third)  # it has not come back yet
    supervisor.hear("second")
    supervisor.die(second)  # made before the death, and told after the return
    supervisor.die(fourth)  # made after the death, and before the return
    supervisor.forget("second")
    (fault,) = supervisor.events()
    assert isinstance(fault, Fault)
    assert (fault.part, fault.name) == (PART, "buffer_died")
    assert fault.message.startswith("The actor None is unavailable: gone")
    assert supervisor.renewed == []


def test_answers_of_an_earlier_life_are_forgotten() -> None:
    supervisor = Supervised()
    first = supervisor.work()
    supervisor.begin_life(PART)
    assert supervisor.num_calls(PART) == 0
    second = supervisor.work()
    first.set_result("first")
    second.set_result("second")
    assert supervisor.go_on() == ["second"]


def test_a_part_whose_node_is_drained_has_died_once_and_goes_on_elsewhere() -> None:
    supervisor = Supervised()
    supervisor.hear("first")
    for answer in (supervisor.work(), supervisor.work()):
        supervisor.die(answer, drained())
    supervisor.hear("second")
    assert supervisor.faults() == ["buffer_died"]
    assert supervisor.renewed == []


def test_a_part_that_has_ended_by_itself_is_made_anew_once() -> None:
    supervisor = Supervised()
    supervisor.hear("first")
    calls = supervisor.work(), supervisor.work()
    supervisor.die(calls[0], ended())
    supervisor.actors[PART]._actor_id = SimpleNamespace(hex=lambda: "another")
    supervisor.die(calls[1], ended())
    supervisor.hear("second")
    assert supervisor.faults() == ["buffer_died"]
    assert supervisor.renewed == [PART]


def test_a_part_whose_first_steps_fail_ends_the_run_with_their_error() -> None:
    supervisor = Supervised()
    error = ActorDiedError(RayTaskError("__init__", "", ValueError("no such device")))
    with pytest.raises(ValueError, match="no such device"):
        supervisor.die(supervisor.work(), error)


def test_a_second_death_is_a_second_fault_and_too_many_end_the_run() -> None:
    supervisor = Supervised()
    for life in ("first", "second"):
        supervisor.hear(life)
        supervisor.die(supervisor.work())
    supervisor.hear("third")
    assert supervisor.faults() == ["buffer_died", "buffer_died"]
    with pytest.raises(ActorUnavailableError):
        supervisor.die(supervisor.work())


def test_work_that_is_done_makes_failures_be_forgotten() -> None:
    supervisor = Supervised()
    for life in ("first", "second", "third", "fourth"):
        supervisor.hear(life)
        supervisor.work().set_result(None)
        supervisor.go_on()
        supervisor.die(supervisor.work())
    assert len(supervisor.faults()) == 4


def test_a_part_that_was_started_again_unseen_has_died_once() -> None:
    supervisor = Supervised()
    supervisor.hear("first")
    supervisor.forget("second")
    supervisor.forget("second")  # asked before it was told to begin
    supervisor.hear("second")
    assert supervisor.faults() == ["buffer_died"]
    supervisor.hear("third")
    supervisor.forget("third")
    assert supervisor.faults() == ["buffer_died"]


def test_a_part_that_was_started_again_while_nobody_called_it_is_to_begin_again() -> None:
    supervisor = Supervised()
    supervisor.hear("first")
    supervisor._due = [(0.0, PART)]
    supervisor.wait(0)
    supervisor.actors[PART].last("health").set_result(Health(1, "here", 0, "second"))
    assert [(answer.part, answer.method) for answer in supervisor.wait(0)] == [(PART, RESTARTED)]


def test_a_broken_line_is_one_fault_and_the_same_life_goes_on() -> None:
    supervisor = Supervised()
    supervisor.hear("first")
    supervisor.die(supervisor.work())
    supervisor.hear("first")
    assert supervisor.faults() == ["buffer_died"]
    supervisor.die(supervisor.work())
    assert supervisor.faults() == ["buffer_died"]


def overdue(supervisor: Supervised, part: str = PART) -> None:
    """Have a call of ``part`` take longer than it may."""
    supervisor._call(part, "add", -1.0, ())
    supervisor._looked_at = float("-inf")
    supervisor.wait(0)


def test_a_part_that_hung_and_was_killed_is_one_fault(killed: list[object]) -> None:
    supervisor = Supervised()
    supervisor.hear("first")
    open_call = supervisor.work()
    overdue(supervisor)
    supervisor.die(open_call)
    supervisor.hear("second")
    assert supervisor.faults() == ["buffer_hung"]
    assert killed == [supervisor.actors[PART]]


@pytest.mark.usefixtures("killed")
def test_a_part_for_which_no_node_has_room_is_waited_for_however_long_it_takes() -> None:
    supervisor = Supervised()
    for _ in range(5):
        overdue(supervisor)  # it has not been placed yet
    supervisor.hear("first")
    supervisor.die(supervisor.work())
    for _ in range(5):
        overdue(supervisor)  # its node is gone, and there is no other one
    supervisor.hear("second")
    assert supervisor.faults() == ["buffer_died"]
    overdue(supervisor)
    assert supervisor.faults() == ["buffer_hung"]


def test_a_part_that_needs_a_missing_one_is_not_killed_while_it_waits(killed: list[object]) -> None:
    supervisor = Supervised("simulator 0", needs={"simulator 0": ["engine 0", "engine 1"]})
    supervisor.health["simulator 0"] = Health(1, "here", 0, "first")
    for _ in range(5):
        overdue(supervisor, "simulator 0")
    assert (killed, supervisor.faults()) == ([], [])
    supervisor.health["engine 1"] = Health(2, "here", 0, "first")
    overdue(supervisor, "simulator 0")
    assert (killed, supervisor.faults()) == ([supervisor.actors["simulator 0"]], ["simulator_hung"])


def test_answers_of_other_parts_are_kept_while_one_is_awaited() -> None:
    supervisor = Supervised("a", "b")
    supervisor.work("a").set_result("first")

    class Answering(Actor):
        def __getattr__(self, method: str) -> Any:
            remote = super().__getattr__(method).remote

            def answered(*arguments: Any) -> Call:
                call: Call = remote(*arguments)
                if method == "state":
                    call.answer.set_result("state")
                return call

            return SimpleNamespace(remote=answered)

    supervisor.actors["b"] = Answering()
    assert supervisor.ask("b", "state") == "state"
    assert supervisor.go_on() == ["first"]


def test_who_waits_for_an_answer_is_told_which_parts_are_away_and_may_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SAY_SECONDS", -1.0)
    monkeypatch.setattr(ray, "cluster_resources", dict)
    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.01)
    supervisor, told = Supervised(), list[str]()
    supervisor._missing = MissingParts([PART], told.append, remedy="add some")
    stop_when(supervisor, lambda: bool(told))
    with pytest.raises(PartAwayError, match="buffer 0 is away"):
        supervisor.ask(PART, "state")
    assert told[0].startswith("waiting for buffer 0: ")


def test_a_stop_waits_for_no_part_whose_answer_waits_for_missing_parts() -> None:
    supervisor = Supervised("simulator 0", needs={"simulator 0": ["engine 0"]})
    supervisor.health["simulator 0"] = Health(1, "here", 0, "first")
    supervisor.check_stop("simulator 0")
    stop_when(supervisor, lambda: True)
    with pytest.raises(PartAwayError, match="simulator 0 is away"):
        supervisor.check_stop("simulator 0")
    supervisor.health["engine 0"] = Health(2, "here", 0, "first")
    supervisor.check_stop("simulator 0")


def test_a_part_that_is_back_has_time_to_say_so_before_a_stop_counts_it_as_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    supervisor = Supervised(layout=RayLayoutConfig(hang_seconds=60.0))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    supervisor.is_stopping = lambda: True
    supervisor.check_stop(PART)
    now = 119.0
    supervisor.check_stop(PART)
    now = 120.0
    with pytest.raises(PartAwayError, match="buffer 0 is away"):
        supervisor.check_stop(PART)
    supervisor.health[PART] = Health(1, "here", 0, "first")
    supervisor.check_stop(PART)


def test_calls_that_wait_for_others_of_their_part_have_their_time_after_the_last_answer(
    killed: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    supervisor = Supervised()
    supervisor._missing = MissingParts([], print, remedy="")
    supervisor._call(PART, "add", 600.0, ())
    first = supervisor.actors[PART].last("add")
    supervisor._call(PART, "add", 60.0, ())
    now = 170.0
    first.set_result("first")
    assert (supervisor.go_on(), killed) == (["first"], [])
    now = 231.0
    supervisor.wait(0)
    assert killed == [supervisor.actors[PART]]


def test_answers_that_came_in_time_and_are_handled_late_kill_nobody(killed: list[object]) -> None:
    supervisor = Supervised()
    for _ in range(2):
        supervisor._call(PART, "add", -1.0, ())
        supervisor.actors[PART].last("add").set_result("in time")
    supervisor._looked_at = float("-inf")  # the driver has been busy since: with a match, for example
    assert supervisor.go_on() == ["in time", "in time"]
    assert killed == []


def test_missing_parts_are_named_with_what_several_learners_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SAY_SECONDS", -1.0)
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 4.0, "memory": 1.0})
    config = ReinforcementConfig(cluster=RayLayoutConfig(on_ray=True, cpus_per_learner=3))
    assert needs_of_learners(config) == ""
    needs = {"learner": needs_of_learners(replace(config, learner=replace(config.learner, num_learners=2)))}
    said: list[str] = []
    missing = MissingParts(["learner", "server"], said.append, remedy="add some", needs=needs)
    missing.look(["server"])
    missing.look(["learner"])
    missing.look(["learner", "server"])
    assert said == [
        "waiting for learner: starting or not scheduled yet; the learner needs room for 2 learners with "
        "{'CPU': 3, 'learner': 0.99} each, all at once; the nodes offer {'CPU': 4.0}. If that is not enough, add "
        "nodes, or add some",
        "waiting for server: starting or not scheduled yet; the nodes offer {'CPU': 4.0}. If that is not enough, add "
        "nodes, or add some",
        "all parts are there",
    ]


def test_rates_are_those_between_the_last_two_reports_and_begin_again_with_the_engine() -> None:
    rates = EngineRates()
    rates.add("engine 0", EngineCounts(requests=1, observations=100, busy_seconds=1.0), 10.0)
    assert rates.gauges() == {}
    rates.add("engine 0", EngineCounts(requests=3, observations=300, busy_seconds=2.0), 12.0)
    assert rates.gauges() == {"engine_observations_per_second": 100.0, "engine_waiting_share": 0.5}
    rates.add("engine 0", EngineCounts(requests=1, observations=10, busy_seconds=0.1), 13.0)
    assert rates.gauges() == {}
    rates.forget("engine 0")
    assert rates.gauges() == {}
