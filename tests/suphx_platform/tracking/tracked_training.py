"""A training for the test of an MLflow outage: it learns, tracks every step, and continues after a kill.

``python -m tests.suphx_platform.tracking.tracked_training RUNS``: trains until there is a file ``RUNS/stop`` and prints
``STEP TIME`` for each step. ``RUNS/state.safetensors`` is its saved state.
"""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn

from suphx.models.tensor_file import write_tensors
from suphx_platform.tracking.tracking import Tracker, TrackingStore

RUN, STAGE = "outage", "outage/training"
STOP_FILE, _BEGUN_FILE = "stop", "begun"
METRICS = 25
"""Of each point, as self-play has."""
_SAVE_EVERY = 10
_WIDTH, _ROWS = 1024, 2048
"""A step takes about a quarter of a second on a core."""


def value_of(step: int) -> float:
    """Return the value of the metric ``check`` at a step."""
    return 1e6 - step


def train(runs: Path) -> None:
    net = nn.Sequential(nn.Linear(_WIDTH, _WIDTH), nn.ReLU(), nn.Linear(_WIDTH, 1))
    optimizer = torch.optim.Adam(net.parameters())
    state, first = runs / "state.safetensors", 0
    if state.is_file():
        tensors = load_file(state)
        first = int(tensors.pop("step"))
        net.load_state_dict(tensors)
    with closing(TrackingStore(runs)) as store, store.start(RUN, key=RUN) as run:
        stage = run.start("training", key=STAGE)
        if (runs / _BEGUN_FILE).exists():
            stage.resume()
        (runs / _BEGUN_FILE).touch()
        with stage:
            _learn(net, optimizer, stage, state, first)


def _learn(net: nn.Module, optimizer: torch.optim.Optimizer, stage: Tracker, state: Path, first: int) -> None:
    rows = torch.randn(_ROWS, _WIDTH)
    step = first
    while not state.with_name(STOP_FILE).exists():
        loss = (net(rows) - rows.mean(dim=1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        point = {f"metric_{number}": float(loss) + number for number in range(METRICS - 1)}
        stage.log_metrics({**point, "check": value_of(step)}, step=step)
        print(step, time.time(), flush=True)
        step += 1
        if step % _SAVE_EVERY == 0:
            write_tensors(state, {**net.state_dict(), "step": torch.tensor(step)}, {"kind": "outage test"})


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(Path(sys.argv[1]))
