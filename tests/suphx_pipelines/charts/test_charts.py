from __future__ import annotations

import math
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from suphx_pipelines.charts.heat_chart import pairing_chart
from suphx_pipelines.charts.interval_chart import Row, interval_chart
from suphx_pipelines.charts.line_chart import Curve, curve_of, line_chart, moving_mean, reliability_chart
from suphx_pipelines.charts.placement_chart import placement_chart
from suphx_pipelines.charts.radar_chart import Spoke, radar_chart


def test_each_row_has_its_dot_its_interval_and_its_words() -> None:
    rows = [Row(name="a & b", value=1.0, low=0.5, high=1.5, note="1.0 (0.5 … 1.5)"), Row(name="c", value=2.0)]
    drawn = interval_chart(rows, "ratings", axis_title="rating")
    ElementTree.fromstring(drawn)
    assert drawn.count("<circle") == 2
    assert drawn.count("bar thick") == 1
    assert "a &amp; b" in drawn


def test_a_row_without_a_value_has_only_its_interval() -> None:
    drawn = interval_chart([Row(value=None, low=-0.4, high=0.2, note="-0.4 to 0.2")], "match", axis_title="difference")
    ElementTree.fromstring(drawn)
    assert "<circle" not in drawn
    assert drawn.count("bar thick") == 1
    assert "-0.4 to 0.2" in drawn


def test_the_axis_includes_zero_and_names_its_sides() -> None:
    row = Row(value=-0.3, low=-0.4, high=-0.2)
    drawn = interval_chart([row], "verdict", axis_title="difference", zero=0.0, sides=("better", "worse"))
    assert ">0.0</text>" in drawn
    assert "← better" in drawn
    assert "worse →" in drawn


def test_no_rows_give_no_chart() -> None:
    assert interval_chart([], "ratings", axis_title="rating") == ""


def test_placements_fill_the_bar_and_have_lines_at_the_quarters() -> None:
    drawn = placement_chart([("net", [40, 30, 20, 10]), ("nobody", [0, 0, 0, 0])], "placements")
    boxes = list(ElementTree.fromstring(drawn).iter("rect"))
    assert [round(float(box.attrib["width"])) for box in boxes] == [155, 116, 78, 39]
    assert drawn.count('class="level"') == 3  # of the one bar
    for text in ("40 %", "25 %", "50 %", "75 %"):
        assert f">{text}</text>" in drawn


POINTS = [(float(step), 1 / (step + 1)) for step in range(40)]


def test_a_curve_of_one_point_gives_no_chart() -> None:
    assert line_chart([Curve(name="a", points=POINTS[:1])], "label", x_title="step") == ""
    assert line_chart([], "label", x_title="step") == ""


def test_a_curve_of_one_point_is_a_dot_beside_other_curves() -> None:
    dot = Curve(name="b", points=[(50.0, 3.0)], colour=1, has_dots=True, intervals=[(2.0, 4.0)])
    hidden = Curve(name="c", points=[(9.0, 9.0)], colour=2)
    drawn = line_chart([Curve(name="a", points=POINTS), dot, hidden], "label", x_title="step")
    assert [curve.is_shown for curve in (dot, hidden)] == [True, False]
    assert "b: 3 at step 50" in drawn
    assert drawn.count('class="bar k1"') == 1
    assert 'class="line k1"' not in drawn
    assert "k2" not in drawn
    assert line_chart([dot], "label", x_title="step") == ""


def test_many_points_are_drawn_thin_behind_their_moving_mean() -> None:
    drawn = line_chart([Curve(name="a", points=POINTS, is_smoothed=True)], "label", x_title="step")
    ElementTree.fromstring(drawn)
    lines = re.findall(r'points="([^"]*)" class="(raw|line) k0"', drawn)
    assert [(kind, len(points.split())) for points, kind in lines] == [("raw", 40), ("line", 40)]


def test_dots_tell_their_values_to_the_mouse() -> None:
    drawn = line_chart(
        [Curve(name="<net>", points=POINTS[:2], has_dots=True)], "a & b", x_title="step", y_unit="percent"
    )
    ElementTree.fromstring(drawn)
    assert "&lt;net&gt;: 50.00 % at step 1" in drawn


def test_levels_are_inside_the_axis() -> None:
    drawn = line_chart([Curve(name="a", points=POINTS[:3])], "label", x_title="step", levels=(2.0,))
    assert drawn.count('class="level"') == 1


def test_the_longest_number_of_the_axis_is_inside_the_picture() -> None:
    small = line_chart([Curve(name="kl", points=[(0, 4e-5), (20, 1.2e-4)])], "KL", x_title="updates")
    numbers = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="end"[^>]*>([^<]+)<', small)
    assert "0.00010" in [text for _, text in numbers]
    assert all(float(end) >= 6.6 * len(text) for end, text in numbers)


def test_points_without_the_value_are_skipped() -> None:
    points: list[dict[str, Any]] = [{"step": 1, "loss": 2.0}, {"step": 2, "loss": None}, {"step": 3}]
    assert curve_of("loss", points, "step", "loss").points == [(1.0, 2.0)]


def test_the_moving_mean_keeps_the_places_and_a_straight_line() -> None:
    line = [(float(x), 2.0 * x) for x in range(100)]
    means = moving_mean(line)
    assert [x for x, _ in means] == [x for x, _ in line]
    assert means[50] == (50.0, 100.0)


def test_thousands_of_points_become_hundreds_with_both_ends() -> None:
    points = [(float(step), 0.0) for step in range(5001)]
    drawn = line_chart([Curve(name="a", points=points)], "label", x_title="step")
    (line,) = re.findall(r'points="([^"]*)" class="line k0"', drawn)
    assert 350 <= len(line.split()) <= 401
    assert line.split()[-1].startswith("382,")


def test_groups_without_samples_have_no_dot() -> None:
    drawn = reliability_chart([[0.5, 0.4, 10], [0.9, 0.0, 0]], "calibration", x_title="how sure")
    assert drawn.count("<circle") == 1
    assert reliability_chart([[0.5, 0.4, 0]], "calibration", x_title="how sure") == ""


def test_cells_say_who_came_before_whom() -> None:
    picture = pairing_chart(
        [[0, 3, 0], [1, 0, 0], [0, 0, 0]], ["strong", "an agent with a very long name", "new"], "label"
    )
    assert "<title>strong before an agent with a very long name in 3 of 4 games</title>" in picture
    assert picture.count("<rect") == 2, "no cell without common games"
    assert ">75</text>" in picture
    assert ">25</text>" in picture
    assert "an agent with a very…" in picture


def test_one_agent_has_no_pairings() -> None:
    assert pairing_chart([[0]], ["alone"], "label") == ""


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
