"""The encoders by name, and the kernel that self-play and training call for all of them.

>>> encoder = find_encoder("mini")
>>> row = np.zeros(encoder.layout(DISCARD_HEAD).observation_bytes, np.uint8)
>>> encode_observation(encoder.id, load_lookup(), table, seat, DISCARD_HEAD, -1, row)

Rows for many decisions at once are checked at this edge and encoded on several threads:

>>> rows = np.zeros((len(indices), encoder.layout(DISCARD_HEAD).observation_bytes), np.uint8)
>>> encode_batch(encoder, DISCARD_HEAD, simulator.tables, indices, np.full(len(indices), -1), rows, num_threads=2)

The public planes show a position. The five nets of an agent are each asked about one thing; a policy of the
environments (suphx/environments) must also see which tile it has drawn, or which one it may claim: the planes DECISION,
behind the public ones.

>>> decision_layout(find_encoder("mini").public)["drawn_tile"].first
288
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from suphx.games.mahjong.planes import PlaneLayout, layout, set_bit, set_kinds, set_plane
from suphx.games.riichi.features import mini, paper, paper_layout
from suphx.games.riichi.features.oracle import ORACLE, encode_oracle
from suphx.games.riichi.features.suit_targets import Lookup, load_lookup
from suphx.games.riichi.names import CHOW_HEAD, CLAIM_HEADS, DISCARD_HEAD, HEAD_NAMES, KONG_HEAD, PONG_HEAD
from suphx.games.riichi.table import (
    ANKAN,
    CALL_DISCARD,
    CHI,
    CLAIM,
    GAME_END,
    KYOKU_END,
    KYOKU_START,
    MINKAN,
    PASS,
    PON,
    PON_RED,
    RIICHI_DISCARD,
    ROB_KAN,
    TABLE,
    TSUMO,
    Table,
    action_name,
)
from suphx.games.riichi.tile import is_red, kind_of_face, red_kinds
from suphx.kernel.jit import jit, map_on_threads
from suphx.kernel.record import I64, U8, Records

MINI, SUPHX, SUPHX_PLAIN = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """What a seat's decision looks like to a net: a layout for own turns and one for claims."""

    id: int
    """The number that selects it in ``encode_observation``."""
    name: str
    version: int
    """Stored in every checkpoint; a net fits only this version of its encoder."""
    public: PlaneLayout
    """Planes of the discard and riichi heads."""
    claim: PlaneLayout
    """Planes of the chow, pong and kong heads: one row for each possible claim."""

    def layout(self, head: int) -> PlaneLayout:
        """Return the planes that a head (0-4, names.py) sees; ValueError for another number."""
        if not 0 <= head < len(HEAD_NAMES):
            raise ValueError(f"{head} is no head: use 0 to {len(HEAD_NAMES) - 1} ({', '.join(HEAD_NAMES)})")
        return self.claim if head in CLAIM_HEADS else self.public


ENCODERS = {
    "mini": Encoder(id=MINI, name="mini", version=mini.PUBLIC.version, public=mini.PUBLIC, claim=mini.CLAIM),
    "suphx": Encoder(
        id=SUPHX,
        name="suphx",
        version=paper_layout.PUBLIC.version,
        public=paper_layout.PUBLIC,
        claim=paper_layout.CLAIM,
    ),
    "suphx-plain": Encoder(
        id=SUPHX_PLAIN,
        name="suphx-plain",
        version=paper_layout.PLAIN.version,
        public=paper_layout.PLAIN,
        claim=paper_layout.PLAIN_CLAIM,
    ),
}


def find_encoder(name: str) -> Encoder:
    """Return an encoder by its name; ValueError for an unknown one."""
    if name not in ENCODERS:
        raise ValueError(f"{name!r} is no encoder: use one of {', '.join(ENCODERS)}")
    return ENCODERS[name]


