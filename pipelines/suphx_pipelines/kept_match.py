"""Where a match of ``suphx evaluate`` keeps its finished parts, so that the same command continues after a stop.

As in tournaments, each part is a file (``KeptResults``). They are in the folder of the records (``--keep-games``), or
in one that is named after the match in the folder of runs, and are removed when the match is over.
"""

from __future__ import annotations

import errno
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from suphx.atomic_file import remove_partial
from suphx.evaluation.kept_results import GAMES_FOLDER, KeptResults, has_records
from suphx.evaluation.match_config import KEPT_FOLDER
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.runs.provenance import code_digest, digest_file, digest_json
from suphx_pipelines.runs.run_lock import LOCK_FILE, is_locked, locked
from suphx_platform.console.table_text import count_text

MATCHES_FOLDER = ".matches"
_MATCH_FILE = "match.json"
_DIGITS = 16


def saved_text(saved: Sequence[KeptResults]) -> str:
    """Return the sentence about what is saved of a match that was stopped; ``saved``: its parts, once it had any."""
    count = sum(map(len, saved))
    return (
        f"{count_text(count, 'finished part')} of the match saved." if count else "No part has ended: it begins again."
    )


def match_of(options: Mapping[str, Any], files: Sequence[Sequence[Path]]) -> dict[str, Any]:
    """Return all that decides the games of a match, as JSON.

    ``options``: of the command. ``files``: those of each agent that decide how it plays.
    """
    digests = [[digest_file(path) for path in each] for each in files]
    return {**options, "files of the agents": digests, "version of suphx": code_digest()}


@contextmanager
def kept_match(
    match: Mapping[str, Any], runs: Path, records: Path | None, say: Callable[[str], None]
) -> Iterator[KeptResults]:
    """Yield the finished parts of a match; they stay there if the block ends with an error or is stopped.

    ``match``: what ``match_of`` returns. ``records``: the folder for its records, if they are wanted.
    ValueError if that has games of another match, or if another process writes them.
    """
    runs_place = runs / MATCHES_FOLDER / digest_json(match)[:_DIGITS]
    place = runs_place if records is None else records / KEPT_FOLDER
    file, kept = place / _MATCH_FILE, KeptResults(place / GAMES_FOLDER)

    def has_games() -> bool:
        """Return whether there are any, perhaps of a part that was not kept because the match was stopped then."""
        return len(kept) > 0 or (records is not None and has_records(records))

    if has_games() and (found := read_json(file) if file.is_file() else {}) != match:
        differs = ", ".join(key for key in {**match, **found} if match.get(key) != found.get(key))
        reason = f"it differs in {differs}" if found else f"{file} is missing"
        raise ValueError(
            f"{records or place} has games of another match ({reason}): repeat its command to finish it, or name "
            "another folder"
        )
    made = [each for each in (place, *place.parents) if not each.exists()]
    try:
        place.mkdir(parents=True, exist_ok=True)
        if is_locked(place):
            raise OSError(errno.EBUSY, "another process plays this match", str(place))
    except OSError as error:
        reason = f"{place}: {error.strerror}"
        if records is not None:
            raise ValueError(f"{reason}: name another folder with --keep-games") from error
        say(f"Finished parts of the match are not saved: {reason}")
        with TemporaryDirectory(prefix="suphx-match-") as space:
            yield KeptResults(Path(space))
        return
    with locked(place):  # also while it is tidied: another process may wait for the same match
        try:
            write_json(file, match)
            if num_kept := len(kept):
                parts = count_text(num_kept, "finished part")
                say(f"match: continuing after {parts} of it; remove {records or place} to begin again")
            yield kept
            shutil.rmtree(place, ignore_errors=sys.platform == "win32")
        finally:
            if records is not None:
                remove_partial(records)
            if not has_games():
                shutil.rmtree(place, ignore_errors=True)
            for each in (*made, runs / MATCHES_FOLDER):
                with suppress(OSError):  # there is something in it
                    each.rmdir()
    if sys.platform == "win32":  # which does not remove the lock while it is held
        with suppress(OSError):
            (place / LOCK_FILE).unlink()
            place.rmdir()
