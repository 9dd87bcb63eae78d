from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest
from ray.exceptions import ActorUnavailableError, RayTaskError

from suphx_platform.cluster_config import ClusterConfig
from suphx_platform.flow import Fault
from suphx_platform.part_watch import PartWatch
from suphx_platform.ray_calls import Call
from suphx_platform.ray_part import NotBegunError


class Reference:
    """A reference whose answer comes when the test says so."""

    def __init__(self) -> None:
        self.answer: Future[Any] = Future()

    def future(self) -> Future[Any]:
        return self.answer


def new_watch() -> PartWatch:
    return PartWatch(ClusterConfig(max_failures=2), {"buffer 0": None})


def call(watch: PartWatch) -> Reference:
    reference = Reference()
    watch.calls.add(
        reference,
        Call(
            part="buffer 0",
            actor=None,
            then=lambda _: watch.succeed("buffer 0"),
            lost=lambda error: watch.fail("buffer 0", error),
            seconds=60,
        ),
    )
    return reference


def die(watch: PartWatch, reference: Reference) -> None:
    reference.answer.set_exception(ActorUnavailableError("gone", None))
    watch.calls.wait(1)


def test_all_calls_that_a_death_ends_are_one_fault() -> None:
    watch = new_watch()
    first, second = call(watch), call(watch)
    die(watch, first)
    third = call(watch)
    die(watch, third)  # it has not come back yet
    answered = call(watch)
    answered.answer.set_result(None)
    watch.calls.wait(1)
    die(watch, second)  # made before the death, and told after the return
    (fault,) = watch.events()
    assert isinstance(fault, Fault)
    assert (fault.part, fault.name) == ("buffer 0", "buffer_died")
    assert fault.message.startswith("The actor None is unavailable: gone")


def test_a_second_death_is_a_second_fault_and_too_many_end_the_run() -> None:
    watch = new_watch()
    for _ in range(2):
        die(watch, call(watch))
        watch._down.clear()  # as an answer about its health does
    assert len(watch.events()) == 2
    with pytest.raises(ActorUnavailableError):
        die(watch, call(watch))


def forget(watch: PartWatch) -> None:
    reference = call(watch)
    reference.answer.set_exception(RayTaskError("add", "", NotBegunError("started again")))
    watch.calls.wait(1)


def test_a_part_that_was_started_again_unseen_has_died_once() -> None:
    watch = new_watch()
    forget(watch)
    forget(watch)  # asked before it was told to begin
    assert [event.name for event in watch.events() if isinstance(event, Fault)] == ["buffer_died"]
    call(watch).answer.set_result(None)
    watch.calls.wait(1)
    forget(watch)
    assert len(watch.events()) == 1


def test_a_death_that_was_told_is_not_told_again_when_the_part_has_forgotten() -> None:
    watch = new_watch()
    die(watch, call(watch))
    watch._down.clear()  # its health is known again
    forget(watch)
    assert len(watch.events()) == 1
