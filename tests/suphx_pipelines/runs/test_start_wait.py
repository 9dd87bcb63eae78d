from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from suphx_pipelines.runs import runner
from suphx_pipelines.runs.runner import wait_for_services
from suphx_platform.console.console import Console
from suphx_platform.storage.objects import ExpiredKeysError


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(runner, "time", clock)
    return clock


def answers(*errors: Exception) -> Callable[[], None]:
    """Return a call that raises each error once, then nothing."""
    left: Iterator[Exception] = iter(errors)

    def reach() -> None:
        if (error := next(left, None)) is not None:
            raise error

    return reach


def test_services_that_are_away_are_asked_again(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    wait_for_services(answers(*[OSError("MLflow does not answer")] * 8), 6.0, Console())
    assert clock.pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    error = capsys.readouterr().err
    assert error.count("MLflow does not answer; trying again for up to 6 h (--wait-hours)") == 1
    assert "all services answer, after 3 min" in error


def test_the_wait_ends_at_its_limit_with_the_last_error(clock: Clock) -> None:
    with pytest.raises(OSError, match="error 3"):
        wait_for_services(answers(*[OSError(f"error {number}") for number in range(4)]), 5 / 3600, Console())
    assert clock.pauses == [1, 2, 2]


@pytest.mark.parametrize(
    ("error", "hours"), [(OSError("away"), 0.0), (PermissionError("wrong"), 6.0), (ExpiredKeysError("old"), 6.0)]
)
def test_without_a_limit_or_with_wrong_keys_nothing_waits(clock: Clock, error: OSError, hours: float) -> None:
    with pytest.raises(OSError, match=str(error)):
        wait_for_services(answers(error), hours, Console())
    assert clock.pauses == []
