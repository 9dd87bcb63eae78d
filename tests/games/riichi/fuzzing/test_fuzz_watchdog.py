from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator

import pytest

from tests.games.riichi.fuzzing.fuzz_watchdog import Limits, Work, do_chunk, watch

DIES, LEAVES, HANGS, GROWS, RAISES = 3, 5, 7, 9, 11


def misbehave(number: int) -> list[str]:
    """Do something bad for some numbers."""
    if number == DIES:
        os.kill(os.getpid(), signal.SIGSEGV)
    elif number == LEAVES:
        os._exit(3)
    elif number == HANGS:
        while True:
            pass
    elif number == GROWS:
        held = [bytes(range(256)) * 2_500_000]
        while held:
            pass
    elif number == RAISES:
        raise IndexError("outside")
    return ["fine"]


@contextlib.contextmanager
def make_misbehaving() -> Iterator[Work]:
    yield misbehave


@contextlib.contextmanager
def make_nothing() -> Iterator[Work]:
    os._exit(4)
    yield misbehave


def test_every_way_to_fail_is_a_finding_with_its_number_and_costs_no_other() -> None:
    limits = Limits(seconds=10, bytes=500 * 1024**2)
    summary = watch(make_misbehaving, range(14), 2, limits=limits, chunk_size=7)
    found = {finding.number: (finding.what, finding.detail.partition("\n")[0]) for finding in summary.findings}
    assert found == {
        DIES: ("died", "SIGSEGV"),
        LEAVES: ("died", "exit status 3"),
        HANGS: ("hung", ""),
        GROWS: ("memory", ""),
        RAISES: ("IndexError in test_fuzz_watchdog.py, misbehave", "Traceback (most recent call last):"),
    }
    assert (summary.num_done, summary.kinds["fine"]) == (14, 9)
    assert 0 < summary.peak_bytes < limits.bytes


def test_a_process_that_cannot_begin_is_an_error_of_the_fuzzer() -> None:
    with pytest.raises(RuntimeError, match="died before its first number"):
        watch(make_nothing, range(3), 1, limits=Limits())


def test_the_slowest_number_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def take_time(number: int) -> list[str]:
        clock[0] += 60.0 if number == 2 else 1.0
        return ["fine"]

    summary = do_chunk(take_time, range(4))
    assert (summary.slowest_number, summary.slowest_seconds) == (2, 60.0)
    assert summary.kinds["fine"] == 4
