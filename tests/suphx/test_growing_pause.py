from __future__ import annotations

from suphx.growing_pause import GrowingPause


def test_each_pause_is_twice_as_long_up_to_the_longest() -> None:
    pause = GrowingPause(first=2.0, longest=10.0)
    assert [pause.next() for _ in range(5)] == [2.0, 4.0, 8.0, 10.0, 10.0]


def test_a_success_makes_the_pauses_short_again() -> None:
    pause = GrowingPause(first=1.0, longest=60.0)
    pause.next()
    pause.next()
    pause.reset()
    assert pause.next() == 1.0
