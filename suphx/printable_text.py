"""Text from outside, such as names in records, for a terminal: what would control the terminal is written as an escape.

>>> printable("Anna\\x1b[2J")
'Anna\\\\x1b[2J'
"""

from __future__ import annotations


def printable(text: str) -> str:
    """Return a text without control characters, line breaks, halves of surrogate pairs and unusual spaces.

    Each is replaced by its escape in Python, such as ``\\x1b``.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
