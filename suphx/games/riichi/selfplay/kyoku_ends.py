"""How deals ended: what rewards are made of."""

from __future__ import annotations

from dataclasses import dataclass

from suphx.kernel.record import I8, I32, I64


@dataclass(frozen=True, slots=True)
class KyokuEnds:
    """The ends of n deals, one row each."""

    tables: I64
    """int64 [n]: the table's number in its simulator."""
    games: I64
    """int64 [n]: the seed of the game, which no other game of the run has."""
    numbers: I32
    """int32 [n]: deals of the game before this one."""
    kyoku: I32
    """int32 [n]: 0 = East 1."""
    honba: I32
    """int32 [n]."""
    kyotaku: I32
    """int32 [n]: sticks on the table when it began."""
    scores_before: I32
    """int32 [n, 4]: points by seat when it began."""
    scores_after: I32
    """int32 [n, 4]."""
    placements: I8
    """int8 [n, 4]: 1-4 by seat if the game ended with it, else 0."""
    next_kyoku: I32
    """int32 [n]: of the deal that follows; without meaning if the game ended."""
    next_honba: I32
    """int32 [n]: same."""
    next_kyotaku: I32
    """int32 [n]: same."""
    next_scores: I32
    """int32 [n, 4]: ``scores_after``; at the end of the game with the sticks that were left over."""
