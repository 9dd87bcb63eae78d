from __future__ import annotations

from typing import Any

import pytest

from suphx_pipelines.report.report_self_play import (
    entropy_comment,
    entropy_figure,
    figures,
    head_figures,
    learned_heads,
    matches_table,
    strength,
    strength_figure,
)

RESULT: dict[str, Any] = {
    "heads": ["discard", "chow"],
    "updates": 40,
    "hanchans": 512,
    "decisions": 345_678,
    "seconds": 61.0,
    "history": [
        {"updates": 10, "discard_entropy": 2.4},
        {"updates": 20, "discard_entropy": 1.35},
        {"updates": 30, "discard_entropy": 1.6},
        {"updates": 40},
    ],
    "faults": {},
}


def match(updates: int, difference: float, policy: str = "argmax", **more: Any) -> dict[str, Any]:
    return {
        "updates": updates,
        "opponent": "start",
        "policy": policy,
        "hanchans": 400,
        "average_placement": 2.5 + difference,
        "difference": difference,
        "interval": [difference - 0.1, difference + 0.1],
        **more,
    }


def change(difference: float, low: float, high: float, **more: Any) -> dict[str, Any]:
    return {"since": 20, "difference": difference, "interval": [low, high], **more}


def with_matches(*matches: dict[str, Any]) -> dict[str, Any]:
    return RESULT | {"matches": list(matches)}


def test_a_head_without_a_point_has_no_curve_and_values_have_one_without_entropy() -> None:
    assert learned_heads(RESULT) == ["discard"]
    values = RESULT | {"history": [{"updates": n, "chow_policy_loss": 1 / n, "chow_value": 0.1} for n in range(1, 4)]}
    assert learned_heads(values) == ["chow"]
    assert [each.title for each in head_figures(values, "chow", {}) if each.picture] == ["Loss", "Value"]
    assert [name for _, name in figures(RESULT, {})][-1].startswith("entropy of the discard net")
    assert not [name for _, name in figures(values, {}) if "entropy" in name]


def test_a_target_that_falls_is_a_curve_beside_the_entropy() -> None:
    history = [{"updates": n, "discard_entropy": 0.8, "discard_entropy_target": 0.8 - n / 10} for n in range(1, 4)]
    drawn = entropy_figure({"history": history}, "discard", {})
    assert [name for _, name in drawn.legend] == ["entropy", "target"]
    absolute = entropy_figure({"history": history, "updates": 3}, "discard", {"discard": 0.5})
    assert not absolute.legend
    assert absolute.note.startswith("Target 0.50 (dashed)")


@pytest.mark.parametrize(
    ("target", "text"), [(0.28, "near its target"), (0.16, "0.12 above its target"), (0.40, "0.12 below its target")]
)
def test_an_entropy_away_from_its_target_is_explained(target: float, text: str) -> None:
    history = [
        {"updates": n, "discard_entropy_target": target + 0.2 - n / 10, "discard_entropy": 0.28} for n in range(1, 3)
    ]
    assert text in entropy_comment({"history": history}, "discard", {})
    assert text in entropy_comment({"history": history}, "discard", {"discard": target})


def test_matches_that_decide_by_points_are_told_in_points() -> None:
    matches = [match(20, -3.0, decides="points"), match(40, 2.5, decides="points", change=change(5.5, 4.0, 7.0))]
    result = with_matches(*matches)
    text = strength(result)
    assert text.startswith("After 40 updates the nets are stronger than their start:")
    assert "+2.50 points per game" in text
    _, rows = matches_table(result)
    assert rows[0][4].endswith("stronger")
    drawn = strength_figure(with_matches(matches[1]))
    assert "Above zero" in drawn.note
    assert "difference in points per game" in drawn.picture
    assert drawn.picture.index("← weaker") < drawn.picture.index("stronger →")
    assert "placement" not in f"{text} {drawn.note} {drawn.picture}"


def test_the_verdict_is_that_of_the_most_probable_answers_and_of_enough_games() -> None:
    text = strength(with_matches(match(20, -0.05), match(40, -0.2), match(40, -0.31, policy="sampled")))
    assert text.startswith("After 40 updates the nets are stronger than their start:")
    assert "the difference is −0.31" in text
    for difference in (-0.6, 0.6):
        few = strength(with_matches(match(40, difference, hanchans=20)))
        assert few.startswith("After 40 updates the nets are not yet comparable with their start:")


@pytest.mark.parametrize(
    ("found", "hanchans", "shown", "shared"),
    [
        (change(-0.15, -0.22, -0.08), 400, "stronger", "400"),
        (change(0.03, -0.07, 0.13), 200, "no clear change", "200"),
        (change(0.03, 0.01, 0.13), 400, "weaker", "400"),
        (change(-0.6, -0.7, -0.5), 20, "too few hanchans to tell", "20"),
    ],
)
def test_a_change_says_what_its_interval_and_its_shared_hanchans_show(
    found: dict[str, Any], hanchans: int, shown: str, shared: str
) -> None:
    _, rows = matches_table(with_matches(match(20, -0.14, hanchans=hanchans), match(40, -0.2, change=found)))
    assert rows[0][-2].endswith(f"), {shown}")
    assert rows[0][-1] == shared
    assert rows[1][-2:] == ["–", "–"]


def test_an_interval_that_was_widened_is_marked() -> None:
    widened = {"interval": [-0.3, 0.0], "is_widened": True}
    result = with_matches(match(20, -0.2), match(40, -0.2, change=change(-0.1, -0.3, 0.0, is_widened=True)) | widened)
    assert "widened to include no difference" in strength(result)
    assert str(matches_table(result)).count("(widened)") == 2
