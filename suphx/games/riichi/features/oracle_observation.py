"""Observations that also hold what is hidden from their seat, and which of it a net may see (paper, section 3.3,
equation 5).

An observation is a packed record with the columns of ``oracle_observation``: public planes, oracle planes (oracle.py),
and a seed and a threshold that say which bits of the oracle planes are kept. All draws follow from the seed, and a bit
stays with the keep probability = threshold / 2**24. It has the seed instead of the mask: acting and learning, which
read it at different times, compute the same mask.

>>> rows = with_oracle(public_planes, tables, indices, seeds, keep_probability=0.5)
>>> seen_planes(rows, 838, ORACLE.num_planes).shape  # public planes, and the bits of oracle planes that are kept
(512, 4144)
"""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.features.layout.planes import observation_bytes
from suphx.games.riichi.features.lookahead.lookup import Lookup, load_lookup
from suphx.games.riichi.features.oracle import ORACLE, encode_oracle
from suphx.kernel.jit import jit
from suphx.kernel.random_number import mix
from suphx.kernel.record import I64, U8, Records

_ORACLE_BYTES = ORACLE.observation_bytes
_ALL = 1 << 24
"""The threshold at which every bit stays."""
_STEP = 0x9E3779B9
_MASK32 = 0xFFFFFFFF


def oracle_observation(public_bytes: int) -> np.dtype[np.void]:
    """Return the columns of a row whose public planes take ``public_bytes``, without gaps between them."""
    return np.dtype(
        [
            ("public_planes", np.uint8, (public_bytes,)),
            ("oracle_planes", np.uint8, (_ORACLE_BYTES,)),
            ("oracle_seed", "<u4"),
            ("keep_threshold", "<u4"),
        ]
    )


def with_oracle(rows: U8, tables: Records, indices: I64, seeds: I64, *, keep_probability: float) -> U8:
    """Return ``rows`` [n, public bytes] and what is hidden, as the columns of ``oracle_observation``: uint8 [n, bytes].

    ``indices``: int64 [n], the table of each row; ``seeds``: int64 [n], 0 … 2**32 - 1, of the masks;
    ``keep_probability``: 0 … 1, that a bit of the oracle planes stays. ValueError for another one.
    """
    if not 0 <= keep_probability <= 1:
        raise ValueError(
            f"keep_probability is {keep_probability}: use a probability, 0 (nothing hidden is seen) to 1 (all of it)"
        )
    columns = np.empty(len(rows), oracle_observation(rows.shape[1]))
    columns["public_planes"] = rows
    columns["oracle_seed"] = seeds
    columns["keep_threshold"] = round(keep_probability * _ALL)
    joined = columns.view(np.uint8).reshape(len(rows), columns.itemsize)
    _encode_hidden(load_lookup(), tables, indices, rows.shape[1], joined)
    return joined


def seen_planes(rows: U8, num_planes: int, num_oracle_planes: int, *, sees_all: bool = False) -> U8:
    """Return what a net with these numbers of planes sees of ``rows``: their public planes, then the oracle planes.

    ``rows``: uint8 [n, bytes] of ``oracle_observation``, or of public planes alone for a net without oracle planes. Of
    the oracle planes the net sees the bits that are kept, or all (``sees_all``). Not always a copy. ValueError for rows
    of another size.
    """
    public = observation_bytes(num_planes)
    columns = oracle_observation(public)
    if num_oracle_planes not in (0, ORACLE.num_planes):
        raise ValueError(
            f"a net has {num_oracle_planes} oracle planes, but {ORACLE.num_planes} are encoded: train again"
        )
    if rows.shape[1] == public and not num_oracle_planes:
        return rows
    if rows.shape[1] != columns.itemsize:
        raise ValueError(
            f"rows of {num_planes} planes must be uint8[n, {public}], or uint8[n, {columns.itemsize}] with what "
            f"is hidden (the only ones for a net with oracle planes), not {rows.dtype}{list(rows.shape)}"
        )
    if not num_oracle_planes:
        return np.ascontiguousarray(rows[:, :public])
    seen = np.ascontiguousarray(rows[:, : public + _ORACLE_BYTES])
    if not sees_all:
        records = np.ascontiguousarray(rows).view(columns)[:, 0]
        seeds, thresholds = (records[name].astype(np.int64) for name in ("oracle_seed", "keep_threshold"))
        _clear_hidden(seeds, thresholds, public, seen)
    return seen


@jit
def keeps(seed: int, bit: int, threshold: int) -> bool:
    """Tell whether the bit number ``bit`` of the oracle planes (plane * 34 + kind) stays under a row's mask."""
    return mix(mix(int(seed)) + int(bit) * _STEP & _MASK32) >> 8 < int(threshold)


@jit
def _encode_hidden(lookup: Lookup, tables: Records, indices: I64, first: int, rows: U8) -> None:
    """Encode the oracle planes of each row, from byte ``first`` on."""
    for i in range(len(rows)):
        t = tables[indices[i]]
        encode_oracle(lookup, t, t.actor, rows[i, first : first + _ORACLE_BYTES])


@jit
def _clear_hidden(seeds: I64, thresholds: I64, first: int, rows: U8) -> None:
    """Clear the bits of the oracle planes, from byte ``first`` on, that do not stay."""
    for i in range(len(rows)):
        if thresholds[i] == _ALL:
            continue
        for byte in range(first, rows.shape[1]):
            bits = np.int64(rows[i, byte])
            if bits == 0:
                continue
            for k in range(8):
                if bits >> k & 1 and not keeps(int(seeds[i]), 8 * (byte - first) + k, int(thresholds[i])):
                    bits ^= 1 << k
            rows[i, byte] = bits
