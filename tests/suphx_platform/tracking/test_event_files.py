"""Event files as TensorBoard reads them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from suphx_platform.tracking.event_files import EventFiles
from suphx_platform.tracking.tracking import TrackingStore


def points(folder: Path, name: str) -> list[tuple[int, float]]:
    """Return the steps and values of a curve that TensorBoard shows."""
    found = EventAccumulator(str(folder))
    found.Reload()
    return [(point.step, point.value) for point in found.Scalars(name)]


def test_event_files_have_the_figures_of_mlflow_and_a_run_that_continues_repeats_none(
    runs: Path, tmp_path: Path
) -> None:
    for session, steps in enumerate((range(6), range(4, 8))):
        store = TrackingStore(runs)
        store.events = EventFiles(tmp_path)
        with closing(store), store.start("run", key="run") as run:
            run.log_metrics({"verdict/difference": -0.5})
            with run.start("reinforcement", key="run/reinforcement/77") as stage:
                if session:
                    stage.resume()
                for step in steps:
                    stage.log_metrics({"loss": float(10 * session + step)}, step=step)
                stage.log_metrics({"updates": 8.0})
    expected = [(0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0), (4, 14.0), (5, 15.0), (6, 16.0), (7, 17.0)]
    assert points(tmp_path / "reinforcement", "loss") == expected
    assert points(tmp_path / "reinforcement", "updates")[-1] == (0, 8.0)
    assert points(tmp_path, "verdict/difference")[-1] == (0, -0.5)
    in_mlflow = store.client.get_metric_history(stage.run_id, "loss")
    assert [point.step for point in in_mlflow] == [step for step, _ in expected]


def test_without_tensorboard_the_error_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suphx.extras.find_spec", lambda name: None if name == "tensorboard" else name)
    with pytest.raises(ModuleNotFoundError, match=r"needs tensorboard: pip install 'suphx\[tensorboard\]'"):
        EventFiles(tmp_path)
