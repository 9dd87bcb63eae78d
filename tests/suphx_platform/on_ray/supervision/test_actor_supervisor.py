from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from ray.core.generated import common_pb2
from ray.exceptions import ActorDiedError, ActorUnavailableError, RayActorError, RayTaskError

from suphx.selfplay.backend import Fault
from suphx.selfplay.layout import RayLayoutConfig
from suphx.training.trainer import PartAwayError
from suphx_platform.on_ray.actor.ray_actor import Health, NotBegunError
from suphx_platform.on_ray.supervision import actor_supervisor, in_flight_calls
from suphx_platform.on_ray.supervision.actor_supervisor import ActorSupervisor
from suphx_platform.on_ray.supervision.in_flight_calls import InFlightCall
from tests.suphx_platform.on_ray.kept_calls import stop_when, stop_when_told


class Reference:
    """A reference whose answer comes when the test says so."""

    def __init__(self) -> None:
        self.answer: Future[Any] = Future()

    def future(self) -> Future[Any]:
        return self.answer


class SilentActor:
    """Never answers the question of its health."""

    health = SimpleNamespace(remote=Reference)

    def __str__(self) -> str:
        return "the silent actor"


def new_supervisor() -> ActorSupervisor:
    return ActorSupervisor(RayLayoutConfig(max_failures=2), {"buffer 0": None})


def call(supervisor: ActorSupervisor) -> Reference:
    """Have the part do something."""
    return ask(supervisor, lambda _: supervisor.succeed("buffer 0"), lambda error: supervisor.fail("buffer 0", error))


def ask(
    supervisor: ActorSupervisor, on_result: Callable[[Any], None], on_error: Callable[[Exception], None]
) -> Reference:
    reference = Reference()
    supervisor.calls.add(
        reference, InFlightCall(part="buffer 0", actor=None, on_result=on_result, on_error=on_error, seconds=60)
    )
    return reference


def die(supervisor: ActorSupervisor, reference: Reference, error: RayActorError | None = None) -> None:
    reference.answer.set_exception(error or ActorUnavailableError("gone", None))
    supervisor.calls.wait(1)


def drained() -> ActorDiedError:
    """What Ray raises for a call of an actor whose node was drained, although it starts the actor elsewhere."""
    messages: Any = common_pb2
    death = messages.NodeDeathInfo(reason=messages.NodeDeathInfo.AUTOSCALER_DRAIN_PREEMPTED)
    return ActorDiedError(messages.ActorDiedErrorContext(node_death_info=death, actor_id=bytes(16)))


def be_heard(supervisor: ActorSupervisor, life: str) -> None:
    """Have the part say that it is in this life."""
    reference = ask(
        supervisor,
        lambda health: supervisor._note_health("buffer 0", health),
        lambda error: supervisor.fail_unless_dead("buffer 0", error),
    )
    reference.answer.set_result(Health(1, "here", 0, life))
    supervisor.calls.wait(1)


def forget(supervisor: ActorSupervisor, life: str) -> None:
    reference = call(supervisor)
    error = NotBegunError("started again")
    error.incarnation = life
    reference.answer.set_exception(RayTaskError("add", "", error))
    supervisor.calls.wait(1)


def faults(supervisor: ActorSupervisor) -> list[str]:
    return [event.name for event in supervisor.events() if isinstance(event, Fault)]


def test_all_calls_that_a_death_ends_are_one_fault() -> None:
    supervisor = new_supervisor()
    be_heard(supervisor, "first")
    first, second = call(supervisor), call(supervisor)
    die(supervisor, first)
    third, fourth = call(supervisor), call(supervisor)
    die(supervisor, third)  # it has not come back yet
    be_heard(supervisor, "second")
    die(supervisor, second)  # made before the death, and told after the return
    die(supervisor, fourth)  # made after the death, and before the return
    forget(supervisor, "second")
    (fault,) = supervisor.events()
    assert isinstance(fault, Fault)
    assert (fault.part, fault.name) == ("buffer 0", "buffer_died")
    assert fault.message.startswith("The actor None is unavailable: gone")


def test_a_part_whose_node_is_drained_has_died_once_and_goes_on_elsewhere() -> None:
    supervisor = new_supervisor()
    be_heard(supervisor, "first")
    calls = call(supervisor), call(supervisor)
    unheard = ask(supervisor, lambda _: None, lambda error: supervisor.fail_unless_dead("buffer 0", error))
    for reference in (*calls, unheard):
        die(supervisor, reference, drained())
    be_heard(supervisor, "second")
    assert faults(supervisor) == ["buffer_died"]


