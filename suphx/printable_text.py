"""Text from outside, such as names in records, for a terminal: what would control the terminal is written as an escape.

>>> printable("Anna\\x1b[2J")
'Anna\\\\x1b[2J'
"""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"


def printable(text: str) -> str:
    """Return a text without control characters, line breaks, marks of direction and halves of surrogate pairs.

    Each is replaced by its escape in Python, such as ``\\x1b``. All spaces and joiners stay: names have them.
    """
    if text.isprintable():
        return text
    return "".join(each if _is_harmless(each) else each.encode("unicode_escape").decode() for each in text)


def _is_harmless(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs" or character in _JOINERS


def encodable(text: str) -> str:
    """Return a text that UTF-8 can write: bytes of a file's name that are not UTF-8 become escapes.

    >>> encodable("games\\udcff")
    'games\\\\udcff'
    """
    return text.encode(errors="backslashreplace").decode()
