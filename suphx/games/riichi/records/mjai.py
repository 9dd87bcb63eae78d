"""Reads the mjai protocol, one JSON object a line: one game text becomes a GameLog.

mjai names faces, not tile ids, so every tile gets the lowest free id of its face. It has no han, fu and yaku: the
results hold winners and score changes and say ``is_result_complete=False``. Several keys are optional in the dialects:
the reason of a drawn kyoku, payments, final scores, the number of winds. Where they are missing they follow from what
was played and from the other scores; where they do not follow (MissingFact), the game is set aside.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, EAST, KAKAN_MELD, MINKAN_MELD, NORTH, NUM_KINDS, PON_MELD
from suphx.games.riichi.records.game_log import UNREADABLE_CHARACTERS, GameLog, KyokuLog, does_tenpai_end_game
from suphx.games.riichi.records.kyoku_builder import FACE_OF_ID, STICK, KyokuBuilder, Meld, Win
from suphx.games.riichi.records.quarantine import (
    NO_END,
    NO_KYOKU,
    NO_RED_FIVES,
    OTHER_FORMAT,
    THREE_PLAYERS,
    ForeignRecord,
    MissingFact,
    RecordError,
    kind_of,
)
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.shanten import find_waits
from suphx.games.riichi.table import (
    EXHAUSTIVE_DRAW,
    FOUR_KANS_DRAW,
    FOUR_RIICHI_DRAW,
    FOUR_WINDS_DRAW,
    NAGASHI_MANGAN,
    NINE_TERMINALS_DRAW,
    TRIPLE_RON_DRAW,
)
from suphx.games.riichi.tile import NUM_TILES, RED_IDS, is_five, red_face
from suphx.json_text import parse_json

MAX_POINTS = 10_000_000
"""Of a seat, far above any game."""
MAX_STICKS = 999
"""Of honba, and of riichi sticks on the table."""


def read_integer(event: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """Return the number ``name`` of an event, from ``low`` to ``high``; ValueError if it is another or missing."""
    value = event.get(name)
    if value is None:
        raise MissingFact(f"{name} is missing")
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{name}={value!r:.40} is not a whole number from {low} to {high}")
    return value


def read_points(event: Mapping[str, Any], name: str) -> list[int]:
    """Return the points ``name`` of the four seats; ValueError if they are not four numbers within MAX_POINTS."""
    values = event.get(name)
    if not isinstance(values, list) or len(values) != 4:
        raise ValueError(f"{name} is not a list of four numbers")
    return [read_integer({name: value}, name, -MAX_POINTS, MAX_POINTS) for value in values]


TILE_NAMES: tuple[str, ...] = (
    *(f"{number}{suit}" for suit in "mps" for number in range(1, 10)),
    *"ESWNPFC",
    *("5mr", "5pr", "5sr"),
)
"""mjai's name of each face."""

REASONS = {
    "fanpai": EXHAUSTIVE_DRAW,
    "nagashimangan": NAGASHI_MANGAN,
    "kyushukyuhai": NINE_TERMINALS_DRAW,
    "suufonrenta": FOUR_WINDS_DRAW,
    "suuchareach": FOUR_RIICHI_DRAW,
    "suukaikan": FOUR_KANS_DRAW,
    "sanchaho": TRIPLE_RON_DRAW,
}
"""``reason`` of ryukyoku -> result code."""

TWO_WINDS, EAST_ONLY = 0, 4
"""``kyoku_first`` of start_game: where a game begins, as if a game of one wind were the second half of one of two."""

CALL_SIZES = {"chi": 2, "pon": 2, "daiminkan": 3, "ankan": 4, "kakan": 3}
"""Type of a call -> tiles of ``consumed``."""

FACE_OF_NAME = {name: face for face, name in enumerate(TILE_NAMES)}
"""The inverse."""

_WINDS = "ESWN"
_HIDDEN = "?"
_SOUTH_4 = 7
MAX_LINE_LENGTH = 1024 * 1024
"""Characters of one event; one with what a program thought of it has a few thousand."""

_URA_KEYS = ("ura_markers", "uradora_markers")
"""Keys of the ura indicators in ``hora``: that of Mortal, and that of the original mjai."""
_NOTEN_PAYMENTS = (0, 1000, 1500, 3000)

JsonObject = dict[str, Any]


