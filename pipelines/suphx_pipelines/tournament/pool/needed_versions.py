"""Which versions of the model registry a tournament still needs, so that they are not deleted.

A stored game names its agents by the digests of their nets, and is played again with the nets in the pool of its night
(``suphx runs replay``). A version whose nets are gone from there may be the last copy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from suphx.games.riichi import HEAD_NAMES
from suphx.models.checkpoints.checkpoint_name import checkpoint_name
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe
from suphx_pipelines.tournament.pool.tournament_history import GAMES_NAME, LEADERBOARD, read_history
from suphx_pipelines.tournament.pool.tournament_pool import HISTORY_NAME, POOL_NAME, Entrant, pool_of
from suphx_platform.storage.storage import Storage
from suphx_platform.tracking.lost_versions import LostVersion

_POOL = "pool"


def needed_versions(recipe: TournamentRecipe, runs: Path, pool: Path) -> Callable[[LostVersion], bool]:
    """Return what says of a version whether the recipe names it, or whether a stored game needs its nets.

    ``runs``: folder of runs. ``pool``: folder of tonight's pool, which has the games of earlier nights. OSError, when
    it is asked, if the storage does not answer.
    """
    agents = {agent for game in read_history(pool / HISTORY_NAME).games for agent in game.seats}
    nights = _Nights(runs, Storage(recipe.storage) if recipe.storage.address else None)

    def is_needed(version: LostVersion) -> bool:
        named = re.compile(rf"{re.escape(version.address)}(?![0-9])")
        if any(named.search(agent) for agent in recipe.pool.agents):
            return True
        if not version.digest or nights.has_nets(version):
            return False
        return nights.has_games(version.tournament) or any(version.digest in agent for agent in agents)

    return is_needed


class _Nights:
    """The folders and stored versions of earlier tournaments."""

    def __init__(self, runs: Path, storage: Storage | None) -> None:
        self._runs = runs
        self._storage = storage

    def has_games(self, run: str) -> bool:
        """Tell whether the games of a tournament are in the folder of runs or in the storage."""
        if not run:
            return False
        if (self._runs / run / LEADERBOARD / GAMES_NAME).is_file():
            return True
        stored = self._storage.versions(f"{run}/{LEADERBOARD}") if self._storage else []
        return any(GAMES_NAME in version.files for version in stored)

    def has_nets(self, version: LostVersion) -> bool:
        """Tell whether the pool of the version's tournament has all its nets, here or in the storage."""
        if not version.tournament:
            return False
        folder = self._runs / version.tournament / _POOL
        local = folder / POOL_NAME
        if local.is_file() and _has_nets(local.read_bytes(), version.digest, lambda name: (folder / name).is_file()):
            return True
        if self._storage is None:
            return False
        for stored in self._storage.versions(f"{version.tournament}/{_POOL}"):
            text = self._storage.read(stored, POOL_NAME)
            if text is not None and _has_nets(text, version.digest, stored.files.__contains__):
                return True
        return False


def _has_nets(text: bytes, digest: str, has_file: Callable[[str], bool]) -> bool:
    """Tell whether the pool of a ``pool.json`` has an agent with these nets, and all their files; damaged: no."""
    try:
        entrants = pool_of(json.loads(text)).entrants
        return any(each.digest == digest and each.has_nets and _is_whole(each, has_file) for each in entrants)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return False


def _is_whole(entrant: Entrant, has_file: Callable[[str], bool]) -> bool:
    nets = entrant.nets_in(Path())
    return all(has_file((nets / checkpoint_name(head)).as_posix()) for head in HEAD_NAMES)
