from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from suphx_pipelines.charts.comparison_charts import Row, interval_chart, pairing_chart, placement_chart
from suphx_pipelines.charts.line_chart import Curve, line_chart
from suphx_pipelines.charts.plot import Figure, Scale, files, tick_texts, tick_values


def test_the_axis_includes_zero_and_names_its_sides() -> None:
    row = Row(value=-0.3, low=-0.4, high=-0.2)
    drawn = interval_chart([row], "verdict", axis_title="difference", zero=0.0, sides=("better", "worse"))
    assert ">0.0</text>" in drawn
    assert "← better" in drawn
    assert "worse →" in drawn


def test_placements_fill_the_bar_and_have_lines_at_the_quarters() -> None:
    drawn = placement_chart([("net", [40, 30, 20, 10]), ("nobody", [0, 0, 0, 0])], "placements")
    boxes = list(ElementTree.fromstring(drawn).iter("rect"))
    assert [round(float(box.attrib["width"])) for box in boxes] == [155, 116, 78, 39]
    assert drawn.count('class="level"') == 3  # of the one bar
    for text in ("40 %", "25 %", "50 %", "75 %"):
        assert f">{text}</text>" in drawn


POINTS = [(float(step), 1 / (step + 1)) for step in range(40)]


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


def test_many_points_become_hundreds_and_are_drawn_thin_behind_their_moving_mean() -> None:
    many = line_chart([Curve(name="a", points=[(float(step), 0.0) for step in range(5001)])], "label", x_title="step")
    (line,) = re.findall(r'points="([^"]*)" class="line k0"', many)
    assert 350 <= len(line.split()) <= 401
    assert line.split()[-1].startswith("382,"), "both ends are drawn"
    drawn = line_chart([Curve(name="a", points=POINTS, is_smoothed=True)], "label", x_title="step")
    ElementTree.fromstring(drawn)
    lines = re.findall(r'points="([^"]*)" class="(raw|line) k0"', drawn)
    assert [(kind, len(points.split())) for points, kind in lines] == [("raw", 40), ("line", 40)]


def test_cells_say_who_came_before_whom() -> None:
    picture = pairing_chart(
        [[0, 3, 0], [1, 0, 0], [0, 0, 0]], ["strong", "an agent with a very long name", "new"], "label"
    )
    assert "<title>strong before an agent with a very long name in 3 of 4 games</title>" in picture
    assert picture.count("<rect") == 2, "no cell without common games"
    assert ">75</text>" in picture
    assert ">25</text>" in picture
    assert "an agent with a very…" in picture


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


def test_a_logarithmic_axis_has_powers_of_ten() -> None:
    assert Scale(80.0, 1200.0, 0.0, 1.0, is_log=True).ticks() == [100, 200, 500, 1000]
    assert Scale(80.0, 120_000.0, 0.0, 1.0, is_log=True).ticks() == [100, 1000, 10_000, 100_000]


SPACE = "{http://www.w3.org/2000/svg}"


def picture() -> str:
    return interval_chart([Row(name="a", value=1.0)], "ratings", axis_title="rating")


def test_a_file_has_title_and_legend_inside_of_its_box() -> None:
    legend = [(f"k{colour}", f"agent number {colour}") for colour in range(5)]
    (content,) = files({"ratings.svg": Figure(picture(), "Ratings of agents", legend=legend)}).values()
    drawn = ElementTree.fromstring(content)
    left, top, width, height = map(float, drawn.attrib["viewBox"].split())
    words = {text.text: text for text in drawn.iter(f"{SPACE}text")}
    for text in ("Ratings of agents", *(name for _, name in legend)):
        place = words[text].attrib
        assert left <= float(place["x"]) < left + width
        assert top < float(place["y"]) < top + height
