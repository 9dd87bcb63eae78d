from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from suphx_platform.console.progress import Progress


class Clock:
    """A time that goes on only when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr("suphx_platform.console.progress.time", SimpleNamespace(monotonic=lambda: self.now))

    def work(self, progress: Progress, units: int, seconds: float) -> None:
        """Do so many units, each of which takes so long."""
        for _ in range(units):
            self.now += seconds
            progress.advance(1)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.mark.parametrize(
    ("seconds", "unit", "total", "before", "done", "text"),
    [
        (10, "hanchans", 1000, 0, 250, "250 of 1,000 hanchans, 30 s left"),
        (2.5, "hanchans", 1000, 0, 2, "2 of 1,000 hanchans, 2 s elapsed"),  # too early for an estimate
        (3, "%", 100, 0, 5, "5 %, 57 s left"),
        (59, "%", 100, 0, 0.01, "0 %, 59 s elapsed"),
        (60, "%", 100, 0, 0.01, "0 %, 6 d 22 h left"),
        (5, "%", 100, 90, 91, "91 %, 45 s left"),  # a tenth of what an earlier command has left
        (10, "hanchans", 8, 0, 0.36, "0.3 of 8 hanchans, 10 s elapsed"),  # one may take minutes
        (10, "hanchans", 8, 0, 7.9999999, "8 of 8 hanchans, 0 s left"),
    ],
)
def test_progress_is_a_count_and_a_time(
    seconds: float, unit: str, total: float, before: float, done: float, text: str, clock: Clock
) -> None:
    progress = Progress(unit, total, "match")
    progress.resume(before)
    clock.now += seconds
    progress.reach(done)
    assert progress.line() == f"match: {text}"


def test_the_time_left_follows_the_speed_of_the_last_minutes(clock: Clock) -> None:
    progress = Progress("games", 10_000)
    clock.work(progress, 3000, 1.0)
    assert progress.seconds_left == pytest.approx(7000)
    clock.work(progress, 1000, 5.0)  # a pod is gone
    assert progress.seconds_left == pytest.approx(6000 * 5, rel=0.01)
    clock.now += 500
    assert (progress.seconds_left or 0) > 6000 * 8, "nothing goes on"


@pytest.mark.parametrize("begin", [lambda progress: progress.resume(600), lambda progress: progress.skip(600)])
def test_resumed_work_has_its_share_at_once_and_the_time_left_of_its_own_speed(
    clock: Clock, begin: Callable[[Progress], None]
) -> None:
    progress = Progress("games", 1000)
    begin(progress)
    assert (progress.share, progress.seconds_left) == (0.6, None)
    clock.work(progress, 100, 10.0)
    assert (progress.share, progress.seconds_left) == pytest.approx((0.7, 300 * 10))
    progress.skip(100)  # of the next match
    assert (progress.share, progress.seconds_left) == pytest.approx((0.8, 200 * 10))


def test_a_share_may_fall_and_finished_work_shows_its_time(clock: Clock) -> None:
    progress = Progress("%", 100)
    clock.now += 100
    progress.reach(57)
    assert progress.line().startswith("57 %, ")
    progress.reach(43)
    assert progress.line(is_finished=True) == "43 % in 1 min 40 s"
