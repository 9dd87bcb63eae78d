"""What a simulator's process needs, in a process of its own: plain numpy answers for the nets."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
from concurrent.futures import Future
from suphx_platform.on_ray.actor.process_memory import peak_bytes
from suphx_platform.parts.self_play_simulator import SelfPlaySimulator, SimulatorConfig, SimulatorContext
from tests.selfplay.row_nets import policy_outputs

class RowEngine:
    def submit(self, request):
        future = Future()
        future.set_result([policy_outputs(observations) for observations in request])
        return future

context = SimulatorContext(encoder="suphx", heads=(0,), run_seed=3)
simulator = SelfPlaySimulator(SimulatorConfig(num_tables=512), context, RowEngine())
peaks = []
for _ in range(3):
    for _ in range(20):
        simulator.play(16)
    peaks.append(peak_bytes())
print(*peaks)
"""


@pytest.mark.slow
def test_a_simulator_with_512_tables_and_all_planes_stays_under_400_mb_and_does_not_grow() -> None:
    command = [sys.executable, "-c", PROGRAM]
    subprocess.run(command, check=True, capture_output=True)  # compiles what is not compiled yet
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    first, _, last = map(int, done.stdout.split())
    assert last < 400e6
    assert last < 1.1 * first
