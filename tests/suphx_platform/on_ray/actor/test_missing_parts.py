from __future__ import annotations

from dataclasses import replace

import pytest

from suphx.selfplay.layout import RayLayoutConfig
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_platform.on_ray.actor.missing_parts import MissingParts
from suphx_platform.on_ray.topology import learner_needs


def test_missing_parts_are_named_with_what_several_learners_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suphx_platform.on_ray.actor.missing_parts._SAY_SECONDS", -1.0)
    monkeypatch.setattr("suphx_platform.on_ray.actor.missing_parts.ray.cluster_resources", lambda: {"CPU": 4.0})
    config = ReinforcementConfig(cluster=RayLayoutConfig(on_ray=True, cpus_per_learner=3))
    assert learner_needs(config) == {}
    several = replace(config, learner=replace(config.learner, num_learners=2))
    said: list[str] = []
    missing = MissingParts(["learner", "server"], said.append, remedy="add some", needs=learner_needs(several))
    missing.look(["server"])
    missing.look(["learner"])
    missing.look(["learner", "server"])
    assert said == [
        "waiting for learner: starting or not scheduled yet; the learner needs room for 2 learners with "
        "{'CPU': 3, 'learner': 0.99} each, all at once; the nodes offer {'CPU': 4.0}. If that is not enough, add "
        "nodes, or add some",
        "waiting for server: starting or not scheduled yet; the nodes offer {'CPU': 4.0}. If that is not enough, add "
        "nodes, or add some",
        "all parts are there",
    ]
