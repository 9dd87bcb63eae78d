from __future__ import annotations

import math
import re

import pytest

from suphx_pipelines.charts.radar_chart import Spoke, radar_chart


@pytest.mark.parametrize(("value", "reach"), [(0.25, 0), (0.0, 1), (0.125, 0.5), (0.9, 0), (-1, 1)])
def test_a_spoke_may_run_backwards_and_ends_at_its_edges(value: float, reach: float) -> None:
    assert Spoke(name="few deal-ins", inner=0.25, outer=0.0).at(value) == reach


def test_polygons_reach_from_the_middle_to_the_edge() -> None:
    spokes = [Spoke(name=name, inner=0, outer=1) for name in "abcd"]
    picture = radar_chart(spokes, [("full", [1, 1, 1, 1]), ("none", [0, 0, 0, math.nan])], "label")
    lines = re.findall(r"<title>(\w+)</title><polyline points=\"([^\"]+)\"", picture)
    points = {name: [tuple(map(float, pair.split(","))) for pair in text.split()] for name, text in lines}
    assert points["full"][0] == points["full"][4] == (200, 46)
    assert set(points["none"]) == {(200, 141)}
    assert radar_chart(spokes, [], "label") == ""
