from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray.exceptions import ActorUnavailableError, GetTimeoutError

from suphx_platform.on_ray import engine_client
from suphx_platform.on_ray.engine_client import EngineClient
from suphx_platform.parts.ray_layout_config import RayLayoutConfig


def test_a_simulator_waits_for_engines_as_long_as_no_node_has_room_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now, asked = 0.0, list[float]()

    def get(reference: str, timeout: float) -> list[Any]:
        assert timeout == 60.0
        asked.append(now)
        if now < 7200:
            raise ActorUnavailableError("no node", None)
        return []

    def sleep(_: float) -> None:
        nonlocal now
        now += 600

    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(engine_client, "time", SimpleNamespace(monotonic=lambda: now, sleep=sleep))
    engine = SimpleNamespace(evaluate=SimpleNamespace(remote=lambda _: "reference"))
    assert EngineClient([engine], 0, RayLayoutConfig()).submit([]).result() == []
    assert asked[-1] == 7200


@pytest.mark.parametrize(
    ("error", "seconds"), [(GetTimeoutError("hung"), 60.0), (ActorUnavailableError("dead", None), 0.0)]
)
def test_engines_that_do_not_answer_are_asked_in_turn_and_avoided_for_a_while(
    monkeypatch: pytest.MonkeyPatch, error: Exception, seconds: float
) -> None:
    now, asked, lost = 0.0, list[int](), {0, 1, 2}

    def get(engine: int, timeout: float) -> list[Any]:
        nonlocal now
        asked.append(engine)
        if engine in lost:
            now += seconds
            raise error
        return []

    def sleep(pause: float) -> None:
        nonlocal now
        now += pause

    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(engine_client, "time", SimpleNamespace(monotonic=lambda: now, sleep=sleep))
    engines = [SimpleNamespace(evaluate=SimpleNamespace(remote=lambda _, n=number: n)) for number in range(4)]
    client = EngineClient(engines, 0, RayLayoutConfig())
    client.submit([]).result()
    assert asked == [0, 1, 2, 3]
    asked.clear()
    lost.clear()
    now += 40  # its own engine is asked again soon after it is back
    client.submit([]).result()
    assert asked == [0]


def test_if_no_engine_answers_the_one_that_failed_first_is_asked_next(monkeypatch: pytest.MonkeyPatch) -> None:
    now, asked = 0.0, list[int]()

    def get(engine: int, timeout: float) -> list[Any]:
        nonlocal now
        asked.append(engine)
        now += timeout
        if len(asked) < 9:
            raise GetTimeoutError("hung")
        return []

    monkeypatch.setattr(ray, "get", get)
    monkeypatch.setattr(engine_client, "time", SimpleNamespace(monotonic=lambda: now, sleep=lambda _: None))
    engines = [SimpleNamespace(evaluate=SimpleNamespace(remote=lambda _, n=number: n)) for number in range(4)]
    EngineClient(engines, 1, RayLayoutConfig()).submit([]).result()
    assert asked == [1, 2, 3, 0, 1, 2, 3, 0, 1]
