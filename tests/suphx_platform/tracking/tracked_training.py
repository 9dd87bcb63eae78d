"""A training for the test of an MLflow outage: it tracks every step, and continues after a kill.

``python -m tests.suphx_platform.tracking.tracked_training RUNS``: works until there is a file ``RUNS/stop`` and prints
each step. ``RUNS/state`` is its saved state.
"""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path

from suphx_platform.tracking.tracking import TrackingStore

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


if __name__ == "__main__":
    train(Path(sys.argv[1]))
