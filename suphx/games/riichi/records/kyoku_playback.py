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

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi.records.game_log import ACTION_BITS, KyokuLog
from suphx.games.riichi.records.kyoku_builder import FACE_OF_ID, STICK, Meld, dealt_places
from suphx.games.riichi.table import (
    ANKAN,
    CHI_RED,
    DEALT,
    DORA_POSITIONS,
    EXHAUSTIVE_DRAW,
    FOUR_RIICHI_DRAW,
    KAKAN,
    LAST_DRAW,
    LEAVE,
    MINKAN,
    NAGASHI_MANGAN,
    NINE_TERMINALS,
    NINE_TERMINALS_DRAW,
    PON,
    PON_RED,
    RETURN,
    RIICHI,
    RINSHAN,
    RON,
    TRIPLE_RON_DRAW,
    TSUMO,
    TSUMOGIRI,
    WIN_RESULT,
    action_name,
    lowest_of_chi,
)
from suphx.games.riichi.tile import red_face

_SEATS = 4


def shown_hands(result: int, tenpai: Sequence[int], turn: int) -> list[int]:
    """Return the seats that show their hands after ``result``, a draw; nobody after any other result.

    ``tenpai``: by seat; ``turn``: the seat whose turn it was, who declared nine terminals or discarded the tile that
    three claimed. After four riichi all four hands are shown.
    """
    if result in (EXHAUSTIVE_DRAW, NAGASHI_MANGAN):
        return [seat for seat in range(_SEATS) if tenpai[seat]]
    if result == TRIPLE_RON_DRAW:
        return [seat for seat in range(_SEATS) if seat != turn]
    if result == NINE_TERMINALS_DRAW:
        return [turn]
    return list(range(_SEATS)) if result == FOUR_RIICHI_DRAW else []


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
    """The kyoku ended: everything that the end tags of a format show."""

    hands: tuple[tuple[int, ...], ...]
    """Concealed tiles of each seat, ascending; a self-drawn winning tile is among them."""
    melds: tuple[tuple[Meld, ...], ...]
    indicators: tuple[int, ...]
    winning_tile: int
    """The tile drawn, discarded or robbed last."""
    turn: int
    """The seat whose turn it was."""
    riichi_seats: frozenset[int]
    scores: tuple[int, ...]
    """Before the changes of the result, sticks paid."""
    kyotaku: int


Event: TypeAlias = Drew | Discarded | DeclaredRiichi | PaidStick | Called | TurnedDora | Left | CameBack | Ended

_FIRST_TURN, _OWN_TURN, _CLAIM, _KAN = range(4)


def play_kyoku(log: KyokuLog) -> Iterator[Event]:
    """Yield the events of a kyoku, an ``Ended`` last.

    ValueError if a move cannot be played with the tiles at hand, or if the result has wins that no kyoku has.
    """
    _check_result(log)
    playback = _Playback(log)
    for number in log.moves.tolist():
        yield from playback.play(number >> ACTION_BITS, number & (1 << ACTION_BITS) - 1)
    yield from playback.end()


def play_running_kyoku(log: KyokuLog, actor: int, *, is_own_turn: bool) -> Iterator[Event]:
    """Yield the events of a kyoku that goes on, up to what ``actor`` has to decide; ``log.result`` is not read.

    ``is_own_turn``: the seat is to move itself, so that its draw, if it has one, is the last event.
    """
    playback = _Playback(log)
    for number in log.moves.tolist():
        yield from playback.play(number >> ACTION_BITS, number & (1 << ACTION_BITS) - 1)
    if is_own_turn:
        yield from playback.begin_turn(actor)


def dealt_hands(log: KyokuLog) -> list[list[int]]:
    """Return the 13 dealt tile ids of each seat, in drawing order."""
    return [log.wall[dealt_places(seat, log.kyoku % _SEATS)].tolist() for seat in range(_SEATS)]


def _check_result(log: KyokuLog) -> None:
    result, num_wins = log.result, int(log.result["num_wins"])
    seats = [*result["win_seat"][:num_wins].tolist(), *result["win_loser"][:num_wins].tolist()]
    is_known = WIN_RESULT <= int(result["result"]) <= TRIPLE_RON_DRAW
    if not (is_known and 0 <= num_wins <= 3 and all(0 <= seat <= 3 for seat in seats)):
        raise ValueError(f"the result of kyoku {log.kyoku} honba {log.honba} has an unknown kind, or impossible wins")


