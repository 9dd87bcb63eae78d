from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from suphx.experience.observation import Observations, PolicyOutputs, joined_observations
from suphx.experience.opponents import OpponentConfig
from suphx.experience.sampling_uniform import uniform_of


def test_each_policy_has_its_part_of_the_shares() -> None:
    config = OpponentConfig(latest=0.5, weak=0.2, older=0.3, num_older=3)
    np.testing.assert_allclose(config.borders(), [0.5, 0.7, 0.8, 0.9, 1.0])  # older versions share theirs


def test_shares_need_not_add_up_to_1() -> None:
    config = OpponentConfig(latest=2, weak=0, older=6, num_older=2)
    np.testing.assert_allclose(config.borders(), [0.25, 0.25, 0.625, 1.0])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"latest": 0.0}, "use a share above 0 for one of them"),
        ({"weak": -0.1}, "use 0 to 10,000"),
        ({"num_older": 0}, "num_older is 0: use 1 to 64"),
    ],
)
def test_wrong_shares_are_refused(fields: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OpponentConfig(**fields)  # type: ignore[arg-type]


def test_uniforms_are_spread_evenly_and_differ_by_every_argument() -> None:
    uniforms = np.array([uniform_of(2**60 + game, decision, 0) for game in range(50) for decision in range(200)])
    assert abs(uniforms.mean() - 0.5) < 0.01
    assert len(set(uniforms.tolist())) > 9_980
    assert abs(np.corrcoef(uniforms[:-1], uniforms[1:])[0, 1]) < 0.03
    assert (
        len(
            {
                uniform_of(7, 1, 2),
                uniform_of(8, 1, 2),
                uniform_of(7, 2, 2),
                uniform_of(7, 1, 3),
                uniform_of(2**40, 1, 2),
            }
        )
        == 5
    )


def observations(size: int, seed: int) -> Observations:
    rng = np.random.default_rng(seed)
    return Observations(
        head=2,
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
    return {field.name: np.asarray(getattr(of, field.name)) for field in fields(of) if field.name != "head"}


def test_joined_observations_are_taken_apart_again() -> None:
    parts = [observations(3, 0), observations(0, 1), observations(4, 2)]
    whole = joined_observations(parts)
    assert (whole.head, len(whole), whole.num_bytes) == (2, 7, 7 * (5 + 34 + 4 + 4))
    for part, rows in zip(parts, np.split(np.arange(7), [3, 3]), strict=True):
        taken = columns(whole.take(rows))
        assert all(np.array_equal(taken[name], column) for name, column in columns(part).items())


def test_a_single_part_is_not_copied() -> None:
    part = observations(3, 0)
    assert joined_observations([part]) is part


def test_outputs_are_filled_in_row_by_row() -> None:
    whole, rows = PolicyOutputs.blank(5, version=-1), np.array([4, 1])
    part = outputs(2, 0)
    whole.put(rows, part)
    for name, column in columns(whole).items():
        assert np.array_equal(column[rows], columns(part)[name])
        assert (column[[0, 2, 3]] == (-1 if name == "versions" else 0)).all()
        assert column.dtype == columns(part)[name].dtype
    assert whole.num_bytes == 5 * (2 + 4 + 4 + 4)
    assert np.array_equal(whole.part(1, 2).actions, part.actions[1:])


def test_copies_may_be_written_to() -> None:
    frozen = outputs(3, 0)
    for column in columns(frozen).values():
        column.flags.writeable = False
    copied = frozen.copied()
    copied.actions[:] = 0
    assert np.array_equal(copied.scores, frozen.scores)
    assert (frozen.actions != 0).any()
