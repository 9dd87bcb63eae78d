"""One kyoku as a list of events in tile ids: what every reader of records feeds, and every writer writes down.

``KyokuBuilder`` takes the events of a record and makes the KyokuLog; ``play_kyoku`` gives the events of a KyokuLog
again. The builder follows tiles and turns only (whose turn, which tile where) and refuses what cannot have happened;
whether a move is legal is the replay's question. What players saw and the record lacks is never made up: MissingFact.
The tiles that nobody saw fill the wall in any order.

>>> builder = KyokuBuilder(kyoku=0, honba=0, kyotaku=0, scores=[25000] * 4, hands=hands, indicator=5)
>>> builder.draw(0, 77); builder.discard(0, 77); ...
>>> log = builder.finish()
>>> for event in play_kyoku(log).events:
...     if event.kind == "draw": ...

Every method raises ValueError, such as MissingFact, with the reason; the readers add where in the record it happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Literal, NamedTuple

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, NUM_KINDS, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.records.game_log import ACTION_BITS, KyokuLog, empty_result, move
from suphx.games.riichi.records.quarantine import MissingFact
from suphx.games.riichi.table import action_name, lowest_of_chi
from suphx.games.riichi.tile import ALL_RED_FIVES, NUM_TILES, RED_IDS, face_name, face_of_id, red_face
from suphx.kernel.record import U8

SEATS = 4
KAMICHA = 3
STICK = 1000

FACE_OF_ID = tuple(face_of_id(tile, ALL_RED_FIVES) for tile in range(NUM_TILES))
"""Face of each tile id, red fives in play."""


class Meld(NamedTuple):
    """One call in tile ids; ``type`` is a kind of meld of table.py."""

    type: int
    tiles: tuple[int, ...]  # all tiles of the meld, ascending; four for every kan
    called: int = -1  # the tile taken from another seat; -1 for ankan
    source: int = 0  # relative seat that it came from (1 shimocha, 2 toimen, 3 kamicha); 0 for ankan
    added: int = -1  # the tile that made a pon a kakan, else -1

    def hand_tiles(self) -> tuple[int, ...]:
        """Return the ids that leave the caller's hand with this call."""
        if self.type == KAKAN_MELD:
            return (self.added,)
        return tuple(tile for tile in self.tiles if tile != self.called)

    def action(self) -> int:
        """Return the action (table.py) that makes this call."""
        kind = self.tiles[0] >> 2
        if self.type == ANKAN_MELD:
            return codes.ANKAN + kind
        if self.type == KAKAN_MELD:
            return codes.KAKAN + kind
        if self.type == MINKAN_MELD:
            return codes.MINKAN
        has_red = any(tile in RED_IDS for tile in self.hand_tiles())
        if self.type == PON_MELD:
            return codes.PON_RED if has_red else codes.PON
        return (codes.CHI_RED if has_red else codes.CHI) + self.tiles.index(self.called)


def quad_of(kind: int) -> tuple[int, ...]:
    """Return the four tile ids of a kind."""
    return tuple(range(4 * kind, 4 * kind + 4))


class Event(NamedTuple):
    """What happened in a kyoku; the other fields are those that its kind has."""

    kind: Literal[
        "draw", "discard", "riichi", "stick", "call", "dora", "leave", "return", "tsumo", "ron", "nine terminals"
    ]
    """``draw``: from the wall, or a rinshan tile; ``riichi``: declared, its discard follows; ``stick``: it stands and
    is paid; ``dora``: a kan dora indicator was turned over; ``leave``, ``return``: the seat disconnected, came back.
    The last three end a kyoku that is read; a log has its end as a result.
    """
    seat: int = -1
    tile: int = -1
    is_tsumogiri: bool = False
    meld: Meld = Meld(0, ())


_ACTIONS = {
    "riichi": codes.RIICHI,
    "leave": codes.LEAVE,
    "return": codes.RETURN,
    "tsumo": codes.TSUMO,
    "ron": codes.RON,
    "nine terminals": codes.NINE_TERMINALS,
}
"""Events that are moves by their kind alone."""


def _moves_of(events: Iterable[Event]) -> list[int]:
    """Return the moves (game_log.py) among events."""
    moves = []
    for kind, seat, tile, is_tsumogiri, meld in events:
        if kind == "discard":
            moves.append(move(seat, codes.TSUMOGIRI if is_tsumogiri else codes.DISCARD + FACE_OF_ID[tile]))
        elif kind == "call":
            moves.append(move(seat, meld.action()))
        elif kind in _ACTIONS:
            moves.append(move(seat, _ACTIONS[kind]))
    return moves


