"""What the recipes of the tournaments of all games have in common.

A protocol, because importing the recipe of another game would make each night depend on that game's code.
"""

from __future__ import annotations

from typing import Protocol

from suphx_platform.storage.storage_config import StorageConfig


class NamedAgents(Protocol):
    """The participants of a recipe."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Addresses of agents."""
        ...


class NightRecipe(Protocol):
    """A recipe of a tournament of any game."""

    @property
    def name(self) -> str:
        """First part of the ids of its runs."""
        ...

    @property
    def night(self) -> str:
        """Tonight's name."""
        ...

    @property
    def pool(self) -> NamedAgents:
        """Participants."""
        ...

    @property
    def storage(self) -> StorageConfig:
        """Where results are kept besides the folder of runs."""
        ...
