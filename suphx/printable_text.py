"""Text from outside for a terminal: what would control it is written as an escape, and what is long is cut by words.

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


def shortened(text: str, most: int = 500) -> str:
    """Return a text on one line, in at most so many characters: cut between two words, with an ellipsis.

    >>> shortened("check that the server runs", 16)
    'check that the …'
    """
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    whole, space, _ = line[: most - 1].rpartition(" ")
    return f"{whole} …" if space and len(whole) > most // 2 else f"{line[: most - 1]}…"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, shortened if it is very long; its class if it has no message."""
    lines = str(error).strip().splitlines()
    return shortened(lines[0]) if lines else type(error).__name__
