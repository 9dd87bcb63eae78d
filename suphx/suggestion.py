"""Which known word was probably meant by a mistyped one: the "did you mean" of error messages."""

from __future__ import annotations

from collections.abc import Iterable

_MIN_SIMILARITY = 0.6  # of difflib, 0 to 1: its own default


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the word of ``known`` that is most similar to ``word``; None if none is similar."""
    from difflib import get_close_matches  # only a mistake needs it

    lowered = {name.lower(): name for name in known}
    found = get_close_matches(word.lower(), lowered, n=1, cutoff=_MIN_SIMILARITY)
    return lowered[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``"did you mean 'laptop'? "`` with the closest word, to put before the remedy; empty if none is similar.

    >>> did_you_mean("labtop", ["laptop", "oracle"])
    "did you mean 'laptop'? "
    """
    name = closest(word, known)
    return "" if name is None else f"did you mean {name!r}? "
