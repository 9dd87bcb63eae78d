"""A training during which MLflow is unavailable for a third of the time: all points arrive, once and in order.

``python -m tests.suphx_platform.tracking.mlflow_outage --minutes 30 [--kill]`` starts a real MLflow server, a proxy
before it and a training as a process of its own (``--train``), which tracks every step and prints it. In the second
third the proxy answers 503 and then not at all; ``--kill`` ends the training with SIGKILL in the middle of that, and
starts it again while MLflow is still unavailable. It prints a JSON object, and exits with 1 if a point is missing,
twice, wrong or out of order.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from suphx_platform.tracking.tracking import TrackingStore
from tests.repository import REPOSITORY
from tests.suphx_platform.storage.faulty_proxy import faulty_proxy
from tests.suphx_platform.tracking.mlflow_server import mlflow_server

RUN, STAGE = "outage", "outage/training"
STOP_FILE = "stop"
_METRICS = 25
"""Of each point, as self-play has."""
_SAVE_EVERY = 10
_STEP_SECONDS = 0.2


def value_of(step: int) -> float:
    """Return the value of the metric ``check`` at a step."""
    return 1e6 - step


def train(runs: Path) -> None:
    """Work until there is a file ``stop``; ``state`` is the saved state, from which a killed training continues."""
    state, is_resumed = runs / "state", (runs / "state").exists()
    step = int(state.read_text()) if is_resumed else 0
    state.write_text(f"{step}")
    with (
        closing(TrackingStore(runs)) as store,
        store.start(RUN, key=RUN) as run,
        run.start("training", key=STAGE) as stage,
    ):
        if is_resumed:
            stage.resume()
        while not (runs / STOP_FILE).exists():
            time.sleep(_STEP_SECONDS)
            point = {f"metric_{number}": float(step + number) for number in range(_METRICS - 1)}
            stage.log_metrics({**point, "check": value_of(step)}, step=step)
            print(step, flush=True)
            step += 1
            if step % _SAVE_EVERY == 0:
                state.write_text(f"{step}")


@dataclass(slots=True, kw_only=True)
class OutageResult:
    """What came of it."""

    steps: int
    points: int
    missing: int
    wrong: int
    is_in_order: bool

    @property
    def is_complete(self) -> bool:
        """Tell whether every point arrived once and in order."""
        return self.points == self.steps and not (self.missing or self.wrong) and self.is_in_order


def outage(folder: Path, server: str, *, seconds: float, is_killed: bool) -> OutageResult:
    """Train for ``seconds`` and take MLflow away for a third of them; a killed training starts again meanwhile."""
    runs = folder / "runs"
    runs.mkdir()
    output = folder / "steps"
    command = [sys.executable, "-m", "tests.suphx_platform.tracking.mlflow_outage", "--train", str(runs)]
    with faulty_proxy(int(server.rpartition(":")[2])) as proxy, output.open("ab") as steps:
        os.environ["MLFLOW_TRACKING_URI"] = f"http://127.0.0.1:{proxy.port}"
        TrackingStore(runs).reach()
        training = subprocess.Popen(command, cwd=REPOSITORY, stdout=steps)
        try:
            _wait_for_step(output, training)
            time.sleep(seconds / 3)
            proxy.is_busy.set()
            time.sleep(seconds / 6)
            if is_killed:
                training.kill()
                training.wait()
                training = subprocess.Popen(command, cwd=REPOSITORY, stdout=steps)
                _wait_for_step(output, training)
            proxy.is_open.clear()  # requests wait for their limit
            time.sleep(seconds / 6)
            proxy.is_busy.clear()
            proxy.is_open.set()
            time.sleep(seconds / 3)
            (runs / STOP_FILE).touch()
            if training.wait() != 0:
                raise ChildProcessError(f"the training ended with exit code {training.returncode}")
        finally:
            training.kill()
        store = TrackingStore(runs)
        stage = store.find(STAGE)
        assert stage is not None, "MLflow has no run of the training"
        found = store.client.get_metric_history(stage.info.run_id, "check")
    arrived = [point.step for point in sorted(found, key=lambda point: (point.timestamp, point.step))]
    made = {int(line) for line in output.read_text().split()}
    return OutageResult(
        steps=len(made),
        points=len(arrived),
        missing=len(made - set(arrived)),
        wrong=sum(point.value != value_of(point.step) for point in found),
        is_in_order=arrived == sorted(arrived),
    )


def _wait_for_step(output: Path, process: subprocess.Popen[bytes]) -> None:
    """Return when the training has made another step."""
    before = output.stat().st_size
    while output.stat().st_size == before:
        if process.poll() is not None:
            raise ChildProcessError(f"the training ended with exit code {process.returncode} before its first step")
        time.sleep(0.05)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=30, help="of training (default: 30)")
    parser.add_argument("--kill", action="store_true", help="kill -9 the training during the outage")
    parser.add_argument("--train", type=Path, metavar="RUNS", help="only train")
    arguments = parser.parse_args()
    if arguments.train:
        train(arguments.train)
        return 0
    with tempfile.TemporaryDirectory(prefix="suphx-outage-") as name:
        folder = Path(name)
        (folder / "server").mkdir()
        with mlflow_server(folder / "server") as server:
            found = outage(folder, server, seconds=60 * arguments.minutes, is_killed=arguments.kill)
    print(json.dumps(asdict(found), indent=2))
    return 0 if found.is_complete else 1


if __name__ == "__main__":
    sys.exit(main())