@jit
def encode_observation(
    encoder_id: int, lookup: Lookup, t: Table, seat: int, head: int, action: int, row: U8
) -> None:  # fmt: skip
    """Fill ``row`` (uint8, the observation_bytes of the head's layout) with what ``seat`` sees at table ``t``.

    ``action``: the candidate that a claim head judges; the discard and riichi heads do not look at it. Reads nothing
    that is hidden from ``seat``. ``encoder_id``, ``head`` and ``row`` must fit each other: kernels do not check.
    """
    if head not in CLAIM_HEADS:
        action = -1
    if encoder_id == MINI:
        mini.encode(t, seat, action, row)
    else:
        paper.encode(lookup, t, seat, action, encoder_id == SUPHX, row)


@jit
def encode_candidate(
    encoder_id: int, lookup: Lookup, t: Table, seat: int, head: int, action: int, known: U8, row: U8
) -> None:  # fmt: skip
    """Do the same as ``encode_observation``, faster: ``known`` describes another candidate of the decision and head."""
    if encoder_id == MINI or head not in CLAIM_HEADS:
        encode_observation(encoder_id, lookup, t, seat, head, action, row)
    else:
        paper.encode_other_claim(lookup, t, seat, action, encoder_id == SUPHX, known, row)


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


DECISION = layout(
    "decision",
    1,
    (
        ("drawn_tile", 1, "the kind just drawn"),
        ("drawn_is_red", 1, "full: it is a red five"),
        ("own_red_fives", 1, "the fives of which the red one is among the own concealed tiles"),
        ("claimed_tile", 1, "the kind that can be claimed: a discard, or the tile of a kan that can be robbed"),
        ("claimed_is_red", 1, "full: it is a red five"),
        ("claimed_from", 3, "full: whose tile it is: shimocha, toimen, kamicha"),
        ("claimed_from_kan", 1, "full: it is the tile of a kan"),
        ("after_riichi", 1, "full: riichi was just declared, and its discard is chosen"),
        ("after_claim", 1, "full: a tile was just claimed, and a discard is chosen"),
    ),
)

_DRAWN_TILE = DECISION["drawn_tile"].first
_DRAWN_IS_RED = DECISION["drawn_is_red"].first
_OWN_RED_FIVES = DECISION["own_red_fives"].first
_CLAIMED_TILE = DECISION["claimed_tile"].first
_CLAIMED_IS_RED = DECISION["claimed_is_red"].first
_CLAIMED_FROM = DECISION["claimed_from"].first
_CLAIMED_FROM_KAN = DECISION["claimed_from_kan"].first
_AFTER_RIICHI = DECISION["after_riichi"].first
_AFTER_CLAIM = DECISION["after_claim"].first


def decision_layout(public: PlaneLayout) -> PlaneLayout:
    """Return the planes of ``public`` with those of DECISION behind them."""
    behind = tuple(replace(part, first=public.num_planes + part.first) for part in DECISION.ranges)
    return PlaneLayout(f"{public.name}-decision", public.version, public.ranges + behind)


@jit
def encode_decision(t: Table, seat: int, first: int, row: U8) -> None:
    """Fill the planes of DECISION in ``row``, from the plane ``first`` on, where all bits are 0 before.

    They stay 0 for a seat that does not decide now: it must not see who is asked what.
    """
    if seat != t.actor or t.phase == GAME_END:
        return
    set_kinds(row, first + _OWN_RED_FIVES, red_kinds(int(t.red[seat])))
    if t.phase == CLAIM or t.phase == ROB_KAN:
        _fill_claimed(t, seat, first, row)
        return
    if t.drawn >= 0:
        set_bit(row, first + _DRAWN_TILE, int(kind_of_face(t.drawn)))
        if is_red(t.drawn):
            set_plane(row, first + _DRAWN_IS_RED)
    if t.phase == RIICHI_DISCARD:
        set_plane(row, first + _AFTER_RIICHI)
    elif t.phase == CALL_DISCARD:
        set_plane(row, first + _AFTER_CLAIM)


@jit
def _fill_claimed(t: Table, seat: int, first: int, row: U8) -> None:
    set_bit(row, first + _CLAIMED_TILE, int(kind_of_face(t.claimed_face)))
    if is_red(t.claimed_face):
        set_plane(row, first + _CLAIMED_IS_RED)
    set_plane(row, first + _CLAIMED_FROM + (int(t.turn) - seat) % 4 - 1)
    if t.phase == ROB_KAN:
        set_plane(row, first + _CLAIMED_FROM_KAN)
