"""Legal moves in plain Python, by another way: every part of a hand is looked at and classified by the rules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from suphx.games.doudizhu import moves as kind

Type = tuple[int, int, int]
"""Type, length, main rank."""
Counts = tuple[int, ...]
_SINGLE = {1: kind.SOLO, 2: kind.PAIR, 3: kind.TRIO, 4: kind.BOMB}
_CHAIN = {1: (kind.SOLO_CHAIN, 5), 2: (kind.PAIR_CHAIN, 3), 3: (kind.TRIO_CHAIN, 2)}


def legal_moves(hand: Counts, to_beat: Counts) -> set[Counts]:
    """Return the counts of all legal moves; ``to_beat`` is empty (zeros) for a seat that leads."""
    parts = {part: type_of(part) for part in product(*(range(count + 1) for count in hand))}
    rival = type_of(to_beat)
    assert rival is not None
    if rival[0] == kind.PASS:
        return {part for part, own in parts.items() if own and own[0] != kind.PASS}
    return {part for part, own in parts.items() if own and (own[0] == kind.PASS or _beats(own, rival))}


def type_of(counts: Sequence[int]) -> Type | None:
    """Return what the cards are, None for no move."""
    ranks = [rank for rank, count in enumerate(counts) if count]
    amounts = {counts[rank] for rank in ranks}
    if not ranks:
        return kind.PASS, 1, 0
    if len(ranks) == 1:
        return _SINGLE[counts[ranks[0]]], 1, ranks[0]
    if ranks == [13, 14]:
        return kind.ROCKET, 1, 13
    if len(amounts) == 1 and _is_run(ranks):
        own, least = _CHAIN.get(counts[ranks[0]], (kind.PASS, 99))
        if len(ranks) >= least:
            return own, len(ranks), ranks[0]
    return _with_kickers(counts)


def _with_kickers(counts: Sequence[int]) -> Type | None:
    number = sum(counts)
    for rank in range(13):
        others = [0 if other == rank else count for other, count in enumerate(counts)]
        if counts[rank] == 4 and number == 6 and not (counts[13] and counts[14]):
            return kind.QUAD_SOLOS, 1, rank
        if counts[rank] == 4 and number == 8 and sorted(others)[-2:] == [2, 2]:
            return kind.QUAD_PAIRS, 1, rank
        for length in range(1, 6):
            main = list(range(rank, rank + length))
            if (length > 1 and not _is_run(main)) or any(counts[other] != 3 for other in main):
                continue
            rest = [0 if other in main else count for other, count in enumerate(counts)]
            if number == 4 * length and _may_be_solos(rest, main):
                return kind.TRIO_SOLO if length == 1 else kind.PLANE_SOLOS, length, rank
            if number == 5 * length and sorted(rest)[-length:] == [2] * length:
                return kind.TRIO_PAIR if length == 1 else kind.PLANE_PAIRS, length, rank
    return None


def _may_be_solos(rest: Sequence[int], main: list[int]) -> bool:
    near = [rank for rank in (main[0] - 1, main[-1] + 1) if 0 <= rank <= 11]
    return max(rest) <= 3 and all(rest[rank] < 3 for rank in near) and not (rest[13] and rest[14])


def _is_run(ranks: list[int]) -> bool:
    return ranks == list(range(ranks[0], ranks[0] + len(ranks))) and ranks[-1] <= 11


def _beats(own: Type, rival: Type) -> bool:
    if own[0] == kind.ROCKET:
        return True
    if own[0] == kind.BOMB and rival[0] not in (kind.BOMB, kind.ROCKET):
        return True
    return own[:2] == rival[:2] and own[2] > rival[2]
