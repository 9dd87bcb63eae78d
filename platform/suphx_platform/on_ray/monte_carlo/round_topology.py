"""Who runs where: the processes of Deep Monte-Carlo as Ray actors, placed by the resources that nodes offer."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping
from typing import Any

import numpy as np
import ray

from suphx.selfplay.layout import BESIDE, PLACE, RoundLayoutConfig
from suphx.training.config import MonteCarloConfig
from suphx.training.value_nets import Figures
from suphx_platform.on_ray.monte_carlo.round_actors import RoundLearnerActor, RoundSimulatorActor, evaluate_weights
from suphx_platform.on_ray.supervision.restored_learner import LEARNER
from suphx_platform.on_ray.topology import new_ray_actor


class RoundTopology:
    """All actors of a run; they are placed as soon as nodes offer what they need."""

    def __init__(self, config: MonteCarloConfig, layout: RoundLayoutConfig, game_name: str, rules: Any) -> None:
        run = f"suphx-{uuid.uuid4().hex[:8]}"
        learner = {
            "num_cpus": layout.cpus_per_learner,
            "num_gpus": layout.gpus_per_learner,
            "resources": {"learner": PLACE},
        }
        simulator = {"num_cpus": layout.cpus_per_simulator, "resources": {"simulator": PLACE}}
        self.learner = new_ray_actor(f"{run} {LEARNER}", RoundLearnerActor, learner, config, game_name)
        self.simulators = {
            name: new_ray_actor(f"{run} {name}", RoundSimulatorActor, simulator, config, game_name, rules)
            for name in (f"simulator {number}" for number in range(layout.num_simulators))
        }

    def parts(self) -> dict[str, Any]:
        """Return all actors by name."""
        return {LEARNER: self.learner, **self.simulators}


@ray.remote(num_cpus=0, resources={"simulator": BESIDE}, max_retries=3)
def evaluate_elsewhere(
    config: MonteCarloConfig, game_name: str, rules: Any, weights: Mapping[str, np.ndarray]
) -> Figures:
    """Play the small match of a training on a node for simulators; Ray plays it again if that is lost."""
    return evaluate_weights(config, game_name, rules, weights)


def local_needs(layout: RoundLayoutConfig) -> dict[str, Any]:
    """Return what Ray must offer where it is started on this machine: the arguments of ``ray_session``."""
    return {
        "num_cpus": math.ceil(layout.num_simulators * layout.cpus_per_simulator + layout.cpus_per_learner) + 1,
        "num_gpus": math.ceil(layout.gpus_per_learner),
        "resources": {"simulator": layout.num_simulators, "learner": 1},
        "object_store_bytes": layout.object_store_bytes,
    }
