"""Reads Tenhou's mjlog XML: one game text becomes a GameLog (riichi.md, Real records).

Strict about tags, tiles, turns and scores, indifferent to attributes that it does not know. What a triple ron says is
not in the record: ``ron3`` stands after the discard with no AGARI, so the log has TRIPLE_RON_DRAW and no RON moves (all
three others said ron). A seat that is absent when a kyoku starts has a LEAVE mark first of all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NoReturn
from urllib.parse import unquote

from suphx.riichi.gamelog import GameLog, KyokuLog
from suphx.riichi.kyoku_builder import KyokuBuilder, Win
from suphx.riichi.mjlog_meld import decode_meld
from suphx.riichi.record_error import ForeignRecord, RecordError
from suphx.riichi.rules import Rules
from suphx.riichi.table import (
    EXHAUSTIVE_DRAW,
    FOUR_KANS_DRAW,
    FOUR_RIICHI_DRAW,
    FOUR_WINDS_DRAW,
    NAGASHI_MANGAN,
    NINE_TERMINALS_DRAW,
    TRIPLE_RON_DRAW,
)
from suphx.riichi.tenhou_wall import SEED_PREFIX, Deal, tenhou_deals

DRAW_TYPES = {
    "": EXHAUSTIVE_DRAW,
    "nm": NAGASHI_MANGAN,
    "yao9": NINE_TERMINALS_DRAW,
    "kaze4": FOUR_WINDS_DRAW,
    "reach4": FOUR_RIICHI_DRAW,
    "kan4": FOUR_KANS_DRAW,
    "ron3": TRIPLE_RON_DRAW,
}
"""``type`` of RYUUKYOKU -> result code."""

ROOMS = {0: "general", 0x80: "advanced", 0x20: "expert", 0xA0: "phoenix"}
"""Bits 0x20 and 0x80 of the GO type -> room."""

NO_RED, NO_OPEN_TANYAO, HANCHAN, THREE_PLAYERS = 0x02, 0x04, 0x08, 0x10
ROOM_MASK = 0xA0
DORA_YAKU, URA_YAKU, RED_YAKU = 52, 53, 54

_OLD_SEED_PREFIX = "mt19937ar,"  # 2009: a seed a kyoku, shuffled in a way that was never published in full
_MAX_KYOKU = 11  # West 4
_MAX_POINTS = 10_000_000
_SEAT_NAMES = ("n0", "n1", "n2", "n3")
_HAND_NAMES = ("hai0", "hai1", "hai2", "hai3")

_PROLOG = re.compile(r"\ufeff?\s*(?:<\?xml[^<>]*\?>)?\s*")
_TAG = re.compile(
    r"""(<(?:([DEFGTUVW])([0-9]{1,3})|(/?[A-Za-z]+)((?:\s+[A-Za-z0-9]+="[^"<>]*")*))\s*(/?)>\s*)""", re.ASCII
)
_ATTRIBUTE = re.compile(r'([A-Za-z0-9]+)="([^"]*)"')
_NUMBERS = re.compile(r"-?[0-9]{1,9}(?:,-?[0-9]{1,9})*", re.ASCII)

Attributes = dict[str, str]
_Token = tuple[str, str, str, str, str, str]


def parse_mjlog(text: str, game_id: str, seed: str | None = None, *, is_fragment_allowed: bool = False) -> GameLog:
    """Return the game of one mjlog text (from ``<mjloggm`` to ``</mjloggm>``).

    ``seed`` is the SHUFFLE seed if it is stored apart from the text; with one, every wall is the computed wall and
    ``deal`` and ``draws`` keep what the record shows, so that the replay can compare. A record that is closed properly
    but has no final score is refused unless ``is_fragment_allowed``: then its finished kyokus are returned.
    Raises RecordError with reason and position; ForeignRecord for three players or no red fives.
    """
    tokens = _tokens(text)
    reader = _GameReader(game_id, seed, is_fragment_allowed)
    index = 0
    try:
        for index, (_, letter, number, name, attributes, slash) in enumerate(tokens):
            if letter:
                reader.read_tile(letter, int(number), slash)
            else:
                reader.read_tag(name, attributes, slash)
        return reader.finish()
    except RecordError:
        raise
    except ValueError as error:
        offset = len(text) - sum(len(token[0]) for token in tokens[index:])
        raise RecordError(str(error), f"{reader.place}, tag {index + 1}, character {offset}") from error


def _tokens(text: str) -> list[_Token]:
    prolog = _PROLOG.match(text)
    start = prolog.end() if prolog else 0
    tokens: list[_Token] = _TAG.findall(text, start)
    if start + sum(len(token[0]) for token in tokens) != len(text):
        _refuse_gap(text, start)
    if not tokens:
        raise RecordError("the record is empty", "the start")
    return tokens


def _refuse_gap(text: str, end: int) -> NoReturn:
    """Raise for the first piece of text that is no tag."""
    for match in _TAG.finditer(text, end):
        if match.start() != end:
            break
        end = match.end()
    raise RecordError(f"{text[end : end + 40]!r} is not a tag", f"character {end}")


class _GameReader:
    """Consumes tags in order; ``finish`` gives the game."""

    def __init__(self, game_id: str, seed: str | None, is_fragment_allowed: bool) -> None:
        self.place = "the head"
        self._is_fragment_allowed = is_fragment_allowed
        self._log = GameLog(id=game_id, rules=Rules(), names=("", "", "", ""))
        self._deals: Iterator[Deal] | None = None
        self._builder: KyokuBuilder | None = None
        self._absent: list[int] = []
        self._seen: set[str] = set()
        self._is_closed = False
        if seed:
            self._deals = _deals(seed)

    def read_tile(self, letter: str, tile: int, slash: str) -> None:
        """Read a draw (T U V W) or a discard (D E F G) of seats 0-3."""
        builder = self._builder
        if builder is None or self._is_closed or not slash:
            raise ValueError(f"tag {letter}{tile} stands outside a kyoku or is not closed")
        if letter >= "T":
            builder.draw(ord(letter) - 84, tile)
        else:
            builder.discard(ord(letter) - 68, tile)

    def read_tag(self, name: str, text: str, slash: str) -> None:
        """Read any other tag."""
        read = _READERS.get(name)
        if read is None:
            raise ValueError(f"unknown tag {name}")
        if bool(slash) == (name in ("mjloggm", "/mjloggm")):
            raise ValueError(f"tag {name} is not closed properly")
        if self._is_closed or (name == "mjloggm") == bool(self._seen):
            raise ValueError(f"tag {name} stands outside the record")
        if self._log.final_scores is not None and name not in ("BYE", "UN", "/mjloggm"):
            raise ValueError(f"tag {name} follows the end of the game")
        pairs = _ATTRIBUTE.findall(text)
        attributes: Attributes = dict(pairs)
        if len(attributes) != len(pairs):
            raise ValueError(f"tag {name} has an attribute twice")
        read(self, attributes)
        self._seen.add(name)

    def finish(self) -> GameLog:
        """Return the game, or raise if it is not whole."""
        if not self._is_closed:
            raise ValueError("the record ends without </mjloggm>: it is truncated")
        if self._log.final_scores is None and not self._is_fragment_allowed:
            raise ValueError("the record ends before the game: the last kyoku has no owari")
        if not self._log.kyokus:
            raise ValueError("the record has no finished kyoku")
        return self._log

    # ---- the head

    def read_root(self, attributes: Attributes) -> None:
        """Read ``mjloggm``: its version does not matter."""

    def read_shuffle(self, attributes: Attributes) -> None:
        """Read SHUFFLE: the seed, unless it was given apart."""
        seed = attributes.get("seed", "")
        if seed and self._deals is None:
            self._deals = _deals(seed)

    def read_go(self, attributes: Attributes) -> None:
        """Read GO: room and rules from the bits of the type."""
        kind = _number(attributes, "type", 0, 0xFFFF)
        if kind & THREE_PLAYERS:
            raise ForeignRecord("a game of three players", "tag GO")
        if kind & NO_RED:
            raise ForeignRecord("a game without red fives", "tag GO")
        self._log.room = ROOMS[kind & ROOM_MASK]
        self._log.rules = Rules(num_winds=2 if kind & HANCHAN else 1, open_tanyao=not kind & NO_OPEN_TANYAO)

    def read_un(self, attributes: Attributes) -> None:
        """Read UN: all players at the head, later the one who comes back."""
        if "UN" not in self._seen:
            first, second, third, fourth = (_name(_attribute(attributes, name)) for name in _SEAT_NAMES)
            self._log.names = (first, second, third, fourth)
            if "dan" in attributes:
                self._log.dans = tuple(_numbers(attributes, "dan", 0, 1000, 4))
            if "rate" in attributes:
                self._log.ratings = _ratings(attributes["rate"])
            return
        back = [seat for seat, name in enumerate(_SEAT_NAMES) if name in attributes]
        if not back:
            raise ValueError("tag UN names no seat that comes back")
        for seat in back:
            self._come_back(seat)

    def read_taikyoku(self, attributes: Attributes) -> None:
        """Read TAIKYOKU: seat 0 deals first."""
        if _number(attributes, "oya", 0, 3) != 0:
            raise ValueError("the first dealer is not seat 0")

    def read_bye(self, attributes: Attributes) -> None:
        """Read BYE: a seat disconnects; twice in a row happens and means nothing more."""
        seat = _seat(attributes, "who")
        if seat in self._absent:
            return
        self._absent.append(seat)
        if self._builder is not None and not self._builder.is_over:
            self._builder.leave(seat)

    def _come_back(self, seat: int) -> None:
        if seat not in self._absent:
            raise ValueError(f"seat {seat} comes back without having left")
        self._absent.remove(seat)
        if self._builder is not None and not self._builder.is_over:
            self._builder.come_back(seat)

    # ---- the kyoku

    def read_init(self, attributes: Attributes) -> None:
        """Read INIT: the deal."""
        if not {"GO", "UN", "TAIKYOKU"} <= self._seen:
            raise ValueError("tag INIT stands before GO, UN and TAIKYOKU")
        self._finish_kyoku()
        kyoku, honba, kyotaku, first_die, second_die, indicator = _numbers(attributes, "seed", 0, 999, 6)
        if kyoku > _MAX_KYOKU or _number(attributes, "oya", 0, 3) != kyoku % 4:
            raise ValueError(f"kyoku {kyoku} is not East 1 to West 4, or its dealer is not seat {kyoku % 4}")
        if first_die > 5 or second_die > 5:
            raise ValueError(f"dice {first_die}, {second_die} are not 0 to 5")
        self.place = f"kyoku {kyoku} honba {honba}"
        if (kyoku or honba) and "INIT" not in self._seen:
            self._deals = None  # a fragment: nobody knows how many walls came before
        scores = _points(attributes, "ten")
        if self._builder is not None and scores != self._builder.scores:
            raise ValueError(f"the kyoku starts with {scores}, but the one before ended with {self._builder.scores}")
        self._builder = KyokuBuilder(
            kyoku=kyoku,
            honba=honba,
            kyotaku=kyotaku,
            scores=scores,
            hands=[_tiles(attributes, name) for name in _HAND_NAMES],
            indicator=indicator,
            dice=(first_die, second_die),
            absent=self._absent,
        )

    def read_call(self, attributes: Attributes) -> None:
        """Read N: a call."""
        self._playing.call(_seat(attributes, "who"), decode_meld(_number(attributes, "m", 0, 0xFFFF)))

    def read_dora(self, attributes: Attributes) -> None:
        """Read DORA: a kan dora indicator."""
        self._playing.reveal(_number(attributes, "hai", 0, 135))

    def read_reach(self, attributes: Attributes) -> None:
        """Read REACH: step 1 before the discard, step 2 when the stick is paid."""
        seat = _seat(attributes, "who")
        if _number(attributes, "step", 1, 2) == 1:
            self._playing.declare_riichi(seat)
            return
        self._playing.pay_stick(seat)
        if "ten" in attributes:
            self._compare_scores(_points(attributes, "ten"))

    def read_agari(self, attributes: Attributes) -> None:
        """Read AGARI: a win."""
        builder = self._running
        self._compare_table(attributes)
        seat = _seat(attributes, "who")
        win = _win(attributes, seat)
        if _tiles(attributes, "doraHai") != builder.indicators:
            raise ValueError(f"doraHai is not the list of indicators turned over: {builder.indicators}")
        hand = sorted(builder.hand(seat) if win.loser == seat else [*builder.hand(seat), win.tile])
        if sorted(_tiles(attributes, "hai")) != hand:
            raise ValueError(f"hai is not the hand of seat {seat}: {hand}")
        builder.win(win)
        self._read_owari(attributes)

    def read_ryuukyoku(self, attributes: Attributes) -> None:
        """Read RYUUKYOKU: a drawn kyoku; seats whose hand is shown are tenpai at an exhaustive draw."""
        builder = self._playing
        self._compare_table(attributes)
        name = attributes.get("type", "")
        if name not in DRAW_TYPES:
            raise ValueError(f"RYUUKYOKU type {name!r} is not one of {', '.join(filter(None, DRAW_TYPES))}")
        result = DRAW_TYPES[name]
        shown = [int(hand in attributes) for hand in _HAND_NAMES]
        for seat, hand in enumerate(_HAND_NAMES):
            if shown[seat] and sorted(_tiles(attributes, hand)) != builder.hand(seat):
                raise ValueError(f"{hand} is not the hand of seat {seat}: {builder.hand(seat)}")
        is_tenpai_shown = result in (EXHAUSTIVE_DRAW, NAGASHI_MANGAN)
        builder.end_in_draw(result, _changes(attributes), shown if is_tenpai_shown else (0, 0, 0, 0))
        self._read_owari(attributes)

    def read_end(self, attributes: Attributes) -> None:
        """Read ``/mjloggm``: the record is complete."""
        if self._builder is not None and not self._builder.is_over and self._is_fragment_allowed:
            self._builder = None
        self._finish_kyoku()
        self._is_closed = True

    @property
    def _running(self) -> KyokuBuilder:
        if self._builder is None:
            raise ValueError("the tag stands before the first INIT")
        return self._builder

    @property
    def _playing(self) -> KyokuBuilder:
        builder = self._running
        if builder.is_over:
            raise ValueError("the tag stands after the end of the kyoku")
        return builder

    def _compare_scores(self, scores: list[int]) -> None:
        if scores != self._running.scores:
            raise ValueError(f"scores {scores} are recorded, but the sticks and wins so far give {self._running.scores}")

    def _compare_table(self, attributes: Attributes) -> None:
        """Compare honba, sticks and scores of an end tag with what went before."""
        _, kyotaku = _numbers(attributes, "ba", 0, 999, 2)
        self._compare_scores([100 * value for value in _numbers(attributes, "sc", -_MAX_POINTS, _MAX_POINTS, 8)[::2]])
        if not self._running.is_over and kyotaku != self._running.kyotaku:
            raise ValueError(f"{kyotaku} sticks are recorded, but {self._running.kyotaku} lie on the table")

    def _read_owari(self, attributes: Attributes) -> None:
        if "owari" not in attributes:
            return
        parts = attributes["owari"].split(",")
        if len(parts) != 8:
            raise ValueError(f"owari has {len(parts)} numbers instead of 8")
        first, second, third, fourth = _points({"owari": ",".join(parts[::2])}, "owari")
        self._log.final_scores = (first, second, third, fourth)

    def _finish_kyoku(self) -> None:
        if self._builder is None:
            return
        deal = next(self._deals) if self._deals is not None else None
        kyoku: KyokuLog = self._builder.finish(deal.wall if deal is not None else None)
        self._log.kyokus.append(kyoku)


_READERS = {
    "mjloggm": _GameReader.read_root,
    "SHUFFLE": _GameReader.read_shuffle,
    "GO": _GameReader.read_go,
    "UN": _GameReader.read_un,
    "TAIKYOKU": _GameReader.read_taikyoku,
    "BYE": _GameReader.read_bye,
    "INIT": _GameReader.read_init,
    "N": _GameReader.read_call,
    "DORA": _GameReader.read_dora,
    "REACH": _GameReader.read_reach,
    "AGARI": _GameReader.read_agari,
    "RYUUKYOKU": _GameReader.read_ryuukyoku,
    "/mjloggm": _GameReader.read_end,
}


def _deals(seed: str) -> Iterator[Deal] | None:
    """Return the walls of a seed; None for the old kind, which cannot be computed."""
    if seed.startswith(_OLD_SEED_PREFIX) and not seed.startswith(SEED_PREFIX):
        return None
    try:
        return tenhou_deals(seed)
    except ValueError as error:
        raise RecordError(str(error), "the shuffle seed") from error


def _win(attributes: Attributes, seat: int) -> Win:
    han, yaku, dora = _yaku(attributes)
    fu, points, _ = _numbers(attributes, "ten", 0, _MAX_POINTS, 3)
    yakuman = _numbers(attributes, "yakuman", 0, 51, None) if "yakuman" in attributes else []
    return Win(
        seat=seat,
        loser=_seat(attributes, "fromWho"),
        tile=_number(attributes, "machi", 0, 135),
        deltas=_changes(attributes),
        liable=_seat(attributes, "paoWho") if "paoWho" in attributes else -1,
        han=0 if yakuman else han,
        fu=0 if yakuman else fu,
        yakuman=len(yakuman),
        dora=dora[DORA_YAKU],
        red=dora[RED_YAKU],
        ura=dora[URA_YAKU],
        yaku=yaku | sum(1 << number for number in set(yakuman)),
        points=points,
        ura_indicators=_tiles(attributes, "doraHaiUra") if "doraHaiUra" in attributes else (),
    )


def _yaku(attributes: Attributes) -> tuple[int, int, dict[int, int]]:
    """Return the han of all entries of ``yaku``, the bit set without dora, and the han of the three dora kinds."""
    dora = {DORA_YAKU: 0, URA_YAKU: 0, RED_YAKU: 0}
    if "yaku" not in attributes:
        _attribute(attributes, "yakuman")
        return 0, 0, dora
    numbers = _numbers(attributes, "yaku", 0, RED_YAKU, None)
    if len(numbers) % 2:
        raise ValueError("yaku is not a list of pairs: number, han")
    bits = 0
    for number, han in zip(numbers[::2], numbers[1::2], strict=True):
        if number in dora:
            dora[number] += han
        else:
            bits |= 1 << number
    return sum(numbers[1::2]), bits, dora


def _attribute(attributes: Attributes, name: str) -> str:
    if name not in attributes:
        raise ValueError(f"attribute {name} is missing")
    return attributes[name]


def _numbers(attributes: Attributes, name: str, low: int, high: int, count: int | None) -> list[int]:
    """Return the integers of a comma-separated attribute, each in ``low``-``high``; ``count`` of them if given."""
    text = _attribute(attributes, name)
    if not _NUMBERS.fullmatch(text):
        raise ValueError(f"{name}={text[:40]!r} is not a list of whole numbers")
    numbers = [int(part) for part in text.split(",")]
    if count is not None and len(numbers) != count:
        raise ValueError(f"{name} has {len(numbers)} numbers instead of {count}")
    if min(numbers) < low or max(numbers) > high:
        raise ValueError(f"{name}={text[:40]!r} has a number outside {low} to {high}")
    return numbers


def _number(attributes: Attributes, name: str, low: int, high: int) -> int:
    return _numbers(attributes, name, low, high, 1)[0]


def _seat(attributes: Attributes, name: str) -> int:
    return _number(attributes, name, 0, 3)


def _tiles(attributes: Attributes, name: str) -> list[int]:
    return _numbers(attributes, name, 0, 135, None)


def _points(attributes: Attributes, name: str) -> list[int]:
    """Return four scores in points; records count hundreds."""
    return [100 * value for value in _numbers(attributes, name, -_MAX_POINTS, _MAX_POINTS, 4)]


def _changes(attributes: Attributes) -> list[int]:
    """Return the four score changes of ``sc`` in points."""
    return [100 * value for value in _numbers(attributes, "sc", -_MAX_POINTS, _MAX_POINTS, 8)[1::2]]


def _ratings(text: str) -> tuple[float, ...]:
    try:
        ratings = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise ValueError(f"rate={text[:40]!r} is not a list of numbers") from error
    if len(ratings) != 4 or not all(math.isfinite(rating) for rating in ratings):
        raise ValueError(f"rate={text[:40]!r} is not four numbers")
    return ratings


def _name(text: str) -> str:
    """Return a player's name; Tenhou writes it as percent-encoded UTF-8."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise ValueError(f"name {text[:40]!r} is not UTF-8: {error.reason}") from error
