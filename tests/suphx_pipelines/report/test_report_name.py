from __future__ import annotations

from suphx_pipelines.report.report_name import LONGEST, short_names

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


def test_dollar_signs_stay() -> None:
    assert short_names(["$HOME and $PATH"]) == ["$HOME and $PATH"]
