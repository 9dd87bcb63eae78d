"""What a head pod does before it ends, whoever ends it: its driver saves, and the pod's status tells how that went.

``python -m suphx_pipelines.runs.pre_stop RUNS SECONDS`` is the ``preStop`` hook of the chart's heads. Nothing passes
the signal that ends a pod on to its driver: without the hook, all training since the last save would be lost.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from suphx_pipelines.runs.run_list import held_runs, stop_run
from suphx_platform.cluster.run_attempts import MESSAGE_FILE, StopOutcome, write_report


def stop_held_runs(runs: Path, *, seconds: float, report: Path = MESSAGE_FILE) -> None:
    """Stop every run in the folder ``runs`` that a process of this pod works on, and write how each has ended.

    ``seconds``: for all together. ``report``: the file that becomes the termination message of the container.
    """
    ends_at = time.monotonic() + seconds
    outcomes: dict[str, StopOutcome] = {}
    for folder in held_runs(runs):
        outcome = stop_run(folder, seconds=ends_at - time.monotonic())
        if outcome is not None:
            outcomes[folder.name] = outcome
    write_report(outcomes, report)


if __name__ == "__main__":
    stop_held_runs(Path(sys.argv[1]), seconds=float(sys.argv[2]))
