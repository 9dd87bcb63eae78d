"""Kernels as plain Python: what they compute is what the compiled ones do, and what they use comes along."""

from __future__ import annotations

import ast
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from suphx.kernel import random_number
from suphx.kernel.jit import jit
from suphx.kernel.plain_arrays import field_types, pack_record, unpack_record
from suphx.kernel.plain_source import carry
from suphx.kernel.random_number import mix
from suphx.kernel.record import I64, Records, field, record_dtype

FIRST = np.array([[3, 1], [4, 1]])
ROOT = round(math.sqrt(2), 3)


class Pair(NamedTuple):
    """Two numbers."""

    low: int
    high: int


class Scratch:
    """What a kernel keeps."""

    total: int = field("i4")
    seen: I64 = field("i8", 4)


SCRATCH = record_dtype(Scratch)


@jit
def _bounds(values: I64) -> Pair:
    return Pair(values.min(), values.max())


@jit
def _numbers(seed: int, scratch: Records) -> tuple[int, ...]:
    """Return numbers that need all that a kernel can do with arrays."""
    grid = np.zeros((2, 4), np.int64)
    for i in range(4):
        grid[i // 2, i] = random_number.mix(seed + i) % 100
    grid[:, 1:3] = grid[:, :2]
    grid[1] = grid[0]
    grid[1, 2] += FIRST[1, 0]
    grid[0, 1:3] += 7
    own = scratch[0]
    own.seen[:] = own.total = 5
    own.seen[1] = int(ROOT * 1000)
    bounds = _bounds(grid[0])
    order = np.arange(4)
    order[0], order[3] = order[3], order[0]
    return (
        bounds.low,
        bounds.high,
        int(grid[1].sum()),
        own.seen[1] + own.total,
        order[0],
        int(np.int8(grid.copy()[1, 2] % 9)),
    )


@jit
def numbers(seed: int) -> tuple[int, ...]:
    """Return the numbers of a seed."""
    return _numbers(seed, np.zeros(1, SCRATCH))


def main() -> list[list[int]]:
    """Return numbers of several seeds."""
    return [list(numbers(seed)) for seed in range(3)]


def carried(function: Any, constants: dict[str, Any] | None = None) -> dict[str, Any]:
    source = carry(function, constants)
    ast.parse(source, feature_version=(3, 6))
    found: dict[str, Any] = {"__name__": "carried"}
    exec(compile(source, "carried", "exec"), found)
    return found


def test_a_carried_kernel_computes_what_the_compiled_one_does() -> None:
    own = carried(main)
    assert own["main"]() == main()
    assert "suphx" not in carry(main)
    assert not {"np", "numba"} & own.keys()


def test_constants_can_be_replaced() -> None:
    assert carried(main, {"ROOT": 2.0})["main"]()[0][3] == 2005


def test_records_are_unpacked_as_they_were_packed() -> None:
    records: Records = np.zeros(1, SCRATCH)
    records["total"], records["seen"] = 9, [1, 2, 3, 2**40]
    found = unpack_record(pack_record(records[0]), field_types(SCRATCH))
    assert (found.total, list(found.seen)) == (9, [1, 2, 3, 2**40])


@jit
def _sorted(values: I64) -> I64:
    return np.sort(values)


@jit
def hidden(mix_: int) -> int:
    """Have a local name of a global one."""
    numbers = mix_ + 1
    return numbers - 1


def test_what_plain_python_does_not_have_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"np.sort in a kernel has no counterpart"):
        carry(_sorted)


def test_a_local_name_of_a_carried_one_is_left_alone() -> None:
    assert carried(hidden)["hidden"](mix(1)) == mix(1)
