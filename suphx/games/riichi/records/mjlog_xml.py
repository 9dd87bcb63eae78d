"""The tags of an mjlog record, read with Python's XML parser (expat), and the values of their attributes.

Comments, any quotes and line breaks, and escaped characters are XML's own. A document type is refused, so that a record
cannot define entities.

The 16-bit code of a meld (attribute ``m`` of the tag N) has in bits 0-1 the relative seat of the source (0 = own tiles,
3 = kamicha). Then, by the lowest set flag: chi 0x04, pon 0x08, kakan 0x10, three-player nuki 0x20, none of them =
closed or open kan.
"""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import product
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote
from xml.parsers import expat

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, NUM_KINDS, PON_MELD
from suphx.games.riichi.records.game_log import UNREADABLE_CHARACTERS
from suphx.games.riichi.records.kyoku_builder import KAMICHA, Meld, quad_of
from suphx.games.riichi.records.quarantine import RecordError

Attributes: TypeAlias = dict[str, str]

MAX_TAGS = 100_000  # of one record; a long game has 7,000
SCENE = "Scene"  # the tag that some programs put around each deal

_MAX_POINTS = 1_000_000  # hundreds
_MAX_SHOWN = 40
_XML_TAG = re.compile(rb"<[A-Za-z][^<>]*>")
_XML_ATTRIBUTE = re.compile(rb"""(?<![A-Za-z0-9])([A-Za-z0-9]++)\s*+=\s*+("[^"]*+"|'[^']*+')""")
_TWICE = expat.errors.codes[expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE]
_CUT_OFF = expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN]
_NUMBERS = re.compile(r"-?[0-9]{1,9}(?:,-?[0-9]{1,9})*", re.ASCII)


class Tag(NamedTuple):
    """One tag; the end of the record is the tag ``/mjloggm``."""

    place: int  # the byte at which it begins
    name: str
    attributes: Attributes


def read_tags(text: str) -> list[Tag]:
    """Return the tags of a record; one that ends before its last tag gives the tags that it has.

    RecordError for what else is not well-formed XML, has a document type, text between tags, or a tag in a tag. Real
    records have attributes twice with the same value, which XML forbids.
    """
    if text.count("<") > MAX_TAGS:
        raise RecordError(f"the record has over {MAX_TAGS:,} tags: a long game has 7,000", "the start")
    data = text.lstrip("\ufeff \t\r\n").encode("utf-8", "replace")
    if not data:
        raise RecordError("the record is empty", "the start")
    reader = _TagReader(data)
    if reader.error == _TWICE:
        reader = _TagReader(_XML_TAG.sub(_without_repeated, data))
    reader.check()
    return reader.tags


class _TagReader:
    """Usage: ``tags = _TagReader(data).tags``."""

    def __init__(self, data: bytes) -> None:
        self.tags: list[Tag] = []
        self.error = 0
        self._data = data
        self._depth = 0
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            self.error = error.code

    def check(self) -> None:
        """Raise RecordError unless only the end of the record is missing; the reader of the tags reports that."""
        start = self._parser.ErrorByteIndex
        is_cut_off = start >= len(self._data) or self.error == _CUT_OFF
        if self.error and not (self.tags and is_cut_off):
            shown = self._data[start : start + 4 * _MAX_SHOWN].decode("utf-8", "replace")[:_MAX_SHOWN]
            raise RecordError(f"{shown!r} is not a tag (XML: {expat.ErrorString(self.error)})", f"byte {start}")

    def _start(self, name: str, attributes: Attributes) -> None:
        self._depth += name != SCENE
        if self._depth > 2:
            raise self._refused(f"tag {name:.{_MAX_SHOWN}} is inside tag {self.tags[-1].name:.{_MAX_SHOWN}}")
        self.tags.append(Tag(self._parser.CurrentByteIndex, name, attributes))

    def _end(self, name: str) -> None:
        self._depth -= name != SCENE
        if self._depth == 0:
            self.tags.append(Tag(self._parser.CurrentByteIndex, f"/{name}", {}))

    def _text(self, text: str) -> None:
        if not text.isspace():
            raise self._refused(f"{text.strip()[:_MAX_SHOWN]!r} is not a tag")

    def _doctype(self, *_: object) -> None:
        raise self._refused("the record has a document type: remove its <!DOCTYPE …>")

    def _refused(self, reason: str) -> RecordError:
        return RecordError(reason, f"byte {self._parser.CurrentByteIndex}")


def _without_repeated(tag: re.Match[bytes]) -> bytes:
    """Blank out the attributes that a tag has a second time with the same value."""
    seen: set[tuple[bytes, bytes]] = set()

    def once(attribute: re.Match[bytes]) -> bytes:
        pair = (attribute[1], attribute[2][1:-1])
        if pair in seen:
            return b" " * len(attribute[0])
        seen.add(pair)
        return attribute[0]

    return _XML_ATTRIBUTE.sub(once, tag[0])


def attribute(attributes: Attributes, name: str) -> str:
    """Return an attribute that must be there."""
    if name not in attributes:
        raise ValueError(f"attribute {name} is missing")
    return attributes[name]