class _Playback:
    def __init__(self, log: KyokuLog) -> None:
        self._log = log
        self._wall: list[int] = log.wall.tolist()
        self._turn = log.kyoku % 4
        self._hands = dealt_hands(log)
        self._melds: list[list[Meld]] = [[], [], [], []]
        self._scores = list(log.scores)
        self._kyotaku = log.kyotaku
        self._riichi: set[int] = set()
        self._is_riichi_discard = False
        self._unpaid = -1
        self._drawn = -1
        self._last = -1
        self._stage = _FIRST_TURN
        self._num_live = 0
        self._num_rinshan = 0
        self._num_dora = 1
        self._due_now = 0  # kan dora to turn over before the rinshan draw
        self._due_later = 0  # and at the next discard

    def play(self, seat: int, action: int) -> Iterator[Event]:
        """Yield what one move shows."""
        self._need(seat, action, seat <= 3)
        if action == LEAVE:
            yield Left(seat)
        elif action == RETURN:
            yield CameBack(seat)
        elif action == RON:
            self._need(seat, action, self._stage in (_CLAIM, _KAN) and seat != self._turn)
        elif PON <= action < CHI_RED + 3:
            yield from self._claim(seat, action)
        else:
            if self._stage != _OWN_TURN:
                yield from self._draw(seat, action)
            self._need(seat, action, seat == self._turn)
            yield from self._own_turn(seat, action)

    def begin_turn(self, seat: int) -> Iterator[Event]:
        """Yield the draw of a seat whose turn begins; nothing if it goes on, as after a claim."""
        if self._stage != _OWN_TURN:
            yield from self._draw(seat, TSUMOGIRI)

    def end(self) -> Iterator[Event]:
        """Yield the end."""
        if int(self._log.result["result"]) not in (WIN_RESULT, TRIPLE_RON_DRAW):
            yield from self._pay()
        yield Ended(
            hands=tuple(tuple(sorted(hand)) for hand in self._hands),
            melds=tuple(tuple(melds) for melds in self._melds),
            indicators=tuple(self._wall[position] for position in DORA_POSITIONS[: self._num_dora]),
            winning_tile=self._last,
            turn=self._turn,
            riichi_seats=frozenset(self._riichi),
            scores=tuple(self._scores),
            kyotaku=self._kyotaku,
        )

    def _own_turn(self, seat: int, action: int) -> Iterator[Event]:
        if action <= TSUMOGIRI:
            yield from self._discard(seat, action)
        elif action == RIICHI:
            self._riichi.add(seat)
            self._is_riichi_discard = True
            yield DeclaredRiichi(seat)
        elif ANKAN <= action < TSUMO:
            yield from self._own_kan(seat, action)
        else:
            self._need(seat, action, action in (TSUMO, NINE_TERMINALS))

    def _draw(self, seat: int, action: int) -> Iterator[Event]:
        yield from self._pay()
        if self._stage == _CLAIM:
            self._turn = (self._turn + 1) % 4
        yield from self._turn_over(self._due_now)
        self._due_now = 0
        if self._stage == _KAN:
            position = RINSHAN[self._num_rinshan]
            self._num_rinshan += 1
        else:
            position = DEALT + self._num_live
            self._num_live += 1
            self._need(seat, action, position < LAST_DRAW)
        self._need(seat, action, seat == self._turn)
        self._drawn = self._last = self._wall[position]
        self._hands[seat].append(self._drawn)
        self._stage = _OWN_TURN
        yield Drew(seat, self._drawn)

    def _discard(self, seat: int, action: int) -> Iterator[Event]:
        yield from self._turn_over(self._due_later)
        self._due_later = 0
        is_tsumogiri = action == TSUMOGIRI
        if is_tsumogiri:
            self._need(seat, action, self._drawn >= 0)
            tile = self._drawn
        else:
            tile = self._pick(seat, action, [action])[0]
        self._need(seat, action, tile in self._hands[seat])
        self._hands[seat].remove(tile)
        self._last = tile
        self._drawn = -1
        self._stage = _CLAIM
        if self._is_riichi_discard:
            self._is_riichi_discard = False
            self._unpaid = seat
        yield Discarded(seat, tile, is_tsumogiri)

    def _own_kan(self, seat: int, action: int) -> Iterator[Event]:
        kind = (action - ANKAN) % 34
        tiles = tuple(range(4 * kind, 4 * kind + 4))
        held = [tile for tile in tiles if tile in self._hands[seat]]
        self._due_now, self._due_later = self._due_later, 0
        if action < KAKAN:
            self._need(seat, action, len(held) == 4)
            meld = Meld(ANKAN_MELD, tiles, -1, 0)
            self._due_now += 1
            self._melds[seat].append(meld)
        else:
            pons = [i for i, m in enumerate(self._melds[seat]) if m.type == PON_MELD and m.tiles[0] >> 2 == kind]
            self._need(seat, action, len(pons) == 1 and len(held) == 1)
            pon = self._melds[seat][pons[0]]
            meld = Meld(KAKAN_MELD, tiles, pon.called, pon.source, held[0])
            self._due_later = 1
            self._melds[seat][pons[0]] = meld
        self._last = held[-1] if action < KAKAN else held[0]
        yield from self._call(seat, meld)
        self._stage = _KAN

    def _claim(self, seat: int, action: int) -> Iterator[Event]:
        self._need(seat, action, self._stage == _CLAIM and seat != self._turn)
        yield from self._pay()
        source = (self._turn - seat) % 4
        called = self._last
        kind = called >> 2
        if action in (PON, PON_RED):
            tiles = self._pick(seat, action, [kind, red_face(kind) if action == PON_RED else kind])
            meld = Meld(PON_MELD, tuple(sorted([*tiles, called])), called, source)
        elif action == MINKAN:
            tiles = [tile for tile in range(4 * kind, 4 * kind + 4) if tile != called]
            self._need(seat, action, all(tile in self._hands[seat] for tile in tiles))
            meld = Meld(MINKAN_MELD, tuple(range(4 * kind, 4 * kind + 4)), called, source)
            self._due_later += 1
        else:
            tiles = self._pick(seat, action, self._chi_faces(seat, action, kind))
            meld = Meld(CHI_MELD, tuple(sorted([*tiles, called])), called, source)
        self._melds[seat].append(meld)
        self._turn = seat
        yield from self._call(seat, meld)
        self._stage = _KAN if action == MINKAN else _OWN_TURN

    def _chi_faces(self, seat: int, action: int, kind: int) -> list[int]:
        lowest = lowest_of_chi(kind, action)
        self._need(seat, action, (seat - self._turn) % 4 == 1 and 0 <= lowest % 9 <= 6 and lowest // 9 == kind // 9 < 3)
        faces = [face for face in range(lowest, lowest + 3) if face != kind]
        return [red_face(face) if action >= CHI_RED and face % 9 == 4 else face for face in faces]

    def _call(self, seat: int, meld: Meld) -> Iterator[Event]:
        for tile in meld.hand_tiles():
            self._hands[seat].remove(tile)
        self._drawn = -1
        yield Called(seat, meld)

    def _pay(self) -> Iterator[Event]:
        seat = self._unpaid
        if seat < 0:
            return
        self._unpaid = -1
        self._scores[seat] -= STICK
        self._kyotaku += 1
        yield PaidStick(seat, tuple(self._scores))

    def _turn_over(self, count: int) -> Iterator[Event]:
        for _ in range(count):
            self._num_dora += 1
            yield TurnedDora(self._wall[DORA_POSITIONS[self._num_dora - 1]])

    def _pick(self, seat: int, action: int, faces: list[int]) -> list[int]:
        """Return one held id for each face, never the tile just drawn."""
        picked: list[int] = []
        for face in faces:
            free = [
                tile
                for tile in self._hands[seat]
                if FACE_OF_ID[tile] == face and tile != self._drawn and tile not in picked
            ]
            self._need(seat, action, bool(free))
            picked.append(min(free))
        return picked

    def _need(self, seat: int, action: int, is_possible: bool) -> None:
        if not is_possible:
            raise ValueError(
                f"seat {seat} cannot play {action_name(action)!r} in kyoku {self._log.kyoku} honba {self._log.honba}: "
                "the moves and the wall of this log do not fit"
            )
