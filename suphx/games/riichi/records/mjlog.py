"""Reads Tenhou's mjlog XML: one game text becomes a GameLog (docs/rules.md).

Strict about tags, tiles, turns and scores, indifferent to unknown attributes. Tags of the connection and of chat, and
names that cannot be read, are left out and counted (``GameLog.ignored``). The wins of a triple ron are not
in the record: ``ron3`` follows the discard with no AGARI, so the log has TRIPLE_RON_DRAW and no RON moves (all
three others won). A seat that is absent when a kyoku starts has a LEAVE mark first of all.

``SeededWalls`` has the walls that the seeds of a record give, kyoku by kyoku; a seed that cannot be used never costs
the game.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from suphx.games.riichi.records.game_log import NO_SEED, GameLog, does_tenpai_end_game
from suphx.games.riichi.records.kyoku_builder import KyokuBuilder, Win, decode_meld
from suphx.games.riichi.records.mjlog_xml import (
    SCENE,
    Attributes,
    attribute,
    changes_in,
    name_in,
    number_in,
    numbers_in,
    points_in,
    ratings_in,
    read_attributes,
    read_tokens,
    seat_in,
    tiles_in,
)
from suphx.games.riichi.records.quarantine import (
    CHIPS,
    NO_END,
    NO_KYOKU,
    NO_RED_FIVES,
    THREE_PLAYERS,
    ForeignRecord,
    RecordError,
    kind_of,
)
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.table import (
    DORA_POSITIONS,
    EXHAUSTIVE_DRAW,
    FOUR_KANS_DRAW,
    FOUR_RIICHI_DRAW,
    FOUR_WINDS_DRAW,
    NAGASHI_MANGAN,
    NINE_TERMINALS_DRAW,
    TRIPLE_RON_DRAW,
)
from suphx.games.riichi.tile import NUM_TILES
from suphx.kernel.record import U8

SEED_PREFIX = "mt19937ar-sha512-n288-base64,"
HEX_SEED_PREFIX = "mt19937ar-sha512-n288,"
KYOKU_SEED_PREFIX = "mt19937ar,"
_MAX_WORDS = 624
_SEED_BYTES = 4 * _MAX_WORDS
_HEX_WORD = re.compile(r"[0-9A-Fa-f]{1,8}", re.ASCII)
_DEAD_WALL = 14
_BLOCK_BYTES = 128
_NUM_BLOCKS = 9


_Words: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint32]]


@dataclass(frozen=True, slots=True)
class Deal:
    """What the shuffle gives for one kyoku."""

    wall: U8
    """136 tile ids in drawing order, as in table.py: Tenhou's ``yama`` read from its end."""
    dice: tuple[int, int]
    """Two dice, 0-5 each, as INIT shows them. They move no tile."""

    def with_turned_pairs(self) -> Deal:
        """Return the deal with the two tiles of every pair of the dead wall exchanged."""
        wall = self.wall.copy()
        wall[-_DEAD_WALL:] = wall[-_DEAD_WALL:].reshape(-1, 2)[:, ::-1].reshape(-1)
        return Deal(wall, self.dice)


def tenhou_deals(seed: str) -> Iterator[Deal]:
    """Yield the deal of every kyoku of a game, without end, from its ``SHUFFLE`` seed.

    ValueError, at the call, for a seed of another form than ``mt19937ar-sha512-n288-base64,`` or
    ``mt19937ar-sha512-n288,``.
    """
    if seed.startswith(HEX_SEED_PREFIX):
        return _deals(_generator(_hex_words(seed[len(HEX_SEED_PREFIX) :])))
    return _deals(_generator(_base64_words(seed)))


def kyoku_deal(shuffle: str) -> Deal:
    """Return the deal of one kyoku from the ``shuffle`` of its INIT; ValueError if it is not ``mt19937ar,`` and words.

    Checked against the records at hand: hands, dice, draws and all indicators of 3,095 kyoku.
    """
    if not shuffle.startswith(KYOKU_SEED_PREFIX):
        raise ValueError(f"shuffle begins with {shuffle[:32]!r}: only {KYOKU_SEED_PREFIX!r} is known")
    generator = _generator(_hex_words(shuffle[len(KYOKU_SEED_PREFIX) :]))
    words = np.frombuffer(generator.bytes(4 * (NUM_TILES + 1)), "<u4").tolist()
    return _deal(words).with_turned_pairs()


