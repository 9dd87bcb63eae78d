"""The precomputed tables that encoders read, as one argument that every kernel passes on."""

from __future__ import annotations

from typing import NamedTuple

from suphx.games.riichi.features.lookahead.hand_value import WinLevels, load_win_levels
from suphx.games.riichi.features.lookahead.suit_targets import SuitTargets, load_suit_targets
from suphx.games.riichi.hand.suit_table import Suits, load_suits


class Lookup(NamedTuple):
    """Read-only tables; one value serves all threads.

    >>> encode_observation(encoder.id, load_lookup(), table, seat, DISCARD_HEAD, -1, row)
    """

    suits: Suits
    """What each suit lacks for sets and a pair (hand/suit_table.py)."""
    suit_targets: SuitTargets
    """What each suit can become with up to three tiles (suit_targets.py)."""
    win_levels: WinLevels
    """What a win is worth (hand_value.py)."""


def load_lookup() -> Lookup:
    """Return the tables, mapped from the cache folder; computed when they are not there (seconds)."""
    return Lookup(load_suits(), load_suit_targets(), load_win_levels())
