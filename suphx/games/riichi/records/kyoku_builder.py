"""Builds a KyokuLog from what a record shows, event by event in tile ids, and refuses what cannot have happened.

It follows tiles and turns only (whose turn, which tile where); whether a move is legal is the replay's question. What
players saw and the record lacks is never made up: MissingFact. The tiles that nobody saw fill the wall in any order.
All record readers feed it:

>>> builder = KyokuBuilder(kyoku=0, honba=0, kyotaku=0, scores=[25000] * 4, hands=hands, indicator=5)
>>> builder.draw(0, 77); builder.discard(0, 77); ...
>>> log = builder.finish()

Every method raises ValueError, such as MissingFact, with the reason; the readers add where in the record it happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.records.game_log import ACTION_BITS, KyokuLog, empty_result, move
from suphx.games.riichi.records.quarantine import MissingFact
from suphx.games.riichi.tile import NUM_TILES, RED_IDS, face_name
from suphx.kernel.record import U8


class Meld(NamedTuple):
    """One call in tile ids; ``type`` is a kind of meld of table.py."""

    type: int
    tiles: tuple[int, ...]  # all tiles of the meld, ascending; four for every kan
    called: int  # the tile taken from another seat; -1 for ankan
    source: int  # relative seat that it came from (1 shimocha, 2 toimen, 3 kamicha); 0 for ankan
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


FACE_OF_ID = tuple(34 + tile // 36 if tile in RED_IDS else tile >> 2 for tile in range(NUM_TILES))
"""Face of each tile id, red fives in play."""

STICK = 1000


def dealt_places(seat: int, dealer: int) -> list[int]:
    """Return where the 13 dealt tiles of a seat lie in the wall."""
    first = (seat - dealer) % 4
    return [16 * block + 4 * first + i for block in range(3) for i in range(4)] + [48 + first]


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
    """One kyoku on its way in, or played again (kyoku_playback.py); its attributes show the present state."""

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
        self.scores = list(scores)
        self.kyotaku = kyotaku
        self.indicators: list[int] = []
        self.turn = kyoku % 4
        self.drawn = -1  # the tile just drawn by the seat that has to discard, else -1
        self.last = -1  # the tile that was drawn, discarded or added to a kan last
        self.claimable: tuple[int, ...] = ()
        """The tiles on which another seat may win or call now: a discard, or those of a kan."""
        self.unpaid_riichi = -1  # the seat whose riichi stick is not paid yet, else -1
        self.riichi_seats: set[int] = set()
        self.melds: list[list[Meld]] = [[], [], [], []]
        self.num_live = self.num_rinshan = 0  # tiles that were drawn from the live wall, and after a kan
        self.num_turned = 1  # dora indicators that the rules have turned over
        self._start = (kyoku, honba, kyotaku, tuple(scores), dice)
        self._where = bytearray([_UNSEEN]) * NUM_TILES
        self._stage = _DRAW
        self._riichi_declared = False
        self._draws: list[int] = []
        self._wall = [-1] * NUM_TILES
        self._is_kan_closed = self._is_dora_due = False
        self.ura_indicators: list[int] = []
        self._moves = [move(seat, codes.LEAVE) for seat in absent]
        self._wins: list[Win] = []
        self._result = codes.NO_RESULT
        self._deltas = [0, 0, 0, 0]
        self._won_sticks = 0
        self.is_settled = True  # whether the payments of the end are known
        self._is_ura_known = True
        self._tenpai: Sequence[int] = (0, 0, 0, 0)
        self.dealt = self._take_deal(hands)  # the 52 dealt tile ids in drawing order
        self.reveal(indicator)

    @property
    def is_over(self) -> bool:
        """Return whether the kyoku has its result (a further ron may still follow)."""
        return self._stage == _OVER

    @property
    def num_live_left(self) -> int:
        """Return how many tiles are left to draw before an exhaustive draw."""
        return codes.LAST_DRAW - codes.DEALT - self.num_live - self.num_rinshan

    @property
    def is_own_turn(self) -> bool:
        """Return whether the seat whose turn it is has to discard: it has drawn, or called chi or pon."""
        return self._stage == _DISCARD

    @property
    def next_place(self) -> int:
        """Return where the next tile to be drawn lies in the wall."""
        return codes.RINSHAN[self.num_rinshan] if self._stage == _KAN else codes.DEALT + self.num_live

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
        quad = tuple(range(4 * kind, 4 * kind + 4))
        added = next(tile for tile in quad if tile not in pon.tiles)
        return Meld(KAKAN_MELD, quad, pon.called, pon.source, added)

    def draw(self, seat: int, tile: int) -> None:
        """Record a draw; after a kan it is the rinshan tile."""
        stage = self._stage
        if stage == _CLAIM:
            expected = (self.turn + 1) & 3
        elif stage in (_DRAW, _KAN):
            expected = self.turn
        else:
            raise ValueError(f"seat {seat} draws tile {tile} when a discard or the next kyoku is due")
        if seat != expected:
            raise ValueError(f"seat {seat} draws, but it is the turn of seat {expected}")
        self._need_stick_paid()
        if not self.num_live_left:
            raise ValueError(f"seat {seat} draws tile {tile}, but the wall ends before")
        self._take_unseen(tile, seat)
        self._wall[self.next_place] = tile
        if stage == _KAN:
            self.num_turned += self._is_dora_due + self._is_kan_closed
            self._is_dora_due = not self._is_kan_closed
            self.num_rinshan += 1
        else:
            self.num_live += 1
        self._draws.append(tile)
        self.turn = seat
        self.drawn = self.last = tile
        self.claimable = ()
        self._stage = _DISCARD

    def discard(self, seat: int, tile: int) -> None:
        """Record a discard; it is a tsumogiri exactly if ``tile`` is the id drawn."""
        if self._stage != _DISCARD or seat != self.turn:
            raise ValueError(f"seat {seat} discards tile {tile} out of turn")
        if not 0 <= tile < NUM_TILES or self._where[tile] != seat:
            raise ValueError(f"seat {seat} discards tile {tile}, which is not in its hand")
        action = codes.TSUMOGIRI if tile == self.drawn else codes.DISCARD + FACE_OF_ID[tile]
        self._moves.append(seat << ACTION_BITS | action)  # move(), inlined: this runs 500 times a game
        self._where[tile] = _ON_TABLE
        self.claimable = (tile,)
        self.last = tile
        self.num_turned += self._is_dora_due
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
        is_late = self._stage == _CLAIM and self._moves[-1] & (1 << ACTION_BITS) - 1 <= codes.TSUMOGIRI
        if seat != self.turn or not (is_late or (self._stage == _DISCARD and self.drawn >= 0)):
            raise ValueError(f"seat {seat} declares riichi without having drawn")
        self.riichi_seats.add(seat)
        if is_late:
            self._moves.insert(-1, move(seat, codes.RIICHI))
            self.unpaid_riichi = seat
        else:
            self._moves.append(move(seat, codes.RIICHI))
            self._riichi_declared = True

    def pay_stick(self, seat: int) -> None:
        """Record that the riichi is accepted: its discard was not ronned."""
        if seat != self.unpaid_riichi or self._stage != _CLAIM:
            raise ValueError(f"seat {seat} pays a riichi stick that is not due")
        self.unpaid_riichi = -1
        self.scores[seat] -= STICK
        self.kyotaku += 1

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
            self.claimable = meld.hand_tiles()
            self.last = self.claimable[-1]
        else:
            if self._stage != _CLAIM or seat == self.turn:
                raise ValueError(f"seat {seat} calls when no discard of another seat can be claimed")
            if (seat + meld.source) % 4 != self.turn or meld.called not in self.claimable:
                raise ValueError(f"seat {seat} calls tile {meld.called}, which is not the last discard")
            self._need_stick_paid()
            self.turn = seat
            self.claimable = ()
        if is_own or meld.type == MINKAN_MELD:
            if self.num_rinshan == len(codes.RINSHAN):
                raise ValueError("a fifth kan: there are four rinshan tiles")
            self._stage = _KAN
            self._is_kan_closed = meld.type == ANKAN_MELD
        else:
            self._stage = _DISCARD
        for tile in meld.hand_tiles():
            if self._where[tile] != seat:
                raise ValueError(f"seat {seat} melds tile {tile}, which is not in its hand")
            self._where[tile] = _ON_TABLE
        self._moves.append(move(seat, meld.action()))
        if meld.type == KAKAN_MELD:
            self.melds[seat] = [meld if m.called == meld.called else m for m in self.melds[seat]]
        else:
            self.melds[seat].append(meld)
        self.drawn = -1

    def reveal(self, tile: int) -> None:
        """Record a dora indicator that is turned over."""
        if len(self.indicators) == len(codes.DORA_POSITIONS):
            raise ValueError(f"tile {tile} is the sixth dora indicator: there are five")
        self._take_unseen(tile, _ON_TABLE)
        self.indicators.append(tile)

    def leave(self, seat: int) -> None:
        """Record that a seat disconnects."""
        self._moves.append(move(seat, codes.LEAVE))

    def come_back(self, seat: int) -> None:
        """Record that a seat is back."""
        self._moves.append(move(seat, codes.RETURN))

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
        self._moves.append(move(win.seat, codes.TSUMO if is_tsumo else codes.RON))
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
            self._moves.append(move(self.turn, codes.NINE_TERMINALS))
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
            gain = changes[win.seat]
            deltas = [0, 0, 0, 0]
            deltas[win.loser] = STICK * self._won_sticks * (win is self._wins[0]) - gain
            deltas[win.seat] = gain
            win.deltas = deltas if len(unpaid) > 1 else changes
            paid = [before + delta for before, delta in zip(paid, win.deltas, strict=True)]
        if unpaid and paid != changes:
            raise MissingFact("the record does not show who pays for which win: deltas are missing")
        self._deltas = [before + change for before, change in zip(self._deltas, changes, strict=True)]
        self.scores = list(scores)
        self.is_settled = True

    def finish(self, seed_wall: U8 | None = None, *, is_result_complete: bool = True) -> KyokuLog:
        """Return the log; ``seed_wall`` is the computed wall, else the wall is made of the tiles that were seen."""
        if self._stage != _OVER:
            raise ValueError("the kyoku has no end")
        if not self.is_settled:
            raise MissingFact("the record does not show the payments: neither deltas nor later scores")
        if is_result_complete and not self._is_ura_known:
            raise MissingFact("a seat wins with riichi, but the record shows no ura dora indicators")
        shown = ((codes.DORA_POSITIONS, self.indicators), (codes.URA_POSITIONS, self.ura_indicators))
        if seed_wall is None:
            self._wall[: len(self.dealt)] = self.dealt
            for places, tiles in shown:
                for place, tile in zip(places, tiles, strict=False):
                    self._wall[place] = tile
            unseen = iter(self.hand(_UNSEEN))
            wall = np.array([next(unseen) if tile < 0 else tile for tile in self._wall], np.uint8)
        else:
            wall = seed_wall
            for places, tiles in shown:
                computed = wall[list(places[: len(tiles)])].tolist()
                # Other hands are the replay's question.
                if computed != tiles and wall[: len(self.dealt)].tolist() == self.dealt:
                    raise ValueError(f"the dora or ura dora indicators {tiles} are not those of the seed: {computed}")
        kyoku, honba, kyotaku, scores, dice = self._start
        return KyokuLog(
            kyoku=kyoku,
            honba=honba,
            kyotaku=kyotaku,
            scores=(scores[0], scores[1], scores[2], scores[3]),
            wall=wall,
            is_wall_from_seed=seed_wall is not None,
            moves=np.array(self._moves, np.uint16),
            result=self._result_record(),
            deal=np.array(self.dealt, np.uint8),
            draws=np.array(self._draws, np.uint8),
            is_result_complete=is_result_complete,
            is_ura_known=self._is_ura_known,
            dice=dice,
        )

    # ---- what the public methods are made of

    def _take_unseen(self, tile: int, where: int) -> None:
        if not 0 <= tile < NUM_TILES:
            raise ValueError(f"tile id {tile} is outside 0-{NUM_TILES - 1}")
        if self._where[tile] != _UNSEEN:
            raise ValueError(f"tile {tile} appears a second time")
        self._where[tile] = where

    def _take_deal(self, hands: Sequence[Sequence[int]]) -> list[int]:
        dealt = [0] * codes.DEALT
        for seat, hand in enumerate(hands):
            if len(hand) != 13:
                raise ValueError(f"seat {seat} is dealt {len(hand)} tiles instead of 13")
            for place, tile in zip(dealt_places(seat, self.turn), hand, strict=True):
                self._take_unseen(tile, seat)
                dealt[place] = tile
        return dealt

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
        if num_shown != self.num_turned:
            what = f"{self.num_turned} dora indicators are turned over, but the record shows {num_shown}"
            raise MissingFact(f"{what}: that of a kan is missing") if num_shown < self.num_turned else ValueError(what)
        self._stage = _OVER
        self._result = result
        if deltas is None:
            self.is_settled = False
            return
        for seat in range(4):
            self._deltas[seat] += deltas[seat]
            self.scores[seat] += deltas[seat]

    def _result_record(self) -> np.void:
        record = empty_result()
        record["result"] = self._result
        record["tenpai"] = self._tenpai
        record["deltas"] = self._deltas
        record["num_wins"] = len(self._wins)
        for index, win in enumerate(self._wins):
            for name in ("seat", "loser", "liable", "han", "fu", "yakuman", "dora", "red", "ura", "yaku", "points"):
                record[f"win_{name}"][index] = getattr(win, name)
            record["win_face"][index] = FACE_OF_ID[win.tile]
            record["win_deltas"][index] = win.deltas or (0, 0, 0, 0)
        return record
