"""Cuts an mjlog record into tags with an XML parser: comments, any quotes and line breaks, escaped characters.

The parser is Python's expat. A document type is refused, so a record cannot define entities.
"""

from __future__ import annotations

import math
import re
from typing import TypeAlias
from urllib.parse import unquote
from xml.parsers import expat

from suphx.games.riichi.records.game_log import UNREADABLE_CHARACTERS
from suphx.games.riichi.records.quarantine import NOT_A_RECORD, RecordError

Attributes: TypeAlias = dict[str, str]

Token: TypeAlias = tuple[str, str, str, str, str | Attributes, str]
"""The whole tag with the space behind it; letter and number of a draw or discard, or name and attributes; the slash."""

MAX_TAGS = 100_000
"""Of one record; a long game has 7,000."""
MAX_TAG_LENGTH = 16_384
"""Characters of one tag's attributes; a shuffle seed has 3,357."""
SCENE = "Scene"
"""The tag that some programs put around each deal."""

_MAX_SHOWN = 40
_TILE_TAG = re.compile(r"([DEFGTUVW])([0-9]{1,3})", re.ASCII)
_XML_TAG = re.compile(rb"<[A-Za-z][^<>]*>")
_XML_ATTRIBUTE = re.compile(rb"""(?<![A-Za-z0-9])([A-Za-z0-9]++)\s*+=\s*+("[^"]*+"|'[^']*+')""")
_TWICE = expat.errors.codes[expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE]
_CUT_OFF = frozenset((expat.errors.codes[expat.errors.XML_ERROR_UNCLOSED_TOKEN],))


def read_xml_tokens(text: str) -> list[Token]:
    """Return the tags of a record, in the form of ``mjlog_text.read_tokens``.

    A record that ends before its last tag gives the tags that it has. RecordError with the offset for anything else
    that is not well-formed, for a document type, for text between the tags, and for a tag in a tag.
    """
    record = text.lstrip("\ufeff \t\r\n")
    return _TagReader(record.encode("utf-8", "replace"), len(text) - len(record)).read()


