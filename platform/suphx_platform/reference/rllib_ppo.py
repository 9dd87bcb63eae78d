"""RLlib's stock PPO on the simulator: a reference to hold our own learner against.

All decisions of a seat go through one net over one table of 120 actions; nothing of the paper's algorithm is in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from gymnasium.spaces import Dict
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.utils.metrics import (
    ENV_RUNNER_RESULTS,
    EPISODE_RETURN_MEAN,
    LEARNER_RESULTS,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_EPISODES_LIFETIME,
)
from torch import Tensor

from suphx.models.device import torch_threads
from suphx_platform.ray.session import ray_session
from suphx_platform.reference.riichi_env import ACTION_MASK, HANCHAN_ENV, OBSERVATIONS, register_hanchan_env

POLICY = "shared"
_ILLEGAL = -1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceConfig:
    """A short training of RLlib's PPO."""

    iterations: int = 20
    """Times that games are sampled and learned from."""
    decisions: int = 4096
    """Of an iteration, by all seats."""
    minibatch: int = 256
    epochs: int = 4
    learning_rate: float = 1e-3
    encoder: str = "mini"
    """Of the planes."""
    opponent: str = "random"
    """A scripted agent at the three other seats; empty: the net plays all four."""
    channels: int = 64
    num_layers: int = 3
    """Convolutions of the net."""
    env_runners: int = 1
    """Processes that play; 0 plays in the process that learns."""
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("iterations", "decisions", "minibatch", "epochs", "channels", "num_layers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least 1")
        if self.env_runners < 0 or self.seed < 0:
            raise ValueError(f"env_runners is {self.env_runners}, seed {self.seed}: use 0 or more")


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
    return {**output, Columns.ACTION_DIST_INPUTS: output[Columns.ACTION_DIST_INPUTS].masked_fill(illegal, _ILLEGAL)}


def ppo_config(config: ReferenceConfig) -> PPOConfig:
    """Return RLlib's configuration on its new API stack."""
    model = DefaultModelConfig(
        conv_filters=[(config.channels, (3, 1), 1)] * config.num_layers,
        head_fcnet_hiddens=[256],
        vf_share_layers=True,
    )
    module = RLModuleSpec(module_class=MaskedPPOModule, model_config=model)
    settings = (
        PPOConfig()
        .environment(
            HANCHAN_ENV, env_config={"encoder": config.encoder, "opponent": config.opponent, "seed": config.seed}
        )
        .env_runners(num_env_runners=config.env_runners, num_envs_per_env_runner=4)
        .learners(num_learners=0)
        .training(
            gamma=1.0,
            lr=config.learning_rate,
            train_batch_size_per_learner=config.decisions,
            minibatch_size=config.minibatch,
            num_epochs=config.epochs,
            entropy_coeff=0.01,
            vf_clip_param=100.0,
        )
        .multi_agent(policies={POLICY}, policy_mapping_fn=lambda agent, *_, **__: POLICY)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={POLICY: module}))
        .debugging(seed=config.seed, log_level="ERROR")
    )
    assert isinstance(settings, PPOConfig)
    return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Iteration:
    """What came of one iteration."""

    index: int
    """From 1 on."""
    decisions: int
    """Sampled so far."""
    hanchans: int
    """Finished so far."""
    mean_return: float | None
    """Mean over the games that ended in this iteration, all their agents together (of four it is 0); None if none."""
    entropy: float
    """Of the policy, in nats."""
    value_loss: float
    seconds: float
    """Since the training began."""


def train_reference(config: ReferenceConfig, report: Callable[[Iteration], None]) -> Iteration:
    """Train for ``config.iterations`` on local Ray, or on the cluster that this process is part of; return the last.

    ``report`` is given every iteration.
    """
    register_hanchan_env()
    with ray_session(num_cpus=1 + config.env_runners), torch_threads(1):
        started = time.monotonic()
        algorithm = ppo_config(config).build_algo()
        try:
            for index in range(1, config.iterations + 1):
                iteration = _iteration(index, algorithm.train(), time.monotonic() - started)
                report(iteration)
        finally:
            algorithm.stop()
    return iteration


def _iteration(index: int, result: dict[str, Any], seconds: float) -> Iteration:
    played, learned = result[ENV_RUNNER_RESULTS], result[LEARNER_RESULTS][POLICY]
    mean_return = played.get(EPISODE_RETURN_MEAN)
    return Iteration(
        index=index,
        decisions=int(played[NUM_ENV_STEPS_SAMPLED_LIFETIME]),
        hanchans=int(played.get(NUM_EPISODES_LIFETIME, 0)),
        mean_return=None if mean_return is None else float(mean_return),
        entropy=float(learned["entropy"]),
        value_loss=float(learned["vf_loss_unclipped"]),
        seconds=seconds,
    )
