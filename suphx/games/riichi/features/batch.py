"""Rows for many decisions at once: checked at this edge, encoded by kernels on several threads.

>>> rows = np.zeros((len(indices), encoder.layout(DISCARD_HEAD).observation_bytes), np.uint8)
>>> encode_batch(encoder, DISCARD_HEAD, simulator.tables, indices, np.full(len(indices), -1), rows, num_threads=2)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suphx.games.riichi.features.encoder import Encoder, encode_candidate, encode_observation
from suphx.games.riichi.features.head import CHOW_HEAD, CLAIM_HEADS, DISCARD_HEAD, HEAD_NAMES, KONG_HEAD, PONG_HEAD
from suphx.games.riichi.features.lookahead.lookup import Lookup, load_lookup
from suphx.games.riichi.features.oracle import ORACLE, encode_oracle
from suphx.games.riichi.table.action import ANKAN, CHI, MINKAN, PASS, PON, PON_RED, TSUMO, action_name
from suphx.games.riichi.table.table import KYOKU_END, KYOKU_START, TABLE
from suphx.kernel.jit import jit
from suphx.kernel.kernel_threads import map_on_threads
from suphx.kernel.record import I64, U8, Records

_PARTS_A_THREAD = 16  # smaller parts end at nearly the same moment
_LEAST_PART = 16


def encode_batch(
    encoder: Encoder, head: int, tables: Records, indices: I64, actions: I64, rows: U8, *, num_threads: int = 1
) -> None:
    """Fill ``rows``, uint8 [n, observation_bytes of the head's layout], with what the actors of n tables see.

    ``tables``: TABLE records that wait for a decision; ``indices``: int64 (n,), the table of each row, one table as
    often as it has candidates; ``actions``: int64 (n,), the candidate that a claim head judges, -1 for the discard and
    riichi heads. Rows that follow each other for one table cost less than rows apart. ValueError for shapes, types,
    indices and candidates that do not fit; nothing is written then.
    """
    layout = encoder.layout(head)
    _check_arrays(tables, indices, actions, rows, layout.observation_bytes, num_threads)
    bad = _first_unfit(tables, indices, actions, head)
    if bad >= 0:
        raise ValueError(_explain(tables, indices, actions, head, bad))
    lookup = load_lookup()

    def encode(part: slice) -> None:
        encode_observations(encoder.id, lookup, head, tables, indices[part], actions[part], rows[part])

    _in_parts(encode, len(indices), num_threads)


def encode_oracle_batch(tables: Records, indices: I64, rows: U8, *, num_threads: int = 1) -> None:
    """Fill ``rows``, uint8 [n, ORACLE.observation_bytes], with what is hidden from the actors of ``indices``.

    ValueError for shapes, types and indices that do not fit; nothing is written then.
    """
    actions = np.full(len(indices), -1, np.int64)
    _check_arrays(tables, indices, actions, rows, ORACLE.observation_bytes, num_threads)
    bad = _first_unfit(tables, indices, actions, DISCARD_HEAD)
    if bad >= 0:
        raise ValueError(_explain(tables, indices, actions, DISCARD_HEAD, bad))
    lookup = load_lookup()

    def encode(part: slice) -> None:
        _encode_oracle_observations(lookup, tables, indices[part], rows[part])

    _in_parts(encode, len(indices), num_threads)


def _in_parts(work: Callable[[slice], None], count: int, num_threads: int) -> None:
    """Do ``work`` for slices of 0 … count - 1 on several threads; the kernels in it run side by side."""
    step = count if num_threads == 1 else max(_LEAST_PART, -(-count // (num_threads * _PARTS_A_THREAD)))
    map_on_threads(work, [slice(start, start + step) for start in range(0, count, max(1, step))], num_threads)


@jit
def _encode_oracle_observations(lookup: Lookup, tables: Records, indices: I64, rows: U8) -> None:
    for i in range(len(indices)):
        t = tables[indices[i]]
        encode_oracle(lookup, t, t.actor, rows[i])


@jit
def encode_observations(
    encoder_id: int, lookup: Lookup, head: int, tables: Records, indices: I64, actions: I64, rows: U8
) -> None:  # fmt: skip
    """Do what ``encode_batch`` does on this thread, without its checks: for callers whose candidates fit."""
    for i in range(len(indices)):
        t = tables[indices[i]]
        if i > 0 and indices[i] == indices[i - 1]:
            encode_candidate(encoder_id, lookup, t, t.actor, head, actions[i], rows[i - 1], rows[i])
        else:
            encode_observation(encoder_id, lookup, t, t.actor, head, actions[i], rows[i])


def _check_arrays(
    tables: Records, indices: I64, actions: I64, rows: U8, observation_bytes: int, num_threads: int
) -> None:  # fmt: skip
    if num_threads < 1:
        raise ValueError(f"num_threads is {num_threads}: use at least 1")
    if tables.dtype != TABLE or tables.ndim != 1:
        raise ValueError(f"tables are {tables.dtype}{list(tables.shape)}: give TABLE records (n,), as a Simulator has")
    for name, array in (("indices", indices), ("actions", actions)):
        if array.dtype != np.int64 or array.ndim != 1:
            raise ValueError(f"{name} are {array.dtype}{list(array.shape)}: give int64 (n,)")
    if len(actions) != len(indices):
        raise ValueError(f"{len(actions)} actions for {len(indices)} indices: give one a row")
    if rows.dtype != np.uint8 or rows.shape != (len(indices), observation_bytes) or not rows.flags.c_contiguous:
        raise ValueError(
            f"rows are {rows.dtype}{list(rows.shape)}: give contiguous uint8[{len(indices)}, {observation_bytes}] "
            "(a row for each index, the observation_bytes of the head's layout)"
        )


@jit
def _first_unfit(tables: Records, indices: I64, actions: I64, head: int) -> int:
    """Return the first row whose index, table or candidate does not fit, or -1."""
    for i in range(len(indices)):
        if not 0 <= indices[i] < len(tables):
            return i
        t = tables[indices[i]]
        if not KYOKU_START < t.phase < KYOKU_END:
            return i
        if head in CLAIM_HEADS and not (judges(head, actions[i]) and t.legal[actions[i]]):
            return i
    return -1


@jit
def judges(head: int, action: int) -> bool:
    """Tell whether ``action`` is a claim or kan that ``head`` judges."""
    if head == CHOW_HEAD:
        return CHI <= action < PASS
    if head == PONG_HEAD:
        return PON <= action <= PON_RED
    return head == KONG_HEAD and (action == MINKAN or ANKAN <= action < TSUMO)


def _explain(tables: Records, indices: I64, actions: I64, head: int, bad: int) -> str:
    index = int(indices[bad])
    if not 0 <= index < len(tables):
        return f"row {bad} is of table {index}, but there are {len(tables)} tables"
    phase = int(tables["phase"][index])
    if not KYOKU_START < phase < KYOKU_END:
        return f"row {bad}: table {index} waits for no decision (phase {phase})"
    return (
        f"row {bad}, table {index}, seat {tables['actor'][index]}: {action_name(int(actions[bad]))} is not a possible "
        f"claim that the {HEAD_NAMES[head]} head judges"
    )
