"""Finds the games in JSON that is not mjai with one event per line.

Read are objects of tenhou.net/6 on one line or several, one after another or in an array, addresses of Tenhou's viewer
that contain one, and arrays of mjai events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

from suphx.json_text import parse_json

_ADDRESS = re.compile(r"https?://tenhou\.net/[0-9]+/[^#\s]*#json=(.*)", re.S)
_NON_SPACE = re.compile(r"\S")
_EVENT_LINE = re.compile(r'\{[^\n]*"type"\s*:')
_ARRAY = re.compile(r"\[\s*(?:\{|\]|$)")
_NO_GAME = "the JSON has no game: neither an mjai start_game nor the log of tenhou.net/6"
_MAX_NAME = 1000


class GameText(NamedTuple):
    """The text of one game, which ``parse_record`` reads."""

    id: str
    """As tenhou.net/6 has it, or ""."""
    text: str


def is_game_text(start: str) -> bool:
    """Tell whether a text can be a game by how it begins: mjlog, JSON, or an address of Tenhou's viewer."""
    return re.match(r"<mjloggm|\{|\[\s*\{|https?://tenhou\.net/", start.lstrip("\ufeff \t\r\n")) is not None


def is_mjai_text(text: str) -> bool:
    """Tell whether a text begins with an mjai event that is a whole line."""
    start = text.lstrip("\ufeff \t\r\n")
    return _EVENT_LINE.match(start) is not None and not is_one_game(start.partition("\n")[0])


def is_one_game(line: str) -> bool:
    """Tell whether a line is a whole game of tenhou.net/6, or an address with one."""
    if _ADDRESS.match(line):
        return True
    try:
        return line.startswith("{") and "log" in parse_json(line)
    except ValueError:
        return False


def is_json_document(line: str) -> bool:
    """Tell whether the first line of a file begins JSON other than lines of mjai; programs log lines such as [INFO]."""
    return _ARRAY.match(line) is not None or (line.startswith("{") and not _EVENT_LINE.match(line))


def iter_games(text: str) -> Iterator[GameText]:
    """Yield the games of a text; ValueError if it is not JSON, or has none."""
    events: list[Any] = []
    is_empty = True
    for value in _items(text):
        if isinstance(value, dict) and "log" in value:
            is_empty = False
            reference = value.get("ref")
            yield GameText(reference[:_MAX_NAME] if isinstance(reference, str) else "", _dumped(value))
            continue
        if events and isinstance(value, dict) and value.get("type") == "start_game":
            is_empty = False
            yield GameText("", "\n".join(map(_dumped, events)))
            events = []
        events.append(value)
    if any(isinstance(event, dict) and event.get("type") == "start_game" for event in events):
        yield GameText("", "\n".join(map(_dumped, events)))
    elif is_empty:
        raise ValueError(_NO_GAME)


def _items(text: str) -> Iterator[Any]:
    """Yield the values of a text; of an array its items."""
    text = text.strip("\ufeff \t\r\n")
    address = _ADDRESS.match(text)
    if address is not None:
        text = address[1] if '"' in address[1] else unquote(address[1])
    decoder = json.JSONDecoder()
    place = 0
    while match := _NON_SPACE.search(text, place):
        try:
            value, place = decoder.raw_decode(text, match.start())
        except json.JSONDecodeError as error:
            raise ValueError(f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
        except RecursionError as error:
            raise ValueError("JSON is nested too deeply") from error
        yield from value if isinstance(value, list) else [value]
        if address is not None:
            return  # the viewer's other parameters follow


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
