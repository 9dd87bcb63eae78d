"""The text of an mjlog record: tags, and the numbers in their attributes; ValueError if they are wrong."""

from __future__ import annotations

import math
import re
from urllib.parse import unquote

from suphx.games.riichi.records.log.record_error import RecordError
from suphx.games.riichi.records.mjlog.mjlog_xml import MAX_TAG_LENGTH, MAX_TAGS, Attributes, Token, read_xml_tokens

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
    """Return the attributes of a tag by name."""
    if isinstance(text, dict):
        return text
    if len(text) > MAX_TAG_LENGTH:
        raise ValueError(f"tag {tag:.40} has {len(text):,} characters: at most {MAX_TAG_LENGTH:,} are read")
    pairs = _ATTRIBUTE.findall(text)
    attributes: Attributes = dict(pairs)
    if len(attributes) != len(pairs):
        raise ValueError(f"tag {tag:.40} has an attribute twice")
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
    """Return a player's name; Tenhou writes it as percent-encoded UTF-8."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError as error:
        raise ValueError(f"name {text[:40]!r} is not UTF-8: {error.reason}") from error
