"""The table of all moves: a move is a number, its row; kernels find its cards, type and rank there.

>>> moves = load_moves()
>>> moves.num_moves, KIND_NAMES[moves.kinds[find_move(moves, "33344456")]]
(27472, 'plane + solos')
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import NamedTuple

import numpy as np

from suphx.games.doudizhu.cards.card import NUM_RANKS, cards_text, parse_cards
from suphx.games.doudizhu.moves.move_block import MoveBlock, all_blocks
from suphx.games.doudizhu.moves.move_kind import PASS, PLANE_SOLOS, ROCKET
from suphx.kernel.record import I8, I32, I64, U8

NUM_MOVES = 27_472
"""Rows of the table without ``douzero_kickers``."""
LEAD, FOLLOW = 1, 2
"""Uses of an entry: it is listed when the seat leads, when it follows. Loose kickers give a move several."""
NO_GROUP = -1


class Moves(NamedTuple):
    """Rows are moves. Entries, sorted by block, are moves again; blocks of the same type and length are a group."""

    cards: I64
    """int64 (rows,): packed cards."""
    kinds: I8
    """int8 (rows,): type (move_kind.py)."""
    lengths: I8
    """int8 (rows,): ranks of the chain, 1 where there is none."""
    ranks: I8
    """int8 (rows,): main rank, by which moves of a group are compared."""
    groups: I32
    """int32 (rows,): the group with the moves of the same type and length, NO_GROUP if only bombs beat the move."""
    entry_rows: I32
    """int32 (entries,): the move."""
    entry_ranks: I8
    """int8 (entries,): main rank of the move as a member of its block."""
    entry_uses: U8
    """uint8 (entries,): LEAD, FOLLOW or both."""
    block_cores: I64
    """int64 (blocks,): packed main cards."""
    block_starts: I32
    """int32 (blocks + 1,): first entry of each block."""
    group_starts: I32
    """int32 (groups + 1,): first block of each group; the last three groups are bombs, rocket and pass."""

    @property
    def num_moves(self) -> int:
        """Number of rows; the last one is the pass."""
        return len(self.cards)


def load_moves(*, douzero_kickers: bool = False) -> Moves:
    """Return the table; the first call of a process builds it (0.2 s).

    ``douzero_kickers``: with the moves of DouZero's generator, 29,984 sets of cards, and its way to compare them: for
    comparisons with DouZero only.
    """
    return _load_moves(douzero_kickers)


def find_move(moves: Moves, text: str) -> int:
    """Return the row of the cards that ``text`` names (``"pass"`` too); ValueError if they are no move."""
    cards = parse_cards(text)
    found = np.flatnonzero(moves.cards == cards)
    if not found.size:
        raise ValueError(f"{cards_text(cards)} is no move: docs/doudizhu.md lists the types")
    return int(found[0])


def move_text(moves: Moves, move: int) -> str:
    """Return the cards of a move as text, ``"pass"`` for the pass."""
    return cards_text(int(moves.cards[move]))


@cache
def _load_moves(is_loose: bool) -> Moves:
    blocks = list(all_blocks(has_loose_kickers=is_loose))
    groups = [list(part) for _, part in groupby(blocks, key=lambda block: (block.kind, block.length))]
    number_of: dict[int, int] = {}  # by cards
    rows: list[tuple[int, int, int, int]] = []
    entries: list[tuple[int, int, int]] = []
    for group_number, group in enumerate(groups):
        in_group: set[int] = set()
        for block in group:
            for cards in block.moves:
                rank = _highest_trio(cards) if is_loose and block.kind == PLANE_SOLOS else block.rank
                is_new = cards not in number_of
                if is_new:
                    number_of[cards] = len(rows)
                    is_followed = block.kind not in (ROCKET, PASS) and not (
                        is_loose and _is_unknown_to_douzero(block, cards)
                    )
                    rows.append((block.kind, block.length, rank, group_number if is_followed else NO_GROUP))
                uses = (LEAD if is_new else 0) | (0 if cards in in_group else FOLLOW)
                entries.append((number_of[cards], rank, uses))
                in_group.add(cards)
    kinds, lengths, ranks, row_groups = zip(*rows, strict=True)
    entry_rows, entry_ranks, entry_uses = zip(*entries, strict=True)
    return Moves(
        cards=np.array(list(number_of), np.int64),
        kinds=np.array(kinds, np.int8),
        lengths=np.array(lengths, np.int8),
        ranks=np.array(ranks, np.int8),
        groups=np.array(row_groups, np.int32),
        entry_rows=np.array(entry_rows, np.int32),
        entry_ranks=np.array(entry_ranks, np.int8),
        entry_uses=np.array(entry_uses, np.uint8),
        block_cores=np.array([block.core for block in blocks], np.int64),
        block_starts=np.cumsum([0, *(len(block.moves) for block in blocks)], dtype=np.int32),
        group_starts=np.cumsum([0, *map(len, groups)], dtype=np.int32),
    )


def _trios(cards: int) -> list[int]:
    return [rank for rank in range(NUM_RANKS) if cards >> 4 * rank & 15 == 3]


def _highest_trio(cards: int) -> int:
    """Return what DouZero compares planes with solos by: three equal kickers may be higher than the plane."""
    return _trios(cards)[-1]


def _is_unknown_to_douzero(block: MoveBlock, cards: int) -> bool:
    """Tell whether DouZero does not recognise a plane with solos, so that only bombs beat it.

    That is one with four equal kickers, or with more than three trios and three equal kickers.
    """
    if block.kind != PLANE_SOLOS:
        return False
    has_four = any(cards >> 4 * rank & 15 == 4 for rank in range(NUM_RANKS))
    return has_four or (block.length > 3 and len(_trios(cards)) > block.length)
