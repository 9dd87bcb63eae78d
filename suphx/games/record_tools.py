"""What ``suphx records`` does with games whose records are read and replayed one after another: ``RecordTools``."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from suphx.atomic_file import write_atomically
from suphx.file_tree import files_below
from suphx.games.game import CountGames, PlayedGame, Verification
from suphx.games.quarantine import ILLEGAL, MAX_SHOWN, NOT_READ, Quarantine
from suphx.games.scoring import SeatScoring, SideScoring

R = TypeVar("R")


def json_line(record: Any) -> str:
    """Return the JSON of a record with its line end."""
    return f"{json.dumps(record.to_json())}\n"


@dataclass(frozen=True, slots=True)
class Replay:
    """A recorded game that was played again by the rules, and agrees with them."""

    counts: Mapping[str, int]
    """What was compared, by name: ``decisions``, and what the game's records have besides."""
    game: PlayedGame | None
    """None: the record has no end."""


class PlainRecordTools(Generic[R]):
    """The ``RecordTools`` of a game: a function that reads, one that replays, and one a form that writes."""

    kernel_groups: tuple[str, ...] = ()
    has_luck = False
    new_set_aside = Quarantine

    def __init__(
        self,
        read: Callable[[Path, Callable[[str, ValueError], None]], Iterator[R]],
        replay: Callable[[R], Replay],
        forms: Mapping[str, tuple[str, Callable[[R], str]]],
        scoring: SeatScoring | SideScoring,
    ) -> None:
        """``read`` yields the games of a file or a folder, and calls its second argument with the place of what it
        cannot read. ``replay`` raises ValueError where a record contradicts the rules. ``forms``, by name: the
        ending of a file, and what makes the text of a game, with the line ends after it.
        """
        self.forms = tuple(forms)
        self._read, self._replay, self._forms, self._scoring = read, replay, forms, scoring

    def read(
        self,
        paths: Sequence[Path],
        *,
        set_aside: Quarantine,
        workers: int = 1,
        seen: CountGames = lambda share, games: None,
    ) -> Iterator[R]:
        """Yield the games of files and folders; one process reads them."""

        def refuse(place: str, error: ValueError) -> None:
            set_aside.add(place, "", str(error), kind=NOT_READ)

        for number, path in enumerate(paths):
            for record in self._read(path, refuse):
                yield record
                seen(number / len(paths), 1)
        seen(1.0, 0)

    def has_games(self, paths: Sequence[Path], *, set_aside: Quarantine) -> bool:
        """Tell whether a record can be read."""
        return next(self.read(paths, set_aside=set_aside), None) is not None

    def files(self, path: Path) -> Sequence[Path]:
        """Return the files in a folder, whether or not they are records, or the file itself."""
        return list(files_below(path)) if path.is_dir() else [path]

    def kernels_to_write(self, source: Path, form: str) -> tuple[str, ...]:
        """Return nothing: what records need is compiled as it is called."""
        return ()

    def players(self, record: Any) -> Sequence[str]:
        """Return who played, by seat; empty if nobody knows."""
        return record.players or ()

    def verify(self, paths: Sequence[Path], *, workers: int | None = None, seen: CountGames) -> Verification:
        """Replay all games; the numbers of a game that differs from the rules do not count."""
        started, set_aside = time.monotonic(), Quarantine()
        counts, differences, games = Counter[str](), [], 0
        for record in self.read(paths, set_aside=set_aside, seen=seen):
            games += 1
            try:
                counts.update(self._replay(record).counts)
            except ValueError as error:
                differences.append({"id": str(getattr(record, "id", "") or games), "what": str(error)})
        return Verification(
            games=games,
            differences=len(differences),
            counts=dict(counts),
            seconds=time.monotonic() - started,
            first=tuple(f"{each['id']}: {each['what']}" for each in differences[:MAX_SHOWN]),
            values={"first_differences": differences[:MAX_SHOWN], **set_aside.to_json()},
            set_aside=set_aside,
        )

    def count(self, record: R, player: str) -> list[int] | None:
        """Return what ``player`` did in a game; None without him, or without an end. ValueError as for ``replay``."""
        try:
            game = self._replay(record).game if player in self.players(record) else None
        except ValueError as error:
            raise ValueError(f"a game of {player}: {error}; {Quarantine.remedies[ILLEGAL]}") from error
        if game is None:
            return None
        places, _ = self._scoring.settle(np.array([game.points]), [[]])
        return self._scoring.count(game.record, player, places[0].tolist())

    def file_forms(self, target: Path) -> tuple[str, ...]:
        """Return the forms that a file of this name can have."""
        return tuple(form for form, (suffix, _) in self._forms.items() if target.suffix == suffix)

    def check_target(self, target: Path) -> None:
        """Raise ValueError for a name that is not that of a file of records."""
        if not self.file_forms(target):
            endings = ", ".join(f"{suffix} ({form})" for form, (suffix, _) in self._forms.items())
            raise ValueError(f"{target} has no known ending: name a file that ends in {endings}")

    def write(
        self, records: Iterable[R], target: Path, form: str, *, set_aside: Quarantine, kept: Set[Path] = frozenset()
    ) -> int:
        """Write games to a file, whole or not at all, and return how many; none: no file is written.

        A game that contradicts the rules, so that a form cannot have it, is set aside.
        """
        texts = []
        for number, record in enumerate(records, 1):
            try:
                texts.append(self._forms[form][1](record).encode())
            except ValueError as error:
                set_aside.add(str(getattr(record, "id", "") or f"game {number}"), "", str(error), kind=ILLEGAL)
        if texts:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, texts)
        return len(texts)
