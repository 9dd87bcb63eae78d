from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from suphx.kernel.jit import jit
from suphx.models.packed.float_blocks import F32, add_block, add_three_blocks


@jit
def one_block(target: F32, at: int, source: F32, start: int) -> None:
    add_block(target, at, source, start)


@jit
def three_blocks(target: F32, at: int, source: F32, start: int) -> None:
    add_three_blocks(target, at, source, start)


@pytest.mark.parametrize(
    ("add", "num_floats"),
    [(add_block, 32), (one_block, 32), (add_three_blocks, 96), (three_blocks, 96)],
)
def test_a_block_is_added_and_nothing_else(add: Callable[[F32, int, F32, int], None], num_floats: int) -> None:
    target, source = np.arange(200, dtype=np.float32), np.arange(1000, 1200, dtype=np.float32)
    wanted = target.copy()
    wanted[7 : 7 + num_floats] += source[50 : 50 + num_floats]
    add(target, 7, source, 50)
    np.testing.assert_array_equal(target, wanted)
