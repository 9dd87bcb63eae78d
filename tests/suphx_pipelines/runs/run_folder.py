"""Folders of runs as ``suphx run`` leaves them, without its work."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from suphx_pipelines.runs.run_summary import RunState, RunSummary, StageSummary


def write_run(
    runs: Path,
    run_id: str,
    *,
    state: RunState = "finished",
    started: str = "2026-11-22T04:30:34+00:00",
    recipe: str = 'name = "laptop"\n[net]\nsize = "tiny"\n',
    metrics: Mapping[str, Mapping[str, float]] | None = None,
    has_summary: bool = True,
    error: str | None = None,
) -> Path:
    """Write the folder of a run whose stages have ``metrics``; those of an evaluation by default."""
    folder = runs / run_id
    stages = metrics if metrics is not None else {"evaluation": {"paired_difference": -0.25}}
    for name, figures in stages.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        done = {"digest": "a", "inputs": {}, "sources": {}, "metrics": figures, "seconds": 12.5, "run_id": run_id}
        (folder / name / "done.json").write_text(json.dumps(done), encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recipe.toml").write_text(recipe, encoding="utf-8")
    (folder / "lock").touch()
    if has_summary:
        RunSummary(
            run_id=run_id,
            recipe="laptop",
            command=["suphx", "run", "laptop"],
            state=state,
            started=started,
            seconds=100.0,
            verdict="The nets play better." if state == "finished" else None,
            stages={name: StageSummary(status="finished", seconds=12.5, metrics={**stages[name]}) for name in stages},
            error=error,
        ).write(folder)
    return folder


@contextmanager
def running(folder: Path, *, ignores: Sequence[int] = ()) -> Iterator[int]:
    """Have another process work on the run in ``folder``, whose number is yielded; ``ignores``: signals."""
    command = [sys.executable, "-c", HOLD, str(folder), *map(str, map(int, ignores))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process.pid


HOLD = """
import signal
import sys
from pathlib import Path
from suphx_pipelines.runs.run_lock import locked
for number in sys.argv[2:]:
    signal.signal(int(number), signal.SIG_IGN)
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""