def test_a_part_whose_first_steps_fail_ends_the_run_with_their_error() -> None:
    supervisor = new_supervisor()
    error = ActorDiedError(RayTaskError("__init__", "", ValueError("no such device")))
    with pytest.raises(ValueError, match="no such device"):
        die(supervisor, call(supervisor), error)


def test_a_second_death_is_a_second_fault_and_too_many_end_the_run() -> None:
    supervisor = new_supervisor()
    for life in ("first", "second"):
        be_heard(supervisor, life)
        die(supervisor, call(supervisor))
    be_heard(supervisor, "third")
    assert faults(supervisor) == ["buffer_died", "buffer_died"]
    with pytest.raises(ActorUnavailableError):
        die(supervisor, call(supervisor))


def test_work_that_is_done_makes_failures_be_forgotten() -> None:
    supervisor = new_supervisor()
    for life in ("first", "second", "third", "fourth"):
        be_heard(supervisor, life)
        call(supervisor).answer.set_result(None)
        supervisor.calls.wait(1)
        die(supervisor, call(supervisor))
    assert len(faults(supervisor)) == 4


def test_a_part_that_was_started_again_unseen_has_died_once() -> None:
    supervisor = new_supervisor()
    be_heard(supervisor, "first")
    forget(supervisor, "second")
    forget(supervisor, "second")  # asked before it was told to begin
    be_heard(supervisor, "second")
    assert faults(supervisor) == ["buffer_died"]
    be_heard(supervisor, "third")
    forget(supervisor, "third")
    assert faults(supervisor) == ["buffer_died"]


def test_a_broken_line_is_one_fault_and_the_same_life_goes_on() -> None:
    supervisor = new_supervisor()
    be_heard(supervisor, "first")
    die(supervisor, call(supervisor))
    be_heard(supervisor, "first")
    assert faults(supervisor) == ["buffer_died"]
    die(supervisor, call(supervisor))
    assert faults(supervisor) == ["buffer_died"]


def test_a_part_that_hung_and_was_killed_is_one_fault() -> None:
    supervisor = new_supervisor()
    be_heard(supervisor, "first")
    open_call = call(supervisor)
    supervisor._hung("buffer 0", 8.0)
    die(supervisor, open_call)
    be_heard(supervisor, "second")
    assert faults(supervisor) == ["buffer_hung"]


