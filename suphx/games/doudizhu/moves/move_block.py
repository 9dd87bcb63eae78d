"""Blocks of moves: all moves of one type, length and main rank. They have their main cards in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from suphx.games.doudizhu.cards.card import ACE, BLACK_JOKER, RED_JOKER, TWO
from suphx.games.doudizhu.moves.kicker import pair_kickers, solo_kickers
from suphx.games.doudizhu.moves.move_kind import (
    BOMB,
    CARDS_A_RANK,
    CHAIN_LENGTHS,
    PAIR,
    PASS,
    PLANE_PAIRS,
    PLANE_SOLOS,
    QUAD_PAIRS,
    QUAD_SOLOS,
    ROCKET,
    SOLO,
    SOLO_CHAIN,
    TRIO,
    TRIO_PAIR,
    TRIO_SOLO,
)


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
    kickers = _kickers(kind, main, has_loose_kickers)
    return MoveBlock(kind, len(main), main.start, core, tuple(core + cards for cards in kickers))


def _kickers(kind: int, main: range, is_loose: bool) -> Iterable[int]:
    if kind in (TRIO_SOLO, PLANE_SOLOS):
        return solo_kickers(main, len(main), is_loose=is_loose)
    if kind in (TRIO_PAIR, PLANE_PAIRS):
        return pair_kickers(main, len(main))
    if kind == QUAD_SOLOS:
        return solo_kickers(main, 2, is_loose=is_loose)
    return pair_kickers(main, 2) if kind == QUAD_PAIRS else (0,)
