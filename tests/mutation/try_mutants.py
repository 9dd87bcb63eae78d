"""Applies each mutant to a copy of the repository and runs its test, which must fail.

``python -m tests.mutation.try_mutants [WORD…]``: all mutants, or those whose fault or file contains one of the words.
Kernels that a mutant changes are compiled again, so all of them take about ten minutes on two cores. A test that is
skipped finds nothing: set $SUPHX_KUBERAY_CRDS (docs/architecture.md) for those of the chart.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.mutants import Mutant, load_mutants
from tests.repository import REPOSITORY, tracked_files

_PASSED, _FAILED = 0, 1


def main(words: Sequence[str]) -> int:
    """Try the mutants and print one line for each; return 1 if a test did not find its mutant."""
    chosen = [each for each in load_mutants() if not words or any(word in each.fault + each.file for word in words)]
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = _copy(Path(folder))
        for mutant in chosen:
            outcome = _outcome(mutant, copy)
            survivors += outcome != "found"
            print(f"{outcome:<9} {mutant.fault} ({mutant.file})", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants found")
    return int(survivors > 0)


def _copy(folder: Path) -> Path:
    """Copy the files that git knows, as they are now."""
    for source in tracked_files():
        target = folder / source.relative_to(REPOSITORY)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    return folder


def _outcome(mutant: Mutant, root: Path) -> str:
    text = mutant.apply(root)
    paths = os.pathsep.join(str(root / name) for name in ("", "platform", "pipelines"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", mutant.test],
        cwd=root,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    (root / mutant.file).write_text(text, encoding="utf-8")
    if done.returncode == _PASSED:
        return "SURVIVED" if " passed" in done.stdout else "skipped"
    return "found" if done.returncode == _FAILED else f"exit {done.returncode}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
