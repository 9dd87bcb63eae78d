"""Places in the repository, and its files."""

from __future__ import annotations

import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
RECIPES = REPOSITORY / "pipelines" / "recipes"
GOLDEN = REPOSITORY / "tests" / "golden"


def tracked_files(*patterns: str) -> list[Path]:
    """Return the files that git knows and that are there, sorted; patterns are those of git, such as ``*.md``.

    What runs and tools have left in the folder is not among them.
    """
    command = ["git", "ls-files", "-z", "--", *patterns]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    paths = (REPOSITORY / name for name in listed.stdout.split("\0") if name)
    return sorted(path for path in paths if path.is_file())
