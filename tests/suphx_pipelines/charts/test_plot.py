from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from suphx_pipelines.charts.interval_chart import Row, interval_chart
from suphx_pipelines.charts.plot import Figure, Scale, files, span, tick_texts, tick_values
from suphx_pipelines.charts.svg import chart_style


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


SPACE = "{http://www.w3.org/2000/svg}"


def picture() -> str:
    return interval_chart([Row(name="a", value=1.0)], "ratings", axis_title="rating")


def test_a_file_has_its_colours_and_name_space() -> None:
    (content,) = files({"ratings.svg": Figure(picture(), "Ratings")}).values()
    assert ElementTree.fromstring(content).tag == f"{SPACE}svg"
    assert b"prefers-color-scheme: dark" in content


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
    rows = {words[name].attrib["y"] for _, name in legend}
    assert len(rows) == 2, "five names of 14 letters do not fit in one row"


def test_a_figure_without_a_picture_gives_no_file() -> None:
    assert files({"nothing.svg": Figure("", "Nothing")}) == {}


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


def test_the_first_and_the_last_place_have_a_colour_of_text_of_their_own() -> None:
    assert ".chart text.in0, .chart text.in3 { fill: var(--on-place); }" in chart_style()
