"""Rows that also hold what is hidden from their seat, and which of it a net may see (paper, section 3.3, equation 5).

Bytes of a row, one part after another: the public planes, the oracle planes (oracle.py), a seed and a threshold of four
bytes each, low byte first. The two say which bits of the oracle planes are kept: all draws follow from the seed, and a
bit stays with the keep probability = threshold / 2**24. A row has the seed instead of the mask: acting and learning,
which read it at different times, compute the same mask.

>>> rows = with_oracle(public_rows, tables, indices, seeds, keep_probability=0.5)
>>> seen_rows(rows, 838, ORACLE.num_planes).shape  # the public planes and those bits of the oracle planes that are kept
(512, 4144)
"""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.features.layout.planes import row_bytes
from suphx.games.riichi.features.lookahead.lookup import Lookup, load_lookup
from suphx.games.riichi.features.oracle import ORACLE, encode_oracle
from suphx.kernel.jit import jit
from suphx.kernel.random_number import mix
from suphx.kernel.record import I64, U8, Records

_NUMBER_BYTES = 4
_TAIL_BYTES = 2 * _NUMBER_BYTES
_ALL = 1 << 24
"""The threshold at which every bit stays."""
_STEP = 0x9E3779B9
_MASK32 = 0xFFFFFFFF


def wide_row_bytes(public_bytes: int) -> int:
    """Return the bytes of a row with all its parts, of which the public planes take ``public_bytes``."""
    return public_bytes + ORACLE.row_bytes + _TAIL_BYTES


def with_oracle(rows: U8, tables: Records, indices: I64, seeds: I64, *, keep_probability: float) -> U8:
    """Return uint8 [n, wide_row_bytes]: ``rows`` [n, public bytes] and what is hidden from the actors.

    ``indices``: int64 [n], the table of each row; ``seeds``: int64 [n], 0 … 2**32 - 1, of the masks;
    ``keep_probability``: 0 … 1, that a bit of the oracle planes stays. ValueError for another one.
    """
    if not 0 <= keep_probability <= 1:
        raise ValueError(
            f"keep_probability is {keep_probability}: use a probability, 0 (nothing hidden is seen) to 1 (all of it)"
        )
    wide = np.empty((len(rows), wide_row_bytes(rows.shape[1])), np.uint8)
    wide[:, : rows.shape[1]] = rows
    _fill_hidden(load_lookup(), tables, indices, seeds, round(keep_probability * _ALL), rows.shape[1], wide)
    return wide


def seen_rows(rows: U8, num_planes: int, num_oracle_planes: int, *, sees_all: bool = False) -> U8:
    """Return what a net of so many public and oracle planes sees of ``rows``: their public planes, then the others.

    ``rows``: uint8 [n, bytes], wide ones, or public ones for a net without oracle planes. Of the oracle planes the net
    sees the bits that are kept, or all (``sees_all``). Not always a copy. ValueError for rows of another size.
    """
    public = row_bytes(num_planes)
    if num_oracle_planes not in (0, ORACLE.num_planes):
        raise ValueError(
            f"a net has {num_oracle_planes} oracle planes, but {ORACLE.num_planes} are encoded: train again"
        )
    if rows.shape[1] == public and not num_oracle_planes:
        return rows
    if rows.shape[1] != wide_row_bytes(public):
        raise ValueError(
            f"rows of {num_planes} planes must be uint8[n, {public}], or uint8[n, {wide_row_bytes(public)}] with what "
            f"is hidden (the only ones for a net with oracle planes), not {rows.dtype}{list(rows.shape)}"
        )
    if not num_oracle_planes:
        return np.ascontiguousarray(rows[:, :public])
    seen = np.ascontiguousarray(rows[:, :-_TAIL_BYTES])
    if not sees_all:
        _drop(np.ascontiguousarray(rows[:, -_TAIL_BYTES:]), public, seen)
    return seen


@jit
def keeps(seed: int, bit: int, threshold: int) -> bool:
    """Tell whether the bit number ``bit`` of the oracle planes (plane * 34 + kind) stays under a row's mask."""
    return mix(mix(int(seed)) + int(bit) * _STEP & _MASK32) >> 8 < int(threshold)


@jit
def _fill_hidden(
    lookup: Lookup, tables: Records, indices: I64, seeds: I64, threshold: int, first: int, rows: U8
) -> None:  # fmt: skip
    end = rows.shape[1] - _TAIL_BYTES
    for i in range(len(rows)):
        t = tables[indices[i]]
        encode_oracle(lookup, t, t.actor, rows[i, first:end])
        for k in range(_NUMBER_BYTES):
            rows[i, end + k] = seeds[i] >> (8 * k) & 255
            rows[i, end + _NUMBER_BYTES + k] = threshold >> (8 * k) & 255


@jit
def _drop(tails: U8, first: int, rows: U8) -> None:
    """Clear the bits of the oracle planes, from byte ``first`` on, that do not stay."""
    for i in range(len(rows)):
        seed, threshold = np.int64(0), np.int64(0)
        for k in range(_NUMBER_BYTES):
            seed |= np.int64(tails[i, k]) << (8 * k)
            threshold |= np.int64(tails[i, _NUMBER_BYTES + k]) << (8 * k)
        if threshold == _ALL:
            continue
        for byte in range(first, rows.shape[1]):
            bits = np.int64(rows[i, byte])
            if bits == 0:
                continue
            for k in range(8):
                if bits >> k & 1 and not keeps(int(seed), 8 * (byte - first) + k, int(threshold)):
                    bits ^= 1 << k
            rows[i, byte] = bits
