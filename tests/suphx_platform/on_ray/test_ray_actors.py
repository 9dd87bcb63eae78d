from __future__ import annotations

import subprocess
import sys


def test_simulators_buffers_and_the_server_do_not_load_torch() -> None:
    program = (
        "import sys, suphx_platform.on_ray.ray_actors as t; assert t.SimulatorActor; print('torch' in sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "False"
