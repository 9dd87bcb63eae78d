from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest
from ray.exceptions import ActorUnavailableError

from suphx_platform.cluster_config import ClusterConfig
from suphx_platform.flow import Fault
from suphx_platform.part_watch import PartWatch
from suphx_platform.ray_calls import Call


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
