"""The parameter server of the paper's Figure 6: versions of the learned weights, and who has fetched which.

>>> server = ParameterServer([PolicyVersion(0, learner.weights())], keeps_older=True)
>>> server.publish(learner.weights())
1
>>> server.newer_than(0)[0].number
1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suphx.experience.observation import NUM_OLDER

Weights = Mapping[str, Mapping[str, np.ndarray]]
"""Head name -> name of a tensor -> its values: what a learner gives and an engine takes."""


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """One version of the weights."""

    number: int
    weights: Any
    """``Weights``; between Ray's processes a list of one reference to them."""


Versions = list[PolicyVersion]
"""The newest version, then those that opponents play, oldest first."""
_OLDER_EVERY = 10
"""One in this many versions is kept for opponents."""


class ParameterServer:
    """Consumes: weights of the learner. Produces: versions for engines and simulators. Waits for: nothing."""

    def __init__(self, versions: Versions, *, keeps_older: bool) -> None:
        """``versions``: those that the run begins with, or the newest one alone; ``keeps_older``: for opponents."""
        newest, *older = versions
        self.versions = [newest, *((older or [newest]) if keeps_older else [])]
        self._keeps_older = keeps_older
        self._fetched: dict[str, int] = {}

    @property
    def latest(self) -> int:
        """The number of the newest version."""
        return self.versions[0].number

    def publish(self, weights: Any, number: int | None = None) -> int:
        """Make ``weights`` the newest version and return its ``number``; None: one higher than the last."""
        newest = PolicyVersion(self.latest + 1 if number is None else number, weights)
        older = self.versions[1:]
        if self._keeps_older and newest.number % _OLDER_EVERY == 0:
            older = [*older, newest][-NUM_OLDER:]
        self.versions = [newest, *older]
        return self.latest

    def newer_than(self, number: int, fetcher: str = "") -> Versions | None:
        """Return the versions if the newest one is newer than ``number``; note that ``fetcher`` has it then."""
        if fetcher:
            self._fetched[fetcher] = self.latest
        return self.versions if self.latest > number else None

    def behind(self) -> dict[str, int]:
        """Return how many versions each fetcher is behind the newest."""
        fetched = self._fetched.copy()  # in one step: other threads add some meanwhile
        return {name: self.latest - number for name, number in fetched.items()}