def _generator(words: _Words) -> np.random.RandomState:
    return np.random.RandomState(words)  # an array seeds by init_by_array, as the reference code does


def _deals(generator: np.random.RandomState) -> Iterator[Deal]:
    while True:
        data = generator.bytes(_NUM_BLOCKS * _BLOCK_BYTES)
        blocks = (data[start : start + _BLOCK_BYTES] for start in range(0, len(data), _BLOCK_BYTES))
        digest = b"".join(hashlib.sha512(block).digest() for block in blocks)
        yield _deal(np.frombuffer(digest, "<u4").tolist())


def _deal(words: list[int]) -> Deal:
    yama = list(range(NUM_TILES))
    for i in range(NUM_TILES - 1):
        j = i + words[i] % (NUM_TILES - i)
        yama[i], yama[j] = yama[j], yama[i]
    yama.reverse()
    return Deal(np.array(yama, np.uint8), (words[NUM_TILES - 1] % 6, words[NUM_TILES] % 6))


def _base64_words(seed: str) -> _Words:
    if not seed.startswith(SEED_PREFIX):
        raise ValueError(f"shuffle seed begins with {seed[:32]!r}: only {SEED_PREFIX!r} is known")
    try:
        data = base64.b64decode(seed[len(SEED_PREFIX) :], validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"shuffle seed is not base64: {error}") from error
    if len(data) != _SEED_BYTES:
        raise ValueError(f"shuffle seed has {len(data)} bytes: it must have {_SEED_BYTES}")
    return np.frombuffer(data, "<u4").astype(np.uint32)


def _hex_words(text: str) -> _Words:
    words = text.split(",")
    if len(words) > _MAX_WORDS or not all(map(_HEX_WORD.fullmatch, words)):
        raise ValueError(f"shuffle seed {text[:40]!r} is not a list of at most {_MAX_WORDS} hexadecimal words")
    return np.array([int(word, 16) for word in words], np.uint32)


UNREADABLE_SEED = "the seed cannot be read"
OTHER_SEED = "the seed gives other tiles"
FROM_THE_MIDDLE = "the record starts in the middle of a game"


class SeededWalls:
    """The seeds of one game on their way to walls.

    >>> walls = SeededWalls(seed)
    >>> walls.start_kyoku(is_start_of_game=True, shuffle="")
    >>> wall = walls.finish_kyoku(dealt, indicator)  # None if the draws of this kyoku cannot be checked
    """

    def __init__(self, seed: str | None) -> None:
        self.problem = NO_SEED
        """Why the draws cannot be checked; "" if they can."""
        self._deals: Iterator[Deal] | None = None
        self._deal: Deal | None = None
        self._has_unknown_pairs = False
        self._is_started = self._is_fitting = False
        self.read_seed(seed or "")

    def read_seed(self, seed: str) -> None:
        """Read the seed of the game; only the first one counts."""
        if not seed or self.problem != NO_SEED:
            return
        try:
            self._deals = tenhou_deals(seed)
        except ValueError:
            self.problem = UNREADABLE_SEED
            return
        self.problem = ""
        self._has_unknown_pairs = seed.startswith(HEX_SEED_PREFIX)

    def start_kyoku(self, *, is_start_of_game: bool, shuffle: str) -> None:
        """Begin a kyoku; ``shuffle`` is its own seed or "". Nobody knows how many walls came before a fragment."""
        if not self._is_started and not is_start_of_game and self._deals is not None:
            self._give_up(FROM_THE_MIDDLE)
        self._is_started = True
        if not shuffle or self.problem not in ("", NO_SEED) or self._deals is not None:
            return
        try:
            self._deal = kyoku_deal(shuffle)
        except ValueError:
            self._give_up(UNREADABLE_SEED)
        else:
            self.problem = ""

    def finish_kyoku(self, dealt: Sequence[int], indicator: int) -> U8 | None:
        """Return the wall of the kyoku, or None; ``dealt`` and ``indicator`` are those of the record.

        The first deal of a record decides whether the seed belongs to it; later ones are compared by the replay.
        """
        deal, self._deal = self._deal, None
        if self._deals is not None:
            deal = next(self._deals)
        if deal is None:
            return None
        if self._has_unknown_pairs and deal.wall[DORA_POSITIONS[0]] != indicator:
            deal = deal.with_turned_pairs()
        if not self._is_fitting and not np.array_equal(deal.wall[: len(dealt)], dealt):
            self._give_up(OTHER_SEED)
            return None
        self._is_fitting = True
        return deal.wall

    def _give_up(self, problem: str) -> None:
        self.problem = problem
        self._deals = self._deal = None


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
"""Bits 0x20 and 0x80 of the GO type -> room, of games of people in the lobby 0; others are played in no room."""

