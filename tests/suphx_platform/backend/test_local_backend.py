from __future__ import annotations

import subprocess
import sys

from tests.repository import REPOSITORY

PROGRAM = """
import sys

import suphx_cli.commands.run
import suphx_pipelines.pipeline
from suphx_platform.backend.local_backend import Learned
from suphx_platform.selfplay.controller import Controller
from suphx_platform.selfplay.run_backend import run_backend, run_metrics
from tests.suphx_platform.selfplay.small_controller import CONFIG, new_play

assert run_metrics(CONFIG) is None
backend = run_backend(CONFIG)(CONFIG, new_play(), None)
while not any(isinstance(event, Learned) for event in backend.advance()):
    pass
backend.state()
backend.close()
print("loaded:", *(name for name in ("ray", "gymnasium", "torch") if name in sys.modules))
"""


def test_self_play_in_one_process_never_loads_ray() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "loaded: torch", done.stderr
