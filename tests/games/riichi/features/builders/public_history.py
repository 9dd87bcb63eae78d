"""One deal as the four seats see it, kept from its events alone: no rules engine, no kernel, no bit sets.

>>> history = PublicHistory(log, rules)
>>> for event in play_kyoku(log).events:
...     history.add(event)
...     history.view(seat)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, PON_MELD
from suphx.games.riichi.records.game_log import KyokuLog
from suphx.games.riichi.records.kyoku_builder import Event, Meld
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.shanten import waiting_kinds
from suphx.games.riichi.table import DORA_POSITIONS

RED_TILES = (16, 52, 88)


@dataclass(slots=True)
class Discard:
    tile: int
    is_tsumogiri: bool
    is_riichi: bool = False
    is_called: bool = False


@dataclass(slots=True)
class Seat:
    """What everybody sees of a seat, and two things that only the seat itself knows: ``hand`` and ``missed_win``."""

    score: int
    hand: list[int]
    melds: list[Meld] = field(default_factory=list)
    river: list[Discard] = field(default_factory=list)
    riichi: int = 0
    ippatsu: bool = False
    is_first_turn: bool = True
    passed: set[int] = field(default_factory=set)
    missed_win: int = 0

    def waits(self) -> set[int]:
        """Return the kinds that complete the 13 tiles."""
        counts = np.bincount([tile // 4 for tile in self.hand], minlength=34).astype(np.int8)
        bits = waiting_kinds(load_suits(), counts, len(self.melds))
        return {kind for kind in range(34) if bits >> kind & 1}


@dataclass(slots=True, kw_only=True)
class View:
    """What one seat knows: ``seats`` counted from itself, hands of others empty."""

    rules: Rules
    seat: int
    seats: list[Seat]
    kyoku: int
    honba: int
    kyotaku: int
    stage: str
    """What the seat is to do: "draw" (own turn), "riichi", "call" (to discard after it), or "wait"."""
    drawn: int | None
    indicators: list[int]
    tiles_left: int
    is_stick_due: bool
    offered: int | None
    """The tile that may be claimed, and who discarded it, counted from the seat."""
    offered_by: int
    forbidden: set[int]


class PublicHistory:
    """Keeps a deal event by event."""

    def __init__(self, log: KyokuLog, rules: Rules) -> None:
        self.rules, self.log = rules, log
        self.dealer = log.kyoku % 4
        wall = [int(tile) for tile in log.wall]
        self.seats = []
        for seat in range(4):
            first = 4 * ((seat - self.dealer) % 4)
            hand = [wall[16 * block + first + i] for block in range(3) for i in range(4)] + [wall[48 + first // 4]]
            self.seats.append(Seat(log.scores[seat], hand))
        self.kyotaku = log.kyotaku
        self.indicators = [wall[DORA_POSITIONS[0]]]
        self.num_draws = 0
        self.turn, self.stage = self.dealer, "draw"
        self.drawn: int | None = None
        self.is_stick_due = False
        self.pending: int | None = None  # a tile that others may still win on
        self.forbidden: set[int] = set()

    def add(self, event: Event) -> None:
        """Follow one event."""
        if self.pending is not None and event.kind in ("draw", "call", "stick"):
            self._let_pass(self.pending)
        kind, seat, tile, is_tsumogiri, meld = event
        match kind:
            case "draw":
                if self.turn == seat and self.stage == "window":
                    self._break_ippatsu()  # an added kan stands once its rinshan tile is drawn
                self.seats[seat].hand.append(tile)
                self.drawn, self.num_draws = tile, self.num_draws + 1
                self.turn, self.stage, self.forbidden = seat, "draw", set()
            case "riichi":
                self.seats[seat].riichi = 2 if self.seats[seat].is_first_turn else 1
                self.is_stick_due, self.stage = True, "riichi"
            case "discard":
                self._discard(seat, tile, is_tsumogiri)
            case "stick":
                self.seats[seat].score -= 1000
                self.kyotaku, self.is_stick_due = self.kyotaku + 1, False
            case "call":
                self._call(seat, meld)
            case "dora":
                self.indicators.append(tile)
            case _:
                pass

    def _let_pass(self, tile: int) -> None:
        """Nobody won on ``tile`` of the turn's seat."""
        self.pending = None
        for number, seat in enumerate(self.seats):
            if number != self.turn:
                seat.passed.add(tile // 4)
                if tile // 4 in seat.waits():
                    seat.missed_win = 2 if seat.riichi else max(seat.missed_win, 1)

    def _discard(self, number: int, tile: int, is_tsumogiri: bool) -> None:
        seat = self.seats[number]
        seat.hand.remove(tile)
        seat.river.append(Discard(tile, is_tsumogiri, is_riichi=self.is_stick_due))
        if seat.riichi == 0 or self.is_stick_due:
            seat.passed.clear()
        if seat.missed_win == 1:
            seat.missed_win = 0
        seat.is_first_turn, seat.ippatsu = False, self.is_stick_due
        self.turn, self.stage, self.drawn, self.pending = number, "window", None, tile
        self.forbidden = set()

    def _call(self, number: int, meld: Meld) -> None:
        seat = self.seats[number]
        for tile in meld.hand_tiles():
            seat.hand.remove(tile)
        self.drawn = None
        if meld.type == KAKAN_MELD:
            place = next(i for i, old in enumerate(seat.melds) if old.tiles[0] // 4 == meld.tiles[0] // 4)
            seat.melds[place] = meld
            self.stage, self.pending = "window", meld.added
            return
        seat.melds.append(meld)
        if meld.type != ANKAN_MELD:
            self.seats[self.turn].river[-1].is_called = True
        self._break_ippatsu()
        self.turn, self.stage = number, "call"
        if meld.type in (CHI_MELD, PON_MELD):
            self.forbidden = _swap_calls(meld)

    def _break_ippatsu(self) -> None:
        for seat in self.seats:
            seat.is_first_turn = seat.ippatsu = False

    def view(self, number: int) -> View:
        """Return what ``number`` knows now."""
        seats = [replace(self.seats[(number + i) % 4]) for i in range(4)]
        for other in seats[1:]:
            other.hand, other.missed_win = [], 0
        is_turn = number == self.turn and self.stage != "window"
        return View(
            rules=self.rules,
            seat=number,
            seats=seats,
            kyoku=self.log.kyoku,
            honba=self.log.honba,
            kyotaku=self.kyotaku,
            stage=self.stage if is_turn else "wait",
            drawn=self.drawn if is_turn else None,
            indicators=self.indicators,
            tiles_left=70 - self.num_draws,
            is_stick_due=self.is_stick_due,
            offered=self.pending if not is_turn else None,
            offered_by=(self.turn - number) % 4,
            forbidden=self.forbidden if is_turn else set(),
        )


def _swap_calls(meld: Meld) -> set[int]:
    """Return the kinds that kuikae forbids: the claimed kind, and the other end of a run that it was an end of."""
    called = meld.called // 4
    kinds = {called}
    if meld.type == CHI_MELD:
        low, _, high = (tile // 4 for tile in meld.tiles)
        if called == low and high % 9 < 8:
            kinds.add(high + 1)
        if called == high and low % 9 > 0:
            kinds.add(low - 1)
    return kinds