PLAYED_BY_HUMANS = 0x01
NO_RED, NO_OPEN_TANYAO, HANCHAN, SANMA = 0x02, 0x04, 0x08, 0x10
ROOM_MASK = 0xA0
DORA_YAKU, URA_YAKU, RED_YAKU = 52, 53, 54

_LIVE_TAGS = frozenset((
    SCENE, f"/{SCENE}", "CHAT", "FURITEN", "GOK", "HELO", "JOIN", "LN", "NEXTREADY", "PROF", "PXR", "RANKING", "REJOIN",
    "Z",
))  # fmt: skip
"""Tags that a game does not need: of programs that keep the live connection, and those that wrap each deal."""
_ONCE = ("GO", "SHUFFLE", "TAIKYOKU")
_MAX_KYOKU = 11  # West 4
_NUM_SC, _NUM_SC_WITH_CHIPS = 8, 16
_MAX_POINTS = 1_000_000  # hundreds
# Bounds of what one win can be worth by any rules, so that sums fit their fields
_MAX_YAKU, _MAX_FU, _MAX_DORA = 40, 999, 99
_SEAT_NAMES = ("n0", "n1", "n2", "n3")
_HAND_NAMES = ("hai0", "hai1", "hai2", "hai3")


def parse_mjlog(text: str, game_id: str, seed: str | None = None, *, is_fragment_allowed: bool = False) -> GameLog:
    """Return the game of one mjlog text (from ``<mjloggm`` to ``</mjloggm>``).

    ``seed`` is the SHUFFLE seed if it is stored apart from the text; with one, every wall is the computed wall and
    ``deal`` and ``draws`` keep what the record shows, so that the replay can compare. A seed that cannot be used is
    named in ``seed_problem``. A record that is closed properly but has no final score is refused unless
    ``is_fragment_allowed``: then its finished kyokus are returned.
    Raises RecordError with reason and position; ForeignRecord for three players, no red fives or chips.
    """
    tokens = read_tokens(text)
    reader = _GameReader(game_id, seed, is_fragment_allowed)
    index = 0
    try:
        for index, (_, letter, number, name, attributes, slash) in enumerate(tokens):  # noqa: B007 (for the position)
            if letter:
                reader.read_tile(letter, int(number), slash)
            else:
                reader.read_tag(name, attributes, slash)
        return reader.finish()
    except RecordError:
        raise
    except ValueError as error:
        offset = len(text) - sum(len(token[0]) for token in tokens[index:])
        position = f"{reader.position}, tag {index + 1}, character {offset}"
        raise RecordError(str(error), position, kind_of(error)) from error


