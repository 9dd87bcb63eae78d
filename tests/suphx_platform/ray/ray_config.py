"""Settings of one small run in one process, over Ray in lockstep, and over Ray at its own pace."""

from __future__ import annotations

from dataclasses import replace

from suphx.selfplay.config import InferenceEngineConfig
from suphx.selfplay.layout import RayLayoutConfig
from tests.suphx_platform.selfplay.small_trainer import CONFIG

ALONE = replace(CONFIG, max_updates=8, overlap=False, engine=InferenceEngineConfig(precision="fp32", max_batch_size=1))
LOCKSTEP = replace(ALONE, cluster=RayLayoutConfig(on_ray=True, pace="lockstep"))
FREE = replace(
    ALONE,
    max_updates=24,
    cluster=RayLayoutConfig(on_ray=True, num_simulators=2, num_engines=2, num_buffers=2, learner_copy_interval=3),
)