def overdue(supervisor: ActorSupervisor, part: str = "buffer 0") -> None:
    """Have a call of ``part`` take longer than it may."""
    late = InFlightCall(
        part=part, actor="the actor", on_result=lambda _: None, on_error=lambda _: None, seconds=-1
    )  # fmt: skip
    supervisor.calls.add(Reference(), late)
    supervisor.calls.wait(0)


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The actors that were killed, instead of killing any."""
    killed: list[object] = []
    kill = "suphx_platform.on_ray.supervision.in_flight_calls.ray.kill"
    monkeypatch.setattr(kill, lambda actor, **_: killed.append(actor))
    return killed


@pytest.mark.usefixtures("killed")
def test_a_part_for_which_no_node_has_room_is_waited_for_however_long_it_takes() -> None:
    supervisor = new_supervisor()
    for _ in range(5):
        overdue(supervisor)  # it has not been placed yet
    be_heard(supervisor, "first")
    die(supervisor, call(supervisor))
    for _ in range(5):
        overdue(supervisor)  # its node is gone, and there is no other one
    be_heard(supervisor, "second")
    assert faults(supervisor) == ["buffer_died"]
    overdue(supervisor)
    assert faults(supervisor) == ["buffer_hung"]


def test_a_part_that_needs_a_missing_one_is_not_killed_while_it_waits(killed: list[object]) -> None:
    config, engines = RayLayoutConfig(max_failures=2), ["engine 0", "engine 1"]
    supervisor = ActorSupervisor(config, {}, {"simulator 0": engines})
    supervisor.health["simulator 0"] = Health(1, "here", 0, "first")
    for _ in range(5):
        overdue(supervisor, "simulator 0")
    assert (killed, faults(supervisor)) == ([], [])
    supervisor.health["engine 1"] = Health(2, "here", 0, "first")
    supervisor.calls._looked_at = float("-inf")
    overdue(supervisor, "simulator 0")
    assert (killed, faults(supervisor)) == (["the actor"], ["simulator_hung"])


def test_answers_of_other_parts_are_handled_while_one_is_awaited() -> None:
    supervisor = ActorSupervisor(RayLayoutConfig(), {"buffer 0": SilentActor()})
    heard: list[str] = []
    first, second = ask(supervisor, heard.append, lambda _: None), Reference()
    first.answer.set_result("first")
    second.answer.set_result("second")
    assert supervisor.answer("buffer 0", second) == "second"
    assert heard == ["first"]


def test_who_waits_for_an_answer_is_told_which_parts_are_away_and_may_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    supervisor = ActorSupervisor(RayLayoutConfig(), {"buffer 0": SilentActor()})
    told = stop_when_told(monkeypatch, supervisor)
    with pytest.raises(PartAwayError, match="buffer 0 is away"):
        supervisor.answer("buffer 0", Reference())
    assert told[0].startswith("waiting for buffer 0: ")


def test_a_stop_waits_for_no_part_whose_answer_waits_for_missing_parts() -> None:
    supervisor = ActorSupervisor(RayLayoutConfig(), {}, {"simulator 0": ["engine 0"]})
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
    supervisor = ActorSupervisor(RayLayoutConfig(hang_seconds=60.0), {"buffer 0": SilentActor()})
    monkeypatch.setattr(actor_supervisor, "time", SimpleNamespace(monotonic=lambda: now))
    supervisor.is_stopping = lambda: True
    supervisor.check_stop("buffer 0")
    now = 119.0
    supervisor.check_stop("buffer 0")
    now = 120.0
    with pytest.raises(PartAwayError, match="buffer 0 is away"):
        supervisor.check_stop("buffer 0")
    supervisor.health["buffer 0"] = Health(1, "here", 0, "first")
    supervisor.check_stop("buffer 0")


def test_calls_that_wait_for_others_of_their_part_have_their_time_after_the_last_answer(
    killed: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A restored learner gets all batches since its last copy at once, and learns from one after another."""
    now = 100.0
    monkeypatch.setattr(in_flight_calls, "time", SimpleNamespace(monotonic=lambda: now))
    supervisor, heard = new_supervisor(), list[str]()
    first, second = Reference(), Reference()
    for reference, seconds in ((first, 600.0), (second, 60.0)):
        queued = InFlightCall(
            part="buffer 0", actor="the actor", on_result=heard.append, on_error=lambda _: None, seconds=seconds
        )
        supervisor.calls.add(reference, queued)
    now = 170.0
    first.answer.set_result("first")
    supervisor.calls.wait(1)
    assert (heard, killed) == (["first"], [])
    now = 231.0
    supervisor.calls.wait(0)
    assert killed == ["the actor"]


def test_answers_that_came_in_time_and_are_handled_late_kill_nobody(killed: list[object]) -> None:
    supervisor, heard = new_supervisor(), list[str]()
    references = [Reference(), Reference()]
    for reference in references:
        late = InFlightCall(
            part="buffer 0", actor="the actor", on_result=heard.append, on_error=lambda _: None, seconds=-1
        )
        supervisor.calls.add(reference, late)
        reference.answer.set_result("in time")
    supervisor.calls._looked_at = float("-inf")  # the driver has been busy since: with a match, for example
    supervisor.calls.wait(1)
    assert (heard, killed) == (["in time"], [])
    supervisor.calls.wait(1)
    assert heard == ["in time", "in time"]


def test_a_part_that_does_not_answer_in_time_is_killed_and_the_wait_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    config = RayLayoutConfig(hang_seconds=1.0, start_seconds=1.0)
    supervisor = ActorSupervisor(config, {"learner": SilentActor()})
    supervisor.health["learner"] = Health(1, "here", 0, "first")
    reference = Reference()

    def kill(actor: SilentActor, *, no_restart: bool) -> None:
        assert not no_restart
        reference.answer.set_exception(ActorUnavailableError(f"{actor} was killed", None))

    monkeypatch.setattr("suphx_platform.on_ray.supervision.in_flight_calls.ray.kill", kill)
    with pytest.raises(ActorUnavailableError, match="the silent actor was killed"):
        supervisor.answer("learner", reference)
    assert faults(supervisor) == ["learner_hung"]
