"""The name of the file in which a stage leaves its figures, in the folder of the stage."""

from __future__ import annotations

METRICS_FILE = "metrics.json"
