from __future__ import annotations

import threading

import pytest

from suphx_platform.storage.objects.time_limit import within


def test_answers_and_errors_pass_through() -> None:
    assert within(60, lambda: 7) == 7
    with pytest.raises(ValueError, match="invalid literal"):
        within(60, lambda: int("seven"))


def test_work_that_takes_too_long_is_left_alone() -> None:
    may_end, has_ended = threading.Event(), threading.Event()

    def work() -> None:
        may_end.wait()
        has_ended.set()

    with pytest.raises(TimeoutError):
        within(0.01, work)
    may_end.set()
    assert has_ended.wait(60)
