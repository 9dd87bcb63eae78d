from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest

from suphx.experience.columns import joined
from suphx.experience.observation import Candidates, Observations, OpponentConfig, PolicyOutputs
from suphx.experience.segments import segment_argmax, segment_rows
from suphx.kernel.random_number import uniform_of


def test_each_policy_has_its_part_of_the_shares() -> None:
    config = OpponentConfig(latest=0.4, weak=0.2, older=0.4)
    np.testing.assert_allclose(config.borders(), [0.4, 0.6, 0.7, 0.8, 0.9, 1.0])  # older versions share theirs


def test_uniforms_are_spread_evenly_and_differ_by_every_argument() -> None:
    uniforms = np.array([uniform_of(2**60 + game, decision, 0) for game in range(50) for decision in range(200)])
    assert abs(uniforms.mean() - 0.5) < 0.01
    assert len(set(uniforms.tolist())) > 9_980
    assert abs(np.corrcoef(uniforms[:-1], uniforms[1:])[0, 1]) < 0.03
    others = [(7, 1, 2), (8, 1, 2), (7, 2, 2), (7, 1, 3), (2**40, 1, 2)]
    assert len({uniform_of(*keys) for keys in others}) == 5


def observations(size: int, seed: int) -> Observations:
    rng = np.random.default_rng(seed)
    return Observations(
        decision=2,
        planes=rng.integers(0, 256, (size, 5)).astype(np.uint8),
        masks=rng.integers(0, 2, (size, 34)).astype(np.uint8),
        policies=rng.integers(0, 4, size).astype(np.int32),
        uniforms=rng.random(size).astype(np.float32),
    )


def outputs(size: int, seed: int) -> PolicyOutputs:
    rng = np.random.default_rng(seed)
    return PolicyOutputs(
        actions=rng.integers(0, 34, size).astype(np.int16),
        scores=rng.random(size).astype(np.float32),
        log_probs=-rng.random(size).astype(np.float32),
        versions=rng.integers(0, 9, size).astype(np.int32),
    )


def columns(of: Observations | PolicyOutputs) -> dict[str, np.ndarray]:
    return {
        field.name: np.asarray(getattr(of, field.name))
        for field in fields(of)
        if field.name not in ("head", "candidates")
    }


def test_joined_observations_are_taken_apart_again() -> None:
    parts = [observations(3, 0), observations(0, 1), observations(4, 2)]
    whole = joined(parts)
    assert (whole.decision, len(whole), whole.nbytes) == (2, 7, 7 * (5 + 34 + 4 + 4))
    for part, rows in zip(parts, np.split(np.arange(7), [3, 3]), strict=True):
        taken = columns(whole.take(rows))
        assert all(np.array_equal(taken[name], column) for name, column in columns(part).items())


def test_outputs_are_filled_in_row_by_row() -> None:
    whole, rows = PolicyOutputs.blank(5, version=-1), np.array([4, 1])
    part = outputs(2, 0)
    whole.put(rows, part)
    for name, column in columns(whole).items():
        assert np.array_equal(column[rows], columns(part)[name])
        assert (column[[0, 2, 3]] == (-1 if name == "versions" else 0)).all()
        assert column.dtype == columns(part)[name].dtype
    assert whole.nbytes == 5 * (2 + 4 + 4 + 4)
    assert np.array_equal(whole.part(1, 2).actions, part.actions[1:])


def test_copies_may_be_written_to() -> None:
    frozen = outputs(3, 0)
    for column in columns(frozen).values():
        column.flags.writeable = False
    copied = frozen.copied()
    copied.actions[:] = 0
    assert np.array_equal(copied.scores, frozen.scores)
    assert (frozen.actions != 0).any()


def test_the_first_of_the_highest_values_of_each_list_is_chosen() -> None:
    rng = np.random.default_rng(2)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 9, 50))])
    values = rng.integers(0, 5, offsets[-1]).astype(np.float32)
    expected = [a + int(np.argmax(values[a:b])) for a, b in pairwise(offsets)]
    assert segment_argmax(values, offsets).tolist() == expected
    assert segment_argmax(np.zeros(0, np.float32), np.zeros(1, np.int64)).tolist() == []
    assert segment_rows(np.array([0, 2, 2, 5])).tolist() == [0, 0, 2, 2, 2]


def test_empty_lists_and_nan_are_refused() -> None:
    with pytest.raises(ValueError, match="list 1 has no rows"):
        segment_argmax(np.ones(2), np.array([0, 2, 2]))
    with pytest.raises(ValueError, match="the value of row 1 is not a number"):
        segment_argmax(np.array([0.0, np.nan]), np.array([0, 2]))


LISTS = [[5, 6], [7], [8, 9, 5], [6]]


def candidates(lists: list[list[int]]) -> Candidates:
    offsets = np.cumsum([0, *map(len, lists)])
    return Candidates(offsets, np.array([move for own in lists for move in own], np.int32))


def as_lists(found: Candidates | None) -> list[list[int]]:
    assert found is not None
    return [found.moves[a:b].tolist() for a, b in pairwise(found.offsets)]


def test_candidates_go_with_their_rows() -> None:
    own = replace(observations(4, 0), candidates=candidates(LISTS))
    assert as_lists(own.take(np.array([3, 0, 3])).candidates) == [[6], [5, 6], [6]]
    whole = joined([own.take(np.array([2])), own.take(np.zeros(0, np.int64)), own])
    assert as_lists(whole.candidates) == [[8, 9, 5], *LISTS]
    assert as_lists(candidates(LISTS).part(1, 3)) == LISTS[1:3]
