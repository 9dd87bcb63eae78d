from __future__ import annotations

import re
from typing import Any

import pytest

from suphx_pipelines.report.report_self_play import (
    entropy_chart,
    entropy_comment,
    largest_distance,
    last_entropy,
    learned_heads,
    section,
    strength,
)

RESULT: dict[str, Any] = {
    "heads": ["discard", "chow"],
    "updates": 40,
    "history": [
        {"updates": 10, "discard_entropy": 2.4},
        {"updates": 20, "discard_entropy": 1.35},
        {"updates": 30, "discard_entropy": 1.6},
        {"updates": 40},
    ],
}


def test_a_head_without_a_point_has_no_curve() -> None:
    assert learned_heads(RESULT) == ["discard"]
    assert last_entropy(RESULT, "discard") == 1.6
    assert last_entropy(RESULT, "chow") is None


def test_a_target_that_falls_is_a_curve_beside_the_entropy() -> None:
    history = [{"updates": n, "discard_entropy": 0.8, "discard_entropy_target": 0.8 - n / 10} for n in range(1, 4)]
    drawn = entropy_chart({"history": history}, "discard", {})
    assert "The target is a share of the entropy of the initial net." in drawn
    assert "entropy</span>" in drawn
    assert "target</span>" in drawn
    absolute = entropy_chart({"history": history, "updates": 3}, "discard", {"discard": 0.5})
    assert "target</span>" not in absolute
    assert "Target 0.50 (dashed)" in absolute


@pytest.mark.parametrize(
    ("target", "text"),
    [
        (0.28, " At the end the entropy is 0.28, near its target 0.28."),
        (0.16, "0.28 (alpha 0.0000), 0.12 above its target 0.16. Alpha is never negative"),
        (0.40, "0.28 (alpha 0.0000), 0.12 below its target 0.40. The control raises alpha"),
    ],
)
def test_an_entropy_away_from_its_target_is_explained(target: float, text: str) -> None:
    falling = [{"updates": n, "discard_entropy_target": target + 0.2 - n / 10} for n in range(1, 3)]
    history = [point | {"discard_entropy": 0.28, "discard_alpha": 0.0} for point in falling]
    assert text in entropy_comment({"history": history}, "discard", {})
    assert text in entropy_comment({"history": history}, "discard", {"discard": target})
    page = section(SECTION | {"history": history, "heads": ["discard"]}, {})
    assert text.strip() in page.replace("\u00a0", " ")
    assert f"(nats; target {target:.2f})" in page


def test_the_distance_from_the_target_is_that_of_the_worst_point_of_the_last_half() -> None:
    assert largest_distance(RESULT, "discard", 1.5) == pytest.approx(0.1)
    assert largest_distance(RESULT, "chow", 0.2) is None
    assert largest_distance(RESULT, "discard", 0.0) is None


def match(updates: int, difference: float, policy: str = "argmax", **more: Any) -> dict[str, Any]:
    figures = {"difference": difference, "interval": [difference - 0.1, difference + 0.1]}
    return (
        {
            "updates": updates,
            "opponent": "start",
            "policy": policy,
            "hanchans": 400,
            "average_placement": 2.5 + difference,
        }
        | figures
        | more
    )


def deals(gain: float) -> dict[str, Any]:
    return {"number": 5000, "changed_share": 0.6, "difference": gain, "interval": [gain - 20, gain + 20]}


SECTION: dict[str, Any] = RESULT | {
    "hanchans": 512,
    "decisions": 345_678,
    "seconds": 61.0,
    "matches": [
        match(20, -0.05, deals=deals(12.0)),
        match(40, -0.2, deals=deals(41.5), change={"since": 20, "difference": -0.15, "interval": [-0.22, -0.08]}),
        match(40, -0.31, policy="sampled"),
    ],
    "decisions_of_buffer": {"added": 90_123, "learned": 81_920, "stale": 77, "refused": 0, "lost": 0},
    "faults": {},
    "playing_seconds": 40.0,
    "learning_seconds": 20.0,
    "waiting_seconds": 1.0,
}


def test_the_verdict_is_that_of_the_most_probable_answers_and_names_the_sampled_ones() -> None:
    text = strength(SECTION)
    assert text.startswith("After 40 updates the nets are stronger than their start:")
    assert "a difference of −0.20" in text
    assert "With sampled actions on both sides, as in self-play, the difference is −0.31" in text


@pytest.mark.parametrize("difference", [-0.6, 0.6])
def test_a_match_of_few_games_says_nobody_is_stronger(difference: float) -> None:
    text = strength(SECTION | {"matches": [match(40, difference, hanchans=20)]})
    assert text.startswith("After 40 updates the nets are not yet comparable with their start:")
    assert text.endswith("over 20 hanchans; over 5 walls the interval means little, play at least 24 hanchans.")
    change = {"since": 20, "difference": difference, "interval": [difference - 0.1, difference + 0.1]}
    page = section(SECTION | {"matches": [match(20, 0, hanchans=20), match(40, difference, change=change)]}, {})
    assert "), too few hanchans to tell" in page
    assert ", stronger" not in page
    assert ", weaker" not in page


def test_an_interval_that_was_widened_is_marked() -> None:
    widened = {"interval": [-0.3, 0.0], "is_widened": True}
    matches = [match(20, -0.2), match(40, -0.2) | widened | {"change": {"since": 20, "difference": -0.1, **widened}}]
    assert "widened to include no difference, because fewer than 6 walls differ" in strength(
        SECTION | {"matches": matches}
    )
    page = section(SECTION | {"matches": matches}, {})
    assert page.count("(widened)") == 2
    assert "Widened to include no difference: fewer than 6 walls or decks differ." in page
    assert "idened" not in section(SECTION, {})


def test_the_change_names_its_interval_and_its_shared_hanchans_and_what_they_show() -> None:
    clear = SECTION["matches"][1]
    assert "−0.15 (−0.22\u00a0to\u00a0−0.08), stronger" in section(SECTION, {})
    open_change = {"since": 20, "difference": 0.03, "interval": [-0.07, 0.13]}
    matches = [match(20, -0.14, hanchans=200), clear | {"hanchans": 2000, "change": open_change}]
    page = section(SECTION | {"matches": matches}, {})
    assert "+0.03 (−0.07\u00a0to\u00a00.13), no clear change" in page
    assert re.search(r"shared hanchans</th>.*no clear change</td>\s*<td[^>]*>200<", page, re.DOTALL), "not 2,000"
    worse = open_change | {"interval": [0.01, 0.13]}
    assert "), weaker" in section(SECTION | {"matches": [matches[0], clear | {"change": worse}]}, {})


def test_points_per_kyoku_have_a_curve_of_their_own() -> None:
    page = section(SECTION, {})
    assert "Points per kyoku over self-play" in page
    assert "After 40 updates: +41.5" in page
    without = section(SECTION | {"matches": [match(40, -0.2)]}, {})
    assert "Points per kyoku" not in without
