"""RLlib's stock PPO on the gymnasium environment: a reference to hold our own learner against.

``python benchmarks/rllib_ppo.py --iterations 24 --opponent random``. All decisions of a seat go through one small net
over one table of 120 actions, without supervised pretraining; nothing of the paper's algorithm is in it. It is also an
example of RLlib with masked actions: copy ``MaskedEnv``, ``MaskedPPOModule`` and ``ppo_config``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.tune.registry import register_env
from torch import Tensor

from suphx.environments.riichi_env import RiichiEnv
from suphx.games.registry import agent_names
from suphx.games.riichi.table import NUM_ACTIONS
from suphx.models.device import torch_threads
from suphx_platform.ray.session import ray_session

ENV = "suphx_riichi"
OBSERVATIONS, ACTION_MASK = "observations", "action_mask"
ILLEGAL = -1e9
SEEDS_OF_A_WORKER = 1_000_000


class MaskedEnv(gymnasium.Wrapper[dict[str, Any], Any, Any, Any]):
    """The environment with RLlib's keys: planes as an image, uint8 [34, 1, planes], and the mask, uint8 [120]."""

    def __init__(self, env: RiichiEnv, first_seed: int = 0) -> None:
        """``first_seed`` is added to every seed: RLlib gives neighbouring workers overlapping seeds."""
        super().__init__(env)
        num_planes, num_columns = env.observation_space.shape or ()
        planes = Box(0, 1, (num_columns, 1, num_planes), np.uint8)
        mask = Box(0, 1, (NUM_ACTIONS,), np.uint8)
        self.observation_space = Dict({OBSERVATIONS: planes, ACTION_MASK: mask})
        self._first_seed = first_seed

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start a hanchan."""
        planes, info = self.env.reset(seed=None if seed is None else self._first_seed + seed)
        return _observation(planes, info), {}

    def step(self, action: Any) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        """Play an action, which must be legal, and on to the player's next decision."""
        planes, reward, terminated, truncated, info = self.env.step(action)
        return _observation(planes, info), reward, terminated, truncated, {}


def _observation(planes: Any, info: dict[str, Any]) -> dict[str, Any]:
    return {OBSERVATIONS: planes.T[:, None, :], ACTION_MASK: info["action_mask"].astype(np.uint8)}


def new_env(context: Any) -> MaskedEnv:
    """Return the environment of RLlib's ``env_config``: ``encoder``, ``opponent``."""
    env = RiichiEnv(encoder=context["encoder"], opponents=context["opponent"], illegal_reward=None)
    return MaskedEnv(env, getattr(context, "worker_index", 0) * SEEDS_OF_A_WORKER)


class MaskedPPOModule(DefaultPPOTorchRLModule):
    """RLlib's net for PPO, on planes as they are (bytes), with illegal actions masked."""

    def __init__(self, *, observation_space: Dict, **options: Any) -> None:
        """``observation_space``: with the keys ``observations`` and ``action_mask``."""
        planes = observation_space[OBSERVATIONS]
        super().__init__(observation_space=planes, **options)  # type: ignore[no-untyped-call]
        self.observation_space = observation_space  # what others ask for, and what a checkpoint is built from

    def _forward(self, batch: dict[str, Any], **options: Any) -> dict[str, Any]:
        return _masked(super()._forward(_with_planes(batch), **options), batch)

    def _forward_train(self, batch: dict[str, Any], **options: Any) -> dict[str, Any]:
        return _masked(super()._forward_train(_with_planes(batch), **options), batch)

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Tensor:
        """Return the value of each observation."""
        return cast(Tensor, super().compute_values(_with_planes(batch), embeddings))


def _with_planes(batch: dict[str, Any]) -> dict[str, Any]:
    return {**batch, Columns.OBS: batch[Columns.OBS][OBSERVATIONS].float()}


def _masked(output: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
    illegal = batch[Columns.OBS][ACTION_MASK] == 0
    return {**output, Columns.ACTION_DIST_INPUTS: output[Columns.ACTION_DIST_INPUTS].masked_fill(illegal, ILLEGAL)}


def ppo_config(
    *, opponent: str, encoder: str = "mini", decisions: int = 4096, env_runners: int = 1, seed: int = 1
) -> PPOConfig:
    """Return RLlib's configuration on its new API stack; ``decisions``: of an iteration."""
    model = DefaultModelConfig(conv_filters=[(64, (3, 1), 1)] * 3, head_fcnet_hiddens=[256], vf_share_layers=True)
    settings = (
        PPOConfig()
        .environment(ENV, env_config={"encoder": encoder, "opponent": opponent})
        .env_runners(num_env_runners=env_runners, num_envs_per_env_runner=4)
        .learners(num_learners=0)
        .training(
            gamma=1.0,
            lr=1e-3,
            train_batch_size_per_learner=decisions,
            minibatch_size=min(256, decisions),
            num_epochs=4,
            entropy_coeff=0.01,
            vf_clip_param=100.0,
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedPPOModule, model_config=model))
        .debugging(seed=seed, log_level="ERROR")
    )
    assert isinstance(settings, PPOConfig)
    return settings


def train(config: PPOConfig, iterations: int) -> Iterator[dict[str, float]]:
    """Yield the figures of each iteration, on local Ray or on the cluster of ``RAY_ADDRESS``."""
    register_env(ENV, new_env)
    with ray_session(num_cpus=1 + config.num_env_runners), torch_threads(1):
        started = time.monotonic()
        algorithm = config.build_algo()
        try:
            for iteration in range(1, iterations + 1):
                result = algorithm.train()
                played, learned = result["env_runners"], result["learners"]["default_policy"]
                yield {
                    "iterations": iteration,
                    "decisions": played["num_env_steps_sampled_lifetime"],
                    "hanchans": played.get("num_episodes_lifetime", 0),
                    "mean_return": played.get("episode_return_mean", float("nan")),  # nan: no game has ended in it
                    "entropy": learned["entropy"],
                    "seconds": round(time.monotonic() - started, 1),
                }
        finally:
            algorithm.stop()


def main() -> None:
    """Train and print one JSON object, the last figures; those of each iteration on the standard error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=20, help="rounds of sampling and learning")
    parser.add_argument("--decisions", type=int, default=4096, help="decisions per iteration")
    parser.add_argument("--opponent", choices=agent_names("riichi"), default="random", help="agent at the other seats")
    parser.add_argument("--encoder", default="mini", help="encoder of the planes")
    parser.add_argument("--env-runners", type=int, default=1, help="processes that play")
    parser.add_argument("--seed", type=int, default=1, help="seed of walls and weights")
    args = parser.parse_args()
    config = ppo_config(
        opponent=args.opponent,
        encoder=args.encoder,
        decisions=args.decisions,
        env_runners=args.env_runners,
        seed=args.seed,
    )
    figures: dict[str, float] = {}
    for figures in train(config, args.iterations):
        print(json.dumps(figures), file=sys.stderr)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