def dealt_places(seat: int, dealer: int) -> list[int]:
    """Return where the 13 dealt tiles of a seat lie in the wall."""
    first = (seat - dealer) % SEATS
    return [16 * block + 4 * first + i for block in range(3) for i in range(4)] + [48 + first]


def dealt_hands(log: KyokuLog) -> list[list[int]]:
    """Return the 13 dealt tile ids of each seat, in drawing order."""
    return [log.wall[dealt_places(seat, log.kyoku % SEATS)].tolist() for seat in range(SEATS)]


def shown_hands(result: int, tenpai: Sequence[int], turn: int) -> list[int]:
    """Return the seats that show their hands after ``result``, a draw; nobody after any other result.

    ``tenpai``: by seat; ``turn``: the seat whose turn it was, who declared nine terminals or discarded the tile that
    three claimed. After four riichi all four hands are shown.
    """
    if result in (codes.EXHAUSTIVE_DRAW, codes.NAGASHI_MANGAN):
        return [seat for seat in range(SEATS) if tenpai[seat]]
    if result == codes.TRIPLE_RON_DRAW:
        return [seat for seat in range(SEATS) if seat != turn]
    if result == codes.NINE_TERMINALS_DRAW:
        return [turn]
    return list(range(SEATS)) if result == codes.FOUR_RIICHI_DRAW else []


# where a tile is: a seat 0-3 for its concealed hand, or
_ON_TABLE = 4
_UNSEEN = 5

# what the table waits for
_DRAW, _DISCARD, _CLAIM, _KAN, _OVER = range(5)


@dataclass(slots=True, kw_only=True)
class Win:
    """One win as a record shows it; the numbers are those of RESULT (table.py), 0 where the format has none."""

    seat: int
    loser: int
    tile: int
    deltas: Sequence[int] | None  # none where the record does not show them: ``settle`` takes them from later points
    liable: int = -1
    han: int = 0
    fu: int = 0
    yakuman: int = 0
    dora: int = 0
    red: int = 0
    ura: int = 0
    yaku: int = 0
    points: int = 0
    ura_indicators: Sequence[int] = field(default_factory=tuple)


