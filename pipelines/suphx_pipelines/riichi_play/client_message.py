"""What a page may send: one JSON object a message, checked here before a table sees it.

| type | keys |
|---|---|
| ``sit`` | ``table``: id, or null for a table of one's own |
| ``move`` | ``number``, ``action``, and ``discard`` after a riichi |
| ``next``, ``hint`` | ``number`` |
| ``new`` | |
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

_NEEDED = {"sit": (), "move": ("number", "action"), "next": ("number",), "hint": ("number",), "new": ()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientMessage:
    """One message of a page."""

    type: str
    number: int = 0
    """Of the view that the person sees (``GameSession.number``)."""
    action: int = 0
    discard: int | None = None
    table: str | None = None


def read_message(text: str) -> ClientMessage:
    """Return the message in ``text``; ValueError if a page of ours cannot have sent it."""
    try:
        values = json.loads(text)
    except ValueError as error:
        raise ValueError("the message is not JSON: reload the page") from error
    kind = values.get("type") if isinstance(values, dict) else None
    if not isinstance(kind, str) or kind not in _NEEDED:
        raise ValueError(f"the message has no known type: use one of {', '.join(_NEEDED)}")
    for key in _NEEDED[kind]:
        if not _is_number(values.get(key)):
            raise ValueError(f"{key} of the message {kind} is not a whole number: reload the page")
    discard, table = values.get("discard"), values.get("table")
    if not (discard is None or _is_number(discard)) or not (table is None or isinstance(table, str)):
        raise ValueError(f"the message {kind} has a wrong discard or table: reload the page")
    return ClientMessage(
        type=kind, number=values.get("number", 0), action=values.get("action", 0), discard=discard, table=table
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
