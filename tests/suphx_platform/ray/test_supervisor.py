from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray.exceptions import ActorDiedError, ActorUnavailableError, RayTaskError

from suphx.selfplay.backend import Fault
from suphx.selfplay.layout import RayLayoutConfig
from suphx.selfplay.requests import EngineCounts
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx.training.trainer import DivergedError, PartUnavailableError
from suphx_platform.ray import supervisor as module
from suphx_platform.ray.parts import needs_of_learners
from suphx_platform.ray.process import Health, PeerLostError
from suphx_platform.ray.supervisor import LOST, EngineRates, MissingParts, Supervisor
from tests.suphx_platform.ray.answered_actor import Actor, stop_when

PART = "buffer 0"
GONE = ActorUnavailableError("gone", None)
HERE = Health(1, "here", 0)


class Supervised(Supervisor):
    """A supervisor of actors that answer when the test says so."""

    def __init__(self, *parts: str, **options: Any) -> None:
        self.actors: dict[str, Any] = {part: Actor() for part in parts or (PART,)}
        self.renewed: list[str] = []
        layout = options.pop("layout", RayLayoutConfig(max_failures=2))
        super().__init__(layout, self.actors, renew=self._new, **options)

    def _new(self, part: str) -> Any:
        self.renewed.append(part)
        self.actors[part] = Actor()
        return self.actors[part]

    def work(self, part: str = PART) -> Future[Any]:
        """Have a part do something."""
        self.call(part, "add")
        answer: Future[Any] = self.actors[part].last("add")
        return answer

    def go_on(self) -> list[Any]:
        """Handle the answers that are there; return their values, LOST for one that says so."""
        answers = self.wait(0)
        for answer in answers:
            if answer.method != LOST:
                self.succeed(answer.part)
        return [LOST if answer.method == LOST else answer.value for answer in answers]

    def die(self, answer: Future[Any], error: Exception = GONE) -> list[Any]:
        answer.set_exception(error)
        return self.go_on()

    def hear(self, part: str = PART) -> None:
        """Have the part say that it lives."""
        self._due = [(0.0, part, self._actors[part])]
        self.wait(0)
        self.actors[part].last("health").set_result(HERE)
        self.go_on()

    def faults(self) -> list[str]:
        return [event.name for event in self.events() if isinstance(event, Fault)]


def test_all_calls_that_a_death_ends_are_one_fault_and_another_actor_begins_again() -> None:
    supervisor = Supervised()
    supervisor.hear()
    first, second, health = supervisor.work(), supervisor.work(), supervisor.actors[PART].last("health")
    assert supervisor.die(first) == [LOST]
    assert (supervisor.num_calls(PART), supervisor.health) == (0, {})
    assert supervisor.die(second) == [], "the next life has begun"
    third = supervisor.work()
    third.set_result("done")
    supervisor.hear()
    assert health.done()
    (fault,) = supervisor.events()
    assert isinstance(fault, Fault)
    assert (fault.part, fault.name) == (PART, "buffer_died")
    assert fault.message.startswith("The actor None is unavailable: gone")
    assert supervisor.renewed == [PART]


@pytest.mark.parametrize(
    ("error", "fault"),
    [(GONE, "buffer_died"), (RayTaskError("health", "", OSError("no such process")), "buffer_failed")],
)
def test_a_part_whose_health_check_fails_is_replaced_and_checked_again(error: Exception, fault: str) -> None:
    supervisor = Supervised()
    supervisor.wait(0)
    assert supervisor.die(supervisor.actors[PART].last("health"), error) == [LOST]
    supervisor.wait(0)
    assert not supervisor.actors[PART].last("health").done()
    supervisor.hear()
    assert (supervisor.faults(), supervisor.renewed, list(supervisor.health)) == ([fault], [PART], [PART])


def test_what_came_before_a_death_is_an_answer_and_answers_of_an_earlier_life_are_forgotten() -> None:
    supervisor = Supervised()
    first, second = supervisor.work(), supervisor.work()
    first.set_result("first")
    assert supervisor.die(second) == ["first", LOST]
    third = supervisor.work()
    supervisor.begin_life(PART)
    assert supervisor.num_calls(PART) == 0
    fourth = supervisor.work()
    third.set_result("third")
    fourth.set_result("fourth")
    assert supervisor.go_on() == ["fourth"]


def test_an_error_that_a_part_raises_is_a_fault_and_the_same_actor_begins_again() -> None:
    supervisor = Supervised()
    assert supervisor.die(supervisor.work(), RayTaskError("add", "", TypeError("wrong"))) == [LOST]
    assert (supervisor.faults(), supervisor.renewed) == (["buffer_failed"], [])


def test_a_part_whose_peer_is_lost_is_not_to_blame() -> None:
    supervisor = Supervised()
    assert supervisor.die(supervisor.work(), RayTaskError("add", "", PeerLostError("gone"))) == [LOST]
    assert (supervisor.faults(), supervisor.renewed) == ([], [])


