"""Who plays in a tournament: what the pool stage leaves in ``pool.json``, and the nets that it copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suphx.selfplay.agents.checkpoint_folder import WEAK, split_address
from suphx_pipelines.json_file import typed
from suphx_platform.agents.agent_forms import split_wrapper

POOL = "pool"
POOL_NAME = "pool.json"
COPIES = "agents/"
"""Where the nets of the pool are, in the stage's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """An agent of the pool."""

    name: str
    address: str
    """For ``load_agent``, as seen from the stage's folder where the nets are copied there."""
    digest: str
    """Of the nets that play, the early ones of ``:weak``; the address where there are none."""
    is_candidate: bool = False
    """One of the newest checkpoints: may become the champion."""
    stored: tuple[str, ...] = ()
    """Versions in a storage that the nets were copied from."""

    @property
    def has_nets(self) -> bool:
        """Whether its nets were copied; a scripted agent and an outside program have none."""
        return split_wrapper(self.address)[1].startswith(COPIES)

    def address_in(self, folder: Path) -> str:
        """Return the address with the stage's folder in front of copied nets."""
        wrapper, nets = split_wrapper(self.address)
        return f"{wrapper}{folder / nets}" if self.has_nets else self.address

    def nets_in(self, folder: Path) -> Path:
        """Return the folder of copied nets."""
        return folder / split_address(split_wrapper(self.address)[1])[0]

    def net_agent_in(self, folder: Path) -> str:
        """Return the address of the agent of the copied nets, whatever wraps it and however it selects actions."""
        _, words = split_address(split_wrapper(self.address)[1])
        return f"{self.nets_in(folder)}{f':{WEAK}' if WEAK in words else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """What ``pool.json`` says."""

    entrants: tuple[Entrant, ...]
    champion: int | None
    """Number of the champion in the pool; None if there is none."""
    version: str | None
    """Of the champion in the model registry."""
    left_out: dict[str, str]
    opponent: Entrant | None = None
    """Of the deciding match while there is no champion; it does not play on the leaderboard."""


def read_pool(folder: Path) -> Pool:
    """Return what the stage has left in ``folder``."""
    return typed(Pool, (folder / POOL_NAME).read_bytes())


def deciding_pair(
    pool: Pool, rows: Sequence[Mapping[str, Any]], folder: Path, opponent: str
) -> tuple[Entrant | None, str, dict[str, Any]]:
    """Return who plays the deciding match: the candidate or None, the address of its opponent, and both names.

    ``rows``: agents of the leaderboard, the strongest first. ``folder``: of the pool. ``opponent``: address of the one
    while there is no champion, if the pool has no copy of it; empty for none. The names are the keys ``candidate`` and
    ``opponent``, perhaps None.
    """
    best = next((row["name"] for row in rows if row["is_candidate"]), None)
    candidate = next((entrant for entrant in pool.entrants if entrant.name == best), None)
    other = pool.opponent if pool.champion is None else pool.entrants[pool.champion]
    names = {"candidate": best, "opponent": other.name if other else opponent or None}
    return candidate, other.address_in(folder) if other else opponent, names
