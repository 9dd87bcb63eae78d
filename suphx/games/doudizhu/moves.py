"""The moves of DouDizhu: their kinds, the numbered list of all of them, and which are legal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement, groupby
from typing import NamedTuple

import numpy as np

from suphx.games.doudizhu.cards import ACE, BLACK_JOKER, NUM_RANKS, RED_JOKER, TWO, cards_text, contains, parse_cards
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I32, I64, U8


def solo_kickers(main: range, number: int, *, is_loose: bool) -> Iterator[int]:
    """Yield ``number`` single kickers, packed, for trios or a quad of the ranks ``main``.

    At most three of a rank, two of a rank that would make the plane longer, and not both jokers. With ``is_loose`` any
    other cards are allowed, as DouZero's generator has it.
    """
    ranks = [rank for rank in range(NUM_RANKS) if rank not in main]
    neighbours = {rank for rank in (main.start - 1, main.stop) if rank <= ACE}
    for chosen in combinations_with_replacement(ranks, number):
        counts = Counter(chosen)
        if counts[BLACK_JOKER] > 1 or counts[RED_JOKER] > 1:
            continue
        if is_loose:
            is_allowed = max(counts.values()) <= 4
        else:
            is_allowed = all(count <= (2 if rank in neighbours else 3) for rank, count in counts.items())
            is_allowed &= counts[BLACK_JOKER] + counts[RED_JOKER] < 2
        if is_allowed:
            yield sum(1 << 4 * rank for rank in chosen)


def pair_kickers(main: range, number: int) -> Iterator[int]:
    """Yield ``number`` pairs of different ranks, packed, for trios or a quad of the ranks ``main``."""
    ranks = [rank for rank in range(TWO + 1) if rank not in main]
    for chosen in combinations(ranks, number):
        yield sum(2 << 4 * rank for rank in chosen)


SOLO, PAIR, TRIO, TRIO_SOLO, TRIO_PAIR = range(5)
SOLO_CHAIN, PAIR_CHAIN, TRIO_CHAIN, PLANE_SOLOS, PLANE_PAIRS = range(5, 10)
QUAD_SOLOS, QUAD_PAIRS, BOMB, ROCKET, PASS = range(10, 15)

KIND_NAMES = (
    "solo", "pair", "trio", "trio + solo", "trio + pair",
    "solo chain", "pair chain", "trio chain", "plane + solos", "plane + pairs",
    "quad + 2 solos", "quad + 2 pairs", "bomb", "rocket", "pass",
)  # fmt: skip

CHAIN_LENGTHS = {
    SOLO_CHAIN: range(5, 13),
    PAIR_CHAIN: range(3, 11),
    TRIO_CHAIN: range(2, 7),
    PLANE_SOLOS: range(2, 6),
    PLANE_PAIRS: range(2, 5),
}
"""Ranks that a chain of each type may have; a hand has at most 20 cards."""
CARDS_A_RANK = {SOLO_CHAIN: 1, PAIR_CHAIN: 2, TRIO_CHAIN: 3, PLANE_SOLOS: 3, PLANE_PAIRS: 3}


@dataclass(frozen=True, slots=True)
class MoveBlock:
    """Moves that a hand can only have if it has ``core``."""

    kind: int
    length: int
    """Ranks of the chain; 1 where there is none."""
    rank: int
    """Lowest rank of the main cards: what moves of the same type and length are compared by."""
    core: int
    """The main cards, packed."""
    moves: tuple[int, ...]
    """All cards of each move, packed."""


def all_blocks(*, has_loose_kickers: bool) -> Iterator[MoveBlock]:
    """Yield all blocks in the order of types, lengths and ranks; the last three types are bombs, rocket and pass."""
    for kind, count in ((SOLO, 1), (PAIR, 2), (TRIO, 3)):
        last = RED_JOKER if kind == SOLO else TWO
        yield from (_block(kind, count, range(rank, rank + 1)) for rank in range(last + 1))
    for kind in (TRIO_SOLO, TRIO_PAIR):
        yield from (_block(kind, 3, range(rank, rank + 1), has_loose_kickers) for rank in range(TWO + 1))
    for kind in range(SOLO_CHAIN, PLANE_PAIRS + 1):
        for length in CHAIN_LENGTHS[kind]:
            for rank in range(ACE - length + 2):
                yield _block(kind, CARDS_A_RANK[kind], range(rank, rank + length), has_loose_kickers)
    for kind in (QUAD_SOLOS, QUAD_PAIRS, BOMB):
        yield from (_block(kind, 4, range(rank, rank + 1), has_loose_kickers) for rank in range(TWO + 1))
    rocket = (1 << 4 * BLACK_JOKER) + (1 << 4 * RED_JOKER)
    yield MoveBlock(ROCKET, 1, BLACK_JOKER, rocket, (rocket,))
    yield MoveBlock(PASS, 1, 0, 0, (0,))


def _block(kind: int, cards_a_rank: int, main: range, has_loose_kickers: bool = False) -> MoveBlock:
    core = sum(cards_a_rank << 4 * rank for rank in main)
    number, kickers = 2 if kind in (QUAD_SOLOS, QUAD_PAIRS) else len(main), iter((0,))
    if kind in (TRIO_SOLO, PLANE_SOLOS, QUAD_SOLOS):
        kickers = solo_kickers(main, number, is_loose=has_loose_kickers)
    elif kind in (TRIO_PAIR, PLANE_PAIRS, QUAD_PAIRS):
        kickers = pair_kickers(main, number)
    return MoveBlock(kind, len(main), main.start, core, tuple(core + cards for cards in kickers))


LEAD, FOLLOW = 1, 2
"""Uses of an entry: it is listed when the seat leads, when it follows. Loose kickers give a move several."""
NO_GROUP = -1


class Moves(NamedTuple):
    """Rows are moves. Entries, sorted by block, are moves again; blocks of the same type and length are a group."""

    cards: I64
    """int64 (rows,): packed cards."""
    kinds: I8
    """int8 (rows,): type (moves.py)."""
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


def find_move(moves: Moves, text: str) -> int:
    """Return the row of the cards that ``text`` names (``"pass"`` too); ValueError if they are no move."""
    cards = parse_cards(text)
    found = np.flatnonzero(moves.cards == cards)
    if not found.size:
        raise ValueError(f"{cards_text(cards)} is not a move: docs/doudizhu.md lists the types")
    return int(found[0])


def move_text(moves: Moves, move: int) -> str:
    """Return the cards of a move as text, ``"pass"`` for the pass."""
    return cards_text(int(moves.cards[move]))


@cache
def load_moves(douzero_kickers: bool = False) -> Moves:
    """Return the table; the first call of a process builds it (0.2 s).

    ``douzero_kickers``: with the moves of DouZero's generator, 29,984 sets of cards, and its way to compare them: for
    comparisons with DouZero only.
    """
    blocks = list(all_blocks(has_loose_kickers=douzero_kickers))
    groups = [list(part) for _, part in groupby(blocks, key=lambda block: (block.kind, block.length))]
    number_of: dict[int, int] = {}  # by cards
    rows: list[tuple[int, int, int, int]] = []
    entries: list[tuple[int, int, int]] = []
    for group_number, group in enumerate(groups):
        in_group: set[int] = set()
        for block in group:
            for cards in block.moves:
                rank, is_followed = block.rank, block.kind not in (ROCKET, PASS)
                if douzero_kickers and block.kind == PLANE_SOLOS:
                    # DouZero compares by the highest trio: three equal kickers may be higher than the plane. It does
                    # not recognise one with four equal kickers, or with more than three trios and three equal kickers:
                    # only bombs beat these.
                    counts = [cards >> 4 * each & 15 for each in range(NUM_RANKS)]
                    trios = [each for each, count in enumerate(counts) if count == 3]
                    rank = trios[-1]
                    is_followed = 4 not in counts and not (block.length > 3 and len(trios) > block.length)
                is_new = cards not in number_of
                if is_new:
                    number_of[cards] = len(rows)
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
