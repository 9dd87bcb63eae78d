from __future__ import annotations

from suphx.training.loop.clock import Clock
from suphx.training.loop.training_state import TrainingProgress


def test_time_and_waiting_are_added_to_what_was_there() -> None:
    progress = TrainingProgress(seconds=100.0, waited_seconds=7.0)
    clock = Clock(progress)
    with clock.waiting():
        sum(range(1000))
    clock.tick()
    assert progress.seconds > 100
    assert 7 < progress.waited_seconds <= 7 + (progress.seconds - 100)


def test_a_lap_counts_what_happened_since_the_last_one() -> None:
    progress = TrainingProgress(samples=500, waited_seconds=50.0)
    clock = Clock(progress)
    progress.samples += 100
    samples_per_second, waiting_share = clock.lap()
    assert samples_per_second > 0
    assert waiting_share == 0
    assert clock.lap() == (0, 0)
