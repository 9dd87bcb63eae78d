"""Who sits at a table of self-play: one learning seat at least, the others from a mixture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import FIRST_OLDER
from suphx.number_range import Range, Weight, check_ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class OpponentConfig:
    """Policies at the three seats beside the learning seat, drawn at random for every game. Shares need not add up to
    1."""

    latest: Weight = 1.0
    """Share of seats played by the learning policy; their decisions are learned from too."""
    older: Weight = 0.0
    """Share of seats played by older versions of it, each equally often."""
    weak: Weight = 0.0
    """Share of seats played by the weak policy: SL-weak, or the initial weights."""
    num_older: Annotated[int, Range(1, 64)] = 4
    """Number of older versions that are kept for ``older``."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if not (self.latest or self.older or self.weak):
            raise ValueError("latest, older and weak are all 0: use a share above 0 for one of them")

    @property
    def num_older_that_play(self) -> int:
        """How many older versions sit at tables."""
        return self.num_older if self.older else 0

    def borders(self) -> NDArray[np.float64]:
        """Return for each policy number (observation.py) the number in 0 … 1 where its part ends; ascending up to 1."""
        shares = np.zeros(FIRST_OLDER + self.num_older)
        shares[:FIRST_OLDER] = self.latest, self.weak
        shares[FIRST_OLDER:] = self.older / self.num_older
        borders: NDArray[np.float64] = np.cumsum(shares / shares.sum())
        borders[-1] = 1.0
        return borders
