from __future__ import annotations

import math
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from suphx.games.riichi.tile import NUM_FACES, face_name
from suphx_pipelines.charts.card_drawing import card_symbols
from suphx_pipelines.charts.comparison_charts import (
    Row,
    Spoke,
    interval_chart,
    pairing_chart,
    placement_chart,
    radar_chart,
)
from suphx_pipelines.charts.line_chart import Curve, curve_of, line_chart, moving_mean, reliability_chart
from suphx_pipelines.charts.plot import Figure, Scale, files, span, tick_texts, tick_values
from suphx_pipelines.charts.riichi_tiles import BACK, tile, tile_symbols, tiles
from suphx_pipelines.charts.svg import chart_style


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


def test_every_card_and_the_back_have_a_drawing_of_their_own() -> None:
    root = ElementTree.fromstring(card_symbols())
    drawings = {symbol.attrib["id"]: ElementTree.tostring(symbol).split(b">", 1)[1] for symbol in root}
    assert set(drawings) == {"card-back", *(f"card-{rank}" for rank in range(15))}
    assert len(set(drawings.values())) == 16


def test_drawings_of_cards_need_no_font() -> None:
    assert "<text" not in card_symbols()


def test_every_face_and_the_back_have_a_drawing_of_their_own() -> None:
    root = ElementTree.fromstring(tile_symbols())
    drawings = {symbol.attrib["id"]: ElementTree.tostring(symbol).split(b">", 1)[1] for symbol in root}
    assert set(drawings) == {"tile-back", *(f"tile-{face_name(face)}" for face in range(NUM_FACES))}
    assert len(set(drawings.values())) == NUM_FACES + 1


def test_drawings_need_no_font() -> None:
    assert "<text" not in tile_symbols()


def test_circles_and_bamboo_show_their_number() -> None:
    root = ElementTree.fromstring(tile_symbols())
    shapes = {symbol.attrib["id"]: list(symbol.iter()) for symbol in root}
    for number in range(2, 10):
        assert sum(shape.tag == "circle" for shape in shapes[f"tile-{number}p"]) == 3 * number
        assert sum(shape.tag == "path" for shape in shapes[f"tile-{number}s"]) == number


def test_a_red_five_is_the_five_in_red() -> None:
    page = tile_symbols()
    for suit in "mps":
        (plain,) = re.findall(rf'id="tile-5{suit}"[^>]*>(?:<rect[^>]*/>)(.*?)</symbol>', page)
        (red,) = re.findall(rf'id="tile-0{suit}"[^>]*>(?:<rect[^>]*/>)(.*?)</symbol>', page)
        assert red == f'<g class="t-allred">{plain}</g>'


def test_a_tile_of_a_page_is_named_for_those_who_do_not_see_it() -> None:
    assert "<title>0p</title>" in tile(35)
    assert "<title>tile face down</title>" in tile(BACK)
    assert tiles([0, 1], "drawn").count('class="tile drawn"') == 2
