from __future__ import annotations

import pytest

from suphx_platform.on_ray.monte_carlo.round_buffer import RoundBuffer


def test_places_are_reserved_and_filled_in_the_order_of_arrival() -> None:
    buffer = RoundBuffer[str](3)
    assert [buffer.reserve() for _ in range(4)] == [True, True, True, False]
    buffer.put("first")
    buffer.put("second")
    assert not buffer.reserve()  # two rounds and one reserved place
    assert (buffer.take(), len(buffer)) == ("first", 1)
    assert [buffer.reserve(), buffer.reserve()] == [True, False]
    buffer.release()  # the round of a simulator that died
    assert buffer.reserve()
    assert (buffer.take(), buffer.take()) == ("second", None)


def test_what_nobody_reserved_is_refused() -> None:
    buffer = RoundBuffer[str](1)
    with pytest.raises(ValueError, match="no place is reserved"):
        buffer.put("round")
    with pytest.raises(ValueError, match="capacity is 0: use 1 or more"):
        RoundBuffer[str](0)
