"""A training during which MLflow is away for a third of the time: all points arrive, once, in order, at full speed.

``python -m tests.suphx_platform.tracking.mlflow_outage --minutes 30 [--kill]`` starts a real MLflow server, a proxy
before it and a training (tracked_training.py). In the second third the proxy answers 503 and then not at all;
``--kill`` ends the training with SIGKILL in the middle of that, and starts it again while MLflow is still away. It
prints a JSON object, and exits with 1 if a point is missing, twice or out of order, or if the outage changed the speed
by more than 5 %.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

from suphx_platform.tracking.tracking import TrackingStore
from tests.repository import REPOSITORY
from tests.suphx_platform.storage.faulty_proxy import faulty_proxy
from tests.suphx_platform.tracking import tracked_training
from tests.suphx_platform.tracking.mlflow_server import mlflow_server

MAX_CHANGE = 0.05


@dataclass(slots=True, kw_only=True)
class OutageResult:
    """What came of it."""

    steps: int
    points: int
    missing: int
    twice: int
    wrong: int
    is_in_order: bool
    steps_per_second: float
    """Before and after the outage."""
    steps_per_second_away: float
    """During the outage, without the time that a killed training needed to start again."""

    @property
    def change(self) -> float:
        """How much the outage changed the speed, as a share."""
        return abs(self.steps_per_second_away / self.steps_per_second - 1)

    @property
    def is_complete(self) -> bool:
        """Tell whether every point arrived once and in order."""
        return self.points == self.steps and not (self.missing or self.twice or self.wrong) and self.is_in_order


def outage(folder: Path, server: str, *, seconds: float, is_killed: bool) -> OutageResult:
    """Train for ``seconds`` and take MLflow away for a third of them; a killed training starts again meanwhile."""
    runs = folder / "runs"
    runs.mkdir()
    with faulty_proxy(int(server.rpartition(":")[2])) as proxy:
        os.environ["MLFLOW_TRACKING_URI"] = f"http://127.0.0.1:{proxy.port}"
        TrackingStore(runs).reach()
        times: dict[int, float] = {}
        training, reader = _begin(runs, times)
        try:
            _wait_for_step(times, training, 0)
            time.sleep(seconds / 3)
            began = time.time()
            proxy.is_busy.set()
            time.sleep(seconds / 6)
            if is_killed:
                training.kill()
                training.wait()
                reader.join()
                last = max(times)
                training, reader = _begin(runs, times)
                _wait_for_step(times, training, last + 1)
            proxy.is_open.clear()  # requests wait for their limit
            time.sleep(seconds / 6)
            away = (began, time.time())
            proxy.is_busy.clear()
            proxy.is_open.set()
            time.sleep(seconds / 3)
            (runs / tracked_training.STOP_FILE).touch()
            if training.wait() != 0:
                raise ChildProcessError(f"the training ended with exit code {training.returncode}")
        finally:
            training.kill()
        reader.join()
        return _compare(runs, times, away, is_killed=is_killed)


def _begin(runs: Path, times: dict[int, float]) -> tuple[subprocess.Popen[str], threading.Thread]:
    """Start the training, and a thread that notes when each step was made first."""
    command = [sys.executable, "-m", tracked_training.__name__, str(runs)]
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)

    def read() -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                step, date = line.split()
                times.setdefault(int(step), float(date))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    return process, reader


def _wait_for_step(times: dict[int, float], process: subprocess.Popen[str], step: int) -> None:
    while step not in times:
        if process.poll() is not None:
            raise ChildProcessError(f"the training ended with exit code {process.returncode} before step {step}")
        time.sleep(0.05)


def _compare(runs: Path, times: dict[int, float], away: tuple[float, float], *, is_killed: bool) -> OutageResult:
    store = TrackingStore(runs)
    stage = store.find(tracked_training.STAGE)
    if stage is None:
        raise ValueError("MLflow has no run of the training")
    found = store.client.get_metric_history(stage.info.run_id, "check")
    steps = [point.step for point in sorted(found, key=lambda point: (point.timestamp, point.step))]
    dates = [times[step] for step in sorted(times)]
    gaps = [(earlier, later - earlier) for earlier, later in pairwise(dates)]
    inside = sorted(gap for date, gap in gaps if away[0] < date < away[1])
    outside = [gap for date, gap in gaps if not away[0] <= date <= away[1]]
    inside = inside[:-1] if is_killed else inside  # the longest is the restart
    return OutageResult(
        steps=max(times) + 1,
        points=len(steps),
        missing=len(set(range(max(times) + 1)) - set(steps)),
        twice=len(steps) - len(set(steps)),
        wrong=sum(point.value != tracked_training.value_of(point.step) for point in found),
        is_in_order=steps == sorted(steps),
        steps_per_second=1 / statistics.mean(outside),
        steps_per_second_away=1 / statistics.mean(inside),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=30, help="of training (default: 30)")
    parser.add_argument("--kill", action="store_true", help="kill -9 the training during the outage")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="suphx-outage-") as name:
        folder = Path(name)
        (folder / "server").mkdir()
        with mlflow_server(folder / "server") as server:
            found = outage(folder, server, seconds=60 * arguments.minutes, is_killed=arguments.kill)
    print(json.dumps(asdict(found) | {"change": round(found.change, 4)}, indent=2))
    return 0 if found.is_complete and found.change <= MAX_CHANGE else 1


if __name__ == "__main__":
    sys.exit(main())
