"""What a decision is about: planes behind the public ones of an encoder, for one policy that makes all decisions.

The public planes show a position. The five nets of an agent are each asked about one thing; a policy of the
environments (suphx/environments) must also see which tile it has drawn, or which one it may claim.

>>> layout = decision_layout(find_encoder("mini").public)
>>> layout["drawn_tile"].first
288
"""

from __future__ import annotations

from dataclasses import replace

from suphx.games.riichi.features.layout.planes import PlaneLayout, layout, set_bit, set_kinds, set_plane
from suphx.games.riichi.table.red_five import is_red, red_kinds
from suphx.games.riichi.table.table import CALL_DISCARD, CLAIM, GAME_END, RIICHI_DISCARD, ROB_KAN, Table
from suphx.games.riichi.table.tile import kind_of_face
from suphx.kernel.jit import jit
from suphx.kernel.record import U8

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
