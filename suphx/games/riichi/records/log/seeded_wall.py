"""The walls that the seeds of a record give, kyoku by kyoku; a seed that cannot be used never costs the game."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from suphx.games.riichi.records.log.gamelog import NO_SEED
from suphx.games.riichi.records.log.tenhou_wall import HEX_SEED_PREFIX, Deal, kyoku_deal, tenhou_deals
from suphx.games.riichi.table.wall import DORA_POSITIONS
from suphx.kernel.record import U8

UNREADABLE_SEED = "the seed cannot be read"
OTHER_SEED = "the seed gives other tiles"
FROM_THE_MIDDLE = "the record starts in the middle of a game"


class SeededWalls:
    """The seeds of one game on their way to walls.

    >>> walls = SeededWalls(seed)
    >>> walls.start_kyoku(is_start_of_game=True, shuffle="")
    >>> wall = walls.finish_kyoku(dealt, indicator)  # None if the draws of this kyoku cannot be checked
    """

    def __init__(self, seed: str | None) -> None:
        self.problem = NO_SEED
        """Why the draws cannot be checked; "" if they can."""
        self._deals: Iterator[Deal] | None = None
        self._deal: Deal | None = None
        self._has_unknown_pairs = False
        self._is_started = self._is_fitting = False
        self.read_seed(seed or "")

    def read_seed(self, seed: str) -> None:
        """Read the seed of the game; only the first one counts."""
        if not seed or self.problem != NO_SEED:
            return
        try:
            self._deals = tenhou_deals(seed)
        except ValueError:
            self.problem = UNREADABLE_SEED
            return
        self.problem = ""
        self._has_unknown_pairs = seed.startswith(HEX_SEED_PREFIX)

    def start_kyoku(self, *, is_start_of_game: bool, shuffle: str) -> None:
        """Begin a kyoku; ``shuffle`` is its own seed or "". Nobody knows how many walls came before a fragment."""
        if not self._is_started and not is_start_of_game and self._deals is not None:
            self._give_up(FROM_THE_MIDDLE)
        self._is_started = True
        if not shuffle or self.problem not in ("", NO_SEED) or self._deals is not None:
            return
        try:
            self._deal = kyoku_deal(shuffle)
        except ValueError:
            self._give_up(UNREADABLE_SEED)
        else:
            self.problem = ""

    def finish_kyoku(self, dealt: Sequence[int], indicator: int) -> U8 | None:
        """Return the wall of the kyoku, or None; ``dealt`` and ``indicator`` are those of the record.

        The first deal of a record decides whether the seed belongs to it; later ones are compared by the replay.
        """
        deal, self._deal = self._deal, None
        if self._deals is not None:
            deal = next(self._deals)
        if deal is None:
            return None
        if self._has_unknown_pairs and deal.wall[DORA_POSITIONS[0]] != indicator:
            deal = deal.with_turned_pairs()
        if not self._is_fitting and not np.array_equal(deal.wall[: len(dealt)], dealt):
            self._give_up(OTHER_SEED)
            return None
        self._is_fitting = True
        return deal.wall

    def _give_up(self, problem: str) -> None:
        self.problem = problem
        self._deals = self._deal = None
