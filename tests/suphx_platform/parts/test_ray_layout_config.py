from __future__ import annotations

import json
from typing import Any

import pytest

from suphx_platform.parts.ray_layout_config import MAX_BUFFERS, RayLayoutConfig
from tests.repository import REPOSITORY


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pace": "slow"}, "pace is 'slow': use one of free, lockstep"),
        ({"num_buffers": 0}, "num_buffers is 0: use 1 or more"),
        ({"num_buffers": 99}, "num_buffers is 99: use at most 98, which fit beside a learner, and increase buffer.cap"),
        ({"num_engines": -1}, "num_engines is -1: use 0 or more"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RayLayoutConfig(**settings)


def test_the_chart_accepts_as_many_buffers_as_a_run() -> None:
    schema = json.loads((REPOSITORY / "helm/suphx/values.schema.json").read_text())
    assert schema["$defs"]["learner"]["properties"]["buffers"]["maximum"] == MAX_BUFFERS
    assert RayLayoutConfig(num_buffers=MAX_BUFFERS).num_buffers == MAX_BUFFERS