class KyokuBuilder:
    """One kyoku on its way in; its attributes show the present state."""

    def __init__(
        self,
        *,
        kyoku: int,
        honba: int,
        kyotaku: int,
        scores: Sequence[int],
        hands: Sequence[Sequence[int]],
        indicator: int,
        dice: tuple[int, int] = (1, 1),
        absent: Iterable[int] = (),
    ) -> None:
        self.events = [Event("leave", seat) for seat in absent]
        self.scores = list(scores)
        self.kyotaku = kyotaku
        self.indicators: list[int] = []
        self.ura_indicators: list[int] = []
        self.turn = kyoku % SEATS
        self.drawn = -1  # the tile just drawn by the seat that has to discard, else -1
        self.last = -1  # the tile that was drawn, discarded or added to a kan last
        self.claimable: tuple[int, ...] = ()
        """The tiles on which another seat may win or call now: a discard, or those of a kan."""
        self.unpaid_riichi = -1  # the seat whose riichi stick is not paid yet, else -1
        self.riichi_seats: set[int] = set()
        self.melds: list[list[Meld]] = [[], [], [], []]
        self.is_settled = True  # whether the payments of the end are known
        self._start = (kyoku, honba, kyotaku, tuple(scores), dice)
        self._where = bytearray([_UNSEEN]) * NUM_TILES
        self._stage = _DRAW
        self._riichi_declared = False
        self._wall = [-1] * NUM_TILES
        self._num_live = self._num_rinshan = 0  # tiles that were drawn from the live wall, and after a kan
        self._num_turned = 1  # dora indicators that the rules have turned over
        self._is_kan_closed = self._is_dora_due = False
        self._wins: list[Win] = []
        self._result = codes.NO_RESULT
        self._tenpai: Sequence[int] = (0, 0, 0, 0)
        self._deltas = [0, 0, 0, 0]
        self._won_sticks = 0
        self._is_ura_known = True
        self._take_deal(hands)
        self._turn_over(indicator)

    @property
    def dealt(self) -> list[int]:
        """Return the 52 dealt tile ids in drawing order."""
        return self._wall[: codes.DEALT]

    @property
    def is_over(self) -> bool:
        """Return whether the kyoku has its result (a further ron may still follow)."""
        return self._stage == _OVER

    @property
    def num_live_left(self) -> int:
        """Return how many tiles are left to draw before an exhaustive draw."""
        return codes.LAST_DRAW - codes.DEALT - self._num_live - self._num_rinshan

    @property
    def is_own_turn(self) -> bool:
        """Return whether the seat whose turn it is has to discard: it has drawn, or called chi or pon."""
        return self._stage == _DISCARD

    def hand(self, seat: int) -> list[int]:
        """Return the concealed tile ids of a seat, ascending, the drawn tile included."""
        return [tile for tile, where in enumerate(self._where) if where == seat]

    def held(self, seat: int, faces: Iterable[int], *, but: int = -1) -> list[int]:
        """Return the lowest concealed id of each face, different ones for equal faces, never ``but``."""
        free = [tile for tile in self.hand(seat) if tile != but]
        tiles: list[int] = []
        for face in faces:
            tile = next((tile for tile in free if FACE_OF_ID[tile] == face), None)
            if tile is None:
                raise ValueError(f"seat {seat} does not hold {face_name(face)}")
            free.remove(tile)
            tiles.append(tile)
        return tiles

    def kakan(self, seat: int, kind: int) -> Meld:
        """Return the kan that a seat makes of its pon of a kind."""
        pon = next((m for m in self.melds[seat] if m.type == PON_MELD and m.tiles[0] >> 2 == kind), None)
        if pon is None:
            raise ValueError(f"seat {seat} adds {face_name(kind)} to a pon that it does not have")
        added = next(tile for tile in quad_of(kind) if tile not in pon.tiles)
        return Meld(KAKAN_MELD, quad_of(kind), pon.called, pon.source, added)

    # ---- the events

    def draw(self, seat: int, tile: int) -> None:
        """Record a draw; after a kan it is the rinshan tile."""
        if self._stage not in (_CLAIM, _DRAW, _KAN):
            raise ValueError(f"seat {seat} draws tile {tile} when a discard or the next kyoku is due")
        expected = (self.turn + 1) % SEATS if self._stage == _CLAIM else self.turn
        if seat != expected:
            raise ValueError(f"seat {seat} draws, but it is the turn of seat {expected}")
        self._need_stick_paid()
        if not self.num_live_left:
            raise ValueError(f"seat {seat} draws tile {tile}, but the wall ends before")
        self._take_unseen(tile, seat)
        self._wall[self._next_place] = tile
        if self._stage == _KAN:
            self._num_turned = self._num_turned_by_draw
            self._is_dora_due = not self._is_kan_closed
            self._num_rinshan += 1
        else:
            self._num_live += 1
        self.turn = seat
        self.drawn = self.last = tile
        self.claimable = ()
        self._stage = _DISCARD
        self.events.append(Event("draw", seat, tile))

    def discard(self, seat: int, tile: int) -> None:
        """Record a discard; it is a tsumogiri exactly if ``tile`` is the id drawn."""
        if self._stage != _DISCARD or seat != self.turn:
            raise ValueError(f"seat {seat} discards tile {tile} out of turn")
        self._put_down(seat, (tile,), "discards")
        self.events.append(Event("discard", seat, tile, tile == self.drawn))
        self.claimable = (tile,)
        self.last = tile
        self._num_turned += self._is_dora_due
        self._is_dora_due = False
        self.drawn = -1
        self._stage = _CLAIM
        if self._riichi_declared:
            self._riichi_declared = False
            self.unpaid_riichi = seat

    def declare_riichi(self, seat: int) -> None:
        """Record a riichi declaration. Its discard comes next; real records rarely show it after the discard."""
        if seat in self.riichi_seats or self._riichi_declared:
            raise ValueError(f"seat {seat} declares riichi twice")
        after = list(takewhile(lambda event: event.kind != "discard", reversed(self.events)))
        is_late = self._stage == _CLAIM and all(event.kind in ("stick", "dora") for event in after)
        if seat != self.turn or not (is_late or (self._stage == _DISCARD and self.drawn >= 0)):
            raise ValueError(f"seat {seat} declares riichi without having drawn")
        self.riichi_seats.add(seat)
        self.events.insert(len(self.events) - (len(after) + 1 if is_late else 0), Event("riichi", seat))
        if is_late:
            self.unpaid_riichi = seat
        self._riichi_declared = not is_late

    def pay_stick(self, seat: int) -> None:
        """Record that the riichi is accepted: its discard was not ronned."""
        if seat != self.unpaid_riichi or self._stage != _CLAIM:
            raise ValueError(f"seat {seat} pays a riichi stick that is not due")
        self.unpaid_riichi = -1
        self.scores[seat] -= STICK
        self.kyotaku += 1
        self.events.append(Event("stick", seat))

    def call(self, seat: int, meld: Meld) -> None:
        """Record a chi, pon or kan of any kind."""
        is_own = meld.source == 0 or meld.type == KAKAN_MELD
        if is_own:
            if self._stage != _DISCARD or seat != self.turn or self.drawn < 0:
                raise ValueError(f"seat {seat} makes a kan of its own tiles without having drawn")
            if self._riichi_declared:
                raise ValueError(f"seat {seat} makes a kan between riichi and its discard")
            if meld.type == KAKAN_MELD:
                possible = self.kakan(seat, meld.tiles[0] >> 2)
                if (meld.called, meld.added) != (possible.called, possible.added):
                    raise ValueError(f"seat {seat} adds tile {meld.added} to a pon that it does not have")
        else:
            if self._stage != _CLAIM or seat == self.turn:
                raise ValueError(f"seat {seat} calls when no discard of another seat can be claimed")
            if (seat + meld.source) % SEATS != self.turn or meld.called not in self.claimable:
                raise ValueError(f"seat {seat} calls tile {meld.called}, which is not the last discard")
            self._need_stick_paid()
        is_kan = is_own or meld.type == MINKAN_MELD
        if is_kan and self._num_rinshan == len(codes.RINSHAN):
            raise ValueError("a fifth kan: there are four rinshan tiles")
        self._put_down(seat, meld.hand_tiles(), "melds")
        self.turn = seat
        self.drawn = -1
        self.claimable = meld.hand_tiles() if is_own else ()
        self.last = self.claimable[-1] if is_own else self.last
        self._stage = _KAN if is_kan else _DISCARD
        self._is_kan_closed = meld.type == ANKAN_MELD
        if meld.type == KAKAN_MELD:
            self.melds[seat] = [meld if m.called == meld.called else m for m in self.melds[seat]]
        else:
            self.melds[seat].append(meld)
        self.events.append(Event("call", seat, meld=meld))

    def reveal(self, tile: int) -> None:
        """Record a dora indicator that is turned over."""
        self._turn_over(tile)
        self.events.append(Event("dora", tile=tile))

    def leave(self, seat: int) -> None:
        """Record that a seat disconnects."""
        self.events.append(Event("leave", seat))

    def come_back(self, seat: int) -> None:
        """Record that a seat is back."""
        self.events.append(Event("return", seat))

    def win(self, win: Win) -> None:
        """Record a tsumo or a ron; a second and third ron follow in the order of payment.

        MissingFact if a dora indicator of a kan, or one of several ura dora indicators, was never shown.
        """
        is_tsumo = win.seat == win.loser
        if is_tsumo:
            if self._stage != _DISCARD or win.seat != self.turn or win.tile != self.drawn:
                raise ValueError(f"seat {win.seat} wins with tile {win.tile}, which it has not just drawn")
            if self._riichi_declared:
                raise ValueError(f"seat {win.seat} wins between riichi and its discard")
        else:
            is_further_ron = self._stage == _OVER and bool(self._wins) and self._wins[0].seat != self.turn
            if self._stage not in (_CLAIM, _KAN) and not is_further_ron:
                raise ValueError(f"seat {win.seat} wins when no tile can be claimed")
            if win.loser != self.turn or win.tile not in self.claimable:
                raise ValueError(
                    f"seat {win.seat} wins with tile {win.tile}, which seat {win.loser} has not just given"
                )
            if any(win.seat == earlier.seat for earlier in self._wins):
                raise ValueError(f"seat {win.seat} wins twice")
        self.events.append(Event("tsumo" if is_tsumo else "ron", win.seat, win.tile))
        self._wins.append(win)
        self._end(codes.WIN_RESULT, win.deltas)
        self._take_ura(win)
        self._won_sticks += self.kyotaku
        self.kyotaku = 0

    def end_in_draw(self, result: int, deltas: Sequence[int] | None, tenpai: Sequence[int] = (0, 0, 0, 0)) -> None:
        """Record a drawn kyoku: a result code of table.py, score changes, and 0/1 for the seats shown as tenpai.

        ``deltas``: None where the record does not show them, see ``settle``. MissingFact as for ``win``.
        """
        if result == codes.NINE_TERMINALS_DRAW:
            if self._stage != _DISCARD or self.drawn < 0:
                raise ValueError("nine terminals are declared by a seat that has not drawn")
            self.events.append(Event("nine terminals", self.turn))
        elif self._stage != _CLAIM and not (self._stage == _KAN and result == codes.TRIPLE_RON_DRAW):  # a robbed kan
            raise ValueError("the kyoku is drawn in the middle of a turn")
        if result != codes.TRIPLE_RON_DRAW:
            self._need_stick_paid()
        self._tenpai = tenpai
        self._end(result, deltas)

    def settle(self, scores: Sequence[int]) -> None:
        """Derive the payments that the record does not show from ``scores``, the points after them.

        MissingFact if several wins are unpaid and somebody else than the loser pays (pao).
        """
        changes = [after - before for after, before in zip(scores, self.scores, strict=True)]
        unpaid = [win for win in self._wins if win.deltas is None]
        paid = [0, 0, 0, 0]
        for win in unpaid:
            deltas = [0, 0, 0, 0]
            deltas[win.loser] = STICK * self._won_sticks * (win is self._wins[0]) - changes[win.seat]
            deltas[win.seat] = changes[win.seat]
            win.deltas = deltas if len(unpaid) > 1 else changes
            paid = [before + delta for before, delta in zip(paid, win.deltas, strict=True)]
        if unpaid and paid != changes:
            raise MissingFact("the record does not show who pays for which win: deltas are missing")
        self._pay(changes)
        self.is_settled = True

    def finish(self, seed_wall: U8 | None = None, *, is_result_complete: bool = True) -> KyokuLog:
        """Return the log; ``seed_wall`` is the computed wall, else the wall is made of the tiles that were seen."""
        if self._stage != _OVER:
            raise ValueError("the kyoku has no end")
        if not self.is_settled:
            raise MissingFact("the record does not show the payments: neither deltas nor later scores")
        if is_result_complete and not self._is_ura_known:
            raise MissingFact("a seat wins with riichi, but the record shows no ura dora indicators")
        kyoku, honba, kyotaku, scores, dice = self._start
        return KyokuLog(
            kyoku=kyoku,
            honba=honba,
            kyotaku=kyotaku,
            scores=(scores[0], scores[1], scores[2], scores[3]),
            wall=self._seen_wall() if seed_wall is None else seed_wall,
            is_wall_from_seed=self._fits_seed(seed_wall),
            moves=np.array(_moves_of(self.events), np.uint16),
            result=self._result_record(),
            deal=np.array(self.dealt, np.uint8),
            draws=np.array([event.tile for event in self.events if event.kind == "draw"], np.uint8),
            is_result_complete=is_result_complete,
            is_ura_known=self._is_ura_known,
            dice=dice,
        )

    # ---- what the public methods are made of

    @property
    def _next_place(self) -> int:
        """Return where the next tile to be drawn lies in the wall."""
        return codes.RINSHAN[self._num_rinshan] if self._stage == _KAN else codes.DEALT + self._num_live

    @property
    def _num_turned_by_draw(self) -> int:
        """Return how many dora indicators are turned over when the next tile is drawn."""
        is_rinshan = self._stage == _KAN
        return self._num_turned + (self._is_dora_due + self._is_kan_closed if is_rinshan else 0)

    def _take_unseen(self, tile: int, where: int) -> None:
        if not 0 <= tile < NUM_TILES:
            raise ValueError(f"tile id {tile} is outside 0-{NUM_TILES - 1}")
        if self._where[tile] != _UNSEEN:
            raise ValueError(f"tile {tile} appears a second time")
        self._where[tile] = where

    def _take_deal(self, hands: Sequence[Sequence[int]]) -> None:
        for seat, hand in enumerate(hands):
            if len(hand) != 13:
                raise ValueError(f"seat {seat} is dealt {len(hand)} tiles instead of 13")
            for place, tile in zip(dealt_places(seat, self.turn), hand, strict=True):
                self._take_unseen(tile, seat)
                self._wall[place] = tile

    def _turn_over(self, tile: int) -> None:
        if len(self.indicators) == len(codes.DORA_POSITIONS):
            raise ValueError(f"tile {tile} is the sixth dora indicator: there are five")
        self._take_unseen(tile, _ON_TABLE)
        self.indicators.append(tile)

    def _put_down(self, seat: int, tiles: Iterable[int], verb: str) -> None:
        for tile in tiles:
            if not 0 <= tile < NUM_TILES or self._where[tile] != seat:
                raise ValueError(f"seat {seat} {verb} tile {tile}, which is not in its hand")
            self._where[tile] = _ON_TABLE

    def _need_stick_paid(self) -> None:
        if self.unpaid_riichi >= 0:
            raise MissingFact(f"seat {self.unpaid_riichi} declared riichi but its stick is not recorded")

    def _take_ura(self, win: Win) -> None:
        ura = win.ura_indicators
        if not ura:
            self._is_ura_known &= bool(self.ura_indicators) or win.seat not in self.riichi_seats
            return
        if win.seat in self.riichi_seats and len(ura) < len(self.indicators):
            raise MissingFact(
                f"the record shows {len(ura)} ura dora indicators for {len(self.indicators)} dora indicators"
            )
        if self.ura_indicators and list(ura) != self.ura_indicators:
            raise ValueError("two winners are shown different ura dora indicators")
        if len(ura) > len(self.indicators):
            raise ValueError(f"{len(ura)} ura dora indicators for {len(self.indicators)} dora indicators")
        if not self.ura_indicators:
            for tile in ura:
                self._take_unseen(tile, _ON_TABLE)
            self.ura_indicators = list(ura)

    def _end(self, result: int, deltas: Sequence[int] | None) -> None:
        num_shown = len(self.indicators)
        if num_shown != self._num_turned:
            what = f"{self._num_turned} dora indicators are turned over, but the record shows {num_shown}"
            raise MissingFact(f"{what}: that of a kan is missing") if num_shown < self._num_turned else ValueError(what)
        self._stage = _OVER
        self._result = result
        if deltas is None:
            self.is_settled = False
        else:
            self._pay(deltas)

    def _pay(self, deltas: Sequence[int]) -> None:
        for seat, delta in enumerate(deltas):
            self._deltas[seat] += delta
            self.scores[seat] += delta

    def _indicator_places(self) -> dict[int, int]:
        """Return place in the wall -> tile of the indicators that the record shows."""
        dora = zip(codes.DORA_POSITIONS, self.indicators, strict=False)
        return dict(dora) | dict(zip(codes.URA_POSITIONS, self.ura_indicators, strict=False))

    def _seen_wall(self) -> U8:
        for place, tile in self._indicator_places().items():
            self._wall[place] = tile
        unseen = iter(self.hand(_UNSEEN))
        return np.array([next(unseen) if tile < 0 else tile for tile in self._wall], np.uint8)

    def _fits_seed(self, wall: U8 | None) -> bool:
        """Tell whether there is a wall of a seed; ValueError if its indicators are others than those of the record."""
        if wall is None:
            return False
        shown = self._indicator_places()
        computed = {place: int(wall[place]) for place in shown}
        # Other hands are the replay's question.
        if computed != shown and wall[: codes.DEALT].tolist() == self.dealt:
            raise ValueError(
                f"the dora or ura dora indicators {list(shown.values())} are not those of the seed: "
                f"{list(computed.values())}"
            )
        return True

    def _result_record(self) -> np.void:
        record = empty_result()
        record["result"] = self._result
        record["tenpai"] = self._tenpai
        record["deltas"] = self._deltas
        record["num_wins"] = len(self._wins)
        for index, win in enumerate(self._wins):
            try:
                for name in ("seat", "loser", "liable", "han", "fu", "yakuman", "dora", "red", "ura", "yaku", "points"):
                    record[f"win_{name}"][index] = getattr(win, name)
            except OverflowError as error:
                raise ValueError(f"a win with {name}={getattr(win, name)} is impossible") from error
            record["win_face"][index] = FACE_OF_ID[win.tile]
            record["win_deltas"][index] = win.deltas or (0, 0, 0, 0)
        return record


