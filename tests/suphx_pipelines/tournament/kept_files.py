"""What a tournament keeps of its games and computes of them, as bytes, and how one is killed while it plays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.repository import REPOSITORY
from tests.suphx_pipelines.tournament.short_tournament import SHORT
from tests.suphx_pipelines.tournament.small_tournament import play

RESULTS = ("games.json", "table.json", "decision.json")
WALLS = SHORT.leaderboard.games // 4


def results(runs: Path) -> dict[str, bytes]:
    """Return the games that were kept and what was computed of them, by path."""
    folder = max(runs.glob("nightly-*"), key=lambda path: (path / "leaderboard").is_dir())
    paths = [path for stage in ("leaderboard", "decision") for path in (folder / stage).rglob("*.json")]
    wanted = [path for path in paths if "games" in path.parent.parts or path.name in RESULTS]
    return {str(path.relative_to(runs)): path.read_bytes() for path in sorted(wanted)}


def undisturbed(start: Path, folder: Path) -> dict[str, bytes]:
    """Return what one process leaves that nobody disturbs; it works in ``folder`` on a copy of ``start``."""
    runs = shutil.copytree(start, folder / "runs")
    play(runs, SHORT)
    found = results(runs)
    assert len(kept_walls(runs)) == WALLS
    assert sum("/games/fresh/" in name for name in found) > 0, "the decision was played to its end"
    return found


def check(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    """Several workers may also have finished walls behind those that decided; they are kept and count for nothing."""
    assert {name: found.get(name) for name in expected} == expected
    assert all("/decision/games/walls-" in name for name in found.keys() - expected.keys())


def kept_walls(runs: Path, stage: str = "leaderboard") -> list[Path]:
    """Return the files with the games of a stage, each of one task."""
    return list(runs.glob(f"nightly-*/{stage}/games/*.json"))


@contextmanager
def when_games_come(runs: Path, act: Callable[[], None], stage: str = "leaderboard") -> Iterator[None]:
    """Have ``act`` called as soon as the first games of ``stage`` are kept, while the block goes on."""
    is_over = threading.Event()

    def watch() -> None:
        while not kept_walls(runs, stage):
            if is_over.wait(0.005):
                return
        act()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


def start_driver(runs: Path, workers: int, *more: str, **environment: str) -> subprocess.Popen[bytes]:
    """Start the tournament in a process of its own; ``more``: what else it wants, such as "ray"."""
    command = [
        sys.executable,
        "-m",
        "tests.suphx_pipelines.tournament.short_tournament",
        str(runs),
        str(workers),
        *more,
    ]
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(command, cwd=REPOSITORY, env={**os.environ, "PYTHONPATH": path, **environment})