class _TagReader:
    """Usage: ``tokens = _TagReader(data, num_skipped).read()``, once."""

    def __init__(self, data: bytes, num_skipped: int) -> None:
        self._data = data
        self._num_skipped = num_skipped
        self._parser = expat.ParserCreate("utf-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._depth = 0
        self._tags: list[tuple[int, str, Attributes, str]] = []  # offset, name, attributes, slash

    def read(self) -> list[Token]:
        """Return the tags."""
        try:
            self._parser.Parse(self._data, True)
        except expat.ExpatError as error:
            if error.code == _TWICE and (data := _without_repeated(self._data)) != self._data:
                return _TagReader(data, self._num_skipped).read()
            if not self._is_cut_off(error):
                offset = self._parser.ErrorByteIndex
                raise self._error(offset, f"{self._shown(offset)} is not a tag ({_plain(error)})") from error
        ends = [tag[0] for tag in self._tags[1:]] + [len(self._data)]
        return [self._token(*tag, end) for tag, end in zip(self._tags, ends, strict=True)]

    def _is_cut_off(self, error: expat.ExpatError) -> bool:
        """Return whether only the end of the record is missing; the reader of the tags reports that."""
        is_at_end = self._parser.ErrorByteIndex >= len(self._data)
        return bool(self._tags) and (is_at_end or error.code in _CUT_OFF)

    def _token(self, offset: int, name: str, attributes: Attributes, slash: str, end: int) -> Token:
        whole = self._data[offset:end].decode("utf-8", "replace")
        tile = _TILE_TAG.fullmatch(name)
        if tile and slash:
            return whole, tile[1], tile[2], "", {}, slash
        return whole, "", "", name, attributes, slash

    def _start(self, name: str, attributes: Attributes) -> None:
        offset = self._parser.CurrentByteIndex
        self._depth += name != SCENE
        if self._depth > 2:
            raise self._error(offset, f"tag {name:.{_MAX_SHOWN}} is inside tag {self._tags[-1][1]:.{_MAX_SHOWN}}")
        length = sum(map(len, attributes)) + sum(map(len, attributes.values()))
        if length > MAX_TAG_LENGTH:
            raise self._error(
                offset, f"tag {name:.{_MAX_SHOWN}} has {length:,} characters: at most {MAX_TAG_LENGTH:,} are read"
            )
        self._tags.append((offset, name, attributes, "/" if self._depth == 2 and name != SCENE else ""))

    def _end(self, name: str) -> None:
        self._depth -= name != SCENE
        if self._depth == 0 or name == SCENE:
            self._tags.append((self._parser.CurrentByteIndex, f"/{name}", {}, ""))

    def _text(self, text: str) -> None:
        if not text.isspace():
            offset = self._parser.CurrentByteIndex
            raise self._error(offset, f"{text.strip()[:_MAX_SHOWN]!r} is not a tag")

    def _doctype(self, name: str, system_id: str | None, public_id: str | None, has_subset: int) -> None:
        if name.lower() == "html":
            raise RecordError("it is a web page, not a record", "the start", NOT_A_RECORD)
        raise self._error(self._parser.CurrentByteIndex, "the record has a document type: remove its <!DOCTYPE …>")

    def _shown(self, offset: int) -> str:
        return repr(self._data[offset : offset + 4 * _MAX_SHOWN].decode("utf-8", "replace")[:_MAX_SHOWN])

    def _error(self, offset: int, reason: str) -> RecordError:
        characters = self._num_skipped + len(self._data[:offset].decode("utf-8", "replace"))
        return RecordError(reason, f"character {characters}")


def _without_repeated(data: bytes) -> bytes:
    """Blank out the attributes that a tag has twice with the same value: XML forbids them, real records have them."""
    return _XML_TAG.sub(_without_repeated_in, data)


def _without_repeated_in(tag: re.Match[bytes]) -> bytes:
    seen: set[tuple[bytes, bytes]] = set()

    def once(attribute: re.Match[bytes]) -> bytes:
        pair = (attribute[1], attribute[2][1:-1])
        if pair in seen:
            return b" " * len(attribute[0])
        seen.add(pair)
        return attribute[0]

    return _XML_ATTRIBUTE.sub(once, tag[0])


def _plain(error: expat.ExpatError) -> str:
    return f"XML: {expat.ErrorString(error.code)}"


_MAX_POINTS = 1_000_000  # hundreds
_PROLOG = re.compile(r"\ufeff?\s*(?:<\?xml[^<>]*\?>)?\s*")
_TAG = re.compile(
    r"""(<(?:([DEFGTUVW])([0-9]{1,3})|(/?[A-Za-z]+)((?:\s+[A-Za-z0-9]+="[^"<>&]*")*))\s*(/?)>\s*)""", re.ASCII
)
_ATTRIBUTE = re.compile(r'([A-Za-z0-9]+)="([^"]*)"')
_NUMBERS = re.compile(r"-?[0-9]{1,9}(?:,-?[0-9]{1,9})*", re.ASCII)


def read_tokens(text: str) -> list[Token]:
    """Return the tags of a record; RecordError for what is not well-formed XML, has a DTD, or has text between tags.

    Records as Tenhou writes them are cut by one expression; all else that XML allows (comments, other quotes, escaped
    characters) is left to an XML parser, which takes twice the time.
    """
    if text.count("<") > MAX_TAGS:
        raise RecordError(f"the record has over {MAX_TAGS:,} tags: a long game has 7,000", "the start")
    prolog = _PROLOG.match(text)
    start = prolog.end() if prolog else 0
    tokens: list[Token] = _TAG.findall(text, start)
    if start + sum(len(token[0]) for token in tokens) != len(text):
        tokens = read_xml_tokens(text)
    if not tokens:
        raise RecordError("the record is empty", "the start")
    return tokens


def read_attributes(tag: str, text: str | Attributes) -> Attributes:
    """Return the attributes of a tag by name; real records have some twice, with the same value."""
    if isinstance(text, dict):
        return text
    if len(text) > MAX_TAG_LENGTH:
        raise ValueError(f"tag {tag:.40} has {len(text):,} characters: at most {MAX_TAG_LENGTH:,} are read")
    pairs = _ATTRIBUTE.findall(text)
    attributes: Attributes = dict(pairs)
    if len(attributes) != len(pairs) and len(attributes) != len(set(pairs)):
        raise ValueError(f"tag {tag:.40} has an attribute twice, with different values")
    return attributes


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
