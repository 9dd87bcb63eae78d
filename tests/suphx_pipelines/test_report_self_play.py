from __future__ import annotations

from typing import Any

import pytest

from suphx_pipelines.report_self_play import largest_distance, last_entropy, learned_heads

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


def test_the_distance_from_the_target_is_that_of_the_worst_point_of_the_last_half() -> None:
    assert largest_distance(RESULT, "discard", 1.5) == pytest.approx(0.1)
    assert largest_distance(RESULT, "chow", 0.2) is None
    assert largest_distance(RESULT, "discard", 0.0) is None
