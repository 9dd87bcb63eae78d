"""The first convolution straight from bit-packed rows, on a CPU: adds up the weights of the bits that are set.

Few bits are set, so this is several times as fast as unpacking a row to numbers and convolving those, and as exact
as float32 addition. Two cases take one addition instead of 34: a plane that is all ones ("full": winds, scores …), and
a plane with most bits set, which is a full plane less the others.

Weights are turned round to [planes, 3 * out]: the three taps of a plane stand in the order of the columns that a set
bit reaches (left neighbour, itself, right neighbour), so that a bit is one addition of 3 * out neighbouring numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from suphx.features.planes import ALL_KINDS, NUM_COLUMNS, count_bits, get_kinds
from suphx.kernel_threads import map_on_threads
from suphx.models.unpack import check_rows
from suphx.riichi.jit import jit
from suphx.riichi.record import U8

T = TypeVar("T")
F32 = NDArray[np.float32]

_PADDED_COLUMNS = NUM_COLUMNS + 2  # one on either side, so that an addition needs no border check


def convolve_packed(rows: Tensor, weight: Tensor) -> Tensor:
    """Return the 3x1 convolution of packed planes as float32 columns [n, 34, out], contiguous; differentiable.

    ``rows``: uint8 [n, row_bytes(planes)] on the CPU; ``weight`` [out, planes, 3] of any float type. Runs on as many
    threads as torch does. Raises ValueError for rows of another dtype or shape.
    """
    check_rows(rows, weight.shape[1])
    result: Tensor = _PackedConvolution.apply(rows, weight.float())  # type: ignore[no-untyped-call]
    return result


class _PackedConvolution(Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor) -> Tensor:
        num_out, num_planes, _ = weight.shape
        ctx.num_planes = num_planes
        ctx.save_for_backward(rows)
        turned = weight.permute(1, 2, 0).flip(1).reshape(num_planes, 3 * num_out).contiguous().numpy()
        columns = torch.empty(len(rows), NUM_COLUMNS, num_out)
        packed, result = rows.contiguous().numpy(), columns.flatten(1).numpy()

        def add(part: slice) -> None:
            _add_weights(packed[part], turned, _scratch(num_out), result[part])

        _in_threads(add, len(rows))
        return columns

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor]:
        (rows,) = ctx.saved_tensors
        num_out = gradient.shape[2]
        packed, columns = rows.contiguous().numpy(), gradient.float().contiguous().flatten(1).numpy()

        def add(part: slice) -> F32:
            turned: F32 = torch.zeros(ctx.num_planes, 3 * num_out).numpy()
            _add_gradients(packed[part], columns[part], _scratch(num_out), turned)
            return turned

        turned = torch.from_numpy(sum(_in_threads(add, len(rows))))
        return None, turned.view(ctx.num_planes, 3, num_out).flip(1).permute(2, 0, 1).contiguous()


def _in_threads(call: Callable[[slice], T], num_rows: int) -> list[T]:
    """Return what ``call`` gives for each thread's share of the rows."""
    num_threads = torch.get_num_threads()
    share = max(1, -(-num_rows // num_threads))
    parts = [slice(start, start + share) for start in range(0, num_rows, share)] or [slice(0, 0)]
    return map_on_threads(call, parts, num_threads)


def _scratch(num_out: int) -> F32:
    """Return room for the padded columns of one row and for what is added to all of them."""
    memory: F32 = torch.empty((_PADDED_COLUMNS + 3) * num_out).numpy()  # unlike numpy's, it starts at a cache line
    return memory


@jit
def _add_weights(rows: U8, weights: F32, scratch: F32, columns: F32) -> None:
    """Fill ``columns`` [n, 34 * out] with the sums of ``weights`` [planes, 3 * out] over the set bits of ``rows``."""
    num_planes, width = weights.shape
    num_out = width // 3
    taps = weights.reshape(-1)
    sums = scratch[: _PADDED_COLUMNS * num_out]
    full = scratch[_PADDED_COLUMNS * num_out :]
    for i in range(len(rows)):
        scratch[:] = 0
        row = rows[i]
        for plane in range(num_planes):
            kinds = get_kinds(row, plane)
            if kinds == 0:
                continue
            own = plane * width
            sign = np.float32(1)
            if count_bits(kinds) > NUM_COLUMNS // 2:
                for k in range(width):
                    full[k] += taps[own + k]
                kinds ^= ALL_KINDS
                sign = np.float32(-1)
            while kinds != 0:
                start = _first_kind(kinds) * num_out
                kinds &= kinds - 1
                for k in range(width):  # indices, not slices: slices take twice the time
                    sums[start + k] += sign * taps[own + k]
        _sum_up(sums, full, columns[i])


@jit
def _sum_up(sums: F32, full: F32, columns: F32) -> None:
    """Write the padded ``sums`` without their borders, and add what full planes give to every column."""
    num_out = len(full) // 3
    last = (NUM_COLUMNS - 1) * num_out
    for column in range(NUM_COLUMNS):
        start = column * num_out
        for k in range(num_out):
            columns[start + k] = sums[start + num_out + k] + full[k] + full[num_out + k] + full[2 * num_out + k]
    for k in range(num_out):  # nothing reaches the first column from its left, nor the last one from its right
        columns[k] -= full[2 * num_out + k]
        columns[last + k] -= full[k]


@jit
def _add_gradients(rows: U8, columns: F32, scratch: F32, gradients: F32) -> None:
    """Add to ``gradients`` [planes, 3 * out], over all set bits, what reaches them of ``columns`` [n, 34 * out]."""
    num_planes, width = gradients.shape
    num_out = width // 3
    taps = gradients.reshape(-1)
    padded = scratch[: _PADDED_COLUMNS * num_out]
    full = scratch[_PADDED_COLUMNS * num_out :]
    for i in range(len(rows)):
        _pad(columns[i], padded, full)
        row = rows[i]
        for plane in range(num_planes):
            kinds = get_kinds(row, plane)
            if kinds == 0:
                continue
            own = plane * width
            sign = np.float32(1)
            if count_bits(kinds) > NUM_COLUMNS // 2:
                for k in range(width):
                    taps[own + k] += full[k]
                kinds ^= ALL_KINDS
                sign = np.float32(-1)
            while kinds != 0:
                start = _first_kind(kinds) * num_out
                kinds &= kinds - 1
                for k in range(width):
                    taps[own + k] += sign * padded[start + k]


@jit
def _pad(columns: F32, padded: F32, full: F32) -> None:
    """Fill ``padded`` with ``columns`` between zeros, ``full`` with the sums that a full plane's three taps get."""
    num_out = len(full) // 3
    last = (NUM_COLUMNS - 1) * num_out
    padded[:num_out] = 0
    padded[num_out : num_out + len(columns)] = columns
    padded[num_out + len(columns) :] = 0
    full[:] = 0
    for column in range(NUM_COLUMNS):
        for k in range(num_out):
            full[num_out + k] += columns[column * num_out + k]
    for k in range(num_out):
        full[k] = full[num_out + k] - columns[last + k]
        full[2 * num_out + k] = full[num_out + k] - columns[k]


@jit
def _first_kind(kinds: int) -> int:
    """Return the lowest kind of a bit set that is not empty."""
    return count_bits((kinds & -kinds) - 1)
