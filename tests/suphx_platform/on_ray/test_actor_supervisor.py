from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from ray.exceptions import ActorUnavailableError, RayTaskError

from suphx_platform.backend.local_backend import Fault
from suphx_platform.on_ray.actor_supervisor import ActorSupervisor
from suphx_platform.on_ray.in_flight_calls import InFlightCall
from suphx_platform.on_ray.ray_actors import Health, NotBegunError
from suphx_platform.parts.ray_layout_config import RayLayoutConfig


class Reference:
    """A reference whose answer comes when the test says so."""

    def __init__(self) -> None:
        self.answer: Future[Any] = Future()

    def future(self) -> Future[Any]:
        return self.answer


def new_watch() -> ActorSupervisor:
    return ActorSupervisor(RayLayoutConfig(max_failures=2), {"buffer 0": None})


def call(watch: ActorSupervisor) -> Reference:
    """Have the part do something."""
    return ask(watch, lambda _: watch.succeed("buffer 0"), lambda error: watch.fail("buffer 0", error))


def ask(watch: ActorSupervisor, then: Callable[[Any], None], lost: Callable[[Exception], None]) -> Reference:
    reference = Reference()
    watch.calls.add(reference, InFlightCall(part="buffer 0", actor=None, then=then, lost=lost, seconds=60))
    return reference


def die(watch: ActorSupervisor, reference: Reference) -> None:
    reference.answer.set_exception(ActorUnavailableError("gone", None))
    watch.calls.wait(1)


def be_heard(watch: ActorSupervisor, life: str) -> None:
    """Have the part say that it is in this life."""
    reference = ask(watch, lambda health: watch._hear("buffer 0", health), lambda error: watch.miss("buffer 0", error))
    reference.answer.set_result(Health(1, "here", 0, life))
    watch.calls.wait(1)


def forget(watch: ActorSupervisor, life: str) -> None:
    reference = call(watch)
    error = NotBegunError("started again")
    error.life = life
    reference.answer.set_exception(RayTaskError("add", "", error))
    watch.calls.wait(1)


def faults(watch: ActorSupervisor) -> list[str]:
    return [event.name for event in watch.events() if isinstance(event, Fault)]


def test_all_calls_that_a_death_ends_are_one_fault() -> None:
    watch = new_watch()
    be_heard(watch, "first")
    first, second = call(watch), call(watch)
    die(watch, first)
    third, fourth = call(watch), call(watch)
    die(watch, third)  # it has not come back yet
    be_heard(watch, "second")
    die(watch, second)  # made before the death, and told after the return
    die(watch, fourth)  # made after the death, and before the return
    forget(watch, "second")
    (fault,) = watch.events()
    assert isinstance(fault, Fault)
    assert (fault.part, fault.name) == ("buffer 0", "buffer_died")
    assert fault.message.startswith("The actor None is unavailable: gone")


def test_a_second_death_is_a_second_fault_and_too_many_end_the_run() -> None:
    watch = new_watch()
    for life in ("first", "second"):
        be_heard(watch, life)
        die(watch, call(watch))
    be_heard(watch, "third")
    assert faults(watch) == ["buffer_died", "buffer_died"]
    with pytest.raises(ActorUnavailableError):
        die(watch, call(watch))


def test_work_that_is_done_makes_failures_be_forgotten() -> None:
    watch = new_watch()
    for life in ("first", "second", "third", "fourth"):
        be_heard(watch, life)
        call(watch).answer.set_result(None)
        watch.calls.wait(1)
        die(watch, call(watch))
    assert len(faults(watch)) == 4


def test_a_part_that_was_started_again_unseen_has_died_once() -> None:
    watch = new_watch()
    be_heard(watch, "first")
    forget(watch, "second")
    forget(watch, "second")  # asked before it was told to begin
    be_heard(watch, "second")
    assert faults(watch) == ["buffer_died"]
    be_heard(watch, "third")
    forget(watch, "third")
    assert faults(watch) == ["buffer_died"]


def test_a_broken_line_is_one_fault_and_the_same_life_goes_on() -> None:
    watch = new_watch()
    be_heard(watch, "first")
    die(watch, call(watch))
    be_heard(watch, "first")
    assert faults(watch) == ["buffer_died"]
    die(watch, call(watch))
    assert faults(watch) == ["buffer_died"]


def test_a_part_that_hung_and_was_killed_is_one_fault() -> None:
    watch = new_watch()
    be_heard(watch, "first")
    open_call = call(watch)
    watch._hung("buffer 0", 8.0)
    die(watch, open_call)
    be_heard(watch, "second")
    assert faults(watch) == ["buffer_hung"]
