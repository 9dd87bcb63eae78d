"""Games that were broken off, as files beside the records: the seed of the walls and all moves so far.

A file has JSON lines: the settings, then the moves as they are made. The table follows from these, so that a game goes
on exactly where it was. The command that plays a game has a lock on its file.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, Self

from suphx.games.riichi import MAX_SEED
from suphx_pipelines.riichi_play.play_config import PlayConfig

SUFFIX = ".unfinished"
_MAX_BYTES = 1_000_000  # a hanchan has about 1,000 actions
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameSettings:
    """The first line of a file."""

    id: str
    agent: str
    """Address, as it was typed."""
    name: str
    """Of the person."""
    seat: int
    length: str
    seed: int
    """Of the walls."""
    game: int = 0
    """Number of the game in the command that began it, from 0 on."""

    def fits(self, config: PlayConfig) -> bool:
        """Tell whether a command with this configuration goes on with the game."""
        has_seed = config.seed is None or config.seed_of_game(self.game) == self.seed
        return has_seed and (self.agent, self.seat, self.length) == (config.agent, config.seat, config.length)


class UnfinishedGame:
    """The file of one game, which this process alone has."""

    def __init__(self, path: Path, file: BinaryIO, settings: GameSettings, actions: Sequence[int]) -> None:
        self.settings = settings
        self.actions = list(actions)
        """Those in the file."""
        self._path = path
        self._file = file

    @classmethod
    def begin(cls, settings: GameSettings, folder: Path) -> Self:
        """Create the file of a new game; OSError if that fails."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{settings.id}{SUFFIX}"
        file = path.open("x+b", buffering=0)
        game = cls(path, file, settings, [])
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            game._append(_line(asdict(settings)))
        except OSError:
            game.remove()  # without its settings nobody could go on with it
            raise
        return game

    @classmethod
    def open(cls, path: Path) -> Self:
        """Take the game of a file; BlockingIOError if another process plays it, ValueError if it is damaged."""
        file = path.open("r+b", buffering=0)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            settings, actions, length = _read(path, file)
        except BaseException:
            file.close()
            raise
        file.truncate(length)  # half a line of a command that was killed
        file.seek(length)
        return cls(path, file, settings, actions)

    def keep(self, actions: Sequence[int]) -> None:
        """Write down what is new of all ``actions`` of the game; OSError if that fails."""
        new = [int(action) for action in actions[len(self.actions) :]]
        if not new:
            return
        self._append(_line(new))
        self.actions += new
        os.fsync(self._file.fileno())

    def remove(self) -> None:
        """Remove the file: the game is over."""
        self._path.unlink(missing_ok=True)
        self.close()

    def _append(self, line: bytes) -> None:
        """Write a whole line, or nothing and raise OSError."""
        place = self._file.tell()
        if self._file.write(line) < len(line):
            self._file.truncate(place)
            self._file.seek(place)
            raise OSError(errno.ENOSPC, f"cannot write {self._path}: free space in {self._path.parent}")

    def close(self) -> None:
        """Leave the game to whoever goes on with it."""
        self._file.close()


def unfinished_games(config: PlayConfig) -> Iterator[UnfinishedGame]:
    """Yield the games in ``config.out`` that nobody plays and that fit, the newest first; damaged ones are named."""
    for path in sorted(config.out.glob(f"*{SUFFIX}"), reverse=True) if config.continues else ():
        try:
            game = UnfinishedGame.open(path)
        except BlockingIOError:
            continue
        except (OSError, ValueError) as error:
            _logger.warning("an unfinished game cannot be continued: %s", error)
            continue
        if game.settings.fits(config):
            yield game
        else:
            game.close()


def _line(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode() + b"\n"


def _read(path: Path, file: BinaryIO) -> tuple[GameSettings, list[int], int]:
    """Return settings, actions and the length of the lines that are whole."""
    content = file.read(_MAX_BYTES)
    length = content.rfind(b"\n") + 1
    try:
        first, *rest = (json.loads(line) for line in content[:length].splitlines())
        settings = GameSettings(**first)
        is_right = all(_is(getattr(settings, each.name), _KINDS.get(each.name, str)) for each in fields(settings))
        is_right = is_right and 0 <= settings.seed < MAX_SEED and settings.game >= 0
        actions = [action for line in rest for action in line]
        is_right = is_right and settings.id == path.stem and all(_is(action, int) for action in actions)
    except (ValueError, TypeError, RecursionError):
        is_right = False
    if not is_right or len(content) == _MAX_BYTES:
        raise ValueError(f"{path} is damaged: remove it")
    return settings, actions, length


_KINDS: dict[str, type] = {"seat": int, "seed": int, "game": int}


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
