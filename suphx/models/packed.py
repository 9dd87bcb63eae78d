"""The first convolution straight from bit-packed rows, on a CPU: adds up the weights of the bits that are set.

Few bits are set, so this is several times as fast as unpacking a row and convolving it, and as exact as float32
addition. The set bits become a list of additions, which the gradient uses again. A plane that is all ones ("full":
winds, scores …) takes one addition; a plane with most bits set is a full plane less the others.

Weights are turned round to [planes, 3 * out], the taps in the order of the columns that a set bit reaches, so that a
bit is one addition of 3 * out neighbouring numbers. On a grid of 4x9 a column is three times as wide: what its bits add
to the row above, to their own and to the row below; these are added up at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np
import torch
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

from suphx.games.mahjong.planes import ALL_KINDS, NUM_COLUMNS, count_bits, get_kinds, observation_bytes
from suphx.kernel.jit import jit, map_on_threads
from suphx.kernel.record import I32, I64, U8

F32 = NDArray[np.float32]

BLOCK = 32
"""Floats that ``add_block`` adds."""
_LANES = 16  # one AVX-512 register; LLVM splits it where registers are smaller


def add_block(target: F32, at: int, source: F32, start: int) -> None:
    """Add 32 floats of ``source`` from ``start`` on to those of ``target`` from ``at`` on; checks no bounds."""
    target[at : at + BLOCK] += source[start : start + BLOCK]


def _typed_addition(_: Any, target: Any, at: Any, source: Any, start: Any) -> tuple[Any, Callable[..., Any]]:
    """Compile ``add_block`` to vector instructions."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = ir.VectorType(ir.FloatType(), _LANES)

        def first_vector(array: int) -> Any:
            data = context.make_array(signature.args[array])(context, builder, arguments[array]).data
            return builder.bitcast(builder.gep(data, [arguments[array + 1]]), lanes.as_pointer())

        target, source = first_vector(0), first_vector(2)
        for i in range(BLOCK // _LANES):
            offset = [ir.Constant(ir.IntType(32), i)]
            place = builder.gep(target, offset)
            added = builder.load(builder.gep(source, offset), align=4)
            builder.store(builder.fadd(builder.load(place, align=4), added), place, align=4)
        return context.get_dummy_value()

    return types.void(target, types.intp, source, types.intp), generate


_add: Any = intrinsic(_typed_addition)


@overload(add_block, strict=False)
def _compiled_add_block(target: Any, at: Any, source: Any, start: Any) -> Any:
    return lambda target, at, source, start: _add(target, at, source, start)


def row_bytes(num_planes: int, num_columns: int) -> int:
    """Return the bytes of a packed row: bit ``plane * num_columns + column``, low bits first."""
    return (num_planes * num_columns + 7) // 8


def unpack_observations(
    rows: Tensor, num_planes: int, dtype: torch.dtype = torch.float32, num_columns: int = NUM_COLUMNS
) -> Tensor:
    """Return packed ``rows`` uint8 [n, row_bytes(num_planes, num_columns)] as zeros and ones, ``dtype`` [n, num_planes,
    num_columns], on their device. ValueError for another dtype or shape.
    """
    check_observations(rows, num_planes, row_bytes(num_planes, num_columns))
    num_rows, num_bytes = rows.shape
    if rows.is_cuda or torch.compiler.is_compiling():  # compiled: one kernel, with the arrangement of the first layer
        bits = (rows.unsqueeze(2) >> torch.arange(8, dtype=torch.uint8, device=rows.device)) & 1
        bits = bits.view(num_rows, 8 * num_bytes)
    else:
        # One look-up writes the eight bits of a byte as one 8-byte word: 4 times as fast as shift-and-mask on a CPU.
        words = _bits_of_bytes().index_select(0, rows.reshape(-1).int())
        bits = words.view(num_rows, num_bytes).view(torch.uint8)
    return bits[:, : num_planes * num_columns].to(dtype).view(num_rows, num_planes, num_columns)


def check_observations(rows: Tensor, num_planes: int, num_bytes: int) -> None:
    """Raise ValueError unless ``rows`` are packed rows of ``num_bytes``."""
    if rows.dtype != torch.uint8 or rows.ndim != 2 or rows.shape[1] != num_bytes:
        given = f"{str(rows.dtype).removeprefix('torch.')}{list(rows.shape)}"
        raise ValueError(f"rows of {num_planes} planes must be uint8[n, {num_bytes}], not {given}")


@cache
def _bits_of_bytes() -> Tensor:
    """Return int64[256]: the eight bits of each byte value, a byte of the word for each, the lowest bit first."""
    values = torch.arange(256, dtype=torch.uint8).unsqueeze(1)
    bits = (values >> torch.arange(8, dtype=torch.uint8)) & 1
    return bits.contiguous().view(torch.int64).view(256)


T = TypeVar("T")


GRID = (4, 9)
"""Rows and columns of the grid: the cell number ``kind``, row by row, is that of the kind."""
_NUM_ROWS, _NUM_RANKS = GRID
NUM_CELLS = _NUM_ROWS * _NUM_RANKS
"""Kinds and empty cells."""
_FULL = NUM_COLUMNS + 2  # padded columns: one on either side, so that an addition needs no border check
_GRID_FULL = _FULL + _FULL // _NUM_RANKS  # on the grid there is one between two rows, too
_ROWS_AT_ONCE = 128
_MOST_ADDITIONS = NUM_COLUMNS // 2 + 1  # for a plane


def convolve_packed(rows: Tensor, weight: Tensor) -> Tensor:
    """Return the convolution of packed planes as float32 columns [n, 34, out], contiguous; differentiable.

    ``rows``: uint8 [n, observation_bytes(planes)] on the CPU; ``weight`` [out, planes, 3], or [out, planes, 3, 3] for
    the grid with a result of [n, 36, out]. Runs on as many threads as torch does. ValueError for another dtype or
    shape.
    """
    check_observations(rows, weight.shape[1], observation_bytes(weight.shape[1]))
    learns = torch.is_grad_enabled() and weight.requires_grad
    result: Tensor = _PackedConvolution.apply(rows, _padded(weight), learns)  # type: ignore[no-untyped-call]
    return result[:, :, : len(weight)].contiguous()


class TurnedWeights:
    """Weights that stay the same, prepared once: ``convolve`` gives what ``convolve_packed`` gives with them."""

    def __init__(self, weight: Tensor) -> None:
        """Copy ``weight``, as of ``convolve_packed``."""
        padded = _padded(weight.detach())
        self._num_out, self._shape, self.num_planes = len(weight), padded.shape, padded.shape[1]
        self._weights = _turned(padded)

    def convolve(self, rows: Tensor) -> Tensor:
        """Return float32 [n, 34 or 36, out] of uint8 [n, observation_bytes(planes)]; ValueError for others."""
        check_observations(rows, self.num_planes, observation_bytes(self.num_planes))
        columns, _ = _convolve(rows, self._weights, self._shape, keeps=False)
        return columns[:, :, : self._num_out]


def _padded(weight: Tensor) -> Tensor:
    """Return float32 weights with channels of zeros up to a multiple of ``BLOCK``."""
    num_missing = -len(weight) % BLOCK
    sides = (0, 0) * (weight.ndim - 1) + (0, num_missing)
    return functional.pad(weight.float(), sides) if num_missing else weight.float()


def _convolve(rows: Tensor, weights: F32, shape: torch.Size, *, keeps: bool) -> tuple[Tensor, list[list[_Additions]]]:
    """Return columns [n, 34 or 36, out] and, with ``keeps``, the additions of each thread's share of the rows; turned
    ``weights`` of ``shape``.
    """
    num_out, num_planes, is_grid = shape[0], shape[1], len(shape) == 4
    num_columns = NUM_CELLS if is_grid else NUM_COLUMNS
    columns = torch.empty(len(rows), num_columns * num_out)
    packed, result = rows.contiguous().numpy(), columns.numpy()

    def add(part: slice) -> list[_Additions]:
        sums, listed = _scratch(num_out, is_grid), []
        for additions in _list_part(packed, part, num_planes):
            _add_weights(additions.entries, additions.ends, weights, sums, result[additions.rows], is_grid)
            if keeps:
                listed.append(additions.copied())
        return listed

    parts = _in_threads(add, len(rows))
    return columns.view(-1, num_columns, num_out), parts


class _PackedConvolution(Function):
    """The convolution for a multiple of ``BLOCK`` channels."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, learns: bool) -> Tensor:
        ctx.shape = weight.shape
        columns, ctx.parts = _convolve(rows, _turned(weight), weight.shape, keeps=learns)
        return columns

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[None, Tensor, None]:
        num_out, num_planes, *taps = ctx.shape
        is_grid = len(taps) == 2
        columns = gradient.float().contiguous().flatten(1).numpy()

        def add(part: list[_Additions]) -> Tensor:
            turned = torch.zeros(2, num_planes, *taps, num_out)
            sums, gradients = _scratch(num_out, is_grid), turned.view(-1).numpy()
            for additions in part:
                _add_gradients(additions.entries, additions.ends, columns[additions.rows], sums, gradients, is_grid)
            return turned[0] - turned[1]

        parts = map_on_threads(add, ctx.parts, torch.get_num_threads())
        turned = sum(parts[1:], parts[0])
        if is_grid:
            return None, turned.flip(1, 2).permute(3, 0, 2, 1).contiguous(), None
        return None, turned.flip(1).permute(2, 0, 1).contiguous(), None


def _turned(weight: Tensor) -> F32:
    """Return the weights turned round, and after them the same negated: [2 * planes * 3 * out]; of a grid [planes,
    column, row, out], by the column and row that they reach.
    """
    num_out, num_planes, *taps = weight.shape
    both = torch.empty(2, num_planes, *taps, num_out).numpy()
    turned = weight.numpy().reshape(num_out, -1).T.copy().reshape(num_planes, *taps, num_out)
    both[0] = turned[:, ::-1] if len(taps) == 1 else turned[:, ::-1, ::-1].swapaxes(1, 2)
    np.negative(both[0], out=both[1])
    return both.reshape(-1)


@dataclass(frozen=True, slots=True)
class _Additions:
    """What is to be added up for some rows."""

    rows: slice
    entries: I32
    """int32 [additions]: 64 * plane + padded column. The column ``_FULL`` is all columns; from the number of planes on,
    a plane's weights are subtracted."""
    ends: I64
    """int64 [rows]: where the entries of each row end."""

    def copied(self) -> _Additions:
        """Return additions that stay valid."""
        return _Additions(self.rows, self.entries.copy(), self.ends)


def _list_part(packed: U8, part: slice, num_planes: int) -> Iterator[_Additions]:
    """Yield the additions of the rows ``packed[part]``; each is valid until the next."""
    entries = np.empty(_ROWS_AT_ONCE * num_planes * _MOST_ADDITIONS + 4, np.int32)
    planes = np.empty(num_planes + 1, np.int64)
    for start in range(part.start, part.stop, _ROWS_AT_ONCE):
        rows = slice(start, min(start + _ROWS_AT_ONCE, part.stop))
        ends = np.empty(rows.stop - rows.start, np.int64)
        _list_additions(packed[rows], num_planes, planes, entries, ends)
        yield _Additions(rows, entries[: ends[-1]], ends)


def _in_threads(call: Callable[[slice], T], num_rows: int) -> list[T]:
    """Return what ``call`` gives for each thread's share of the rows."""
    num_threads = torch.get_num_threads()
    share = max(1, -(-num_rows // num_threads))
    parts = [slice(start, min(start + share, num_rows)) for start in range(0, num_rows, share)] or [slice(0, 0)]
    return map_on_threads(call, parts, num_threads)


def _scratch(num_out: int, is_grid: bool) -> F32:
    """Return room for the padded columns of one row, and for the three taps of what is added to all of them."""
    num_floats = (_GRID_FULL + 3) * 3 * num_out if is_grid else (_FULL + 3) * num_out
    memory: F32 = torch.empty(num_floats).numpy()  # unlike numpy's, it starts at a cache line
    return memory


@jit
def _list_additions(rows: U8, num_planes: int, planes: I64, entries: I32, ends: I64) -> None:
    """Fill ``entries`` and ``ends`` (see ``_Additions``); ``planes`` [num_planes + 1] is scratch."""
    end = 0
    for i in range(len(rows)):
        row = rows[i]
        num_filled = 0
        for plane in range(num_planes):  # without a branch: a processor cannot predict which planes are empty
            kinds = get_kinds(row, plane)
            planes[num_filled] = plane << NUM_COLUMNS | kinds
            num_filled += kinds != 0
        for n in range(num_filled):
            kinds = planes[n] & ALL_KINDS
            entry = planes[n] >> NUM_COLUMNS << 6
            num_kinds = count_bits(kinds)
            if num_kinds > NUM_COLUMNS // 2:
                entries[end] = entry | _FULL
                end += 1
                kinds ^= ALL_KINDS
                num_kinds = NUM_COLUMNS - num_kinds
                entry += num_planes << 6
            for first in range(0, num_kinds, 4):  # four at a time, as most planes have fewer: the excess is overwritten
                for k in range(4):
                    entries[end + first + k] = entry | _first_kind(kinds)
                    kinds &= kinds - 1
            end += num_kinds
        ends[i] = end


@jit
def _first_kind(kinds: int) -> int:
    """Return the lowest kind of a bit set; 34 if it is empty."""
    return count_bits(~kinds & (kinds - 1) & ALL_KINDS)


@jit
def _add_weights(entries: I32, ends: I64, weights: F32, sums: F32, columns: F32, is_grid: bool) -> None:
    """Fill ``columns`` [n, 34 or 36 * out] with the sums of the turned ``weights`` over the additions; ``sums`` is
    scratch.
    """
    width = _width(sums, is_grid)
    n = 0
    for i in range(len(ends)):
        sums[:] = 0
        while n < ends[i]:
            at, own = _padded_column(entries[n], is_grid) * width, (entries[n] >> 6) * 3 * width
            for k in range(0, 3 * width, BLOCK):
                add_block(sums, at + k, weights, own + k)
            n += 1
        if is_grid:
            _add_up_grid(sums, columns[i], False)
        else:
            _sum_up(sums, columns[i])


@jit
def _width(sums: F32, is_grid: bool) -> int:
    """Return the floats of a padded column."""
    return len(sums) // (_GRID_FULL + 3 if is_grid else _FULL + 3)


@jit
def _padded_column(entry: int, is_grid: bool) -> int:
    """Return the first of the three padded columns that an addition reaches."""
    column = entry & 63
    return column + column // _NUM_RANKS if is_grid else column


@jit
def _sum_up(sums: F32, columns: F32) -> None:
    """Write the padded ``sums`` without their borders, and add what full planes give to every column."""
    num_out = len(columns) // NUM_COLUMNS
    full = _FULL * num_out
    last = (NUM_COLUMNS - 1) * num_out
    for k in range(num_out):  # nothing reaches the first column from its left, nor the last one from its right
        sums[num_out + k] -= sums[full + 2 * num_out + k]
        sums[num_out + last + k] -= sums[full + k]
        sums[full + k] += sums[full + num_out + k] + sums[full + 2 * num_out + k]
    for start in range(num_out, full - num_out, num_out):
        for k in range(0, num_out, BLOCK):
            add_block(sums, start + k, sums, full + k)
    for k in range(len(columns)):
        columns[k] = sums[num_out + k]


@jit
def _add_gradients(entries: I32, ends: I64, columns: F32, sums: F32, gradients: F32, is_grid: bool) -> None:
    """Add to ``gradients`` of turned weights what reaches them of ``columns`` [n, 34 or 36 * out]; scratch ``sums``."""
    width = _width(sums, is_grid)
    n = 0
    for i in range(len(ends)):
        if is_grid:
            _add_up_grid(sums, columns[i], True)
        else:
            _pad(columns[i], sums)
        while n < ends[i]:
            at, own = _padded_column(entries[n], is_grid) * width, (entries[n] >> 6) * 3 * width
            for k in range(0, 3 * width, BLOCK):
                add_block(gradients, own + k, sums, at + k)
            n += 1


@jit
def _pad(columns: F32, sums: F32) -> None:
    """Fill ``sums`` with ``columns`` between zeros, then with the sums that a full plane's three taps get."""
    num_out = len(columns) // NUM_COLUMNS
    full = _FULL * num_out
    last = (NUM_COLUMNS - 1) * num_out
    for k in range(num_out):
        sums[k] = 0
        sums[full - num_out + k] = 0
        sums[full + num_out + k] = 0
    for k in range(len(columns)):
        sums[num_out + k] = columns[k]
    for start in range(num_out, full - num_out, num_out):
        for k in range(0, num_out, BLOCK):
            add_block(sums, full + num_out + k, sums, start + k)
    for k in range(num_out):
        sums[full + k] = sums[full + num_out + k] - columns[last + k]
        sums[full + 2 * num_out + k] = sums[full + num_out + k] - columns[k]


@jit
def _add_up_grid(sums: F32, cells: F32, is_gradient: bool) -> None:
    """Fill ``cells`` [36 * out] with what reaches each from its own row, those beside it and full planes; with
    ``is_gradient`` fill ``sums`` with what the cells give back.
    """
    num_out = len(cells) // NUM_CELLS
    filled = sums if is_gradient else cells
    filled[:] = 0
    for cell in range(NUM_CELLS):
        for part in range(3):
            row, rank = cell // _NUM_RANKS + 1 - part, cell % _NUM_RANKS
            if 0 <= row < _NUM_ROWS:
                column = row * (_NUM_RANKS + 1) + 1 + rank
                _add_cell(sums, 3 * column + part, cells, cell, num_out, is_gradient)
                for tap in range(3):
                    source = rank + 1 - tap
                    if 0 <= source < _NUM_RANKS and row * _NUM_RANKS + source < NUM_COLUMNS:
                        _add_cell(sums, 3 * (_GRID_FULL + tap) + part, cells, cell, num_out, is_gradient)


@jit
def _add_cell(sums: F32, at: int, cells: F32, cell: int, num_out: int, is_gradient: bool) -> None:
    """Add ``num_out`` floats, those number ``at`` of ``sums``, to the cell; with ``is_gradient`` to them."""
    for k in range(0, num_out, BLOCK):
        if is_gradient:
            add_block(sums, at * num_out + k, cells, cell * num_out + k)
        else:
            add_block(cells, cell * num_out + k, sums, at * num_out + k)
