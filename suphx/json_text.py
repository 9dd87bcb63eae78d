"""JSON from a file, a program or a connection, of which nobody knows what it contains.

>>> parse_json('{"type": "none"}')
{'type': 'none'}
"""

from __future__ import annotations

import json
from typing import Any


def parse_json(text: str | bytes) -> Any:
    """Return the value in ``text``; ValueError if it is not JSON, not UTF-8, or nested more deeply than Python allows.

    ``json.loads`` raises a RecursionError for the last, which callers that expect a ValueError do not catch.
    """
    try:
        return json.loads(text)  # noqa: TID251 - the only place
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
