from __future__ import annotations

import numpy as np
import pytest

from suphx.models.calibration import Calibration
from suphx.selfplay.agents.choice import ActionSelection
from suphx.selfplay.agents.yes_no_action import yes_no_actions

PLACES = np.random.default_rng(1).random(50_000, np.float32)


def logits_of(yes: np.ndarray) -> np.ndarray:
    return np.stack([np.zeros_like(yes), np.log(yes / (1 - yes))], axis=1).astype(np.float32)


@pytest.mark.parametrize(
    ("answers", "threshold", "says_yes"),
    [("probable", 0.2, [False, False, True]), ("matched", 0.2, [False, True, True]), ("matched", 0.9, [False] * 3)],
)
def test_yes_is_above_its_border(answers: ActionSelection, threshold: float, says_yes: list[bool]) -> None:
    yes = np.array([0.1, 0.3, 0.8])
    actions, scores = yes_no_actions(logits_of(yes), PLACES[:3], Calibration(yes_threshold=threshold), answers)
    assert (actions == 1).tolist() == (scores > 0.5).tolist() == says_yes
    assert np.all(np.diff(scores) > 0)
    assert scores.min() >= 0
    assert scores.max() <= 1


def test_without_a_threshold_the_score_is_the_probability_after_the_temperature() -> None:
    logits = np.array([[0.0, 2.0], [1.0, -1.0]], np.float32)
    _, scores = yes_no_actions(logits, PLACES[:2], Calibration(temperature=2.0), "probable")
    assert scores == pytest.approx([1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))])


@pytest.mark.parametrize("chance", [0.03, 0.4, 0.9])
def test_sampled_answers_are_yes_as_often_as_the_probability_says(chance: float) -> None:
    actions, scores = yes_no_actions(logits_of(np.full(len(PLACES), chance)), PLACES, Calibration(), "sampled")
    assert actions.mean() == pytest.approx(chance, abs=0.01)
    np.testing.assert_allclose(scores, np.where(actions == 1, chance, 0), rtol=1e-5)
