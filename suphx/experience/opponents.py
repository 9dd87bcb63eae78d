"""Who sits at a table of self-play: one learning seat at least, the others from a mixture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import FIRST_OLDER


@dataclass(frozen=True, slots=True, kw_only=True)
class OpponentConfig:
    """Policies at the three seats beside the learning seat, drawn at random for every game. Shares need not add up to
    1."""

    latest: float = 1.0
    """Share of seats played by the learning policy; their decisions are learned from too."""
    older: float = 0.0
    """Share of seats played by older versions of it, each equally often."""
    weak: float = 0.0
    """Share of seats played by the weak policy: SL-weak, or the initial weights."""
    num_older: int = 4
    """Number of older versions that are kept for ``older``."""

    def __post_init__(self) -> None:
        shares = (self.latest, self.older, self.weak)
        if min(shares) < 0 or sum(shares) <= 0:
            raise ValueError(f"opponents are {shares} (latest, older, weak): use shares from 0 on, one of them above 0")
        if not 1 <= self.num_older <= 64:
            raise ValueError(f"num_older is {self.num_older}: use 1 to 64")

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
