from __future__ import annotations

import pytest

from suphx.selfplay.requests import EngineCounts
from suphx_platform.on_ray.supervision.engine_rates import EngineRates


def test_rates_are_those_between_the_last_two_answers_of_each_engine() -> None:
    rates = EngineRates()
    assert rates.gauges() == {}
    for part, rows in (("engine 0", 1000), ("engine 1", 500)):
        rates.add(part, EngineCounts(requests=1, observations=0, busy_seconds=0.0), at=10.0)
        rates.add(part, EngineCounts(requests=9, observations=rows, busy_seconds=0.5), at=12.0)
    gauges = rates.gauges()
    assert gauges["engine_observations_per_second"] == pytest.approx(750)
    assert gauges["engine_waiting_share"] == pytest.approx(0.75)
    rates.forget("engine 0")
    assert rates.gauges()["engine_observations_per_second"] == pytest.approx(250)


def test_an_engine_that_was_started_again_is_not_measured_against_its_former_life() -> None:
    rates = EngineRates()
    rates.add("engine 0", EngineCounts(requests=100, observations=9000, busy_seconds=50.0), at=10.0)
    rates.add("engine 0", EngineCounts(requests=2, observations=30, busy_seconds=0.1), at=20.0)
    assert rates.gauges() == {}
    rates.add("engine 0", EngineCounts(requests=4, observations=130, busy_seconds=1.1), at=30.0)
    assert rates.gauges()["engine_observations_per_second"] == pytest.approx(10)
