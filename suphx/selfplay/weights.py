"""The parameter server of the paper's Figure 6: versions of the learned weights, and who has fetched which.

>>> server = ParameterServer(ParameterServerConfig(), learner.weights(), num_older=4)
>>> server.publish(learner.weights())
1
>>> server.newer_than(0).number
1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from suphx.selfplay.config import ParameterServerConfig

Weights = Mapping[str, Mapping[str, np.ndarray]]
"""Head name -> name of a tensor -> its values: what a learner gives and an engine takes."""


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """One version of the weights."""

    number: int
    weights: Any
    """``Weights``; between Ray's processes a list of one reference to them."""


class ParameterServer:
    """Consumes: weights of the learner. Produces: versions for engines and simulators. Waits for: nothing."""

    def __init__(self, config: ParameterServerConfig, first: Any, *, num_older: int) -> None:
        """``first``: the weights that the run begins with, as version 0; ``num_older``: how many old ones are kept."""
        self._config = config
        self._num_older = num_older
        self.latest_version = PolicyVersion(0, first)
        self._older = [self.latest_version]
        self._fetched: dict[str, int] = {}

    @property
    def latest(self) -> int:
        """The number of the newest version."""
        return self.latest_version.number

    def publish(self, weights: Any, number: int | None = None) -> int:
        """Make ``weights`` the newest version and return its ``number``; None: one higher than the last."""
        self.latest_version = PolicyVersion(self.latest + 1 if number is None else number, weights)
        if self._num_older and self.latest % self._config.older_every == 0:
            self._older = [*self._older, self.latest_version][-self._num_older :]
        return self.latest

    def newer_than(self, number: int, fetcher: str = "") -> PolicyVersion | None:
        """Return the newest version if it is newer than ``number``; note that ``fetcher`` has it then."""
        if fetcher:
            self._fetched[fetcher] = self.latest
        return self.latest_version if self.latest > number else None

    def older(self) -> list[PolicyVersion]:
        """Return the versions kept for the opponents' mixture, oldest first; never none."""
        return list(self._older)

    def behind(self) -> dict[str, int]:
        """Return how many versions each fetcher is behind the newest."""
        fetched = self._fetched.copy()  # in one step: other threads add some meanwhile
        return {name: self.latest - number for name, number in fetched.items()}

    def restore(self, latest: PolicyVersion, older: list[PolicyVersion]) -> None:
        """Resume with these versions; ValueError if ``latest`` is older than the present one."""
        if latest.number < self.latest:
            raise ValueError(f"version {latest.number} is older than {self.latest}: versions never go back")
        self.latest_version, self._older = latest, list(older)
