"""Plays a KyokuLog with tile ids, without rules: the events that every record format writes down, in their order.

>>> playback = play_kyoku(log.kyokus[0])
>>> for event in playback.events:
...     if event.kind == "draw": ...
>>> playback.kyoku.hand(0)  # at the end

Timing as Tenhou records it: a riichi stick is paid once the discard was not ronned; the dora of a closed kan turns over
before its rinshan draw; that of the other kans just before the next discard or before the next kan's rinshan draw, and
never if the rinshan tile wins or the kan is robbed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

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


_NO_MELD = Meld(0, (), -1, 0)


class Event(NamedTuple):
    """What happened in a kyoku; the other fields are those that its kind has."""

    kind: Literal["draw", "discard", "riichi", "stick", "call", "dora", "leave", "return"]
    """``draw``: from the wall, or a rinshan tile; ``riichi``: declared, its discard follows; ``stick``: it stands and
    is paid; ``dora``: a kan dora indicator was turned over; ``leave``, ``return``: the seat disconnected, came back."""
    seat: int = -1
    tile: int = -1
    is_tsumogiri: bool = False
    meld: Meld = _NO_MELD


def play_kyoku(log: KyokuLog) -> Playback:
    """Return the events of a kyoku, and in ``kyoku`` everything that the end tags of a format show.

    That is hands (a self-drawn winning tile among them), melds, indicators, ``last``, the winning tile, and the points
    before the changes of the result, sticks paid. ValueError if a move cannot be played with the tiles at hand, or if
    the result has wins that no kyoku has.
    """
    code, num_wins = int(log.result["result"]), int(log.result["num_wins"])
    seats = [*log.result["win_seat"][:num_wins].tolist(), *log.result["win_loser"][:num_wins].tolist()]
    is_known = codes.WIN_RESULT <= code <= codes.TRIPLE_RON_DRAW
    if not (is_known and 0 <= num_wins <= 3 and all(0 <= seat <= 3 for seat in seats)):
        raise ValueError(f"the result of kyoku {log.kyoku} honba {log.honba} has an unknown kind, or impossible wins")
    playback = Playback(log)
    if code not in (codes.WIN_RESULT, codes.TRIPLE_RON_DRAW):
        playback.pay()
    return playback


def dealt_hands(log: KyokuLog) -> list[list[int]]:
    """Return the 13 dealt tile ids of each seat, in drawing order."""
    return [log.wall[dealt_places(seat, log.kyoku % _SEATS)].tolist() for seat in range(_SEATS)]


class Playback:
    """Plays the moves of a log with the tiles of its wall on a KyokuBuilder, which checks them."""

    def __init__(self, log: KyokuLog) -> None:
        """Play all moves; ValueError if one cannot be played."""
        self.events: list[Event] = []
        self._wall: list[int] = log.wall.tolist()
        self.kyoku = KyokuBuilder(
            kyoku=log.kyoku,
            honba=log.honba,
            kyotaku=log.kyotaku,
            scores=log.scores,
            hands=dealt_hands(log),
            indicator=self._wall[codes.DORA_POSITIONS[0]],
        )
        for number in log.moves.tolist():
            seat, action = number >> ACTION_BITS, number & (1 << ACTION_BITS) - 1
            try:
                self._move(seat, action)
            except ValueError as error:
                raise ValueError(
                    f"seat {seat} cannot play {action_name(action)!r} in kyoku {log.kyoku} honba "
                    f"{log.honba}: the moves and the wall of this log do not fit ({error})"
                ) from error

    def draw(self, seat: int) -> None:
        """Add the draw of a seat whose turn begins, and what comes before it."""
        self.pay()
        tile = self._wall[self.kyoku.next_place]
        self.kyoku.draw(seat, tile)
        self._turn_over()
        self.events.append(Event("draw", seat, tile))

    def pay(self) -> None:
        """Add the payment of a riichi stick that is due."""
        seat = self.kyoku.unpaid_riichi
        if seat >= 0:
            self.kyoku.pay_stick(seat)
            self.events.append(Event("stick", seat))

    def _move(self, seat: int, action: int) -> None:
        kyoku, add = self.kyoku, self.events.append
        if seat >= _SEATS:
            raise ValueError(f"there are {_SEATS} seats")
        if action == codes.LEAVE:
            add(Event("leave", seat))
        elif action == codes.RETURN:
            add(Event("return", seat))
        elif action == codes.RON:
            if seat == kyoku.turn or not kyoku.claimable:
                raise ValueError("there is no tile to win on")
        elif codes.PON <= action < codes.PASS:
            self.pay()
            self._call(seat, self._claim(seat, action))
        else:
            if not kyoku.is_own_turn:
                self.draw(seat)
            if action <= codes.TSUMOGIRI:
                is_tsumogiri = action == codes.TSUMOGIRI
                tile = kyoku.drawn if is_tsumogiri else kyoku.held(seat, [action], but=kyoku.drawn)[0]
                kyoku.discard(seat, tile)
                self._turn_over()
                add(Event("discard", seat, tile, is_tsumogiri))
            elif action == codes.RIICHI:
                kyoku.declare_riichi(seat)
                add(Event("riichi", seat))
            elif codes.ANKAN <= action < codes.TSUMO:
                kind = (action - codes.ANKAN) % NUM_KINDS
                quad = tuple(range(4 * kind, 4 * kind + 4))
                self._call(seat, kyoku.kakan(seat, kind) if action >= codes.KAKAN else Meld(ANKAN_MELD, quad, -1, 0))
            elif seat != kyoku.turn or action not in (codes.TSUMO, codes.NINE_TERMINALS):
                raise ValueError("it is no move of the own turn")

    def _call(self, seat: int, meld: Meld) -> None:
        self.kyoku.call(seat, meld)
        self.events.append(Event("call", seat, meld=meld))

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

    def _turn_over(self) -> None:
        """Add the dora indicators that the rules turn over now."""
        while len(self.kyoku.indicators) < self.kyoku.num_turned:
            tile = self._wall[codes.DORA_POSITIONS[len(self.kyoku.indicators)]]
            self.kyoku.reveal(tile)
            self.events.append(Event("dora", tile=tile))
