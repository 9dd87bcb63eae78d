"""The games of all nights, from which agents are rated: one file for each night, in the runs and in the storage.

``games.json``: ``night``, ``rules`` (their digest), ``draw_lanes``, ``agents`` [{digest, name}], and ``games`` [[seed
of the wall, agent at each seat, place of each seat]]. With the nets in the pool of that night, any of them can be
played again. Games of other rules do not count (``GameCode``).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from suphx.evaluation.rating import RatedGame
from suphx_pipelines.json_file import read_json
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig

LEADERBOARD = "leaderboard"
GAMES_NAME = "games.json"
TABLE_NAME = "table.json"
HISTORY_NAME = "history.json"
"""In the pool: the games and ratings of earlier nights, as they were when the night began."""
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameCode:
    """By which rules the games of a tournament are played."""

    rules: str
    """Digest of the game and its rules: stored games with another one do not count."""
    num_seats: int


def games_json(games: Iterable[RatedGame], names: Mapping[str, str], code: GameCode) -> dict[str, Any]:
    """Return games as plain values; ``names`` of agents by digest."""
    played = sorted(games)
    digests = sorted({agent for game in played for agent in game.seats})
    numbers = {digest: number for number, digest in enumerate(digests)}
    return {
        "rules": code.rules,
        "agents": [{"digest": digest, "name": names.get(digest, digest)} for digest in digests],
        "games": [[game.wall, [numbers[agent] for agent in game.seats], list(game.places)] for game in played],
    }


def read_games(path: Path, code: GameCode) -> list[RatedGame]:
    """Return the games of a file; none if they were played by other rules. ValueError if the file is damaged."""
    games, num_seats = [], code.num_seats
    with _damage_named(path):
        values = read_json(path)
        if values["rules"] != code.rules:
            return []
        digests = [str(agent["digest"]) for agent in values["agents"]]
        for wall, seats, places in values["games"]:
            is_right = all(type(number) is int and number >= 0 for number in (wall, *seats))
            has_all = len(seats) == len(set(seats)) == num_seats and sorted(places) == list(range(1, num_seats + 1))
            if not is_right or not has_all:
                raise ValueError(f"no game: {[wall, seats, places]!r:.200}")
            games.append(RatedGame(wall, tuple(digests[seat] for seat in seats), tuple(map(int, places))))
    return games


@contextmanager
def _damage_named(path: Path) -> Iterator[None]:
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged ({error!r}): remove it, its games do not count then") from error


@dataclass(frozen=True, slots=True)
class EarlierNights:
    """The games of earlier nights, and the ratings as they were published then."""

    games: list[RatedGame]
    nights: list[dict[str, Any]]
    """As ``night_of`` returns them, in the order of the nights' names."""


def night_of(run_id: str, night: str, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the ratings of a night as plain values; ``rows`` are the agents of its table."""
    ratings = {row["digest"]: [row["rating"], *(row["interval"] or (None, None))] for row in rows}
    return {"run": run_id, "night": night, "ratings": ratings}


def history_json(earlier: EarlierNights, code: GameCode) -> dict[str, Any]:
    """Return earlier nights as plain values."""
    return games_json(earlier.games, {}, code) | {"nights": earlier.nights}


def read_history(path: Path, code: GameCode) -> EarlierNights:
    """Return the earlier nights of a file; no games if they were played by other rules."""
    games = read_games(path, code)
    with _damage_named(path):
        nights = read_json(path)["nights"]
        return EarlierNights(games, [_checked_night(night) for night in nights])


def _checked_night(night: Mapping[str, Any]) -> dict[str, Any]:
    ratings: dict[str, list[float | None]] = {}
    for digest, (rating, low, high) in night["ratings"].items():
        if (low is None) != (high is None):
            raise ValueError("a rating is not a number with its interval")
        ratings[str(digest)] = [float(rating), *(None if end is None else float(end) for end in (low, high))]
    return {"run": str(night["run"]), "night": str(night["night"]), "ratings": ratings}


def is_night_of(name: str, run: str) -> bool:
    """Tell whether a run is a night of the tournament called ``name``, not of one whose name begins with it."""
    return re.fullmatch(rf"{re.escape(name)}-[0-9a-f]{{10}}", run) is not None


def earlier_nights(name: str, run_id: str, runs: Path, storage: StorageConfig, code: GameCode) -> EarlierNights:
    """Return all tournaments called ``name`` but the run ``run_id``: those in ``runs`` and in the storage.

    The order does not depend on where they were found; a night that is damaged in ``runs`` is read from the storage.
    Nights by other rules do not count. Raises OSError if the storage does not answer.
    """
    games: set[RatedGame] = set()
    nights: list[dict[str, Any]] = []
    strangers: list[str] = []

    def read(run: str, path: Path) -> bool:
        """Take a night, with the ratings beside its games if there are any; return False if a file is damaged."""
        table, night = path.with_name(TABLE_NAME), None
        try:
            with _damage_named(path):
                values = read_json(path)
                if values["rules"] != code.rules:
                    strangers.append(run)
                    return True
            played = read_games(path, code)
            with _damage_named(table):
                rows = read_json(table)["agents"] if table.is_file() else []
                if rows and "digest" in rows[0]:
                    night = _checked_night(night_of(run, values["night"], rows))
        except ValueError as error:
            _logger.info("the games of %s do not count: %s", run, error)
            return False
        games.update(played)
        nights.extend([night] if night else [])
        return True

    found = {path.parts[-3]: path for path in runs.glob(f"{name}-*/{LEADERBOARD}/{GAMES_NAME}")}
    known = {run for run, path in sorted(found.items()) if run != run_id and is_night_of(name, run) and read(run, path)}
    for stored in Storage(storage).names() if storage.address else ():
        run, _, stage = stored.partition("/")
        if stage == LEADERBOARD and is_night_of(name, run) and run not in known and run != run_id:
            with TemporaryDirectory(prefix="suphx-games-") as space:
                # The folder may also have the records of all games.
                Storage(storage).load_newest(stored, Path(space), files=(GAMES_NAME, TABLE_NAME))
                if (path := Path(space) / GAMES_NAME).is_file():
                    read(run, path)
    if strangers:
        text = "%d earlier nights were played by other rules (%s to %s): their games do not count"
        _logger.info(text, len(strangers), min(strangers), max(strangers))
    return EarlierNights(sorted(games), sorted(nights, key=lambda night: night["night"]))