def parse_mjai(text: str, game_id: str, *, is_fragment_allowed: bool = False) -> GameLog:
    """Return the game of one mjai text, from start_game to end_game.

    Without end_game the record is refused unless ``is_fragment_allowed``: then its finished kyokus are returned and
    ``final_scores`` is None. Raises RecordError with reason and position; ForeignRecord for a game without red fives.
    """
    return read_events(text.removeprefix("\ufeff").split("\n"), game_id, is_fragment_allowed=is_fragment_allowed)


def read_events(events: Iterable[str | JsonObject], game_id: str, *, is_fragment_allowed: bool = False) -> GameLog:
    """Return the game of mjai events, each a line of text, which may be blank, or a JSON object; errors as above.

    A ValueError of ``events`` is one of the record, too. Lines are counted as events: they need not be those of a file.
    """
    reader = _GameReader(game_id)
    place = ""
    number = 0
    try:
        for event in events:
            if not isinstance(event, str):
                reader.read(event)
            elif event and not event.isspace():
                number += 1
                place = f", event {number}"
                reader.read(_json_object(event))
        return reader.finish(is_fragment_allowed)
    except RecordError:
        raise
    except RecursionError as error:
        raise RecordError("JSON is nested too deeply", reader.position + place) from error
    except ValueError as error:
        raise RecordError(str(error), reader.position + place, kind_of(error)) from error


