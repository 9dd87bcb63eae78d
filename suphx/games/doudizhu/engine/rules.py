"""The rules that may differ, as one frozen value of named options.

Games are played without bidding, as DouZero is trained: seat 0 is the landlord.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from suphx.games.doudizhu.moves.move_table import Moves

Scoring = Literal["win", "points", "log points"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of a game; the defaults are those of the published 27,472 actions."""

    scoring: Scoring = "win"
    """What a win is worth: "win" = 1, "points" = 2 to the power of the bombs played, "log points" = 1 + bombs."""
    douzero_kickers: bool = False
    """Use the looser kickers of DouZero's move generator (29,984 sets of cards), for comparisons with DouZero only."""

    def __post_init__(self) -> None:
        if self.scoring not in get_args(Scoring):
            choices = ", ".join(map(repr, get_args(Scoring)))
            raise ValueError(f"scoring is {self.scoring!r}: use one of {choices}")
        if not isinstance(self.douzero_kickers, bool):
            raise ValueError(f"douzero_kickers is {self.douzero_kickers!r}: use true or false")

    def load_moves(self) -> Moves:
        """Return the table of moves that these rules allow."""
        from suphx.games.doudizhu.moves.move_table import load_moves  # with numba, which recipes do not need

        return load_moves(douzero_kickers=self.douzero_kickers)
