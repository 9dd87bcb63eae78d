"""Positions as bytes: every table between two decisions can be stored and goes on from there, in any process.

A position is a TABLE record, so a copy is ``tables[i].copy()``; bytes also say which layout they have and whether they
are whole.
"""

from __future__ import annotations

import hashlib
import struct
import zlib

import numpy as np

from suphx.games.riichi.table.table import TABLE
from suphx.kernel.record import Records

_MAGIC = b"SUPHXTAB"
_HEADER = struct.Struct("<8s8sIQ")  # magic, layout, CRC-32 of the records, number of records
_LAYOUT = hashlib.sha256(repr(TABLE.descr).encode()).digest()[:8]


def take_snapshot(tables: Records) -> bytes:
    """Return the bytes of TABLE records (n,); ValueError for an array of something else."""
    if tables.dtype != TABLE or tables.ndim != 1:
        raise ValueError(f"a snapshot takes a one-dimensional array of TABLE records, not {tables.ndim} dimensions")
    # Field by field into zeros: the bytes between fields are not part of a position, and equal ones get equal bytes.
    whole = np.zeros(len(tables), TABLE)
    for name in TABLE.names or ():
        whole[name] = tables[name]
    records = whole.tobytes()
    return _HEADER.pack(_MAGIC, _LAYOUT, zlib.crc32(records), len(tables)) + records


def restore_snapshot(data: bytes) -> Records:
    """Return the tables of ``take_snapshot``, TABLE records (n,) that may be written to.

    ValueError for bytes that are no snapshot, are damaged or cut off, or have the layout of another version.
    """
    if len(data) < _HEADER.size or data[: len(_MAGIC)] != _MAGIC:
        raise ValueError(f"{len(data)} bytes are no snapshot of tables: use what take_snapshot returned")
    _, layout, checksum, count = _HEADER.unpack_from(data)
    if layout != _LAYOUT:
        raise ValueError("the snapshot was taken by a version with another layout of tables: play the position again")
    records = data[_HEADER.size :]
    if len(records) != count * TABLE.itemsize or zlib.crc32(records) != checksum:
        raise ValueError(f"the snapshot of {count} tables is cut off or damaged: take another copy of it")
    return np.frombuffer(records, TABLE).copy()
