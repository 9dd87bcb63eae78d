from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import ray
from ray.exceptions import ActorUnavailableError

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
