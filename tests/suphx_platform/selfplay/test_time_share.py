from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from suphx.selfplay.config import ReplayBufferConfig
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.selfplay.time_share import TimeShare

CONFIG = ReinforcementConfig(
    max_updates=100, evaluate_every=50, evaluation_deals=1000, buffer=ReplayBufferConfig(batch_size=8192)
)
START = {"hanchans": 200, "deals": {"number": 1040}}
FINAL = {"hanchans": 2000, "deals": {"number": 1040}}


class Clock:
    """A time that goes on only when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def play(times: TimeShare, clock: Clock, hanchans: int, seconds: float) -> None:
    """Play a match in 10 parts."""
    times.begin_match()
    for _ in range(10):
        clock.now += seconds / 10
        times.add_hanchans(hanchans / 10)


def new_share(clock: Clock, config: ReinforcementConfig = CONFIG, **changes: Any) -> TimeShare:
    sizes: dict[str, Any] = {"evaluation_hanchans": 300, "final_hanchans": 4100, "starts_with_match": True} | changes
    return TimeShare(config, clock=clock, **sizes)


def test_a_run_is_over_after_its_last_match_and_not_after_its_last_update() -> None:
    clock = Clock()
    times = new_share(clock)
    play(times, clock, 300, 30)
    times.add_match(START)
    assert times.after(50, 50.0).share == pytest.approx(80 / (80 + 50 + 0.1 * 4400))
    play(times, clock, 300, 10)
    times.add_match(START)
    before = times.after(100, 100.0).share
    assert before == pytest.approx(140 / (140 + 4100 * 40 / 600))
    play(times, clock, 2100, 80)
    assert before < times.after(100, 100.0).share < 1
    times.add_match(FINAL)
    play(times, clock, 2000, 20)
    times.add_match({"hanchans": 2000})
    assert tuple(times.after(100, 100.0)) == pytest.approx((1.0, 0.0), abs=1e-9)


def resumed(before: TimeShare, clock: Clock, **changes: Any) -> TimeShare:
    return new_share(clock, LONG, match_seconds=before.match_seconds, **changes)


LONG = replace(CONFIG, max_updates=4000, evaluate_every=0)
SIZES: dict[str, Any] = {"starts_with_match": False, "evaluation_hanchans": 0}


@pytest.mark.parametrize("speed", [0.1, 1.0, 10.0])
def test_a_resumed_run_has_its_share_at_once_and_the_time_left_of_its_own_speed(speed: float) -> None:
    clock = Clock()
    times = new_share(clock, LONG, final_hanchans=0, **SIZES)
    for updates in range(1701):
        before = times.after(updates, 2.0 * updates)
    assert before.share == pytest.approx(1700 / 4000)
    assert before.seconds_left == pytest.approx(2300 * 2)
    again = resumed(times, clock, final_hanchans=0, **SIZES)
    assert again.after(1700, 3400.0) == (1700 / 4000, None)
    first = 3400 + 60.0  # the simulators and the first games
    for update in range(1, 41):
        now = again.after(1700 + update, first + speed * update)
        assert now.share == pytest.approx((1700 + update) / 4000), "at any speed"
        assert now.seconds_left in (None, pytest.approx((2300 - update) * speed))
    assert now.seconds_left is not None


def test_the_matches_of_a_resumed_run_take_what_those_before_took() -> None:
    clock = Clock()
    sizes: dict[str, Any] = SIZES | {"final_hanchans": 10_000, "evaluation_hanchans": 300}
    times = new_share(clock, LONG, **sizes)
    play(times, clock, 300, 600)
    times.add_match(START)
    for updates in range(2001):
        before = times.after(updates, 1.0 * updates)
    again = resumed(times, clock, **sizes)
    again.add_match(START, is_earlier=True)
    assert again.after(2000, 2000.0).share == pytest.approx(before.share)


def test_a_critic_that_learns_before_the_first_update_is_no_part_of_the_run_that_is_done() -> None:
    times = new_share(Clock(), starts_with_match=False)
    assert times.after(0, 0.0).share == 0
    assert times.after(0, 110.0).share == 0
    assert times.after(10, 120.0).share == pytest.approx(10 / (100 + 4100 / 60), abs=0.01), "an update takes 1 s"
    timed = new_share(Clock(), replace(CONFIG, max_updates=0, max_minutes=10.0), starts_with_match=False)
    assert timed.after(0, 60.0).share == pytest.approx(0.1)


def test_a_run_with_a_limit_of_minutes_has_matches_at_the_end_too() -> None:
    clock = Clock()
    times = new_share(clock, replace(CONFIG, max_updates=0, max_minutes=2.0, evaluate_every=0), final_hanchans=400)
    assert times.after(0, 0.0).share == 0
    play(times, clock, 40, 4)  # of a match that a later key asked for
    assert tuple(times.after(60, 60.0)) == pytest.approx((64 / (64 + 60 + 36), 60 + 36))


def test_a_match_that_is_left_out_is_no_time_that_is_left() -> None:
    clock = Clock()
    times, other = new_share(clock), new_share(clock)
    other.skip_match()
    for each in (times, other):
        play(each, clock, 200, 20.0)
    assert other.after(10, 10.0).share > times.after(10, 10.0).share
