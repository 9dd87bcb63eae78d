"""Figures as SVG files: what another program shows of them."""

from __future__ import annotations

from xml.etree import ElementTree

from suphx_pipelines.charts.figure import Figure, files
from suphx_pipelines.charts.interval_chart import Row, interval_chart

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