def play_kyoku(log: KyokuLog) -> Playback:
    """Return a finished kyoku with its events, and everything that the end tags of a format show.

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


class Playback(KyokuBuilder):
    """The moves of a log, finished or not, played with the tiles of its wall, without rules.

    Timing as Tenhou records it: a riichi stick is paid once the discard was not ronned; the dora of a closed kan turns
    over before its rinshan draw; that of the other kans just before the next discard or before the next kan's rinshan
    draw, and never if the rinshan tile wins or the kan is robbed.
    """

    def __init__(self, log: KyokuLog) -> None:
        """Play all moves; ValueError if one cannot be played."""
        self._tiles: list[int] = log.wall.tolist()
        super().__init__(
            kyoku=log.kyoku,
            honba=log.honba,
            kyotaku=log.kyotaku,
            scores=log.scores,
            hands=dealt_hands(log),
            indicator=self._tiles[codes.DORA_POSITIONS[0]],
        )
        for number in log.moves.tolist():
            seat, action = number >> ACTION_BITS, number & (1 << ACTION_BITS) - 1
            try:
                self._play(seat, action)
            except ValueError as error:
                raise ValueError(
                    f"seat {seat} cannot play {action_name(action)!r} in kyoku {log.kyoku} honba "
                    f"{log.honba}: the moves and the wall of this log do not fit ({error})"
                ) from error

    def draw_next(self, seat: int) -> None:
        """Add the draw of a seat whose turn begins, and what comes before it."""
        self.pay()
        self._reveal_up_to(self._num_turned_by_draw)
        self.draw(seat, self._tiles[self._next_place])

    def pay(self) -> None:
        """Add the payment of a riichi stick that is due."""
        if self.unpaid_riichi >= 0:
            self.pay_stick(self.unpaid_riichi)

    def _reveal_up_to(self, count: int) -> None:
        for place in codes.DORA_POSITIONS[len(self.indicators) : count]:
            self.reveal(self._tiles[place])

    def _play(self, seat: int, action: int) -> None:
        if seat >= SEATS:
            raise ValueError(f"there are {SEATS} seats")
        if action == codes.LEAVE:
            self.leave(seat)
        elif action == codes.RETURN:
            self.come_back(seat)
        elif action == codes.RON:
            if seat == self.turn or not self.claimable:
                raise ValueError("there is no tile to win on")
        elif codes.PON <= action < codes.PASS:
            self.pay()
            self.call(seat, self._claimed(seat, action))
        else:
            if not self.is_own_turn:
                self.draw_next(seat)
            if action <= codes.TSUMOGIRI:
                is_tsumogiri = action == codes.TSUMOGIRI
                tile = self.drawn if is_tsumogiri else self.held(seat, [action], but=self.drawn)[0]
                self._reveal_up_to(self._num_turned + self._is_dora_due)
                self.discard(seat, tile)
            elif action == codes.RIICHI:
                self.declare_riichi(seat)
            elif codes.ANKAN <= action < codes.TSUMO:
                kind = (action - codes.ANKAN) % NUM_KINDS
                is_added = action >= codes.KAKAN
                self.call(seat, self.kakan(seat, kind) if is_added else Meld(ANKAN_MELD, quad_of(kind)))
            elif seat != self.turn or action not in (codes.TSUMO, codes.NINE_TERMINALS):
                raise ValueError("it is not a move of the own turn")

    def _claimed(self, seat: int, action: int) -> Meld:
        """Return the meld that a seat makes of the last discard."""
        if len(self.claimable) != 1:
            raise ValueError("there is no discard to claim")
        kind, source = self.last >> 2, (self.turn - seat) % SEATS
        if action == codes.MINKAN:
            return Meld(MINKAN_MELD, quad_of(kind), self.last, source)
        if action in (codes.PON, codes.PON_RED):
            meld_type, faces = PON_MELD, [kind, red_face(kind) if action == codes.PON_RED else kind]
        else:
            lowest = lowest_of_chi(kind, action)
            if source != KAMICHA or not (0 <= lowest % 9 <= 6 and lowest // 9 == kind // 9 < 3):
                raise ValueError("it is not a run, or not with a tile of the seat on the left")
            own = (face for face in range(lowest, lowest + 3) if face != kind)
            meld_type = CHI_MELD
            faces = [red_face(face) if action >= codes.CHI_RED and face % 9 == 4 else face for face in own]
        return Meld(meld_type, tuple(sorted([*self.held(seat, faces), self.last])), self.last, source)
