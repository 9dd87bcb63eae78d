from __future__ import annotations

from typing import Any

import pytest
import ray

from suphx_platform.ray.session import RayStartError, ray_session


class SlowNodes:
    """Stands for ``ray.init`` on a machine that is too busy for the first ``num_slow`` nodes."""

    def __init__(self, num_slow: int) -> None:
        self.num_slow = num_slow
        self.num_starts = 0

    def __call__(self, **settings: Any) -> None:
        self.num_starts += 1
        if self.num_starts <= self.num_slow:
            raise Exception("The current node timed out during startup")


@pytest.fixture(autouse=True)
def _without_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def test_ray_that_was_too_slow_to_start_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = SlowNodes(num_slow=2)
    monkeypatch.setattr(ray, "init", nodes)
    with ray_session(num_cpus=1):
        assert nodes.num_starts == 3


def test_ray_that_never_starts_is_an_error_that_says_where_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "init", SlowNodes(num_slow=9))
    message = r"in 3 attempts \(The current node timed out.* try again later\. .*session_latest/logs"
    with pytest.raises(RayStartError, match=message), ray_session(num_cpus=1):
        pass
