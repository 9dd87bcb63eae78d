"""What a match in a game of two sides decides, and how many decks it must have.

What counts of a deck, which is played twice with the sides swapped, is how many of its two games the candidate wins.
"""

from __future__ import annotations

from dataclasses import dataclass

from suphx.evaluation.match_config import MAX_SIDE_DECKS, MIN_CLUSTERS
from suphx.evaluation.sequential.sequential_test import FIRST_LOOK, SequentialTest
from suphx.evaluation.sequential.wall_sums import WallScale
from suphx.evaluation.workers.deck_block import GAMES_PER_DECK

EQUAL_SHARE = 0.5
"""The share of games that equal agents win."""
_DECK_SPREAD = 0.35
"""Standard deviation of a deck's gain between equal agents if luck decides each game alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTestConfig:
    """What a match decides, and how sure the decision is."""

    difference: float = 0.02
    """The difference that matters in the share of games won, above 0 and below 0.5: with 0.02, 52 instead of 50 % of
    the games. A smaller one needs more decks. A candidate that is better by less may or may not pass."""
    error: float = 0.01
    """Share of wrong decisions, at most: equal agents that pass, and agents better by ``difference`` that do not."""

    def __post_init__(self) -> None:
        if not 0 < self.difference < EQUAL_SHARE:
            raise ValueError(f"difference is {self.difference}: use a number above 0 and below 0.5, such as 0.02")
        if not 0 < self.error < 0.5:
            raise ValueError(f"error is {self.error}: use a number above 0 and below 0.5, such as 0.01")

    @property
    def scale(self) -> WallScale:
        """How the numbers of decks, games won less one, become the gain: the share of games won less 0.5."""
        return WallScale(1 / GAMES_PER_DECK, _DECK_SPREAD, EQUAL_SHARE)

    def test(self) -> SequentialTest:
        """Return the test that decides."""
        return SequentialTest(self.scale, self.difference, self.error)


def check_decks(decks: int, fresh_decks: int) -> None:
    """Raise ValueError for numbers of decks that allow no decision, or have no interval."""
    for name, number, least in (("decks", decks, FIRST_LOOK), ("fresh_decks", fresh_decks, MIN_CLUSTERS)):
        if not least <= number <= MAX_SIDE_DECKS:
            raise ValueError(f"{name} is {number}: use {least} to {MAX_SIDE_DECKS:,}")
