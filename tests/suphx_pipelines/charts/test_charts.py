from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from suphx_pipelines.charts.comparison_charts import Row, interval_chart, pairing_chart, placement_chart
from suphx_pipelines.charts.line_chart import Curve, line_chart
from suphx_pipelines.charts.plot import Figure, Scale, files, tick_texts, tick_values
from suphx_pipelines.charts.svg import chart_style


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


def test_many_points_are_drawn_thin_behind_their_moving_mean() -> None:
    drawn = line_chart([Curve(name="a", points=POINTS, is_smoothed=True)], "label", x_title="step")
    ElementTree.fromstring(drawn)
    lines = re.findall(r'points="([^"]*)" class="(raw|line) k0"', drawn)
    assert [(kind, len(points.split())) for points, kind in lines] == [("raw", 40), ("line", 40)]


def test_thousands_of_points_become_hundreds_with_both_ends() -> None:
    points = [(float(step), 0.0) for step in range(5001)]
    drawn = line_chart([Curve(name="a", points=points)], "label", x_title="step")
    (line,) = re.findall(r'points="([^"]*)" class="line k0"', drawn)
    assert 350 <= len(line.split()) <= 401
    assert line.split()[-1].startswith("382,")


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


LEAST_CONTRAST = 4.5
"""Of normal text: WCAG 2.2, success criterion 1.4.3."""


def colours(*, is_dark: bool) -> dict[str, str]:
    """Return variable -> colour of the light or the dark scheme."""
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", chart_style(), re.DOTALL)
    )
    return light | dark if is_dark else light


def luminance(colour: str) -> float:
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize(
    ("text", "bar"), [("on-place", "place0"), ("text", "place1"), ("text", "place2"), ("on-place", "place3")]
)
def test_the_text_in_a_bar_of_placements_can_be_read(text: str, bar: str, *, is_dark: bool) -> None:
    found = colours(is_dark=is_dark)
    darker, lighter = sorted(luminance(found[name]) for name in (text, bar))
    assert (lighter + 0.05) / (darker + 0.05) >= LEAST_CONTRAST
