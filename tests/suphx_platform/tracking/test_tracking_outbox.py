from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from suphx_platform.tracking.mlflow_call import TrackingError
from suphx_platform.tracking.tracking_outbox import Outbox


class Place:
    """Where messages go; away as long as it is told to be."""

    def __init__(self) -> None:
        self.is_away = False
        self.heard: list[int] = []
        self.num_asked = 0

    def ask(self) -> None:
        self.num_asked += 1
        if self.is_away:
            raise TrackingError("nobody answers")

    def message(self, number: int) -> Callable[[], None]:
        def say() -> None:
            self.ask()
            self.heard.append(number)

        return say


def test_messages_are_said_at_once() -> None:
    place = Place()
    outbox = Outbox(place.ask)
    outbox.put(place.message(1))
    outbox.put(place.message(2))
    assert (place.heard, place.num_asked) == ([1, 2], 2)


def test_what_is_not_taken_is_said_later_in_order(caplog: pytest.LogCaptureFixture) -> None:
    place = Place()
    outbox = Outbox(place.ask, first_pause_seconds=0.0)
    place.is_away = True
    with caplog.at_level(logging.WARNING):
        for number in (1, 2, 3):
            outbox.put(place.message(number))
        assert place.heard == []
        assert len(caplog.messages) == 1, "it is told once"
        place.is_away = False
        outbox.put(place.message(4))
    assert place.heard == [1, 2, 3, 4]
    assert "sending 3 messages" not in caplog.text
    assert "MLflow answers again: sending 4 messages" in caplog.text


def test_nobody_is_asked_again_before_a_pause_is_over() -> None:
    place = Place()
    outbox = Outbox(place.ask, first_pause_seconds=3600)
    place.is_away = True
    for number in range(100):
        outbox.put(place.message(number))
    assert place.num_asked == 1
    place.is_away = False
    outbox.close()
    assert place.heard == list(range(100))


def test_figures_are_dropped_where_too_many_wait_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    place = Place()
    outbox = Outbox(place.ask, first_pause_seconds=3600, max_waiting=2)
    place.is_away = True
    for number in range(4):
        outbox.put(place.message(number), may_be_lost=True)
    outbox.put(place.message(9))
    place.is_away = False
    with caplog.at_level(logging.WARNING):
        outbox.close()
    assert place.heard == [0, 1, 9]
    assert "sending 3 messages, 2 more were dropped" in caplog.text


def test_the_end_tells_what_was_not_taken(caplog: pytest.LogCaptureFixture) -> None:
    place = Place()
    outbox = Outbox(place.ask, first_pause_seconds=3600)
    place.is_away = True
    outbox.put(place.message(1))
    with caplog.at_level(logging.WARNING):
        outbox.close()
    assert "nobody answers. 1 message of this run could not be sent to MLflow" in caplog.text


def test_what_is_refused_is_raised_and_not_said_again() -> None:
    place = Place()
    outbox = Outbox(place.ask)

    def refused() -> None:
        raise ValueError("no such metric")

    with pytest.raises(ValueError, match="no such metric"):
        outbox.put(refused)
    outbox.put(place.message(2))
    assert place.heard == [2]