@pytest.mark.parametrize(
    "error",
    [
        ActorDiedError(RayTaskError("__init__", "", ValueError("no such device"))),
        RayTaskError("work", "", DivergedError("no such device")),
    ],
)
def test_first_steps_that_fail_and_a_loss_that_is_not_finite_end_the_run(error: Exception) -> None:
    supervisor = Supervised()
    with pytest.raises((ValueError, DivergedError), match="no such device"):
        supervisor.die(supervisor.work(), error)


def test_too_many_deaths_in_a_row_end_the_run_and_work_that_is_done_makes_them_be_forgotten() -> None:
    supervisor = Supervised()
    for _ in range(4):
        supervisor.work().set_result(None)
        supervisor.go_on()
        supervisor.die(supervisor.work())
    supervisor.die(supervisor.work())
    assert supervisor.faults() == ["buffer_died"] * 5
    with pytest.raises(ActorUnavailableError):
        supervisor.die(supervisor.work())


def overdue(supervisor: Supervised, part: str = PART) -> None:
    """Have a call of ``part`` take longer than it may."""
    supervisor._call(part, "add", -1.0, ())
    supervisor._looked_at = float("-inf")
    supervisor.wait(0)


def test_a_part_that_hangs_is_one_fault() -> None:
    supervisor = Supervised()
    supervisor.hear()
    open_call = supervisor.work()
    overdue(supervisor)
    assert supervisor.die(open_call) == []
    supervisor.hear()
    assert (supervisor.faults(), supervisor.renewed) == (["buffer_hung"], [PART])


def test_a_part_for_which_no_node_has_room_is_waited_for_however_long_it_takes() -> None:
    supervisor = Supervised()
    for _ in range(5):
        overdue(supervisor)  # it has not been placed yet
    supervisor.hear()
    supervisor.die(supervisor.work())
    for _ in range(5):
        overdue(supervisor)  # its node is gone, and there is no other one
    supervisor.hear()
    assert supervisor.faults() == ["buffer_died"]
    overdue(supervisor)
    assert supervisor.faults() == ["buffer_hung"]


def test_a_part_that_needs_a_missing_one_is_not_replaced_while_it_waits() -> None:
    supervisor = Supervised("simulator 0", needs={"simulator 0": ["engine 0", "engine 1"]})
    supervisor.health["simulator 0"] = HERE
    for _ in range(5):
        overdue(supervisor, "simulator 0")
    assert (supervisor.renewed, supervisor.faults()) == ([], [])
    supervisor.health["engine 1"] = HERE
    overdue(supervisor, "simulator 0")
    assert (supervisor.renewed, supervisor.faults()) == (["simulator 0"], ["simulator_hung"])


def test_who_waits_is_told_which_parts_are_away_and_may_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SAY_SECONDS", -1.0)
    monkeypatch.setattr(ray, "cluster_resources", dict)
    monkeypatch.setattr(module, "_WAIT_SECONDS", 0.01)
    supervisor, told = Supervised(), list[str]()
    supervisor._missing = MissingParts([PART], told.append, remedy="add some")
    stop_when(supervisor, lambda: bool(told))
    supervisor.wait()
    with pytest.raises(PartUnavailableError, match="buffer 0 is unavailable"):
        supervisor.check_stop(PART)
    assert told[0].startswith("waiting for buffer 0: ")


def test_a_stop_waits_for_no_part_whose_answer_waits_for_missing_parts() -> None:
    supervisor = Supervised("simulator 0", needs={"simulator 0": ["engine 0"]})
    supervisor.health["simulator 0"] = HERE
    supervisor.check_stop("simulator 0")
    stop_when(supervisor, lambda: True)
    with pytest.raises(PartUnavailableError, match="simulator 0 is unavailable"):
        supervisor.check_stop("simulator 0")
    supervisor.health["engine 0"] = HERE
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
    with pytest.raises(PartUnavailableError, match="buffer 0 is unavailable"):
        supervisor.check_stop(PART)
    supervisor.health[PART] = HERE
    supervisor.check_stop(PART)


def test_calls_that_wait_for_others_of_their_part_have_their_time_after_the_last_answer(
    monkeypatch: pytest.MonkeyPatch,
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
    assert (supervisor.go_on(), supervisor.renewed) == (["first"], [])
    now = 231.0
    supervisor.wait(0)
    assert supervisor.renewed == [PART]


def test_answers_that_came_in_time_and_are_handled_late_kill_nobody() -> None:
    supervisor = Supervised()
    for _ in range(2):
        supervisor._call(PART, "add", -1.0, ())
        supervisor.actors[PART].last("add").set_result("in time")
    supervisor._looked_at = float("-inf")  # the driver has been busy since: with a match, for example
    assert supervisor.go_on() == ["in time", "in time"]
    assert supervisor.renewed == []


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
