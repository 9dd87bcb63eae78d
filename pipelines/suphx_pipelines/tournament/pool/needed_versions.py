"""Which versions of the model registry a tournament still needs, so that they are not deleted, and what goes with them.

A stored game names its agents by the digests of their nets, and is played again with the nets in the pool of its night
(``suphx runs replay``). A version whose nets are gone from there may be the last copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from suphx.json_text import parse_json
from suphx_pipelines.tournament.pool.candidate_versions import NightRecipe, named_versions
from suphx_pipelines.tournament.pool.game_code import GameCode
from suphx_pipelines.tournament.pool.tournament_history import GAMES_NAME, LEADERBOARD, is_night_of, read_history
from suphx_pipelines.tournament.pool.tournament_pool import HISTORY_NAME, POOL_NAME, Entrant, pool_of
from suphx_platform.agents.agent_source import AgentSource
from suphx_platform.storage.storage import Storage
from suphx_platform.tracking.lost_versions import LostVersion

_POOL = "pool"


class NightVersions:
    """The versions of a tournament's candidates, as ``delete_lost_versions`` asks for them."""

    def __init__(
        self,
        recipe: NightRecipe,
        runs: Path,
        pool: Path,
        source: AgentSource,
        warn: Callable[[str], None],
        *,
        code: GameCode,
        net_files: Sequence[str],
    ) -> None:
        """``runs``: folder of runs. ``pool``: of tonight; it has the games of earlier nights. ``source``: buckets.

        ``code``: of the game. ``net_files``: names of the files of an agent's nets.
        """
        self._recipe = recipe
        self._source = source
        self._warn = warn
        self._agents = {agent for game in read_history(pool / HISTORY_NAME, code).games for agent in game.seats}
        self._nights = _Nights(runs, Storage(recipe.storage) if recipe.storage.address else None, net_files)

    @property
    def name(self) -> str:
        """Of the tournament."""
        return self._recipe.name

    def owns(self, version: LostVersion) -> bool:
        """Tell whether the version was a candidate of this tournament."""
        return is_night_of(self._recipe.name, version.tournament)

    def needs(self, version: LostVersion) -> bool:
        """Tell whether the recipe names the version, or a stored game needs its nets. OSError of the storage."""
        if version.address in named_versions(self._recipe.pool.agents):
            return True
        if not version.digest or self._nights.has_nets(version):
            return False
        return self._nights.has_games(version.tournament) or any(version.digest in agent for agent in self._agents)

    def release(self, version: LostVersion) -> None:
        """Let the storage remove the checkpoints that the version was made from; OSError if it does not answer.

        A refusal is only a warning: it would be the same every night.
        """
        for stored in version.stored:
            try:
                self._source.unpin(stored, version.address)
            except PermissionError as error:
                self._warn(f"{stored} is still marked as used by {version.address}, which is deleted: {error}")


class _Nights:
    """The folders and stored versions of earlier tournaments."""

    def __init__(self, runs: Path, storage: Storage | None, net_files: Sequence[str]) -> None:
        self._runs = runs
        self._storage = storage
        self._net_files = net_files

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
        if local.is_file() and self._are_in(local.read_bytes(), version, lambda name: (folder / name).is_file()):
            return True
        if self._storage is None:
            return False
        for stored in self._storage.versions(f"{version.tournament}/{_POOL}"):
            text = self._storage.read(stored, POOL_NAME)
            if text is not None and self._are_in(text, version, stored.files.__contains__):
                return True
        return False

    def _are_in(self, text: bytes, version: LostVersion, has_file: Callable[[str], bool]) -> bool:
        """Tell whether the pool of a ``pool.json`` has an agent with these nets, and all their files; damaged: no."""
        try:
            own = [each for each in pool_of(parse_json(text)).entrants if each.digest == version.digest]
            return any(each.has_nets and self._is_whole(each, has_file) for each in own)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            return False

    def _is_whole(self, entrant: Entrant, has_file: Callable[[str], bool]) -> bool:
        nets = entrant.nets_in(Path())
        return all(has_file((nets / file).as_posix()) for file in self._net_files)
