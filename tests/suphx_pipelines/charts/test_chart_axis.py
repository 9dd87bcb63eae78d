from __future__ import annotations

import pytest

from suphx_pipelines.charts.chart_axis import Scale, span, tick_texts, tick_values


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0.0, 3.2, ["0", "1", "2", "3"]),
        (-0.31, 0.02, ["−0.3", "−0.2", "−0.1", "0.0"]),
        (0.9012, 0.9031, ["0.9015", "0.9020", "0.9025", "0.9030"]),
        (0.0, 20_000.0, ["0", "5k", "10k", "15k", "20k"]),
        (0.0, 183.0, ["0", "50", "100", "150"]),
    ],
)
def test_ticks_are_round_and_differ(low: float, high: float, ticks: list[str]) -> None:
    found = tick_texts(tick_values(low, high, 6 if len(ticks) > 5 else 5))
    assert found == ticks
    assert len(set(found)) == len(found)


def test_shares_are_written_as_percent() -> None:
    assert tick_texts([0.0, 0.25, 0.5], "percent") == ["0 %", "25 %", "50 %"]
    assert tick_texts([0.815, 0.82, 0.825], "percent") == ["81.5 %", "82.0 %", "82.5 %"]


def test_an_axis_of_shares_does_not_pass_100_percent() -> None:
    assert span([0.8, 1.0], least=0.0, most=1.0)[1] == 1.0
    assert span([0.0, 0.1], least=0.0, most=1.0)[0] == 0.0


def test_an_axis_of_one_value_has_room() -> None:
    for value in (0.0, 1.5, -200.0):
        low, high = span([value])
        assert low < value < high


def test_a_scale_maps_its_ends_and_keeps_values_inside() -> None:
    scale = Scale(0.0, 10.0, 100.0, 200.0)
    assert [scale.at(value) for value in (0, 5, 10, 25)] == [100, 150, 200, 200]
    assert Scale(1.0, 100.0, 0.0, 2.0, is_log=True).at(10) == pytest.approx(1.0)


def test_a_logarithmic_axis_has_powers_of_ten() -> None:
    assert Scale(80.0, 1200.0, 0.0, 1.0, is_log=True).ticks() == [100, 200, 500, 1000]
    assert Scale(80.0, 120_000.0, 0.0, 1.0, is_log=True).ticks() == [100, 1000, 10_000, 100_000]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (522.0, 920.0, [600, 700, 800, 900]),
        (300.0, 920.0, [400, 600, 800]),
        (60.0, 230.0, [100, 200]),
    ],
)
def test_a_short_logarithmic_axis_has_two_ticks_or_more(low: float, high: float, ticks: list[float]) -> None:
    assert Scale(low, high, 0.0, 1.0, is_log=True).ticks() == pytest.approx(ticks)