class _GameReader:
    """Consumes tags in order; ``finish`` gives the game."""

    def __init__(self, game_id: str, seed: str | None, is_fragment_allowed: bool) -> None:
        self.position = "the head"
        self._is_fragment_allowed = is_fragment_allowed
        self._log = GameLog(id=game_id, rules=Rules(), names=("", "", "", ""))
        self._walls = SeededWalls(seed)
        self._builder: KyokuBuilder | None = None
        self._absent: list[int] = []
        self._seen: set[str] = set()
        self._is_closed = False

    def read_tile(self, letter: str, tile: int, slash: str) -> None:
        """Read a draw (T U V W) or a discard (D E F G) of seats 0-3."""
        builder = self._builder
        if builder is None or self._is_closed or not slash:
            raise ValueError(f"tag {letter}{tile} is outside a kyoku or is not closed")
        if letter >= "T":
            builder.draw(ord(letter) - 84, tile)
        else:
            builder.discard(ord(letter) - 68, tile)

    def read_tag(self, name: str, text: str | Attributes, slash: str) -> None:
        """Read any other tag."""
        if name in _LIVE_TAGS and self._seen and not self._is_closed:
            if not name.startswith("/"):
                self._log.ignored[f"tag {name}"] += 1
            return
        read = _READERS.get(name)
        if read is None:
            raise ValueError(f"unknown tag {name:.40}")
        if bool(slash) == (name in ("mjloggm", "/mjloggm")):
            raise ValueError(f"tag {name} is not closed properly")
        if self._is_closed or (name == "mjloggm") == bool(self._seen):
            raise ValueError(f"tag {name} is outside the record")
        if name in _ONCE and name in self._seen:
            raise ValueError(f"tag {name} comes twice")
        if self._log.final_scores is not None and name not in ("BYE", "UN", "/mjloggm"):
            raise ValueError(f"tag {name} follows the end of the game")
        read(self, read_attributes(name, text))
        self._seen.add(name)

    def finish(self) -> GameLog:
        """Return the game, or raise if it is not whole."""
        if not self._is_closed:
            raise RecordError("the record ends without </mjloggm>: it is truncated", self.position, NO_END)
        if self._log.final_scores is None and not self._is_fragment_allowed:
            raise RecordError("the record ends before the game: the last kyoku has no owari", self.position, NO_END)
        if not self._log.kyokus:
            raise RecordError("the record has no finished kyoku", self.position, NO_KYOKU)
        self._log.seed_problem = self._walls.problem
        self._log.rules = replace(self._log.rules, tenpai_ends_game=does_tenpai_end_game(self._log))
        return self._log

    # ---- the head

    def read_root(self, attributes: Attributes) -> None:
        """Read ``mjloggm``: its version does not matter."""

    def read_shuffle(self, attributes: Attributes) -> None:
        """Read SHUFFLE: the seed, unless it was given apart."""
        self._walls.read_seed(attributes.get("seed", ""))

    def read_go(self, attributes: Attributes) -> None:
        """Read GO: room and rules from the bits of the type."""
        kind = number_in(attributes, "type", 0, 0xFFFF)
        if kind & SANMA:
            raise ForeignRecord("a game of three players", "tag GO", THREE_PLAYERS)
        if kind & NO_RED:
            raise ForeignRecord("a game without red fives", "tag GO", NO_RED_FIVES)
        is_ranked = kind & PLAYED_BY_HUMANS and attributes.get("lobby", "0").strip() == "0"
        self._log.room = ROOMS[kind & ROOM_MASK] if is_ranked else ""
        self._log.rules = Rules(num_winds=2 if kind & HANCHAN else 1, open_tanyao=not kind & NO_OPEN_TANYAO)

    def read_un(self, attributes: Attributes) -> None:
        """Read UN: all players at the head, later the one who comes back."""
        if not self._seen & {"UN", "INIT"}:
            first, second, third, fourth = (self._name(attribute(attributes, name)) for name in _SEAT_NAMES)
            self._log.names = (first, second, third, fourth)
            if "dan" in attributes:
                self._log.dans = tuple(numbers_in(attributes, "dan", 0, 1000, 4))
            if "rate" in attributes:
                self._log.ratings = ratings_in(attributes["rate"])
            return
        back = [seat for seat, name in enumerate(_SEAT_NAMES) if name in attributes]
        if not back:
            raise ValueError("tag UN names no seat that comes back")
        for seat in back:
            self._come_back(seat)

    def _name(self, text: str) -> str:
        """Return a player's name; "" if it cannot be read."""
        try:
            return name_in(text)
        except ValueError:
            self._log.ignored["a name that is not UTF-8"] += 1
            return ""

    def read_taikyoku(self, attributes: Attributes) -> None:
        """Read TAIKYOKU: seat 0 deals first."""
        if number_in(attributes, "oya", 0, 3) != 0:
            raise ValueError("the first dealer is not seat 0")

    def read_bye(self, attributes: Attributes) -> None:
        """Read BYE: a seat disconnects; twice in a row happens and means nothing more."""
        seat = seat_in(attributes, "who")
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
        if "GO" not in self._seen:
            raise ValueError("tag INIT comes before GO, which has the rules of the game")
        self._finish_kyoku()
        kyoku, honba, kyotaku, first_die, second_die, indicator = numbers_in(attributes, "seed", 0, 999, 6)
        if kyoku > _MAX_KYOKU or number_in(attributes, "oya", 0, 3) != kyoku % 4:
            raise ValueError(f"kyoku {kyoku} is not East 1 to West 4, or its dealer is not seat {kyoku % 4}")
        if first_die > 5 or second_die > 5:
            raise ValueError(f"dice {first_die}, {second_die} are not 0 to 5")
        self.position = f"kyoku {kyoku} honba {honba}"
        self._walls.start_kyoku(is_start_of_game=not (kyoku or honba), shuffle=attributes.get("shuffle", ""))
        scores = points_in(attributes, "ten")
        if self._builder is not None and scores != self._builder.scores:
            raise ValueError(f"the kyoku starts with {scores}, but the one before ended with {self._builder.scores}")
        self._builder = KyokuBuilder(
            kyoku=kyoku,
            honba=honba,
            kyotaku=kyotaku,
            scores=scores,
            hands=[tiles_in(attributes, name) for name in _HAND_NAMES],
            indicator=indicator,
            dice=(first_die, second_die),
            absent=self._absent,
        )

    def read_call(self, attributes: Attributes) -> None:
        """Read N: a call."""
        self._playing.call(seat_in(attributes, "who"), decode_meld(number_in(attributes, "m", 0, 0xFFFF)))

    def read_dora(self, attributes: Attributes) -> None:
        """Read DORA: a kan dora indicator."""
        self._playing.reveal(number_in(attributes, "hai", 0, 135))

    def read_reach(self, attributes: Attributes) -> None:
        """Read REACH: step 1 before the discard, step 2 when the stick is paid."""
        seat = seat_in(attributes, "who")
        if number_in(attributes, "step", 1, 2) == 1:
            self._playing.declare_riichi(seat)
            return
        self._playing.pay_stick(seat)
        if "ten" in attributes:
            self._compare_scores(points_in(attributes, "ten"))

    def read_agari(self, attributes: Attributes) -> None:
        """Read AGARI: a win."""
        builder = self._running
        self._compare_table(attributes)
        seat = seat_in(attributes, "who")
        win = _win(attributes, seat)
        if tiles_in(attributes, "doraHai") != builder.indicators:
            raise ValueError(f"doraHai is not the list of indicators turned over: {builder.indicators}")
        hand = sorted(builder.hand(seat) if win.loser == seat else [*builder.hand(seat), win.tile])
        if sorted(tiles_in(attributes, "hai")) != hand:
            raise ValueError(f"hai is not the hand of seat {seat}: {hand}")
        builder.win(win)
        self._read_owari(attributes)

    def read_ryuukyoku(self, attributes: Attributes) -> None:
        """Read RYUUKYOKU: a drawn kyoku; seats whose hand is shown are tenpai at an exhaustive draw."""
        builder = self._playing
        self._compare_table(attributes)
        name = attributes.get("type", "")
        if name not in DRAW_TYPES:
            raise ValueError(f"RYUUKYOKU type {name[:40]!r} is not one of {', '.join(filter(None, DRAW_TYPES))}")
        result = DRAW_TYPES[name]
        shown = [int(hand in attributes) for hand in _HAND_NAMES]
        for seat, hand in enumerate(_HAND_NAMES):
            if shown[seat] and sorted(tiles_in(attributes, hand)) != builder.hand(seat):
                raise ValueError(f"{hand} is not the hand of seat {seat}: {builder.hand(seat)}")
        is_tenpai_shown = result in (EXHAUSTIVE_DRAW, NAGASHI_MANGAN)
        builder.end_in_draw(result, changes_in(attributes), shown if is_tenpai_shown else (0, 0, 0, 0))
        self._read_owari(attributes)

    def read_end(self, attributes: Attributes) -> None:
        """Read ``/mjloggm``: the record is complete."""
        if self._builder is not None and not self._builder.is_over:
            if not self._is_fragment_allowed:
                raise RecordError("the record ends before the game: the last kyoku has no end", self.position, NO_END)
            self._builder = None
        self._finish_kyoku()
        self._is_closed = True

    @property
    def _running(self) -> KyokuBuilder:
        if self._builder is None:
            raise ValueError("the tag comes before the first INIT")
        return self._builder

    @property
    def _playing(self) -> KyokuBuilder:
        builder = self._running
        if builder.is_over:
            raise ValueError("the tag comes after the end of the kyoku")
        return builder

    def _compare_scores(self, scores: list[int]) -> None:
        if scores != self._running.scores:
            raise ValueError(f"scores {scores} are recorded, but sticks and wins so far give {self._running.scores}")

    def _compare_table(self, attributes: Attributes) -> None:
        """Compare honba, sticks and scores of an end tag with what went before."""
        _, kyotaku = numbers_in(attributes, "ba", 0, 999, 2)
        if attribute(attributes, "sc").count(",") == _NUM_SC_WITH_CHIPS - 1:
            raise ForeignRecord("a game with chips: sc has 16 numbers instead of 8", self.position, CHIPS)
        scores = numbers_in(attributes, "sc", -_MAX_POINTS, _MAX_POINTS, _NUM_SC)[::2]
        self._compare_scores([100 * value for value in scores])
        if not self._running.is_over and kyotaku != self._running.kyotaku:
            raise ValueError(f"{kyotaku} sticks are recorded, but {self._running.kyotaku} lie on the table")

    def _read_owari(self, attributes: Attributes) -> None:
        if "owari" not in attributes:
            return
        parts = attributes["owari"].split(",")
        if len(parts) != 8:
            raise ValueError(f"owari has {len(parts)} numbers instead of 8")
        first, second, third, fourth = points_in({"owari": ",".join(parts[::2])}, "owari")
        self._log.final_scores = (first, second, third, fourth)

    def _finish_kyoku(self) -> None:
        if self._builder is None:
            return
        wall = self._walls.finish_kyoku(self._builder.dealt, self._builder.indicators[0])
        self._log.kyokus.append(self._builder.finish(wall))


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


