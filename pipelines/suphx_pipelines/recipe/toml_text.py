"""TOML from outside: what is too large or nested too deeply is refused before it costs memory or time."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

MAX_BYTES = 1 << 20
"""Of a file; a recipe with all keys has 6 kB."""
MAX_KEY_PARTS = 16
"""Of a dotted key. What the parser keeps of one grows with the square of its parts."""
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"""|\Z)'  # texts and comments, closed or not
    r"|'''.*?(?:'''|\Z)"
    r'|"(?:\\[^\n]|[^"\\\n])*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*"
    r"|[.\n=,{}\[\]]",
    re.DOTALL,
)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a file; ValueError if it is not TOML, too large, or nested too deeply."""
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise ValueError(f"{path} has {size:,} bytes, and a recipe has at most {MAX_BYTES:,}: is it the right file?")
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not TOML: {error}") from error


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text; ValueError (``tomllib.TOMLDecodeError`` is one) if it cannot be read."""
    _check_keys(text)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None


def _check_keys(text: str) -> None:
    """Raise ValueError if a key has too many parts, in one pass over the text."""
    dots = 0
    for token in _TOKEN.finditer(text):
        if token[0] == ".":
            dots += 1
        elif len(token[0]) == 1:
            dots = 0
        if dots >= MAX_KEY_PARTS:
            line = text.count("\n", 0, token.start()) + 1
            raise ValueError(f"a key in line {line} has more than {MAX_KEY_PARTS} parts")
