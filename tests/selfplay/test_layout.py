from __future__ import annotations

import json
from typing import Any

import pytest

from suphx.selfplay.layout import MAX_BUFFERS, RayLayoutConfig, RoundLayoutConfig
from tests.repository import REPOSITORY


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (RayLayoutConfig, {"pace": "slow"}, "pace is 'slow': use one of free, lockstep"),
        (RayLayoutConfig, {"num_buffers": 99}, "num_buffers is 99: use 1 to 98"),
        (RayLayoutConfig, {"num_engines": -1}, "num_engines is -1: use 0 to 10,000"),
        (RayLayoutConfig, {"hang_seconds": 700.0}, "hang_seconds is 700.0, start_seconds 600.0: use no more time"),
        (RoundLayoutConfig, {"num_simulators": 0}, "num_simulators is 0: use 1 to 10,000"),
        (RoundLayoutConfig, {"object_store_bytes": 1}, "object_store_bytes is 1: use 83,886,080 to 549,755,813,888"),
        (RoundLayoutConfig, {"pace": "lockstep", "weight_sync_rounds": 2}, "is 2: with pace lockstep use 1"),
    ],
)
def test_settings_out_of_range_are_refused(kind: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**settings)


def test_the_chart_accepts_as_many_buffers_as_a_run() -> None:
    schema = json.loads((REPOSITORY / "helm/suphx/values.schema.json").read_text())
    assert schema["$defs"]["learner"]["properties"]["buffers"]["maximum"] == MAX_BUFFERS
    assert RayLayoutConfig(num_buffers=MAX_BUFFERS).num_buffers == MAX_BUFFERS