def _win(attributes: Attributes, seat: int) -> Win:
    han, yaku, dora = _yaku(attributes)
    fu, points, _ = numbers_in(attributes, "ten", 0, _MAX_POINTS, 3)
    yakuman = numbers_in(attributes, "yakuman", 0, 51, None) if "yakuman" in attributes else []
    if fu > _MAX_FU or len(yakuman) > _MAX_YAKU:
        raise ValueError(f"a win of {fu} fu and {len(yakuman)} yakuman is impossible")
    return Win(
        seat=seat,
        loser=seat_in(attributes, "fromWho"),
        tile=number_in(attributes, "machi", 0, 135),
        deltas=changes_in(attributes),
        liable=seat_in(attributes, "paoWho") if "paoWho" in attributes else -1,
        han=0 if yakuman else han,
        fu=0 if yakuman else fu,
        yakuman=len(yakuman),
        dora=dora[DORA_YAKU],
        red=dora[RED_YAKU],
        ura=dora[URA_YAKU],
        yaku=yaku | sum(1 << number for number in set(yakuman)),
        points=points,
        ura_indicators=tiles_in(attributes, "doraHaiUra") if "doraHaiUra" in attributes else (),
    )


def _yaku(attributes: Attributes) -> tuple[int, int, dict[int, int]]:
    """Return the han of all entries of ``yaku``, the bit set without dora, and the han of the three dora kinds."""
    dora = {DORA_YAKU: 0, URA_YAKU: 0, RED_YAKU: 0}
    if "yaku" not in attributes:
        attribute(attributes, "yakuman")
        return 0, 0, dora
    numbers = numbers_in(attributes, "yaku", 0, RED_YAKU, None)
    if len(numbers) % 2 or len(numbers) > 2 * _MAX_YAKU:
        raise ValueError(f"yaku is not a list of at most {_MAX_YAKU} pairs: number, han")
    bits = 0
    for number, han in zip(numbers[::2], numbers[1::2], strict=True):
        if number in dora:
            dora[number] += han
        else:
            bits |= 1 << number
    if max(dora.values()) > _MAX_DORA:
        raise ValueError(f"a win with {max(dora.values())} dora is impossible")
    return sum(numbers[1::2]), bits, dora
