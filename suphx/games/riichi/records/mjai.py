"""Reads and writes the mjai protocol, one JSON object a line: one text is one game.

mjai names faces, not tile ids, so every tile gets the lowest free id of its face. It has no han, fu and yaku, and no
word for a seat that disconnects: the results hold winners and score changes and say ``is_result_complete=False``.
Several keys are optional in the dialects: the reason of a drawn kyoku, payments, final scores, the number of winds.
Where they are missing they follow from what was played and from the other scores; where they do not follow
(MissingFact), the game is set aside. What is written has them all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, EAST, KAKAN_MELD, MINKAN_MELD, NORTH, NUM_KINDS, PON_MELD
from suphx.games.riichi import rules as rule
from suphx.games.riichi import table as codes
from suphx.games.riichi.records import quarantine
from suphx.games.riichi.records.game_log import (
    DRAWN_ENDS,
    END_OF_RESULT,
    UNREADABLE_CHARACTERS,
    GameLog,
    KyokuLog,
    does_tenpai_end_game,
)
from suphx.games.riichi.records.kyoku_builder import (
    FACE_OF_ID,
    KAMICHA,
    STICK,
    Event,
    KyokuBuilder,
    Meld,
    Playback,
    Win,
    dealt_hands,
    play_kyoku,
)
from suphx.games.riichi.records.quarantine import ForeignRecord, MissingFact, RecordError, kind_of
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.rules import Rules, UntoldRulesError, apply_rules, refuse_untold_game
from suphx.games.riichi.shanten import find_waits
from suphx.games.riichi.tile import NUM_TILES, RED_IDS, is_five, kind_of_face, red_face
from suphx.json_text import parse_json
from suphx.kernel.record import Records

MAX_POINTS = 10_000_000  # of a seat, far above any game
MAX_STICKS = 999  # of honba, and of riichi sticks on the table


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

REASONS = {end.mjai: end.result for end in DRAWN_ENDS}

TWO_WINDS, EAST_ONLY = 0, 4
"""``kyoku_first`` of start_game: where a game begins, as if a game of one wind were the second half of one of two."""

CALL_SIZES = {"chi": 2, "pon": 2, "daiminkan": 3, "ankan": 4, "kakan": 3}  # type of a call -> tiles of ``consumed``

FACE_OF_NAME = {name: face for face, name in enumerate(TILE_NAMES)}  # the inverse

_WINDS = "ESW"
_HIDDEN = "?"
_SOUTH_4 = 7
MAX_LINE_LENGTH = 1024 * 1024  # characters of one event; one with what a program thought of it has a few thousand

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
                if len(event) > MAX_LINE_LENGTH:
                    raise ValueError(f"the line is longer than {MAX_LINE_LENGTH:,} characters, the limit for one event")
                value = parse_json(event)
                if not isinstance(value, dict):
                    raise ValueError("the line is not a JSON object")
                reader.read(value)
        return reader.finish(is_fragment_allowed)
    except RecordError:
        raise
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg} at column {error.colno}"
        raise RecordError(reason, reader.position + place) from error
    except ValueError as error:
        raise RecordError(str(error), reader.position + place, kind_of(error)) from error


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
            raise RecordError("the record ends without end_game: it is truncated", self.position, quarantine.NO_END)
        if self._kyoku is not None and self._kyoku.builder.is_over:
            self._end_kyoku()
        log = self._log
        if not log.kyokus:
            raise RecordError("the record has no finished kyoku", self.position, quarantine.NO_KYOKU)
        if not self._are_red_fives_known and not any(np.isin([*k.deal, *k.draws], RED_IDS).any() for k in log.kyokus):
            raise MissingFact(
                "the record does not show if the game has red fives: none is seen, and no aka or aka_flag tells it"
            )
        scores, last = log.final_scores, log.kyokus[-1].kyoku
        if not self._are_winds_known and scores is not None and min(self._known_scores()) >= 0:
            # A game that ended where one of two winds goes on had one wind.
            is_short = last < _SOUTH_4 or (last == _SOUTH_4 and max(scores) < log.rules.target_points)
            log.rules = replace(log.rules, num_winds=1 if is_short else log.rules.num_winds)
        log.rules = replace(log.rules, tenpai_ends_game=does_tenpai_end_game(log))
        if not all(kyoku.is_ura_known for kyoku in log.kyokus):
            Replayer().find_ura(log)
        return log

    def _start_game(self, event: JsonObject) -> None:
        self._is_started = True
        if event.get("aka_flag", True) is False:
            raise ForeignRecord("a game without red fives", "start_game", quarantine.NO_RED_FIVES)
        self._are_red_fives_known = "aka_flag" in event
        names = event.get("names", [""] * 4)
        if not isinstance(names, list):
            raise ValueError("names is not a list of texts")
        if len(names) != 4:
            kind = quarantine.THREE_PLAYERS if len(names) == 3 else quarantine.OTHER_FORMAT
            raise ForeignRecord(f"a game of {len(names)} players", "start_game", kind)
        are_texts = [isinstance(name, str) and not UNREADABLE_CHARACTERS.search(name) for name in names]
        first, second, third, fourth = (name if is_text else "" for name, is_text in zip(names, are_texts, strict=True))
        self._log.names = (first, second, third, fourth)
        if not all(are_texts):
            self._log.ignored["a name that is not a text"] += are_texts.count(False)
        self._are_winds_known = event.get("kyoku_first") in (TWO_WINDS, EAST_ONLY)
        if event.get("kyoku_first") == EAST_ONLY:
            self._log.rules = replace(self._log.rules, num_winds=1)

    def _start_kyoku(self, event: JsonObject) -> None:
        kyoku, honba = read_kyoku(event)
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
            # Left-over sticks are among the points of the first: they are not paid in the last kyoku.
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
        self._discarded: list[int] = []

    def read(self, name: str, event: JsonObject) -> None:
        """Read one event of a running kyoku."""
        match name:
            case "tsumo":
                self.builder.draw(seat_of(event), self._take(_face(event.get("pai"))))
            case "dahai":
                self._discard(seat_of(event), _face(event.get("pai")), event.get("tsumogiri"))
            case "reach":
                self.builder.declare_riichi(seat_of(event))
            case "reach_accepted":
                self.builder.pay_stick(seat_of(event))
            case "dora":
                self.builder.reveal(self._take(_face(event.get("dora_marker"))))
            case "hora":
                seat, loser = seat_of(event), seat_of(event, "target")
                deltas, ura = self._deltas(event), self._ura(event)
                self.builder.win(Win(seat=seat, loser=loser, tile=self.builder.last, deltas=deltas, ura_indicators=ura))
            case "ryukyoku":
                deltas = self._deltas(event)
                result = REASONS.get(str(event.get("reason")))
                if result is None:
                    result = self._drawn_result(deltas)
                has_tenpai = result in (codes.EXHAUSTIVE_DRAW, codes.NAGASHI_MANGAN)
                tenpai = self._tenpai(event, result, deltas or ()) if has_tenpai else (0, 0, 0, 0)
                self.builder.end_in_draw(result, deltas, tenpai)
            case "chi" | "pon" | "daiminkan" | "ankan" | "kakan":
                self._call(name, event)
            case _:
                raise ValueError(f"unknown event {name!r:.40}")

    def _discard(self, seat: int, face: int, is_tsumogiri: object) -> None:
        tile = self.builder.drawn
        is_drawn = tile >= 0 and FACE_OF_ID[tile] == face
        if is_tsumogiri is True and not is_drawn:
            raise ValueError(f"seat {seat} discards {TILE_NAMES[face]} as drawn, but did not draw it")
        # Some programs write false where only the drawn tile can be meant, as at the dealer's first discard.
        has_other = any(FACE_OF_ID[other] == face and other != tile for other in self.builder.hand(seat))
        if has_other and is_drawn and type(is_tsumogiri) is not bool:
            raise MissingFact(f"seat {seat} drew {TILE_NAMES[face]} and held another: tsumogiri is missing")
        if not is_drawn or (has_other and is_tsumogiri is not True):
            tile = self.builder.held(seat, [face], but=tile)[0]
        self.builder.discard(seat, tile)
        self._discarded.append(face)

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
        if result == codes.EXHAUSTIVE_DRAW and any(deltas):
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
            return codes.NINE_TERMINALS_DRAW
        num_kans = [sum(meld.type >= ANKAN_MELD for meld in melds) for melds in self.builder.melds]
        if sum(num_kans) == 4 and max(num_kans) < 4:
            return codes.FOUR_KANS_DRAW
        if self.builder.num_live_left == 0:
            if deltas is None:
                raise MissingFact("ryukyoku has neither reason nor deltas: it does not show how the kyoku is drawn")
            if not any(deltas):  # all are tenpai or none, or three rons
                return codes.TRIPLE_RON_DRAW if sum(self._held_tenpai()) == 3 else codes.EXHAUSTIVE_DRAW
            is_noten_payment = all(abs(delta) in _NOTEN_PAYMENTS for delta in deltas)
            return codes.EXHAUSTIVE_DRAW if is_noten_payment else codes.NAGASHI_MANGAN
        if len(self.builder.riichi_seats) == 4 and self.builder.unpaid_riichi < 0:
            return codes.FOUR_RIICHI_DRAW
        is_first_round = len(self._discarded) == 4 and not any(self.builder.melds)
        is_same_wind = len(set(self._discarded)) == 1 and EAST <= self._discarded[0] <= NORTH
        return codes.FOUR_WINDS_DRAW if is_first_round and is_same_wind else codes.TRIPLE_RON_DRAW

    def _call(self, name: str, event: JsonObject) -> None:
        seat, consumed, builder = seat_of(event), event.get("consumed"), self.builder
        if not isinstance(consumed, list):
            raise ValueError(f"consumed of {name} is not a list of {CALL_SIZES[name]} tiles")
        faces = [_face(tile) for tile in consumed]
        called = None if name == "ankan" else _face(event.get("pai"))
        check_call(name, faces, called)
        if called is None:
            meld = Meld(ANKAN_MELD, tuple(sorted(builder.held(seat, faces))))
        elif name == "kakan":
            meld = builder.kakan(seat, kind_of_face(called))
            if FACE_OF_ID[meld.added] != called:
                raise ValueError(f"seat {seat} adds {TILE_NAMES[called]}, which is not in its hand")
        else:
            source, last = (seat_of(event, "target") - seat) % 4, builder.last
            if last < 0 or FACE_OF_ID[last] != called:
                raise ValueError(f"seat {seat} calls {TILE_NAMES[called]}, which is not the last discard")
            if name == "chi" and source != KAMICHA:
                raise ValueError(f"seat {seat} calls chi, but not of the seat on its left")
            meld = Meld(_CLAIM_TYPES[name], tuple(sorted([*builder.held(seat, faces), last])), last, source)
        builder.call(seat, meld)

    def _take(self, face: int) -> int:
        """Return the lowest id of a face that has not been seen."""
        if not self._free[face]:
            if face < NUM_KINDS and is_five(face) and self._free[red_face(face)]:
                reason = f"a game without red fives: a fourth {TILE_NAMES[face]}"
                raise ForeignRecord(reason, "a deal", quarantine.NO_RED_FIVES)
            raise ValueError(f"tile {TILE_NAMES[face]} appears too often")
        return self._free[face].pop()

    def _ura(self, event: JsonObject) -> list[int]:
        """Return ids of the ura indicators that a win shows, by either key; a second winner is shown the same ones."""
        faces: list[int] = []
        for key in _URA_KEYS:
            names = event.get(key) or []
            if not isinstance(names, list):
                raise ValueError(f"{key} is not a list of tiles")
            if names:
                faces = [_face(name) for name in names]
                break
        known = self.builder.ura_indicators
        return known if [FACE_OF_ID[tile] for tile in known] == faces else [self._take(face) for face in faces]


_CLAIM_TYPES = {"chi": CHI_MELD, "pon": PON_MELD, "daiminkan": MINKAN_MELD}


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


def seat_of(event: Mapping[str, Any], name: str = "actor") -> int:
    """Return a seat of an event."""
    return read_integer(event, name, 0, 3)


def read_kyoku(event: Mapping[str, Any]) -> tuple[int, int]:
    """Return kyoku (0 = East 1) and honba of start_kyoku; ValueError also for an ``oya`` that is not the dealer."""
    wind = event.get("bakaze")
    if not isinstance(wind, str) or wind not in (*_WINDS,):
        raise ValueError(f"bakaze {wind!r:.40} is not E, S or W")
    kyoku = _WINDS.index(wind) * 4 + read_integer(event, "kyoku", 1, 4) - 1
    if "oya" in event and seat_of(event, "oya") != kyoku % 4:
        raise ValueError(f"oya is not seat {kyoku % 4}, the dealer of this kyoku")
    return kyoku, read_integer(event, "honba", 0, MAX_STICKS)


def check_call(name: str, faces: Sequence[int], called: int | None) -> None:
    """Check the faces of ``consumed``; ``called``: the face of ``pai``, None for a closed kan.

    ValueError if there are more or fewer tiles than the call has, or if together they are no run and no equal tiles.
    """
    if len(faces) != CALL_SIZES[name]:
        raise ValueError(f"consumed of {name} is not a list of {CALL_SIZES[name]} tiles")
    tiles = [*faces, *([] if called is None else [called])]
    kinds = sorted(kind_of_face(face) for face in tiles)
    steps = [kind - kinds[0] for kind in kinds]
    is_run = steps == [0, 1, 2] and kinds[0] < EAST and kinds[0] % 9 <= 6
    if not (is_run if name == "chi" else not any(steps)):
        raise ValueError(f"{name} of {', '.join(TILE_NAMES[face] for face in tiles)} is impossible")


_CALL_NAMES = {CHI_MELD: "chi", PON_MELD: "pon", MINKAN_MELD: "daiminkan", ANKAN_MELD: "ankan", KAKAN_MELD: "kakan"}


def write_mjai(log: GameLog) -> str:
    """Return the lines of a game, each ended by a newline.

    ValueError if the log cannot be played, or its rules are not Tenhou's with open tanyao: mjai cannot say others.
    """
    read_back = Rules(num_winds=min(log.rules.num_winds, 2), tenpai_ends_game=does_tenpai_end_game(log))
    refuse_untold_game(log.rules, read_back, log.id)
    events = [start_event(log.names, log.rules.num_winds), *(e for kyoku in log.kyokus for e in kyoku_events(kyoku))]
    if log.final_scores is not None:
        events.append({"type": "end_game", "scores": list(log.final_scores)})
    return "".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in events)


def refuse_untold_tables(tables: Records) -> None:
    """Raise UntoldRulesError if deals of TABLE records follow other rules than Tenhou's with red fives.

    Programs that follow a running game in mjai do not learn of them. When a game ends they need not know, nor that
    riichi is legal without 1,000 points.
    """
    tenhou = np.zeros(1, rule.RULE_VALUES)
    apply_rules(tenhou, Rules())
    flags = (tables["rule_flags"] ^ tenhou["rule_flags"]) & ~rule.RIICHI_NEEDS_POINTS
    is_told = (tables["num_winds"] <= 2) & (flags < rule.OPEN_TANYAO)
    for name in ("red_fives", "noten_payment", "max_rons", "riichi_min_tiles"):
        is_told &= tables[name] == tenhou[name]
    if not np.all(is_told):
        raise UntoldRulesError(
            "the deals do not follow Tenhou's rules with red fives, and mjai has no words for others: use "
            "tenhou() or tonpuu() with programs"
        )


def start_event(names: Sequence[str], num_winds: int) -> JsonObject:
    """Return the first event of a game of one wind (1) or two (2), with the names of the seats."""
    kyoku_first = EAST_ONLY if num_winds == 1 else TWO_WINDS
    return {"type": "start_game", "names": list(names), "kyoku_first": kyoku_first, "aka_flag": True}


def kyoku_events(kyoku: KyokuLog) -> Iterator[JsonObject]:
    """Yield the events of a finished kyoku, from start_kyoku to end_kyoku."""
    yield _start(kyoku)
    playback, result = play_kyoku(kyoku), kyoku.result
    yield from filter(None, map(_written, playback.events))
    code = int(result["result"])
    if code != codes.WIN_RESULT:
        draw = {"type": "ryukyoku", "reason": END_OF_RESULT[code].mjai, "deltas": result["deltas"].tolist()}
        yield draw | {"tenpais": [bool(value) for value in result["tenpai"]]}
    else:
        ura = _names(kyoku.wall[list(codes.URA_POSITIONS[: len(playback.indicators)])].tolist())
        for index, seat in enumerate(result["win_seat"][: int(result["num_wins"])].tolist()):
            loser, deltas = int(result["win_loser"][index]), result["win_deltas"][index].tolist()
            win = {"type": "hora", "actor": seat, "target": loser, "deltas": deltas}
            shown = {"ura_markers": ura if seat in playback.riichi_seats else []}
            yield win | (shown if kyoku.is_ura_known else {})
    yield {"type": "end_kyoku"}


def running_kyoku_events(kyoku: KyokuLog, actor: int, *, is_own_turn: bool) -> Iterator[JsonObject]:
    """Yield the events of a kyoku that goes on, up to what ``actor`` has to decide; ``kyoku.result`` is not read.

    ``is_own_turn``: the seat is to move itself, so that its draw, if it has one, is the last event.
    """
    yield _start(kyoku)
    playback = Playback(kyoku)
    if is_own_turn and not playback.is_own_turn:
        playback.draw_next(actor)
    yield from filter(None, map(_written, playback.events))


def seen_by(seat: int, event: JsonObject) -> JsonObject:
    """Return an event as a seat sees it: hands and draws of the others are ``?``."""
    if event["type"] == "start_kyoku":
        hands = [hand if owner == seat else ["?"] * len(hand) for owner, hand in enumerate(event["tehais"])]
        return event | {"tehais": hands}
    if event["type"] == "tsumo" and event["actor"] != seat:
        return event | {"pai": "?"}
    return event


def _start(kyoku: KyokuLog) -> JsonObject:
    return {
        "type": "start_kyoku",
        "bakaze": _WINDS[kyoku.kyoku // 4],
        "dora_marker": _name(int(kyoku.wall[codes.DORA_POSITIONS[0]])),
        "kyoku": kyoku.kyoku % 4 + 1,
        "honba": kyoku.honba,
        "kyotaku": kyoku.kyotaku,
        "oya": kyoku.kyoku % 4,
        "scores": list(kyoku.scores),
        "tehais": [_names(hand) for hand in dealt_hands(kyoku)],
    }


def _name(tile: int) -> str:
    return TILE_NAMES[FACE_OF_ID[tile]]


def _written(event: Event) -> JsonObject | None:
    """Return an event in the words of mjai; None for a seat that disconnects or comes back."""
    kind, seat, tile, is_tsumogiri, meld = event
    match kind:
        case "draw":
            return {"type": "tsumo", "actor": seat, "pai": _name(tile)}
        case "discard":
            return {"type": "dahai", "actor": seat, "pai": _name(tile), "tsumogiri": is_tsumogiri}
        case "riichi":
            return {"type": "reach", "actor": seat}
        case "stick":
            return {"type": "reach_accepted", "actor": seat}
        case "dora":
            return {"type": "dora", "dora_marker": _name(tile)}
        case "call":
            call: JsonObject = {"type": _CALL_NAMES[meld.type], "actor": seat}
            if meld.type == ANKAN_MELD:
                return call | {"consumed": _names(meld.tiles)}
            if meld.type == KAKAN_MELD:
                pon = (tile for tile in meld.tiles if tile != meld.added)
                return call | {"pai": _name(meld.added), "consumed": _names(pon)}
            call |= {"target": (seat + meld.source) % 4, "pai": _name(meld.called)}
            return call | {"consumed": _names(meld.hand_tiles())}
        case _:
            return None


def _names(tiles: Iterable[int]) -> list[str]:
    return [TILE_NAMES[FACE_OF_ID[tile]] for tile in tiles]
