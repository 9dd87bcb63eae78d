"""Versions of nets in the model registry that a tournament needs.

A stored game names its agents by the digests of their nets, and is played again with the nets in the pool of its night
(``suphx runs replay``). A version of the registry whose nets are gone from there may be the last copy, and is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from suphx.selfplay.agents.checkpoint_folder import split_address
from suphx_pipelines.tournament.entrants import POOL, POOL_FILE, POOL_NAME
from suphx_pipelines.tournament.history import (
    GAMES_NAME,
    HISTORY_NAME,
    LEADERBOARD,
    GameCode,
    is_night_of,
    read_history,
)
from suphx_platform.agents.agent_forms import is_program, split_wrapper
from suphx_platform.storage.storage import Storage
from suphx_platform.tracking.mlflow_client import TrackingRefusedError
from suphx_platform.tracking.mlflow_store import MlflowStore
from suphx_platform.tracking.model_registry import VERSION_ADDRESS, LostVersion, mark_needed


def named_versions(agents: Iterable[str]) -> set[str]:
    """Return the addresses ``models:/NAME/VERSION`` of the nets of agents; those by an alias are not among them."""
    nets = (split_address(split_wrapper(agent)[1])[0] for agent in agents if not is_program(agent))
    return {address for address in nets if VERSION_ADDRESS.fullmatch(address)}


def mark_named(store: MlflowStore, recipe: Any, warn: Callable[[str], None]) -> None:
    """Mark the versions that the recipe names, and take the mark from those that it names no more.

    A server that does not allow it is a warning. TrackingError if it does not answer.
    """
    try:
        mark_needed(store, recipe.name, recipe.night, named_versions(recipe.pool.agents))
    except TrackingRefusedError as error:
        warn(f"the versions in pool.agents are not marked as needed, another tournament may delete them: {error}")


class NightVersions:
    """The versions of a tournament's candidates, as ``delete_lost_versions`` asks for them."""

    def __init__(
        self,
        recipe: Any,
        runs: Path,
        pool: Path,
        *,
        code: GameCode,
        net_files: Sequence[str],
    ) -> None:
        """``runs``: folder of runs. ``pool``: of tonight; it has the games of earlier nights.

        ``code``: of the game. ``net_files``: names of the files of an agent's nets.
        """
        self._recipe = recipe
        self._agents = {agent for game in read_history(pool / HISTORY_NAME, code).games for agent in game.seats}
        self._runs = runs
        self._storage = Storage(recipe.storage) if recipe.storage.address else None
        self._net_files = net_files

    @property
    def name(self) -> str:
        """Of the tournament."""
        name: str = self._recipe.name
        return name

    def owns(self, version: LostVersion) -> bool:
        """Tell whether the version was a candidate of this tournament."""
        return is_night_of(self._recipe.name, version.tournament)

    def needs(self, version: LostVersion) -> bool:
        """Tell whether the recipe names the version, or a stored game needs its nets. OSError of the storage."""
        if version.address in named_versions(self._recipe.pool.agents):
            return True
        if not version.digest or self._has_nets(version):
            return False
        return self._has_games(version.tournament) or any(version.digest in agent for agent in self._agents)

    def _has_games(self, run: str) -> bool:
        """Tell whether the games of a tournament are in the folder of runs or in the storage."""
        if not run:
            return False
        if (self._runs / run / LEADERBOARD / GAMES_NAME).is_file():
            return True
        stored = self._storage.versions(f"{run}/{LEADERBOARD}") if self._storage else []
        return any(GAMES_NAME in version.files for version in stored)

    def _has_nets(self, version: LostVersion) -> bool:
        """Tell whether the pool of the version's tournament has all its nets, here or in the storage."""
        if not version.tournament:
            return False
        folder = self._runs / version.tournament / POOL
        local = folder / POOL_NAME
        if local.is_file() and self._are_in(local.read_bytes(), version, lambda name: (folder / name).is_file()):
            return True
        if self._storage is None:
            return False
        for stored in self._storage.versions(f"{version.tournament}/{POOL}"):
            text = self._storage.read(stored, POOL_NAME)
            if text is not None and self._are_in(text, version, stored.files.__contains__):
                return True
        return False

    def _are_in(self, text: bytes, version: LostVersion, has_file: Callable[[str], bool]) -> bool:
        """Tell whether the pool of a ``pool.json`` has an agent with these nets, and all their files; damaged: no."""
        try:
            entrants = POOL_FILE.validate_json(text).entrants
        except ValueError:
            return False
        own = [each.nets_in(Path()) for each in entrants if each.digest == version.digest and each.has_nets]
        return any(all(has_file((nets / file).as_posix()) for file in self._net_files) for nets in own)
