"""The learning step of suphx.training inside RLlib: a module with the nets of a head, and the learner of all heads.

RLlib places the learners, holds modules and optimizers by name, and shares gradients between devices by DDP. Everything
else is ``suphx.training.learning_step``.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

import numpy as np
import ray
import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # RLlib raises warnings while it is imported
    from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
    from ray.rllib.core.learner.torch.torch_learner import TorchLearner
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
    from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch

from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.training.learner_config import LearnerConfig
from suphx.training.learning_step import Figures, LearningStep, Step, new_actor_critic
from suphx.training.policy_gradient import BatchColumns

logging.getLogger("ray._common.deprecation").setLevel(logging.ERROR)  # RLlib uses what it has deprecated itself
logging.getLogger("ray.rllib.utils.actor_manager").setLevel(logging.CRITICAL)  # the caller gets the error


def module_spec(config: LearnerConfig, net: PolicyNet, teacher: PolicyNet | None) -> RLModuleSpec:
    """Return RLlib's description of the module that begins as ``net``."""
    return RLModuleSpec(
        module_class=ActorCriticModule,
        observation_space=Box(0, 255, (net.observation_bytes,), np.uint8),
        action_space=Discrete(net.kind.num_outputs),
        model_config={
            "config": config,
            "start": _packed(net),
            "teacher": None if teacher is None else _packed(teacher),
        },
    )


class ActorCriticModule(TorchRLModule):
    """The nets of one head as a module of RLlib."""

    def setup(self) -> None:
        """Build the nets that ``model_config`` describes."""
        model = cast(dict[str, Any], self.model_config)
        teacher = None if model["teacher"] is None else _unpacked(model["teacher"])
        self.actor = new_actor_critic(model["config"], _unpacked(model["start"]), teacher)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        outputs: dict[str, Any] = self.actor(batch)
        return outputs


class PolicyGradientLearner(TorchLearner):
    """Calls the parts of a ``LearningStep`` in the places that RLlib has for them."""

    step: LearningStep
    """The nets, without DDP, and their optimizers."""

    def build(self) -> None:
        """Build nets and optimizers."""
        self._figures: Figures = {}
        if self.distributed and self._settings.threads:
            torch.set_num_threads(self._settings.threads)  # the process has nothing else to do
        super().build()

    def configure_optimizers(self) -> None:
        """Build the learning step around the modules, and register its optimizers."""
        actors = {head: cast(ActorCriticModule, module.unwrapped()).actor for head, module in self.module.items()}
        device = cast(torch.device, self.device)
        self.step = LearningStep(self._settings, actors, device, is_distributed=self.distributed)
        for (head, name), optimizer in self.step.optimizers.items():
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            self.register_optimizer(module_id=head, optimizer_name=name, optimizer=optimizer, params=parameters)

    def learn(self, parts: Sequence[Sequence[Step] | ray.ObjectRef[Any]]) -> list[Figures]:
        """Make the steps of this learner's part; return the figures of that part for each step.

        The gradients are those of all learners' rows together. Raises DivergedError, before the step changes anything,
        if one is not finite.
        """
        own = parts[torch.distributed.get_rank() if self.distributed else 0]
        return [self._make(step) for step in (ray.get(own) if isinstance(own, ray.ObjectRef) else own)]

    def _make(self, step: Step) -> Figures:
        batches = {head: SampleBatch(batch) for head, batch in self.step.begin(step).items()}
        self.update(batch=MultiAgentBatch(batches, sum(map(len, batches.values()))))
        return self._figures

    def compute_loss_for_module(
        self, *, module_id: str, config: AlgorithmConfig, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """Return the loss of one head."""
        return self.step.loss(module_id, cast(BatchColumns[Tensor], batch), fwd_out)

    def postprocess_gradients(self, gradients_dict: dict[Any, Tensor]) -> dict[Any, Tensor]:
        """Clip the gradients, which RLlib keeps at its parameters; return those that the optimizers use."""
        self._figures = self.step.finish()
        gradients = {key: self._params[key].grad for key in gradients_dict}
        return {key: gradient for key, gradient in gradients.items() if gradient is not None}

    @property
    def _settings(self) -> LearnerConfig:
        config: LearnerConfig = self.config.learner_config_dict["config"]
        return config


def _packed(net: PolicyNet) -> dict[str, Any]:
    """Return a net as plain values, for another process."""
    weights = {name: tensor.detach().cpu().numpy() for name, tensor in net.state_dict().items()}
    return {"kind": net.kind, "num_planes": net.num_planes, "config": asdict(net.config), "weights": weights}


def _unpacked(packed: dict[str, Any]) -> PolicyNet:
    net = PolicyNet(packed["kind"], packed["num_planes"], NetConfig(**packed["config"]))
    net.load_state_dict({name: torch.from_numpy(np.array(weight)) for name, weight in packed["weights"].items()})
    return net
