"""Logs of one seat: the requests that a bot got from Botzone, and its replies, as its program sees them.

    {"requests": ["0 2 1", "1 0 0 0 0 W1 …", "3 0 DRAW", "3 0 PLAY T5", …], "responses": ["PASS", "PASS", …]}

What the other seats held and drew is not in it, and not how the game ended, unless the seat itself won. The record has
tiles that fit: what a seat discards after a draw is what it drew, what it lays down or discards after a claim it held
from the beginning, and a concealed kong is of a kind that was never seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from suphx.games.mcr.record import GameRecord
from suphx.games.mcr.record_text import parse_text
from suphx.games.mcr.table import HAND_TILES, KIND_NAMES, KIND_OF_NAME, NUM_KINDS, NUM_SEATS

_ANY, _KONG = -1, -2
"""Kinds that are not known yet: any, and that of the last concealed kong of the seat."""


@dataclass(slots=True)
class _Seat:
    """What a seat has taken from its wall, as far as it is known."""

    hand: list[int] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)
    kongs: int = 0
    """Concealed ones of unknown kinds."""


def parse_seat_log(values: Mapping[str, Any]) -> GameRecord:
    """Return the game as one seat saw it, of whom the record says ``seen_by``; ValueError for another log."""
    try:
        requests, responses = (list(map(str, values[name])) for name in ("requests", "responses"))
        (_, own, wind), dealt = requests[0].split(), requests[1].split()[5:]
        reader = _Reader(int(own), [KIND_OF_NAME[name] for name in dealt])
        for request, response, after in zip_longest(requests[2:], responses[2:], requests[3:], fillvalue=""):
            if request:
                reader.read(request.split(), response.split(), after.split())
        text = "\n".join([f"Match {values.get('_id', '')}", f"Wind {int(wind)}", *reader.lines()])
        return replace(parse_text(text), seen_by=int(own))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise ValueError(f"this is not a log of a seat: {error!r} is missing or wrong") from error


class _Reader:
    """Turns requests into lines of the text form."""

    def __init__(self, own: int, hand: Sequence[int]) -> None:
        self._own = own
        self._seats = [_Seat() for _ in range(NUM_SEATS)]
        self._seats[own].hand = list(hand)
        self._lines: list[tuple[int, str, int | None]] = []
        """Seat, word, and the kind, or the number of a draw of the seat."""
        self._claimed, self._lost = _ANY, ""
        """The last discard, and the own claim of it that was not heard of yet."""
        self._has_drawn, self._own_kong = False, _ANY

    def read(self, words: Sequence[str], reply: Sequence[str], after: Sequence[str]) -> None:
        """Take a request with the reply to it; ``after``: the next request."""
        if words[0] == "2":
            self._draw(self._own, KIND_OF_NAME[words[1]])
            self._win(reply, KIND_OF_NAME[words[1]])
            return
        seat, word, names = int(words[1]), words[2], words[3:]
        kinds = [KIND_OF_NAME[name] for name in names]
        if word == "DRAW":
            if seat != self._own:  # the own one comes as another request
                self._draw(seat, _ANY)
            return
        lost, self._lost = self._lost, ""
        if word in ("PLAY", "BUGANG"):
            self._take_drawn(seat, kinds[0])
            self._add(seat, word.capitalize() if word == "PLAY" else "BuGang", kinds[0])
        elif word == "GANG" and self._has_drawn:
            self._concealed_kong(seat)
        elif word == "GANG":
            self._hold(seat, [self._claimed] * 3)
            self._add(seat, "Gang", self._claimed, lost)
        elif word == "PENG":
            self._hold(seat, [self._claimed] * 2)
            self._add(seat, "Peng", self._claimed, lost)
        elif word == "CHI":
            chow = [kinds[0] - 1, kinds[0], kinds[0] + 1]
            chow.remove(self._claimed)
            self._hold(seat, chow)
            self._add(seat, "Chi", kinds[0], lost)
        else:
            raise ValueError(f"{' '.join(words)!r} is not a request of the duplicate format")
        if word in ("PENG", "CHI"):
            self._hold(seat, [kinds[-1]])
            self._add(seat, "Play", kinds[-1])
        self._has_drawn = False
        self._claimed = kinds[-1] if kinds else _ANY
        if seat != self._own:
            self._note_claim(reply, after)
            self._win(reply, self._claimed)

    def _draw(self, seat: int, kind: int) -> None:
        self._lost, self._has_drawn = "", True
        self._seats[seat].draws.append(kind)
        self._lines.append((seat, "Draw", len(self._seats[seat].draws) - 1))

    def _add(self, seat: int, word: str, kind: int, lost: str = "") -> None:
        own = seat == self._own
        self._lines.append((seat, f"{word} {KIND_NAMES[kind]}{'' if own else lost}", None))

    def _take_drawn(self, seat: int, kind: int) -> None:
        """Let the last draw of another seat be of the kind that it discards or adds to a pung."""
        draws = self._seats[seat].draws
        if seat != self._own and draws[-1] == _ANY:
            draws[-1] = kind

    def _hold(self, seat: int, kinds: Sequence[int]) -> None:
        if seat != self._own:
            self._seats[seat].hand += kinds

    def _concealed_kong(self, seat: int) -> None:
        """Add a concealed kong; the own one is of the kind of the last reply."""
        if seat == self._own:
            self._add(seat, "AnGang", self._own_kong)
            return
        own = self._seats[seat]
        own.hand += [_KONG - own.kongs] * 4
        self._lines.append((seat, "AnGang", _KONG - own.kongs))
        own.kongs += 1

    def _win(self, reply: Sequence[str], kind: int) -> None:
        """Note the win that a reply declares, or the kind of a concealed kong."""
        if reply[:1] == ["HU"]:
            self._add(self._own, "Hu", kind)
        elif reply[:1] == ["GANG"] and len(reply) == 2:
            self._own_kong = KIND_OF_NAME[reply[1]]

    def _note_claim(self, reply: Sequence[str], after: Sequence[str]) -> None:
        """Remember the own claim of a discard, in case another one goes before it."""
        if reply[:1] in (["PENG"], ["CHI"], ["GANG"]) and after[1:2] != [str(self._own)]:
            kind = KIND_OF_NAME[reply[1]] if reply[0] == "CHI" else self._claimed
            self._lost = f" Ignore Player {self._own} {reply[0].capitalize()} {KIND_NAMES[kind]}"

    def lines(self) -> list[str]:
        """Return the lines from the deal on, with tiles that fit for those that nobody saw."""
        known = [kind for seat in self._seats for kind in (*seat.hand, *seat.draws) if kind >= 0]
        rest = np.full(NUM_KINDS, 4) - np.bincount(known, minlength=NUM_KINDS)
        if rest.min() < 0:
            raise ValueError(f"there are more than four {KIND_NAMES[int(rest.argmin())]}")
        unseen = iter(np.flatnonzero(rest == 4).tolist())
        kongs = {
            (seat, _KONG - number): next(unseen)
            for seat in range(NUM_SEATS)
            for number in range(self._seats[seat].kongs)
        }
        rest[list(kongs.values())] = 0
        others = iter(np.repeat(np.arange(NUM_KINDS), rest).tolist())
        for number, seat in enumerate(self._seats):
            hand = [kongs.get((number, kind), kind) for kind in seat.hand]
            seat.hand = hand + [next(others) for _ in range(HAND_TILES - len(hand))]
            seat.draws = [next(others) if kind == _ANY else kind for kind in seat.draws]
        lines = [
            f"Player {number} Deal {' '.join(KIND_NAMES[kind] for kind in seat.hand)}"
            for number, seat in enumerate(self._seats)
        ]
        for own, word, kind in self._lines:
            if kind is not None:
                kind = self._seats[own].draws[kind] if word == "Draw" else kongs[own, kind]
            lines.append(f"Player {own} {word}{'' if kind is None else f' {KIND_NAMES[kind]}'}")
        return lines
