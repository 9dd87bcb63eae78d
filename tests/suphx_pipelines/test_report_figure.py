"""Pictures with names that users have given."""

from __future__ import annotations

import base64
from typing import Any

from suphx_pipelines import report_figure
from suphx_pipelines.report_name import short_names

LONG = f"mjai:/{'a very long folder/' * 30}bin/python3.11 -S /{'another long folder/' * 30}bot.py"
NAMES = (f"{LONG} lowest", f"{LONG} highest", r"a $formula$ \frac", "ukeire")


def svg(picture: str) -> str:
    """Return the picture's text: matplotlib writes every name into a comment."""
    return base64.b64decode(picture.partition(",")[2]).decode()


def test_a_leaderboard_has_room_for_any_name() -> None:
    common: dict[str, Any] = {"rating": 25.0, "interval": [24.0, 26.0], "is_champion": False, "is_candidate": False}
    rows = [{"name": name, **common} for name in NAMES]
    drawn = svg(report_figure.leaderboard(rows))
    for name in short_names([*NAMES[:2], NAMES[3]]):
        assert f"<!-- {name} -->" in drawn
    assert "<!-- a $formula" in drawn


def test_legends_have_room_for_any_name_and_no_curve_is_left_out() -> None:
    names = [f"{LONG} {number} {LONG}" for number in range(7)]
    match = {"updates": 1, "difference": 0.0, "interval": [-1.0, 1.0]}
    drawn = svg(report_figure.paired_differences({name: [match] for name in names}))
    assert all(f"<!-- ({number}) mjai:" in drawn for number in range(1, 8))
    points = [{"updates": 1, "discard_entropy": 1.0}, {"updates": 2, "discard_entropy": 1.5}]
    drawn = svg(report_figure.entropies(dict.fromkeys(names, points), "discard", 1.0))
    assert all(f"<!-- ({number}) mjai:" in drawn for number in range(1, 8))
