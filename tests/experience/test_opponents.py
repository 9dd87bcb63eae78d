from __future__ import annotations

import numpy as np
import pytest

from suphx.experience.opponents import OpponentConfig


def test_each_policy_has_its_part_of_the_shares() -> None:
    config = OpponentConfig(latest=0.5, weak=0.2, older=0.3, num_older=3)
    np.testing.assert_allclose(config.borders(), [0.5, 0.7, 0.8, 0.9, 1.0])  # older versions share theirs


def test_shares_need_not_add_up_to_1() -> None:
    config = OpponentConfig(latest=2, weak=0, older=6, num_older=2)
    np.testing.assert_allclose(config.borders(), [0.25, 0.25, 0.625, 1.0])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"latest": 0.0}, "use shares from 0 on, one of them above 0"),
        ({"weak": -0.1}, "use shares from 0 on"),
        ({"num_older": 0}, "num_older is 0: use 1 to 64"),
    ],
)
def test_wrong_shares_are_refused(fields: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OpponentConfig(**fields)  # type: ignore[arg-type]