def numbers_in(attributes: Attributes, name: str, low: int, high: int, count: int | None) -> list[int]:
    """Return the integers of a comma-separated attribute, each in ``low``-``high``; ``count`` of them if given."""
    text = attribute(attributes, name)
    if not _NUMBERS.fullmatch(text):
        raise ValueError(f"{name}={text[:40]!r} is not a list of whole numbers")
    numbers = [int(part) for part in text.split(",")]
    if count is not None and len(numbers) != count:
        raise ValueError(f"{name} has {len(numbers)} numbers instead of {count}")
    if min(numbers) < low or max(numbers) > high:
        raise ValueError(f"{name}={text[:40]!r} has a number outside {low} to {high}")
    return numbers


def number_in(attributes: Attributes, name: str, low: int, high: int) -> int:
    """Return the one integer of an attribute."""
    return numbers_in(attributes, name, low, high, 1)[0]


def seat_in(attributes: Attributes, name: str) -> int:
    """Return the seat 0-3 of an attribute."""
    return number_in(attributes, name, 0, 3)


def tiles_in(attributes: Attributes, name: str) -> list[int]:
    """Return the tile ids of an attribute."""
    return numbers_in(attributes, name, 0, 135, None)


def points_in(attributes: Attributes, name: str) -> list[int]:
    """Return four scores in points; records count hundreds."""
    return [100 * value for value in numbers_in(attributes, name, -_MAX_POINTS, _MAX_POINTS, 4)]


def changes_in(attributes: Attributes) -> list[int]:
    """Return the four score changes of ``sc`` in points."""
    return [100 * value for value in numbers_in(attributes, "sc", -_MAX_POINTS, _MAX_POINTS, 8)[1::2]]


def ratings_in(text: str) -> tuple[float, ...]:
    """Return four ratings."""
    try:
        ratings = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise ValueError(f"rate={text[:40]!r} is not a list of numbers") from error
    if len(ratings) != 4 or not all(math.isfinite(rating) for rating in ratings):
        raise ValueError(f"rate={text[:40]!r} is not four numbers")
    return ratings


def name_in(text: str) -> str:
    """Return a player's name; Tenhou writes it as percent-encoded UTF-8. ValueError if it is not UTF-8."""
    name = unquote(text, errors="replace")
    if UNREADABLE_CHARACTERS.search(name):
        raise ValueError(f"name {text[:40]!r} is not UTF-8")
    return name


_CHI_FLAG, _PON_FLAG, _KAKAN_FLAG = 0x04, 0x08, 0x10
_ANKAN_TILE = 0x300
_NUM_RUNS = 21  # lowest tiles of runs: 1-7 in three suits


def encode_meld(meld: Meld) -> int:
    """Return Tenhou's code of a sound meld (the inverse of ``decode_meld``)."""
    kind = meld.tiles[0] >> 2
    if meld.type == CHI_MELD:
        run = kind // 9 * 7 + kind % 9
        code = (run * 3 + meld.tiles.index(meld.called)) << 10 | _CHI_FLAG | meld.source
        for shift, tile in zip((3, 5, 7), meld.tiles, strict=True):
            code |= (tile & 3) << shift
        return code
    if meld.type in (PON_MELD, KAKAN_MELD):
        triplet = [tile for tile in meld.tiles if tile != meld.added]
        unused = 6 - sum(tile & 3 for tile in triplet)
        flag = _PON_FLAG if meld.type == PON_MELD else _KAKAN_FLAG
        return (kind * 3 + triplet.index(meld.called)) << 9 | unused << 5 | flag | meld.source
    first = meld.tiles[0] if meld.type == ANKAN_MELD else meld.called
    return first << 8 | meld.source


def decode_meld(code: int) -> Meld:
    """Return the meld of a code; ValueError if no four-player call has this code."""
    if code & 0xFF == 0:
        code &= ~_ANKAN_TILE  # records name any of the four tiles of a closed kan
    meld = _melds_by_code().get(code)
    if meld is None:
        raise ValueError(f"meld code {code} is not that of a chi, pon or kan of four players")
    return meld


@cache
def _melds_by_code() -> dict[int, Meld]:
    melds: list[Meld] = []
    for run, copies in product(range(_NUM_RUNS), product(range(4), repeat=3)):
        lowest = run // 7 * 9 + run % 7
        tiles = tuple(4 * (lowest + step) + copy for step, copy in enumerate(copies))
        melds += (Meld(CHI_MELD, tiles, called, KAMICHA) for called in tiles)
    for kind in range(NUM_KINDS):
        quad = quad_of(kind)
        melds.append(Meld(ANKAN_MELD, quad))
        for source, called in product((1, 2, 3), quad):
            melds.append(Meld(MINKAN_MELD, quad, called, source))
            for other in set(quad) - {called}:
                melds.append(Meld(PON_MELD, tuple(tile for tile in quad if tile != other), called, source))
                melds.append(Meld(KAKAN_MELD, quad, called, source, other))
    return {encode_meld(meld): meld for meld in melds}
