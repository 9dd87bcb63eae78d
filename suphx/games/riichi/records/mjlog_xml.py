"""The tags of an mjlog record, read with Python's XML parser (expat), and the values of their attributes.

Comments, any quotes and line breaks, and escaped characters are XML's own. A document type is refused, so that a record
cannot define entities.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote
from xml.parsers import expat

from suphx.games.riichi.records.game_log import UNREADABLE_CHARACTERS
from suphx.games.riichi.records.quarantine import RecordError

Attributes: TypeAlias = dict[str, str]

MAX_TAGS = 100_000
"""Of one record; a long game has 7,000."""
SCENE = "Scene"
"""The tag that some programs put around each deal."""

_MAX_POINTS = 1_000_000  # hundreds
_MAX_SHOWN = 40
_XML_TAG = re.compile(rb"<[A-Za-z][^<>]*>")
_XML_ATTRIBUTE = re.compile(rb"""(?<![A-Za-z0-9])([A-Za-z0-9]++)\s*+=\s*+("[^"]*+"|'[^']*+')""")
_TWICE = expat.errors.codes[expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE]
_CUT_OFF = expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN]
_NUMBERS = re.compile(r"-?[0-9]{1,9}(?:,-?[0-9]{1,9})*", re.ASCII)


class Tag(NamedTuple):
    """One tag; the end of the record is the tag ``/mjloggm``."""

    character: int
    """Where it begins in the text."""
    name: str
    attributes: Attributes


def read_tags(text: str) -> list[Tag]:
    """Return the tags of a record; one that ends before its last tag gives the tags that it has.

    RecordError for what else is not well-formed XML, has a document type, text between tags, or a tag in a tag. Real
    records have attributes twice with the same value, which XML forbids.
    """
    if text.count("<") > MAX_TAGS:
        raise RecordError(f"the record has over {MAX_TAGS:,} tags: a long game has 7,000", "the start")
    record = text.lstrip("\ufeff \t\r\n")
    data = record.encode("utf-8", "replace")
    reader = _TagReader(data, len(text) - len(record))
    if reader.error == _TWICE:
        reader = _TagReader(_XML_TAG.sub(_without_repeated, data), len(text) - len(record))
    reader.check()
    return reader.tags


class _TagReader:
    """Usage: ``tags = _TagReader(data, num_skipped).tags``."""

    def __init__(self, data: bytes, num_skipped: int) -> None:
        self.tags: list[Tag] = []
        self.error = 0
        self._data = data
        self._num_skipped = self._num_characters = num_skipped
        self._counted = 0
        """Bytes whose characters are counted: a record of many characters beyond ASCII is not decoded tag by tag."""
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
            if not self._data:
                raise RecordError("the record is empty", "the start")
            shown = self._data[start : start + 4 * _MAX_SHOWN].decode("utf-8", "replace")[:_MAX_SHOWN]
            raise self._refused(f"{shown!r} is not a tag (XML: {expat.ErrorString(self.error)})", start)

    def _start(self, name: str, attributes: Attributes) -> None:
        self._depth += name != SCENE
        if self._depth > 2:
            raise self._refused(f"tag {name:.{_MAX_SHOWN}} is inside tag {self.tags[-1].name:.{_MAX_SHOWN}}")
        self.tags.append(Tag(self._character(self._parser.CurrentByteIndex), name, attributes))

    def _end(self, name: str) -> None:
        self._depth -= name != SCENE
        if self._depth == 0:
            self.tags.append(Tag(self._character(self._parser.CurrentByteIndex), f"/{name}", {}))

    def _text(self, text: str) -> None:
        if not text.isspace():
            raise self._refused(f"{text.strip()[:_MAX_SHOWN]!r} is not a tag")

    def _doctype(self, name: str, system_id: str | None, public_id: str | None, has_subset: int) -> None:
        raise self._refused("the record has a document type: remove its <!DOCTYPE …>")

    def _refused(self, reason: str, start: int | None = None) -> RecordError:
        place = self._character(self._parser.CurrentByteIndex if start is None else start)
        return RecordError(reason, f"character {place}")

    def _character(self, start: int) -> int:
        """Return the character that begins at a byte."""
        if start < self._counted:
            self._counted, self._num_characters = 0, self._num_skipped
        self._num_characters += len(self._data[self._counted : start].decode("utf-8", "replace"))
        self._counted = start
        return self._num_characters


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
