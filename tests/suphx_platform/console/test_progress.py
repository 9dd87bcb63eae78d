from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

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


def at(clock: Clock, elapsed: float, unit: str, total: float | None = None, **state: Any) -> Progress:
    """Return a progress after so many seconds; ``state``: done, before (of an earlier sitting), name, note."""
    progress = Progress(unit, total, state.get("name", ""), state.get("note", ""))
    progress.resume(state.get("before", 0.0))
    clock.now += elapsed
    progress.reach(state.get("done", 0.0))
    return progress


def test_counted_progress_shows_the_count_and_the_time_left(clock: Clock) -> None:
    progress = at(clock, 10, "hanchans", 1000, done=250, name="match")
    assert progress.line() == "match: 250 of 1,000 hanchans, 30 s left"
    assert progress.line(is_finished=True) == "match: 250 of 1,000 hanchans in 10 s"


def test_no_time_left_is_estimated_from_the_first_moments(clock: Clock) -> None:
    match = at(clock, 2.5, "hanchans", 1000, done=2, name="match")
    assert match.line() == "match: 2 of 1,000 hanchans, 2 s elapsed"
    assert at(clock, 3, "%", 100, done=5).seconds_left == 57
    days = at(clock, 59, "%", 100, done=0.01)
    assert days.seconds_left is None
    clock.now += 1
    assert days.seconds_left == pytest.approx(599_940, rel=0.02)
    assert at(clock, 5, "%", 100, done=91, before=90).seconds_left == 45, "a tenth of what is left"


def test_tenths_of_few_units_are_shown_because_one_may_take_minutes(clock: Clock) -> None:
    for done, text in ((0.36, "0.3 of 8"), (7.99, "7.9 of 8"), (2.0, "2 of 8"), (7.9999999, "8 of 8")):
        assert at(clock, 10, "hanchans", 8, done=done).line().startswith(f"{text} hanchans")


def test_the_time_left_follows_the_speed_of_the_last_minutes(clock: Clock) -> None:
    progress = Progress("games", 10_000)
    clock.work(progress, 3000, 1.0)
    assert progress.seconds_left == pytest.approx(7000)
    clock.work(progress, 1000, 5.0)  # a pod is gone
    assert progress.seconds_left == pytest.approx(6000 * 5, rel=0.01)
    clock.now += 500
    assert (progress.seconds_left or 0) > 6000 * 8, "it stands still"


def resume(progress: Progress) -> None:
    progress.resume(600)


def find_kept_games(progress: Progress) -> None:
    progress.skip(600)


@pytest.mark.parametrize("begin", [resume, find_kept_games])
def test_a_resumed_work_has_its_share_at_once_and_the_time_left_of_its_own_speed(
    clock: Clock, begin: Callable[[Progress], None]
) -> None:
    progress = Progress("games", 1000)
    begin(progress)
    assert (progress.share, progress.seconds_left) == (0.6, None)
    clock.work(progress, 100, 10.0)
    assert (progress.share, progress.seconds_left) == pytest.approx((0.7, 300 * 10))
    progress.skip(100)  # of the next match
    assert (progress.share, progress.seconds_left) == pytest.approx((0.8, 200 * 10))


def test_who_knows_the_time_left_better_says_so_and_a_share_may_fall(clock: Clock) -> None:
    progress = Progress("%", 100)
    clock.now += 100
    progress.estimate(57, None)
    assert progress.line().startswith("57 %, 1 min 40 s elapsed")
    progress.estimate(43, 7980)
    assert progress.line() == "43 %, 2 h 13 min left"
