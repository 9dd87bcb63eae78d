"""The points of a training's curves as a file in the stage's folder: what MLflow has, for the report of the run.

>>> curve = CurveFile(Path("runs/laptop/supervised/discard"))
>>> curve.add(50, {"train_loss": 2.31, "samples_per_second": 4100.0})
>>> read_curve(curve.folder)
[{"step": 50, "train_loss": 2.31, "samples_per_second": 4100.0}]
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from suphx_pipelines.json_file import read_json, write_json

CURVE_NAME = "curve.json"
MAX_POINTS = 1000


class CurveFile:
    """Consumes: points in the order of their steps. Produces: ``curve.json``, replaced as a whole at every point.

    A training that resumes from an earlier step replaces the points after it. When the file is full, every second
    point is removed.
    """

    def __init__(self, folder: Path) -> None:
        """Continue the file in ``folder`` if it exists."""
        self.folder = folder
        self._points = read_curve(folder)

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Add a point; values that are not finite are skipped."""
        while self._points and self._points[-1]["step"] >= step:
            self._points.pop()
        if len(self._points) >= MAX_POINTS:
            del self._points[::2]
        self._points.append({"step": step} | {name: value for name, value in values.items() if math.isfinite(value)})
        write_json(self.folder / CURVE_NAME, {"points": self._points})


def read_curve(folder: Path) -> list[dict[str, Any]]:
    """Return the points in ``folder``, ascending by step; empty without a file."""
    path = folder / CURVE_NAME
    return list(read_json(path)["points"]) if path.is_file() else []
