from __future__ import annotations

import numpy as np
import torch

from suphx.selfplay.playouts.branches import Branches, join, probable_actions

NO_MASK = torch.zeros(4, 0, dtype=torch.uint8)


def logits_of(probabilities: list[list[float]]) -> torch.Tensor:
    return torch.tensor(probabilities).clamp_min(1e-9).log()


def test_discards_that_are_probable_enough_are_tried_the_most_probable_first() -> None:
    logits = logits_of([[0.1, 0.5, 0.02, 0.38], [0.97, 0.01, 0.01, 0.01], [0.3, 0.3, 0.3, 0.1]])
    masks = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0]], dtype=torch.uint8)
    choices = probable_actions(logits, masks, max_branches=3, min_probability=0.05)
    assert choices[0].tolist() == [1, 3, 0]
    assert choices[1].tolist() == [-1, -1, -1], "nothing to compare"
    assert sorted(choices[2].tolist()) == [-1, 0, 1], "what is not legal is not tried"


def test_both_answers_to_a_call_are_tried_unless_yes_is_out_of_the_question() -> None:
    logits = logits_of([[0.999, 0.001], [0.9, 0.1], [0.001, 0.999], [0.5, 0.5]])
    choices = probable_actions(logits, NO_MASK, max_branches=3, min_probability=0.05)
    assert choices.shape == (4, 2)
    assert choices[0].tolist() == [-1, -1]
    assert choices[1].tolist() == [0, 1]
    assert choices[2].tolist() == [1, 0]


def test_rows_are_taken_and_joined() -> None:
    part = Branches(
        np.arange(8, dtype=np.uint8).reshape(4, 2),
        np.zeros((4, 0), np.uint8),
        np.tile(np.array([[1, 0]], np.int16), (4, 1)),
        np.arange(8, dtype=np.float32).reshape(4, 2),
        np.array([5, 5, 6, 6]),
    )
    both = join([part.take(np.array([0, 1])), part.take(np.array([2, 3]))])
    assert len(both) == 4
    np.testing.assert_array_equal(both.points, part.points)
    np.testing.assert_array_equal(both.planes, part.planes)
    np.testing.assert_array_equal(both.deals, part.deals)


def test_permuted_points_stay_in_their_row_and_with_answers_that_were_tried() -> None:
    rng = np.random.default_rng(1)
    choices = np.tile(np.array([[5, 2, 7], [3, 1, -1]], np.int16), (50, 1))
    points = rng.integers(1, 90, (100, 3)).astype(np.float32)
    points[1::2, 2] = 0
    part = Branches(
        np.zeros((100, 1), np.uint8), np.zeros((100, 0), np.uint8), choices, points, np.zeros(100, np.int64)
    )
    mixed = part.permuted(rng)
    np.testing.assert_array_equal(np.sort(mixed.points, axis=1), np.sort(points, axis=1))
    assert (mixed.points[1::2, 2] == 0).all()
    assert (mixed.points != points).any(axis=1).sum() > 50
    np.testing.assert_array_equal(mixed.choices, choices)
