"""The order of the moves of one kyoku in tenhou6, which lists what each seat takes and plays, but not when.

What a seat takes is a draw or a claim; what it plays is a discard or a kan. Each take tells whose turn was before: that
of the seat which discarded the claimed tile, of the one on the left of a draw, of the seat itself for a rinshan draw.
So only one order fits, and it is found from the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


@dataclass(frozen=True, slots=True)
class Draw:
    """A seat draws a tile."""

    face: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A seat takes the last discard, for a chi, pon or daiminkan (the names of mjai)."""

    name: str
    target: int
    face: str
    consumed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Discard:
    """A seat discards a tile."""

    face: str
    is_tsumogiri: bool
    is_riichi: bool


@dataclass(frozen=True, slots=True)
class Kan:
    """A seat makes an ankan or kakan (the names of mjai)."""

    name: str
    face: str
    consumed: tuple[str, ...]


Take: TypeAlias = Draw | Claim
Play: TypeAlias = Discard | Kan


class Move(NamedTuple):
    """One move of a seat."""

    seat: int
    what: Take | Play


class _Turn(NamedTuple):
    """A take, what is played after it, and the seat whose turn was before; -1 for the first turn of the kyoku."""

    take: Take
    play: Play | None
    before: int


def moves_in_order(takes: Sequence[Sequence[Take]], plays: Sequence[Sequence[Play]], dealer: int) -> list[Move]:
    """Return the moves of all seats in the order of the game, which begins with the first take of ``dealer``.

    ``takes`` and ``plays``: by seat. The last take of a seat may be without a play: the kyoku ends with it. ValueError
    if the moves do not fit together.
    """
    turns = [_turns(seat, takes[seat], plays[seat], dealer) for seat in range(4)]
    followed = Counter(turn.before for own in turns for turn in own)
    ends = [seat for seat, own in enumerate(turns) if len(own) > followed[seat]]
    backwards: list[Move] = []
    seat = ends[0] if len(ends) == 1 else -1
    while seat >= 0 and turns[seat]:
        take, play, before = turns[seat].pop()
        backwards += [Move(seat, play), Move(seat, take)] if play is not None else [Move(seat, take)]
        seat = before
    if seat >= 0 or not backwards or any(turns):
        raise ValueError("the draws, calls and discards of the seats do not fit together")
    return backwards[::-1]


def is_minkan(take: Take) -> bool:
    """Return whether a seat takes a tile for an open kan: it takes another one before it plays."""
    return isinstance(take, Claim) and take.name == "daiminkan"


def _turns(seat: int, takes: Sequence[Take], plays: Sequence[Play], dealer: int) -> list[_Turn]:
    """Return the turns of one seat; an open kan is a turn without a play."""
    turns: list[_Turn] = []
    rest = iter(plays)
    for take in takes:
        if turns and (is_minkan(turns[-1].take) or isinstance(turns[-1].play, Kan)):
            before = seat
        elif isinstance(take, Claim):
            before = take.target
        else:
            before = (seat - 1) % 4 if turns or seat != dealer else -1
        turns.append(_Turn(take, None if is_minkan(take) else next(rest, None), before))
    return turns
