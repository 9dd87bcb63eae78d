"""What a seat can see and how dangerous a discard is against a riichi: the simple defence of ukeire."""

from __future__ import annotations

from suphx.games.riichi.table.meld import add_meld
from suphx.games.riichi.table.table import CALLED_FLAG, Table
from suphx.games.riichi.table.tile import kind_of_face
from suphx.games.riichi.table.wall import dora_indicator
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64


@jit
def fill_unseen(t: Table, seat: int, unseen: I8) -> None:
    """Fill int8 (34,) with the tiles of each kind that ``seat`` cannot see."""
    for kind in range(34):
        unseen[kind] = 4 - t.hand[seat, kind]
    for i in range(t.num_dora):
        unseen[dora_indicator(t.wall, i) >> 2] -= 1
    for other in range(4):
        for i in range(t.river_length[other]):
            if not t.river_flags[other, i] & CALLED_FLAG:
                unseen[kind_of_face(t.river[other, i])] -= 1
        for i in range(t.num_melds[other]):
            add_meld(unseen, t.meld_type[other, i], t.meld_kind[other, i], -1)


@jit
def fill_dangers(t: Table, seat: int, dangers: I64) -> bool:
    """Add to int64 (34,) how dangerous each kind is against every other seat in riichi; return whether there is one."""
    is_threatened = False
    for distance in range(1, 4):
        other = (seat + distance) % 4
        if t.riichi[other]:
            is_threatened = True
            safe = safe_kinds(t, other)
            for kind in range(34):
                if not safe >> kind & 1:
                    dangers[kind] += _danger(kind, t.river_kinds[other])
    return is_threatened


@jit
def safe_kinds(t: Table, other: int) -> int:
    """Return the bit set of kinds that ``other`` cannot win on: its river, and what it has let pass since its riichi.

    Without riichi: what it has let pass since its last discard (rule: furiten until the next one).
    """
    return t.river_kinds[other] | t.passed_kinds[other]


@jit
def _danger(kind: int, river: int) -> int:
    """Return 1 (suji terminals) to 10 (middle tiles without suji) for a kind that is not proven safe."""
    if kind >= 27:
        return 3
    number = kind % 9
    has_low = number >= 3 and river >> (kind - 3) & 1
    has_high = number <= 5 and river >> (kind + 3) & 1
    if number < 3:
        return (1 + number) if has_high else (5 + number)
    if number > 5:
        return (1 + 8 - number) if has_low else (5 + 8 - number)
    if has_low and has_high:
        return 3
    return 7 if has_low or has_high else 10
