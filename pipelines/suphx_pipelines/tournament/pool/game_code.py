"""By which rules and code the games of a tournament are played: games of other ones do not count."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import suphx_platform
from suphx.kernel.source_closure import PROJECT_ROOT, closure_digests
from suphx_pipelines.runs.provenance import digest_json, library_version

_GAME_LIBRARIES = ("numba", "numpy", "torch")
"""Those whose versions may change an answer of a net."""
_ROOTS = tuple(dict.fromkeys((PROJECT_ROOT, Path(suphx_platform.__path__[0]).resolve().parent)))


@dataclass(frozen=True, slots=True, kw_only=True)
class GameCode:
    """By which rules and code the games of a tournament are played."""

    rules: str
    """Digest of the game and its rules: stored games with another one do not count."""
    num_seats: int
    """Agents in a game."""
    modules: tuple[str, ...]
    """Files with the code that decides how a game ends, with what they import."""

    @property
    def engine(self) -> str:
        """Return a digest of the code of the game and of the libraries whose versions may change it."""
        return _engine_digest(self.modules)


@cache
def _engine_digest(modules: tuple[str, ...]) -> str:
    """Return a digest of all code that decides how a game ends."""
    sources = game_sources(modules)
    return digest_json([sources, {name: library_version(name) for name in _GAME_LIBRARIES}])


def game_sources(modules: tuple[str, ...], roots: tuple[Path, ...] = _ROOTS) -> dict[str, str]:
    """Return path below its root -> digest, of the sources that decide how a game ends.

    These are the rules with their random numbers, the flow of a game, and all agents with the inference of their nets:
    what the modules that play games and that load agents import, directly or through others.
    """
    found = (next(root / name for root in roots if (root / name).is_file()) for name in modules)
    return {name: digest for module in found for name, digest in closure_digests(module, roots).items()}