def _json_object(line: str) -> JsonObject:
    if len(line) > MAX_LINE_LENGTH:
        raise ValueError(f"the line is longer than {MAX_LINE_LENGTH:,} characters, the limit for one event")
    try:
        value = parse_json(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from error
    if not isinstance(value, dict):
        raise ValueError("the line is not a JSON object")
    return value


class _GameReader:
    """Consumes mjai events in order; ``finish`` gives the game."""

    def __init__(self, game_id: str) -> None:
        self.position = "the head"
        self._log = GameLog(id=game_id, rules=Rules(), names=("", "", "", ""))
        self._kyoku: _KyokuReader | None = None
        self._ended: KyokuBuilder | None = None  # after end_kyoku, until its payments are known
        self._scores: list[int] | None = None
        self._kyotaku = 0
        self._are_winds_known = self._are_red_fives_known = False
        self._is_started = False
        self._is_ended = False

    def read(self, event: JsonObject) -> None:
        """Read one event."""
        name = event.get("type")
        if self._is_ended:
            raise ValueError(f"event {name!r:.40} follows end_game")
        if (name == "start_game") == self._is_started:
            raise ValueError(f"event {name!r:.40} is misplaced: a game has one start_game, at its start")
        if name == "start_game":
            self._start_game(event)
        elif name == "start_kyoku":
            self._end_kyoku()
            self._start_kyoku(event)
        elif name == "end_kyoku":
            self._end_kyoku()
        elif name == "end_game":
            self._end_game(event)
        elif self._kyoku is None:
            raise ValueError(f"event {name!r:.40} is outside a kyoku")
        else:
            self._kyoku.read(str(name), event)

    def finish(self, is_fragment_allowed: bool) -> GameLog:
        """Return the game, or raise if it is not whole."""
        if not self._is_ended and not is_fragment_allowed:
            raise RecordError("the record ends without end_game: it is truncated", self.position, NO_END)
        if self._kyoku is not None and self._kyoku.builder.is_over:
            self._end_kyoku()
        if not self._log.kyokus:
            raise RecordError("the record has no finished kyoku", self.position, NO_KYOKU)
        if not self._are_red_fives_known and not any(map(_shows_red_five, self._log.kyokus)):
            raise MissingFact(
                "the record does not show if the game has red fives: none is seen, and no aka or aka_flag tells it"
            )
        if not self._are_winds_known and self._is_of_one_wind():
            self._log.rules = replace(self._log.rules, num_winds=1)
        self._log.rules = replace(self._log.rules, tenpai_ends_game=does_tenpai_end_game(self._log))
        if not all(kyoku.is_ura_known for kyoku in self._log.kyokus):
            Replayer().find_ura(self._log)
        return self._log

    def _start_game(self, event: JsonObject) -> None:
        self._is_started = True
        if event.get("aka_flag", True) is False:
            raise ForeignRecord("a game without red fives", "start_game", NO_RED_FIVES)
        self._are_red_fives_known = "aka_flag" in event
        names = event.get("names", [""] * 4)
        if not isinstance(names, list):
            raise ValueError("names is not a list of texts")
        if len(names) != 4:
            kind = THREE_PLAYERS if len(names) == 3 else OTHER_FORMAT
            raise ForeignRecord(f"a game of {len(names)} players", "start_game", kind)
        first, second, third, fourth = map(self._name, names)
        self._log.names = (first, second, third, fourth)
        self._are_winds_known = event.get("kyoku_first") in (TWO_WINDS, EAST_ONLY)
        if event.get("kyoku_first") == EAST_ONLY:
            self._log.rules = replace(self._log.rules, num_winds=1)

    def _name(self, name: object) -> str:
        """Return a player's name; "" if it is no text, or not a readable one."""
        if isinstance(name, str) and not UNREADABLE_CHARACTERS.search(name):
            return name
        self._log.ignored["a name that is no text"] += 1
        return ""

    def _is_of_one_wind(self) -> bool:
        """Tell whether the game ended where a game of two winds goes on."""
        last, scores = self._log.kyokus[-1].kyoku, self._log.final_scores
        if scores is None or min(self._known_scores()) < 0:
            return False
        return last < _SOUTH_4 or (last == _SOUTH_4 and max(scores) < self._log.rules.target_points)

    def _start_kyoku(self, event: JsonObject) -> None:
        wind = event.get("bakaze")
        if not isinstance(wind, str) or len(wind) != 1 or wind not in _WINDS[:3]:
            raise ValueError(f"bakaze {wind!r:.40} is not E, S or W")
        kyoku = _WINDS.index(wind) * 4 + read_integer(event, "kyoku", 1, 4) - 1
        if "oya" in event and _seat(event, "oya") != kyoku % 4:
            raise ValueError(f"oya is not seat {kyoku % 4}, the dealer of this kyoku")
        honba = read_integer(event, "honba", 0, MAX_STICKS)
        self.position = f"kyoku {kyoku} honba {honba}"
        kyotaku = read_integer(event, "kyotaku", 0, MAX_STICKS)
        scores = read_points(event, "scores") if "scores" in event else None
        self._finish_kyoku(scores)
        if scores is None and not (self._log.kyokus or kyoku or honba or kyotaku):
            scores = [Rules().start_points] * 4
        if scores is None:
            scores = self._known_scores()
        if self._log.kyokus and scores != self._scores:
            raise ValueError(f"the kyoku starts with {scores}, but the one before ended with {self._scores}")
        self._kyoku = _KyokuReader(kyoku, honba, kyotaku, scores, event)

    def _end_kyoku(self) -> None:
        if self._kyoku is None:
            return
        self._ended, self._kyoku = self._kyoku.builder, None
        if self._ended.is_settled:
            self._finish_kyoku(None)

    def _finish_kyoku(self, scores: list[int] | None) -> None:
        """Add the kyoku that has ended; ``scores``: the points after it, if the record shows them."""
        builder, self._ended = self._ended, None
        if builder is None:
            return
        if scores is not None:
            builder.settle(scores)
        self._log.kyokus.append(builder.finish(is_result_complete=False))
        self._scores = builder.scores
        self._kyotaku = builder.kyotaku
        if max(map(abs, self._scores)) > MAX_POINTS:
            raise ValueError(f"the kyoku ends with {self._scores}: no seat can have over {MAX_POINTS:,} points")

    def _end_game(self, event: JsonObject) -> None:
        self._end_kyoku()
        self._is_ended = True
        scores = read_points(event, "scores") if "scores" in event else None
        if scores is not None and self._ended is not None:
            # Left-over sticks are among the points of the first: they are no payment of the last kyoku.
            left_over = STICK * self._ended.kyotaku
            self._finish_kyoku([score - left_over * (i == scores.index(max(scores))) for i, score in enumerate(scores)])
        self._finish_kyoku(None)
        if scores is None and self._log.kyokus:
            scores = list(self._known_scores())
            scores[scores.index(max(scores))] += STICK * self._kyotaku
        if scores is not None:
            self._log.final_scores = (scores[0], scores[1], scores[2], scores[3])

    def _known_scores(self) -> list[int]:
        if self._scores is None:
            raise MissingFact("the record does not show the points of the seats: start_kyoku has no scores")
        return self._scores


class _KyokuReader:
    """One kyoku: gives tile ids to faces and feeds the builder."""

    def __init__(self, kyoku: int, honba: int, kyotaku: int, scores: Sequence[int], event: JsonObject) -> None:
        self._free: list[list[int]] = [[] for _ in TILE_NAMES]
        for tile in reversed(range(NUM_TILES)):
            self._free[FACE_OF_ID[tile]].append(tile)
        hands = event.get("tehais")
        if not isinstance(hands, list) or len(hands) != 4 or not all(isinstance(hand, list) for hand in hands):
            raise ValueError("tehais is not four lists of tiles")
        self.builder = KyokuBuilder(
            kyoku=kyoku,
            honba=honba,
            kyotaku=kyotaku,
            scores=scores,
            hands=[[self._take(_face(name)) for name in hand] for hand in hands],
            indicator=self._take(_face(event.get("dora_marker"))),
        )
        self._pons: dict[tuple[int, int], Meld] = {}
        self._last = -1
        self._discarded: list[int] = []
        self._num_melds = 0
        self._kan_seats: list[int] = []
        self._num_riichi = 0

    def read(self, name: str, event: JsonObject) -> None:
        """Read one event of a running kyoku."""
        if name in CALL_SIZES:
            self._call(name, event)
        elif name in _KYOKU_EVENTS:
            _KYOKU_EVENTS[name](self, event)
        else:
            raise ValueError(f"unknown event {name!r:.40}")

    def tsumo(self, event: JsonObject) -> None:
        """Read a draw."""
        self._last = self._take(_face(event.get("pai")))
        self.builder.draw(_seat(event, "actor"), self._last)

    def dahai(self, event: JsonObject) -> None:
        """Read a discard."""
        seat, face = _seat(event, "actor"), _face(event.get("pai"))
        is_tsumogiri = event.get("tsumogiri")
        tile = self.builder.drawn
        is_drawn = tile >= 0 and FACE_OF_ID[tile] == face
        if is_tsumogiri is True and not is_drawn:
            raise ValueError(f"seat {seat} discards {TILE_NAMES[face]} as drawn, but did not draw it")
        # Some programs write false where only the drawn tile can be meant, as at the dealer's first discard.
        if is_tsumogiri is not True and (held := self._held(seat, face, but=tile)):
            if is_tsumogiri is not False and is_drawn:
                raise MissingFact(f"seat {seat} drew {TILE_NAMES[face]} and held another: tsumogiri is missing")
            tile = held[0]
        elif not is_drawn:
            raise ValueError(f"seat {seat} plays {TILE_NAMES[face]}, which is not in its hand")
        self.builder.discard(seat, tile)
        self._last = tile
        self._discarded.append(face)

    def reach(self, event: JsonObject) -> None:
        """Read a riichi declaration."""
        self.builder.declare_riichi(_seat(event, "actor"))

    def reach_accepted(self, event: JsonObject) -> None:
        """Read that the riichi is paid."""
        self.builder.pay_stick(_seat(event, "actor"))
        self._num_riichi += 1

    def dora(self, event: JsonObject) -> None:
        """Read a new dora indicator."""
        self.builder.reveal(self._take(_face(event.get("dora_marker"))))

    def hora(self, event: JsonObject) -> None:
        """Read a win."""
        seat = _seat(event, "actor")
        win = Win(
            seat=seat,
            loser=_seat(event, "target"),
            tile=self._last,
            deltas=self._deltas(event),
            ura_indicators=self._ura(_ura_names(event)),
        )
        self.builder.win(win)

    def ryukyoku(self, event: JsonObject) -> None:
        """Read a drawn kyoku."""
        deltas = self._deltas(event)
        result = REASONS.get(str(event.get("reason")))
        if result is None:
            result = self._drawn_result(deltas)
        has_tenpai = result in (EXHAUSTIVE_DRAW, NAGASHI_MANGAN)
        tenpai = self._tenpai(event, result, deltas or ()) if has_tenpai else (0, 0, 0, 0)
        self.builder.end_in_draw(result, deltas, tenpai)

    def _deltas(self, event: JsonObject) -> list[int] | None:
        """Return the payments of an end, if need be by the points after it; None if the event has neither."""
        if event.get("deltas") is not None:
            return read_points(event, "deltas")
        if event.get("scores") is None or not self.builder.is_settled:
            return None
        return [after - before for after, before in zip(read_points(event, "scores"), self.builder.scores, strict=True)]

    def _tenpai(self, event: JsonObject, result: int, deltas: Sequence[int]) -> Sequence[int]:
        """Return which seats are tenpai: as the event says, or as they are paid, or by what they hold."""
        if isinstance(event.get("tenpais"), list):
            if len(event["tenpais"]) != 4:
                raise ValueError(f"tenpais has {len(event['tenpais'])} values instead of 4")
            return [int(value is True) for value in event["tenpais"]]
        if result == EXHAUSTIVE_DRAW and any(deltas):
            return [int(delta > 0) for delta in deltas]
        if self.builder.drawn >= 0:
            raise ValueError("the kyoku ends for want of tiles before the drawn tile is discarded")
        return self._held_tenpai()

    def _held_tenpai(self) -> list[int]:
        hands = [self.builder.hand(seat) for seat in range(4)]
        counts = [np.bincount([tile >> 2 for tile in hand], minlength=NUM_KINDS) for hand in hands]
        waits = find_waits(counts, [(13 - len(hand)) // 3 for hand in hands])
        return [int(kinds.any()) for kinds in waits]

    def _drawn_result(self, deltas: Sequence[int] | None) -> int:
        """Return why the kyoku is drawn, derived from what was played and paid."""
        if self.builder.drawn >= 0:
            return NINE_TERMINALS_DRAW
        if len(self._kan_seats) == 4 and len(set(self._kan_seats)) > 1:
            return FOUR_KANS_DRAW
        if self.builder.num_live_left == 0:
            return self._exhausted_result(deltas)
        if self._num_riichi == 4:
            return FOUR_RIICHI_DRAW
        is_first_round = len(self._discarded) == 4 and self._num_melds == 0
        is_same_wind = len(set(self._discarded)) == 1 and EAST <= self._discarded[0] <= NORTH
        return FOUR_WINDS_DRAW if is_first_round and is_same_wind else TRIPLE_RON_DRAW

    def _exhausted_result(self, deltas: Sequence[int] | None) -> int:
        """Return how a kyoku ends after the last tile. If nobody pays, all are tenpai or none, or three rons."""
        if deltas is None:
            raise MissingFact("ryukyoku has neither reason nor deltas: it does not show how the kyoku is drawn")
        if not any(deltas):
            return TRIPLE_RON_DRAW if sum(self._held_tenpai()) == 3 else EXHAUSTIVE_DRAW
        is_noten_payment = all(abs(delta) in _NOTEN_PAYMENTS for delta in deltas)
        return EXHAUSTIVE_DRAW if is_noten_payment else NAGASHI_MANGAN

    def _call(self, name: str, event: JsonObject) -> None:
        seat = _seat(event, "actor")
        consumed = event.get("consumed")
        if not isinstance(consumed, list) or len(consumed) != CALL_SIZES[name]:
            raise ValueError(f"consumed of {name} is not a list of {CALL_SIZES[name]} tiles")
        faces = [_face(tile) for tile in consumed]
        if name == "kakan":
            meld = self._kakan(seat, _face(event.get("pai")))
        elif name == "ankan":
            meld = self._ankan(seat, faces)
        else:
            meld = self._claim(name, seat, faces, event)
        self.builder.call(seat, meld)
        self._num_melds += 1
        if name in ("kakan", "ankan", "daiminkan"):
            self._kan_seats.append(seat)
        if name in ("kakan", "ankan"):
            self._last = meld.hand_tiles()[-1]

    def _kakan(self, seat: int, face: int) -> Meld:
        added = self._held_all(seat, [face])[0]
        pon = self._pons.get((seat, added >> 2))
        if pon is None:
            raise ValueError(f"seat {seat} adds {TILE_NAMES[face]} to a pon that it does not have")
        return Meld(KAKAN_MELD, tuple(sorted((*pon.tiles, added))), pon.called, pon.source, added)

    def _ankan(self, seat: int, faces: list[int]) -> Meld:
        tiles = self._held_all(seat, faces)
        if len({tile >> 2 for tile in tiles}) != 1:
            raise ValueError(f"seat {seat} makes a kan of different tiles")
        return Meld(ANKAN_MELD, tiles, -1, 0)

    def _claim(self, name: str, seat: int, faces: list[int], event: JsonObject) -> Meld:
        face, source = _face(event.get("pai")), (_seat(event, "target") - seat) % 4
        if self._last < 0 or FACE_OF_ID[self._last] != face:
            raise ValueError(f"seat {seat} calls {TILE_NAMES[face]}, which is not the last discard")
        tiles = tuple(sorted((*self._held_all(seat, faces), self._last)))
        first = tiles[0] >> 2
        steps = [(tile >> 2) - first for tile in tiles]
        is_run = steps == [0, 1, 2] and first < EAST and first % 9 <= 6
        if is_run != (name == "chi") or (name != "chi" and any(steps)) or (name == "chi" and source != 3):
            raise ValueError(f"{name} of {', '.join(TILE_NAMES[FACE_OF_ID[tile]] for tile in tiles)} is impossible")
        meld = Meld(_CLAIM_TYPES[name], tiles, self._last, source)
        if name == "pon":
            self._pons[seat, first] = meld
        return meld

    def _take(self, face: int) -> int:
        """Return the lowest id of a face that has not been seen."""
        if not self._free[face]:
            if face < NUM_KINDS and is_five(face) and self._free[red_face(face)]:
                raise ForeignRecord(f"a game without red fives: a fourth {TILE_NAMES[face]}", "a deal", NO_RED_FIVES)
            raise ValueError(f"tile {TILE_NAMES[face]} appears too often")
        return self._free[face].pop()

    def _ura(self, names: list[Any]) -> list[int]:
        """Return ids of the ura indicators; a second winner is shown the same ones."""
        faces = [_face(name) for name in names]
        known = self.builder.ura_indicators
        if [FACE_OF_ID[tile] for tile in known] == faces:
            return known
        return [self._take(face) for face in faces]

    def _held(self, seat: int, face: int, *, but: int) -> list[int]:
        return [tile for tile in self.builder.hand(seat) if FACE_OF_ID[tile] == face and tile != but]

    def _held_all(self, seat: int, faces: list[int]) -> tuple[int, ...]:
        """Return an id for each face, different ones for equal faces."""
        hand = self.builder.hand(seat)
        tiles: list[int] = []
        for face in faces:
            held = [tile for tile in hand if FACE_OF_ID[tile] == face and tile not in tiles]
            if not held:
                raise ValueError(f"seat {seat} melds {TILE_NAMES[face]}, which is not in its hand")
            tiles.append(held[0])
        return tuple(sorted(tiles))


_CLAIM_TYPES = {"chi": CHI_MELD, "pon": PON_MELD, "daiminkan": MINKAN_MELD}
_KYOKU_EVENTS = {
    "tsumo": _KyokuReader.tsumo,
    "dahai": _KyokuReader.dahai,
    "reach": _KyokuReader.reach,
    "reach_accepted": _KyokuReader.reach_accepted,
    "dora": _KyokuReader.dora,
    "hora": _KyokuReader.hora,
    "ryukyoku": _KyokuReader.ryukyoku,
}


def _face(name: object) -> int:
    if name is None:
        raise MissingFact("the name of a tile is missing")
    if name == _HIDDEN:
        raise MissingFact("a tile is hidden ('?'): only records of the hands and draws of all seats are read")
    return face_of_name(name)


def face_of_name(name: object) -> int:
    """Return the face (0-36) of mjai's name of a tile; ValueError if it is none."""
    if not isinstance(name, str) or name not in FACE_OF_NAME:
        raise ValueError(f"{name!r:.40} is not a tile: use 1m to 9s, E S W N P F C, 5mr 5pr 5sr")
    return FACE_OF_NAME[name]


def _ura_names(event: JsonObject) -> list[Any]:
    """Return the names of the ura indicators that a win shows, by either key; none without riichi."""
    for key in _URA_KEYS:
        names = event.get(key) or []
        if not isinstance(names, list):
            raise ValueError(f"{key} is not a list of tiles")
        if names:
            return names
    return []


def _shows_red_five(kyoku: KyokuLog) -> bool:
    return bool(np.isin([*kyoku.deal, *kyoku.draws], RED_IDS).any())


def _seat(event: JsonObject, name: str) -> int:
    return read_integer(event, name, 0, 3)
