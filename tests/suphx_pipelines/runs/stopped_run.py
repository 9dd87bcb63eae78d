"""A program that works on a real run until it is asked to stop: ``stopped_run.py RUNS SAVE_SECONDS HOW``.

HOW: what it does then. ``saves``: needs so many seconds, then ends as ``suphx run`` does; ``fails``: cannot save.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from suphx_pipelines.runs.runner import Runner
from suphx_pipelines.runs.stage import Interrupted, Stage
from suphx_platform.console.console import Console
from suphx_platform.console.stop_request import StopRequest, TwoStepStop, take_interrupts
from tests.suphx_pipelines.runs.small_run import Context, SmallRecipe

RUN = "asked"
STATE_FILE = "state.txt"
WORKING = "working"
"""What it prints when it can be asked."""


def work(context: Context) -> dict[str, float]:
    seconds, how = float(sys.argv[2]), sys.argv[3]
    with StopRequest() as stop:
        print(WORKING, flush=True)
        while not stop.is_made:
            time.sleep(0.02)
        time.sleep(seconds)
        if how == "fails":
            raise OSError("No space left on device")
        (context.folder / STATE_FILE).write_text("step 7")
    raise Interrupted("step 7")


def main() -> int:
    """Run it; 130: it was stopped."""
    take_interrupts()
    stages = (Stage(name="numbers", run=work),)
    runner = Runner(SmallRecipe(), stages, runs=Path(sys.argv[1]), records=None, console=Console(), run_id=RUN)
    try:
        with TwoStepStop():
            runner.run()
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
