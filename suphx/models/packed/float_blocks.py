"""Blocks of floats, added with vector instructions inside kernels.

The compiler does not know that two arrays are apart, so a loop over short pieces of them costs more checks than
additions. These functions state what it cannot know: 16 floats at a time, whatever the arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

F32 = NDArray[np.float32]

BLOCK = 32
"""Floats that ``add_block`` adds."""
_LANES = 16  # one AVX-512 register; LLVM splits it where registers are smaller


def add_block(target: F32, at: int, source: F32, start: int) -> None:
    """Add 32 floats of ``source`` from ``start`` on to those of ``target`` from ``at`` on; checks no bounds."""
    target[at : at + BLOCK] += source[start : start + BLOCK]


def add_three_blocks(target: F32, at: int, source: F32, start: int) -> None:
    """Add 96 floats as ``add_block`` adds 32."""
    target[at : at + 3 * BLOCK] += source[start : start + 3 * BLOCK]


def _addition(num_floats: int) -> Any:
    """Return the compiled form of the addition of so many floats."""

    def typed(_: Any, target: Any, at: Any, source: Any, start: Any) -> tuple[Any, Callable[..., Any]]:
        return types.void(target, types.intp, source, types.intp), generate

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = ir.VectorType(ir.FloatType(), _LANES)

        def first_vector(array: int) -> Any:
            data = context.make_array(signature.args[array])(context, builder, arguments[array]).data
            return builder.bitcast(builder.gep(data, [arguments[array + 1]]), lanes.as_pointer())

        target, source = first_vector(0), first_vector(2)
        for i in range(num_floats // _LANES):
            offset = [ir.Constant(ir.IntType(32), i)]
            place = builder.gep(target, offset)
            added = builder.load(builder.gep(source, offset), align=4)
            builder.store(builder.fadd(builder.load(place, align=4), added), place, align=4)
        return context.get_dummy_value()

    return intrinsic(typed)


_add_32, _add_96 = _addition(BLOCK), _addition(3 * BLOCK)


@overload(add_block, strict=False)
def _compiled_add_block(target: Any, at: Any, source: Any, start: Any) -> Any:
    return lambda target, at, source, start: _add_32(target, at, source, start)


@overload(add_three_blocks, strict=False)
def _compiled_add_three_blocks(target: Any, at: Any, source: Any, start: Any) -> Any:
    return lambda target, at, source, start: _add_96(target, at, source, start)
