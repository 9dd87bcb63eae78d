from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from suphx.selfplay.config import ReplayBufferConfig
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.selfplay.time_share import TimeShare

CONFIG = ReinforcementConfig(
    max_updates=100, evaluate_every=50, evaluation_deals=1000, buffer=ReplayBufferConfig(batch_size=8192)
)
"""An update takes as long as 60 hanchans."""
START = {"hanchans": 200, "deals": {"number": 1040}}
FINAL = {"hanchans": 2000, "deals": {"number": 1040}}


def new_share(config: ReinforcementConfig = CONFIG, **changes: Any) -> TimeShare:
    sizes: dict[str, Any] = {"evaluation_hanchans": 300, "final_hanchans": 4100, "starts_with_match": True} | changes
    return TimeShare(config, **sizes)


def test_a_run_is_over_after_its_last_match_and_not_after_its_last_update() -> None:
    times = new_share()
    whole = 100 + (2 * 300 + 4100) / 60
    assert times.share(0, 0.0) == 0
    times.add_hanchans(150)
    assert times.share(0, 0.0) == pytest.approx(150 / 60 / whole)
    times.add_hanchans(150)
    times.add_match(START)
    assert times.share(50, 50.0) == pytest.approx((50 + 5) / whole)
    times.add_match(START)  # over Ray: nothing of it was told before its end
    assert times.share(100, 100.0) == pytest.approx((100 + 10) / whole)
    times.add_match(FINAL)
    times.add_hanchans(2000)
    assert times.share(100, 100.0) == pytest.approx(1.0)
    times.add_match({"hanchans": 2000})
    assert times.share(100, 100.0) == pytest.approx(1.0)


def test_a_time_limit_is_shared_with_the_matches_as_soon_as_the_number_of_updates_is_known() -> None:
    times = new_share(replace(CONFIG, max_updates=0, max_minutes=10.0, evaluate_every=0))
    assert times.share(0, 60.0) == pytest.approx(0.1), "the critic learns before the first update"
    assert times.share(10, 60.0) == pytest.approx(10 / (100 + 4100 / 60))
    assert times.share(90, 600.0) == pytest.approx(90 / (90 + 4100 / 60))


def test_a_match_that_is_left_out_is_not_waited_for() -> None:
    times, other = new_share(), new_share()
    other.skip_match()
    assert other.share(10, 10.0) > times.share(10, 10.0)
