"""The legal moves of a hand, all at once.

A hand that has the main cards of a block is compared with the block's moves; all other blocks are skipped. So a lead
costs some 300 comparisons, and one more for each move with cards that are there.
"""

from __future__ import annotations

from suphx.games.doudizhu.cards.card import contains
from suphx.games.doudizhu.moves.move_kind import BOMB, ROCKET
from suphx.games.doudizhu.moves.move_table import FOLLOW, LEAD, NO_GROUP, Moves
from suphx.kernel.jit import jit
from suphx.kernel.record import I32

_NO_RANK = -1


@jit
def list_legal(m: Moves, hand: int, to_beat: int, out: I32, at: int) -> int:
    """Write the legal moves of a packed ``hand`` into ``out`` from ``at`` on; return where they end.

    ``to_beat``: the move to beat, or the pass (the last row) for a seat that leads: it may play anything, and must. Who
    follows may always pass; the pass is the last move then. ``out`` needs room for as many moves as the table has.
    """
    pass_move = len(m.cards) - 1
    bombs = len(m.group_starts) - 4
    if to_beat == pass_move:
        return _list_blocks(m, hand, 0, m.group_starts[bombs + 2], _NO_RANK, LEAD, out, at)
    group = m.groups[to_beat]
    if group != NO_GROUP:
        first, last = m.group_starts[group], m.group_starts[group + 1]
        at = _list_blocks(m, hand, first, last, m.ranks[to_beat], FOLLOW, out, at)
    kind = m.kinds[to_beat]
    if kind != ROCKET:
        first = bombs + 1 if kind == BOMB else bombs
        at = _list_blocks(m, hand, m.group_starts[first], m.group_starts[bombs + 2], _NO_RANK, FOLLOW, out, at)
    out[at] = pass_move
    return at + 1


@jit
def _list_blocks(m: Moves, hand: int, first: int, last: int, rank: int, use: int, out: I32, at: int) -> int:
    """Write the moves of the blocks ``first`` … ``last`` - 1 that the hand has and that are above ``rank``."""
    for block in range(first, last):
        if contains(hand, m.block_cores[block]):
            for entry in range(m.block_starts[block], m.block_starts[block + 1]):
                row = m.entry_rows[entry]
                if m.entry_uses[entry] & use and m.entry_ranks[entry] > rank and contains(hand, m.cards[row]):
                    out[at] = row
                    at += 1
    return at
