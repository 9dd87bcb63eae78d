from __future__ import annotations

import pytest

from suphx.evaluation.workers.wall_seeds import wall_seeds


def test_seeds_of_different_matches_share_no_wall() -> None:
    first, second = wall_seeds(1, 1000), wall_seeds(2, 1000)
    assert not set(first) & set(second)
    with pytest.raises(ValueError, match="seed is 1048576"):
        wall_seeds(1 << 20, 4)
