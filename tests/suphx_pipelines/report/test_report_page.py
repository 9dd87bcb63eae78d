from __future__ import annotations

from suphx_pipelines.report.report_page import (
    LONGEST,
    decimal,
    difference,
    duration,
    interval,
    number,
    percent,
    short_names,
)
from suphx_pipelines.runs.verdict import bounds_text, digits_that_tell

LONG = f"mjai:/{'a very long folder/' * 30}bin/python3.11 -S /{'another long folder/' * 30}bot.py"


def test_the_middle_of_a_long_name_is_left_out() -> None:
    assert short_names(["ukeire", "a" * LONGEST]) == ["ukeire", "a" * LONGEST]
    assert short_names(["models:/suphx@champion", "/home/me/runs/nightly/agents"], 13) == [
        "mode…champion",
        "/hom…y/agents",
    ]


def test_long_names_that_differ_in_the_middle_can_be_told_apart() -> None:
    names = [f"{LONG} {level} {LONG}" for level in range(12)]
    short = short_names([*names, names[3]])
    assert len(set(short)) == 12
    assert short[3] == short[12]
    assert all(len(name) <= LONGEST for name in short)


def test_zero_has_no_sign() -> None:
    assert decimal(-0.00001, 4) == "0.0000"
    assert percent(-0.0001) == "0.0 %"
    assert number(-0.2) == "0"
    assert difference(-0.0001) == "0.000"
    assert difference(0.0001) == "0.000"


def test_an_interval_shows_on_which_side_of_zero_it_ends() -> None:
    assert interval([-0.056, -0.004]) == "−0.056\u00a0to\u00a0−0.004"
    assert interval([-0.00004, 0.5]) == "−0.00004\u00a0to\u00a00.50000"
    assert interval([0.0, 0.25]) == "0.00\u00a0to\u00a00.25"
    assert bounds_text(-0.056, -0.004) == "-0.056 to -0.004"
    assert bounds_text(-0.23, -0.14) == "-0.23 to -0.14"
    assert digits_that_tell([50.03, 54.0], 1, equal=50.0) == 2


def test_what_is_not_there_is_a_dash() -> None:
    assert [percent(None), number(None), decimal(None), interval(None), duration(None)] == ["–"] * 5
    assert interval([None, 1.0]) == "–\u00a0to\u00a01.00"
