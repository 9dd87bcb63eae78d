"""Results of the tasks of a match that are kept while it is played, so that it continues after a stop."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.games.registry import GAMES, load_game
from suphx.json_text import parse_json

GAMES_FOLDER, RECORDS_FOLDER = "games", "records"
"""What a stage calls its folder of them, and that of the records of their games."""


@dataclass(frozen=True, slots=True)
class KeptResults:
    """A JSON file for each task. The caller makes sure that the folder belongs to the same agents, walls and rules.

    Only one process writes into the folder.
    """

    folder: Path
    _count: list[int] = field(default_factory=lambda: [0], repr=False, compare=False)
    """One number: how many results were written."""

    def part(self, name: str) -> KeptResults:
        """Return the results in the folder ``name`` of the folder; what is written there counts here, too."""
        return KeptResults(self.folder / name, self._count)

    @property
    def num_written(self) -> int:
        """How many results were written by this object and its parts; unlike ``len`` it reads no folder."""
        return self._count[0]

    def read(self, key: str) -> dict[str, Any] | None:
        """Return what was written under ``key``; None if nothing was. ValueError if the file is damaged."""
        path = self._path(key)
        if not path.is_file():
            return None
        try:
            content = parse_json(path.read_bytes())
            if not isinstance(content, dict):
                raise ValueError("no JSON object")
        except ValueError as error:
            raise ValueError(f"{path} is damaged ({error}): remove it, its games are played again") from error
        return content

    def write(self, key: str, result: dict[str, Any]) -> None:
        """Keep the result, whole or not at all. OSError if the disk refuses."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path(key), [json.dumps(result, separators=(",", ":")).encode()])
        self._count[0] += 1

    def __len__(self) -> int:
        """Return how many results there are, those in folders of the folder included."""
        return sum(1 for _ in self.folder.rglob("*.json"))

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def has_records(folder: Path) -> bool:
    """Return whether a game's records of a task are in ``folder`` or below."""
    suffixes = tuple(load_game(name).record_suffix for name in GAMES)
    return any(path.name.endswith(suffixes) for path in folder.rglob("*"))


def with_kept(
    kept: KeptResults | None,
    keys: Sequence[str],
    play: Callable[[list[int]], Generator[tuple[int, dict[str, Any]], None, None]],
    note_kept: Callable[[int], None],
) -> Generator[tuple[int, dict[str, Any]], None, None]:
    """Yield the index of each task and its result: first what is kept, then what ``play`` yields, which is kept too.

    ``keys``: of the tasks. ``play`` gets the indices of those that are missing, if any, and yields positions among
    these. ``note_kept`` gets the index of each result that was there. When this generator is closed, ``play`` is.
    """
    known = {} if kept is None else {index: kept.read(key) for index, key in enumerate(keys)}
    for index, result in known.items():
        if result is not None:
            note_kept(index)
            yield index, result
    missing = [index for index in range(len(keys)) if known.get(index) is None]
    if not missing:
        return
    with closing(play(missing)) as results:
        for position, result in results:
            index = missing[position]
            if kept is not None:
                kept.write(keys[index], result)
            yield index, result
