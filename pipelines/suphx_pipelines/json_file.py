"""JSON files of stages: written whole or not at all, read with an error that says which file is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.json_text import parse_json
from suphx.printable_text import encodable


def write_json(path: Path, value: object) -> None:
    """Write ``value`` to ``path`` atomically; ValueError for NaN and infinity, which JSON does not have.

    Names of files that are not UTF-8 can be part of it: ``read_json`` returns them as they were.
    """
    try:
        text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"{path} would hold a number that is not finite: {error}") from error
    write_atomically(path, [encodable(text).encode(), b"\n"])


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in ``path``; ValueError if it does not contain a JSON object, OSError if it cannot be read."""
    try:
        content = parse_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is not JSON ({error}): remove it and run again") from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} does not contain a JSON object: remove it and run again")
    return content
