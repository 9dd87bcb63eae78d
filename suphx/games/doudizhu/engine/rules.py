"""The rules that may differ, as one frozen value of named options.

Seat 0 is the landlord. By default there is no bidding, as DouZero is trained.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from suphx.games.doudizhu.moves.move_table import Moves

Scoring = Literal["win", "points", "log points"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of a game; the defaults are those of the published 27,472 actions."""

    scoring: Scoring = "win"
    """What a win is worth: "win" = 1, "points" = the stake (1 without bidding) times 2 to the power of the bombs
    played, "log points" = 1 + the logarithm of the points to base 2, which is 1 + bombs without bidding."""
    bidding: bool = False
    """The seats bid 1 to 3 with 17 cards each; the highest bidder becomes the landlord, and the bid is the stake."""
    douzero_kickers: bool = False
    """Use the looser kickers of DouZero's move generator (29,984 sets of cards), for comparisons with DouZero only."""

    def __post_init__(self) -> None:
        if self.scoring not in get_args(Scoring):
            choices = ", ".join(map(repr, get_args(Scoring)))
            raise ValueError(f"scoring is {self.scoring!r}: use one of {choices}")
        for name in ("bidding", "douzero_kickers"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} is {getattr(self, name)!r}: use true or false")

    def values(self) -> dict[str, Any]:
        """Return the options for files; ``bidding`` only if it is on, as files of earlier versions do not have it."""
        values = asdict(self)
        return values if self.bidding else {name: value for name, value in values.items() if name != "bidding"}

    def load_moves(self) -> Moves:
        """Return the table of moves that these rules allow."""
        from suphx.games.doudizhu.moves.move_table import load_moves  # with numba, which recipes do not need

        return load_moves(douzero_kickers=self.douzero_kickers)
