"""The encoders by name, and the kernel that self-play and training call for all of them.

>>> encoder = find_encoder("mini")
>>> row = np.zeros(encoder.layout(DISCARD_HEAD).observation_bytes, np.uint8)
>>> encode_observation(encoder.id, load_lookup(), table, seat, DISCARD_HEAD, -1, row)

>>> rows = encode_rows(encoder, DISCARD_HEAD, simulator.tables, indices, np.full(len(indices), -1))

The public planes show a position. The five nets of an agent are each asked about one thing; a policy of the
environments (suphx/environments) must also see which tile it has drawn, or which one it may claim: the planes DECISION,
behind the public ones.

>>> decision_layout(find_encoder("mini").public)["drawn_tile"].first
288
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suphx.games.mahjong.planes import NUM_COLUMNS, PlaneLayout, layout, set_bit, set_kinds, set_plane
from suphx.games.riichi import table as codes
from suphx.games.riichi.features import mini, paper, paper_layout
from suphx.games.riichi.features.suit_targets import Lookup, load_lookup
from suphx.games.riichi.names import CLAIM_HEADS, HEAD_NAMES
from suphx.games.riichi.table import Table
from suphx.games.riichi.tile import is_red, kind_of_face, red_kinds
from suphx.kernel.jit import jit
from suphx.kernel.record import I64, U8, Records

MINI, SUPHX, SUPHX_PLAIN = range(3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """What a seat's decision looks like to a net: a layout for own turns and one for claims."""

    id: int
    """The number that selects it in ``encode_observation``."""
    name: str
    public: PlaneLayout
    """Planes of the discard and riichi heads."""
    claim: PlaneLayout
    """Planes of the chow, pong and kong heads: one row for each possible claim."""

    @property
    def version(self) -> int:
        """Stored in every checkpoint; a net fits only this version of its encoder."""
        return self.public.version

    def layout(self, head: int) -> PlaneLayout:
        """Return the planes that a head (0-4, names.py) sees; ValueError for another number."""
        if not 0 <= head < len(HEAD_NAMES):
            raise ValueError(f"{head} is not a head: use 0 to {len(HEAD_NAMES) - 1} ({', '.join(HEAD_NAMES)})")
        return self.claim if head in CLAIM_HEADS else self.public


ENCODERS = {
    "mini": Encoder(id=MINI, name="mini", public=mini.PUBLIC, claim=mini.CLAIM),
    "suphx": Encoder(id=SUPHX, name="suphx", public=paper_layout.PUBLIC, claim=paper_layout.CLAIM),
    "suphx-plain": Encoder(
        id=SUPHX_PLAIN, name="suphx-plain", public=paper_layout.PLAIN, claim=paper_layout.PLAIN_CLAIM
    ),
}


def find_encoder(name: str) -> Encoder:
    """Return an encoder by its name; ValueError for an unknown one."""
    if name not in ENCODERS:
        raise ValueError(f"{name!r} is not an encoder: use one of {', '.join(ENCODERS)}")
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


def encode_rows(encoder: Encoder, head: int, tables: Records, indices: I64, candidates: I64) -> U8:
    """Return uint8 [n, observation_bytes of the head's layout]: what the actors of n tables see.

    ``tables``: TABLE records that wait for a decision; ``indices``: int64 (n,), the table of each row, one table as
    often as it has candidates; ``candidates``: int64 (n,), what a claim head judges, -1 for the discard and riichi
    heads. Rows that follow each other for one table cost less than rows apart.
    """
    rows = np.zeros((len(indices), encoder.layout(head).observation_bytes), np.uint8)
    if len(indices):
        encode_observations(encoder.id, load_lookup(), head, tables, indices, candidates, rows)
    return rows


@jit
def encode_observations(
    encoder_id: int, lookup: Lookup, head: int, tables: Records, indices: I64, actions: I64, rows: U8
) -> None:  # fmt: skip
    """Fill ``rows``, uint8 [n, observation_bytes of the head's layout], as ``encode_rows``; nothing is checked."""
    for i in range(len(indices)):
        t = tables[indices[i]]
        if i > 0 and indices[i] == indices[i - 1]:
            encode_candidate(encoder_id, lookup, t, t.actor, head, actions[i], rows[i - 1], rows[i])
        else:
            encode_observation(encoder_id, lookup, t, t.actor, head, actions[i], rows[i])


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

_AT = DECISION.first_planes()


def decision_layout(public: PlaneLayout) -> PlaneLayout:
    """Return the planes of ``public`` with those of DECISION behind them."""
    parts = [(part.name, part.shape or part.count, part.meaning) for part in public.ranges + DECISION.ranges]
    return layout(f"{public.name}-decision", public.version, parts)


def unpack_rows(rows: U8, num_planes: int) -> U8:
    """Return the planes of packed rows, uint8 [n, observation_bytes], as uint8 [n, num_planes, 34] of 0 and 1."""
    bits = np.unpackbits(rows, axis=1, count=num_planes * NUM_COLUMNS, bitorder="little")
    return bits.reshape(len(rows), num_planes, NUM_COLUMNS)


@jit
def encode_decision(t: Table, seat: int, first: int, row: U8) -> None:
    """Fill the planes of DECISION in ``row``, from the plane ``first`` on, where all bits are 0 before.

    They stay 0 for a seat that does not decide now: it must not see who is asked what.
    """
    if seat != t.actor or t.phase == codes.GAME_END:
        return
    set_kinds(row, first + _AT.own_red_fives, red_kinds(int(t.red[seat])))
    if t.phase == codes.CLAIM or t.phase == codes.ROB_KAN:
        set_bit(row, first + _AT.claimed_tile, int(kind_of_face(t.claimed_face)))
        if is_red(t.claimed_face):
            set_plane(row, first + _AT.claimed_is_red)
        set_plane(row, first + _AT.claimed_from + (int(t.turn) - seat) % 4 - 1)
        if t.phase == codes.ROB_KAN:
            set_plane(row, first + _AT.claimed_from_kan)
        return
    if t.drawn >= 0:
        set_bit(row, first + _AT.drawn_tile, int(kind_of_face(t.drawn)))
        if is_red(t.drawn):
            set_plane(row, first + _AT.drawn_is_red)
    if t.phase == codes.RIICHI_DISCARD:
        set_plane(row, first + _AT.after_riichi)
    elif t.phase == codes.CALL_DISCARD:
        set_plane(row, first + _AT.after_claim)
