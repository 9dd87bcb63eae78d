from __future__ import annotations

from xml.etree import ElementTree

from suphx_pipelines.charts.interval_chart import Row, interval_chart
from suphx_pipelines.charts.placement_chart import placement_chart


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
