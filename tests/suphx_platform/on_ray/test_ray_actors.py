from __future__ import annotations

import subprocess
import sys
from typing import Any

from tests.training.reinforcement.update.decision_batch import decisions

from suphx.games.riichi.features.head import DISCARD_HEAD
from suphx.selfplay.config import ParameterServerConfig, ReplayBufferConfig
from suphx.selfplay.weights import PolicyVersion
from suphx_platform.on_ray.ray_actors import ParameterServerActor, ReplayBufferActor


def test_simulators_buffers_and_the_server_do_not_load_torch() -> None:
    program = (
        "import sys, suphx_platform.on_ray.ray_actors as t; assert t.SimulatorActor; print('torch' in sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "False"


def test_a_buffer_is_not_emptied_by_an_earlier_call_that_ray_sends_again() -> None:
    buffer: Any = ReplayBufferActor(ReplayBufferConfig(), [DISCARD_HEAD])
    buffer.begin(2)
    buffer.add([decisions()])
    kept, _ = buffer.begin(1)
    assert kept.num_decisions == len(decisions())
    assert buffer.begin(3)[0].num_decisions == 0


def test_weights_that_are_sent_again_make_no_second_version() -> None:
    server: Any = ParameterServerActor(ParameterServerConfig(), num_older=1)
    first = PolicyVersion(0, ["start"])
    server.begin(["policies"], first, [first])
    for _ in range(2):
        latest, _older = server.publish(["weights"], 1)
        assert (latest.number, latest.weights) == (1, ["weights"])
    assert server.publish(["newer"], 2)[0].number == 2
