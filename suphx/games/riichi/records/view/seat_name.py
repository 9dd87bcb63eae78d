"""Names of seats in sentences: with the wind where another seat has the same name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from suphx.games.riichi.records.view.shown_tiles import SEATS

_WINDS = ("East", "South", "West", "North")
_NUMBER = re.compile(r" \d+$")


def has_namesake(names: Sequence[str], seat: int) -> bool:
    """Return whether another seat has the name of ``seat``, or the same with another number.

    >>> [has_namesake(("our agent", "ukeire 1", "ukeire 2", "Anna"), seat) for seat in range(4)]
    [False, True, True, False]
    """
    bare = [_NUMBER.sub("", name) for name in names]
    return bare.count(bare[seat]) > 1


def names_in_deal(names: Sequence[str], dealer: int) -> list[str]:
    """Return the names as sentences on a deal have them; ``dealer``: its seat.

    >>> names_in_deal(("our agent", "ukeire", "ukeire", "Anna"), 1)
    ['our agent', 'ukeire (East)', 'ukeire (South)', 'Anna']
    """
    return [
        f"{name} ({_WINDS[(seat - dealer) % SEATS]})" if has_namesake(names, seat) else name
        for seat, name in enumerate(names)
    ]
