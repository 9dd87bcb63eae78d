"""Plays a KyokuLog with tile ids, without rules: the events that every record format writes down, in their order.

>>> for event in play_kyoku(log.kyokus[0]):
...     match event:
...         case Drew(seat, tile): ...

Timing as Tenhou records it: a riichi stick is paid once the discard was not ronned; the dora of a closed kan turns over
before its rinshan draw; that of the other kans just before the next discard or before the next kan's rinshan draw, and
never if the rinshan tile wins or the kan is robbed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, MINKAN_MELD, NUM_KINDS, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.records.game_log import ACTION_BITS, KyokuLog
from suphx.games.riichi.records.kyoku_builder import KyokuBuilder, Meld, dealt_places
from suphx.games.riichi.table import action_name, lowest_of_chi
from suphx.games.riichi.tile import red_face

_SEATS = 4
_KAMICHA = 3


def shown_hands(result: int, tenpai: Sequence[int], turn: int) -> list[int]:
    """Return the seats that show their hands after ``result``, a draw; nobody after any other result.

    ``tenpai``: by seat; ``turn``: the seat whose turn it was, who declared nine terminals or discarded the tile that
    three claimed. After four riichi all four hands are shown.
    """
    if result in (codes.EXHAUSTIVE_DRAW, codes.NAGASHI_MANGAN):
        return [seat for seat in range(_SEATS) if tenpai[seat]]
    if result == codes.TRIPLE_RON_DRAW:
        return [seat for seat in range(_SEATS) if seat != turn]
    if result == codes.NINE_TERMINALS_DRAW:
        return [turn]
    return list(range(_SEATS)) if result == codes.FOUR_RIICHI_DRAW else []


class Drew(NamedTuple):
    """A seat drew a tile, from the wall or a rinshan tile."""

    seat: int
    tile: int


class Discarded(NamedTuple):
    """A seat discarded a tile."""

    seat: int
    tile: int
    is_tsumogiri: bool


class DeclaredRiichi(NamedTuple):
    """A seat declared riichi; its discard follows."""

    seat: int


class PaidStick(NamedTuple):
    """A riichi stands and is paid; ``scores`` are the points after it."""

    seat: int
    scores: tuple[int, ...]


class Called(NamedTuple):
    """A seat made a call."""

    seat: int
    meld: Meld


class TurnedDora(NamedTuple):
    """A kan dora indicator was turned over."""

    tile: int


class Left(NamedTuple):
    """A seat disconnected."""

    seat: int


class CameBack(NamedTuple):
    """A seat came back."""

    seat: int


class Ended(NamedTuple):
    """The kyoku ended."""

    kyoku: KyokuBuilder
    """Everything that the end tags of a format show: hands (a self-drawn winning tile among them), melds, indicators,
    ``last``, the winning tile, and the points before the changes of the result, sticks paid."""


Event: TypeAlias = Drew | Discarded | DeclaredRiichi | PaidStick | Called | TurnedDora | Left | CameBack | Ended


def play_kyoku(log: KyokuLog) -> Iterator[Event]:
    """Yield the events of a kyoku, an ``Ended`` last.

    ValueError if a move cannot be played with the tiles at hand, or if the result has wins that no kyoku has.
    """
    code, num_wins = int(log.result["result"]), int(log.result["num_wins"])
    seats = [*log.result["win_seat"][:num_wins].tolist(), *log.result["win_loser"][:num_wins].tolist()]
    is_known = codes.WIN_RESULT <= code <= codes.TRIPLE_RON_DRAW
    if not (is_known and 0 <= num_wins <= 3 and all(0 <= seat <= 3 for seat in seats)):
        raise ValueError(f"the result of kyoku {log.kyoku} honba {log.honba} has an unknown kind, or impossible wins")
    playback = _Playback(log)
    yield from playback.play()
    if code not in (codes.WIN_RESULT, codes.TRIPLE_RON_DRAW):
        yield from playback.pay()
    yield Ended(playback.kyoku)


def play_running_kyoku(log: KyokuLog, actor: int, *, is_own_turn: bool) -> Iterator[Event]:
    """Yield the events of a kyoku that goes on, up to what ``actor`` has to decide; ``log.result`` is not read.

    ``is_own_turn``: the seat is to move itself, so that its draw, if it has one, is the last event.
    """
    playback = _Playback(log)
    yield from playback.play()
    if is_own_turn and not playback.kyoku.is_own_turn:
        yield from playback.draw(actor)


def dealt_hands(log: KyokuLog) -> list[list[int]]:
    """Return the 13 dealt tile ids of each seat, in drawing order."""
    return [log.wall[dealt_places(seat, log.kyoku % _SEATS)].tolist() for seat in range(_SEATS)]


class _Playback:
    """Plays the moves of a log with the tiles of its wall on a KyokuBuilder, which checks them."""

    def __init__(self, log: KyokuLog) -> None:
        self._log = log
        self._wall: list[int] = log.wall.tolist()
        self.kyoku = KyokuBuilder(
            kyoku=log.kyoku,
            honba=log.honba,
            kyotaku=log.kyotaku,
            scores=log.scores,
            hands=dealt_hands(log),
            indicator=self._wall[codes.DORA_POSITIONS[0]],
        )

    def play(self) -> Iterator[Event]:
        """Yield what all moves show."""
        for number in self._log.moves.tolist():
            seat, action = number >> ACTION_BITS, number & (1 << ACTION_BITS) - 1
            try:
                yield from self._move(seat, action)
            except ValueError as error:
                raise ValueError(
                    f"seat {seat} cannot play {action_name(action)!r} in kyoku {self._log.kyoku} honba "
                    f"{self._log.honba}: the moves and the wall of this log do not fit ({error})"
                ) from error

    def draw(self, seat: int) -> Iterator[Event]:
        """Yield the draw of a seat whose turn begins, and what comes before it."""
        yield from self.pay()
        tile = self._wall[self.kyoku.next_place]
        self.kyoku.draw(seat, tile)
        yield from self._turn_over()
        yield Drew(seat, tile)

    def pay(self) -> Iterator[Event]:
        """Yield the payment of a riichi stick that is due."""
        seat = self.kyoku.unpaid_riichi
        if seat >= 0:
            self.kyoku.pay_stick(seat)
            yield PaidStick(seat, tuple(self.kyoku.scores))

    def _move(self, seat: int, action: int) -> Iterator[Event]:
        kyoku = self.kyoku
        if seat >= _SEATS:
            raise ValueError(f"there are {_SEATS} seats")
        if action == codes.LEAVE:
            yield Left(seat)
        elif action == codes.RETURN:
            yield CameBack(seat)
        elif action == codes.RON:
            if seat == kyoku.turn or not kyoku.claimable:
                raise ValueError("there is no tile to win on")
        elif codes.PON <= action < codes.PASS:
            yield from self.pay()
            meld = self._claim(seat, action)
            kyoku.call(seat, meld)
            yield Called(seat, meld)
        else:
            if not kyoku.is_own_turn:
                yield from self.draw(seat)
            if action <= codes.TSUMOGIRI:
                is_tsumogiri = action == codes.TSUMOGIRI
                tile = kyoku.drawn if is_tsumogiri else kyoku.held(seat, [action], but=kyoku.drawn)[0]
                kyoku.discard(seat, tile)
                yield from self._turn_over()
                yield Discarded(seat, tile, is_tsumogiri)
            elif action == codes.RIICHI:
                kyoku.declare_riichi(seat)
                yield DeclaredRiichi(seat)
            elif codes.ANKAN <= action < codes.TSUMO:
                kind = (action - codes.ANKAN) % NUM_KINDS
                quad = tuple(range(4 * kind, 4 * kind + 4))
                meld = kyoku.kakan(seat, kind) if action >= codes.KAKAN else Meld(ANKAN_MELD, quad, -1, 0)
                kyoku.call(seat, meld)
                yield Called(seat, meld)
            elif seat != kyoku.turn or action not in (codes.TSUMO, codes.NINE_TERMINALS):
                raise ValueError("it is no move of the own turn")

    def _claim(self, seat: int, action: int) -> Meld:
        """Return the meld that a seat makes of the last discard."""
        if len(self.kyoku.claimable) != 1:
            raise ValueError("there is no discard to claim")
        called = self.kyoku.last
        kind, source = called >> 2, (self.kyoku.turn - seat) % _SEATS
        if action == codes.MINKAN:
            return Meld(MINKAN_MELD, tuple(range(4 * kind, 4 * kind + 4)), called, source)
        if action in (codes.PON, codes.PON_RED):
            meld_type, faces = PON_MELD, [kind, red_face(kind) if action == codes.PON_RED else kind]
        else:
            lowest = lowest_of_chi(kind, action)
            if source != _KAMICHA or not (0 <= lowest % 9 <= 6 and lowest // 9 == kind // 9 < 3):
                raise ValueError("it is no run, or not with a tile of the seat on the left")
            own = (face for face in range(lowest, lowest + 3) if face != kind)
            meld_type = CHI_MELD
            faces = [red_face(face) if action >= codes.CHI_RED and face % 9 == 4 else face for face in own]
        return Meld(meld_type, tuple(sorted([*self.kyoku.held(seat, faces), called])), called, source)

    def _turn_over(self) -> Iterator[Event]:
        """Yield the dora indicators that the rules turn over now."""
        while len(self.kyoku.indicators) < self.kyoku.num_turned:
            tile = self._wall[codes.DORA_POSITIONS[len(self.kyoku.indicators)]]
            self.kyoku.reveal(tile)
            yield TurnedDora(tile)
