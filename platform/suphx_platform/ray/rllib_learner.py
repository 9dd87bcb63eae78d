"""The learning step of suphx.training in several of RLlib's learners, each a Ray actor with its part of every batch.

RLlib places the learners, holds modules and optimizers by name, and shares gradients between devices by DDP. Everything
else is ``suphx.training.learning_step``.

>>> learner = Learner(config, nets, new_workers=partial(RLlibWorkers, resources={"CPU": 1}, timeout_seconds=60))
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, TypeVar, cast

import numpy as np
import ray
import torch
from gymnasium.spaces import Box, Discrete
from ray.util.placement_group import remove_placement_group
from torch import Tensor

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # RLlib raises warnings while it is imported
    from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
    from ray.rllib.core.learner.learner_group import LearnerGroup
    from ray.rllib.core.learner.torch.torch_learner import TorchLearner
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
    from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch

from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.selfplay.weights import Weights
from suphx.training.learner import KlColumns
from suphx.training.learner_config import LearnerConfig
from suphx.training.learning_step import ActorCritic, Figures, LearningStep, Step
from suphx.training.trainer import DivergedError
from suphx_platform.ray.process import LearnersLostError
from suphx_platform.ray.session import reserve_room

logging.getLogger("ray._common.deprecation").setLevel(logging.ERROR)  # RLlib uses what it has deprecated itself
logging.getLogger("ray.rllib.utils.actor_manager").setLevel(logging.CRITICAL)  # the caller gets the error
T = TypeVar("T")


class ActorCriticModule(TorchRLModule):
    """The nets of one head as a module of RLlib."""

    def setup(self) -> None:
        """Build the nets that ``model_config`` describes."""
        model = cast(dict[str, Any], self.model_config)
        teacher = None if model["teacher"] is None else _unpacked(model["teacher"])
        self.actor = ActorCritic(model["config"], _unpacked(model["start"]), teacher)

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
        if self._settings.threads:
            torch.set_num_threads(self._settings.threads)  # the process has nothing else to do
        super().build()

    def configure_optimizers(self) -> None:
        """Build the learning step around the modules, and register its optimizers."""
        actors = {head: cast(ActorCriticModule, module.unwrapped()).actor for head, module in self.module.items()}
        self.step = LearningStep(self._settings, actors, cast(torch.device, self.device), is_distributed=True)
        for (head, name), optimizer in self.step.optimizers.items():
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
            self.register_optimizer(module_id=head, optimizer_name=name, optimizer=optimizer, params=parameters)

    def learn(self, parts: Sequence[ray.ObjectRef[Any]]) -> list[Figures]:
        """Make the steps of this learner's part; return the figures of that part for each step.

        The gradients are those of all learners' rows together. Raises DivergedError, before the step changes anything,
        if one is not finite.
        """
        steps: Sequence[Step] = ray.get(parts[torch.distributed.get_rank()])
        figures = []
        for step in steps:
            batches = {head: SampleBatch(batch) for head, batch in self.step.begin(step).items()}
            self.update(batch=MultiAgentBatch(batches, sum(map(len, batches.values()))))
            figures.append(self._figures)
        return figures

    def compute_loss_for_module(
        self, *, module_id: str, config: AlgorithmConfig, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """Return the loss of one head."""
        return self.step.loss(module_id, batch, fwd_out)

    def postprocess_gradients(self, gradients_dict: dict[Any, Tensor]) -> dict[Any, Tensor]:
        """Clip the gradients, which RLlib keeps at its parameters; return those that the optimizers use."""
        self._figures = self.step.finish()
        gradients = {key: self._params[key].grad for key in gradients_dict}
        return {key: gradient for key, gradient in gradients.items() if gradient is not None}

    @property
    def _settings(self) -> LearnerConfig:
        config: LearnerConfig = self.config.learner_config_dict["config"]
        return config


class RLlibWorkers:
    """Several learners of RLlib as the workers of a ``Learner``."""

    def __init__(
        self,
        config: LearnerConfig,
        nets: Sequence[PolicyNet],
        teachers: Sequence[PolicyNet],
        *,
        resources: Mapping[str, float] | None = None,
        timeout_seconds: float = 600.0,
        room: str = "",
    ) -> None:
        """``nets`` and ``teachers``: as for ``Learner``.

        ``resources`` are what Ray reserves for each learner, such as ``{"CPU": 1, "GPU": 1}`` (None: a CPU for each
        thread), under the name ``room`` (session.py), which may take as long as Ray has no room; a learner that does
        not answer within ``timeout_seconds`` is lost. Raises ValueError if this process is not connected to Ray, or
        device is cuda without GPUs; LearnersLostError if one dies while they start.
        """
        if not ray.is_initialized():
            raise ValueError(f"num_learners is {config.num_learners}: several learners need Ray, without it use 1")
        needs = dict(resources or {"CPU": max(1, config.threads)})
        if config.device == "cpu":
            needs.pop("GPU", None)
        if config.device == "cuda" and not needs.get("GPU"):
            raise ValueError("device is cuda, but the learners get no GPUs: set gpus_per_learner, or use auto")
        self._num_learners, self._timeout_seconds = config.num_learners, timeout_seconds
        self._room = reserve_room(needs, config.num_learners, name=room)
        of_heads = {teacher.kind.number: teacher for teacher in teachers}
        specs = {net.kind.name: _module_spec(config, net, of_heads.get(net.kind.number)) for net in nets}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # RLlib passes the room in a deprecated way
                self._group = LearnerGroup(
                    config=_settings(config, needs),
                    module_spec=MultiRLModuleSpec(rl_module_specs=specs),
                    placement_group=self._room,
                )
        except ray.exceptions.RayActorError as error:
            raise self._lost("is lost while they start: " + _last_line(error)) from error

    def learn(self, parts: Sequence[Sequence[Step]]) -> list[list[Figures]]:
        """Make the steps of each learner; return the figures of each. Raises DivergedError and LearnersLostError."""
        arguments = [ray.put(own) for own in parts]
        return self._on_each(lambda learner: learner.learn(arguments))

    def weights(self) -> Weights:
        """Return copies of the policy nets' weights by head name."""
        states = self._on_first(lambda learner: learner.step.weights())
        return {name: {key: np.array(value) for key, value in state.items()} for name, state in states.items()}

    def kl_to_start(self, columns: KlColumns) -> dict[str, float]:
        """Return the mean KL(policy || initial net) in nats by head name."""
        return self._on_first(lambda learner: learner.step.kl_to_start(columns))

    def tensors(self) -> dict[str, Tensor]:
        """Return copies of the nets' weights and of the optimizers' state, on the CPU."""
        return self._on_first(lambda learner: learner.step.tensors())

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from copies of ``tensors``; ValueError if they belong to other nets."""
        stored: Any = ray.put(dict(tensors))
        self._on_each(lambda learner: learner.step.load_tensors(ray.get(stored)))

    def close(self) -> None:
        """End the learners' processes."""
        self._group.shutdown()

    def _on_first(self, act: Callable[[PolicyGradientLearner], T]) -> T:
        """Return what ``act`` gives on one of the learners, which are all alike."""
        return self._ask(act, [0])[0]

    def _on_each(self, act: Callable[[PolicyGradientLearner], T]) -> list[T]:
        """Return what ``act`` gives on every learner, in their order."""
        return self._ask(act, list(range(self._num_learners)))

    def _ask(self, act: Callable[[PolicyGradientLearner], T], indices: list[int]) -> list[T]:
        """Return what ``act`` gives on the learners ``indices``.

        Raises DivergedError and ValueError of ``act``; LearnersLostError for any other error, and if one does not
        answer.
        """
        found = self._group.foreach_learner(
            cast(Any, _guarded(act)),
            remote_actor_ids=indices,
            healthy_only=False,
            timeout_seconds=self._timeout_seconds,
        )
        results: list[Any] = list(found)
        answers = {result.actor_id: result.get() for result in results}
        errors = [result.get() for result in results if not result.ok]
        if errors:
            raise self._lost(f"is lost: {_last_line(errors[0])}") from errors[0]
        if len(answers) < len(indices):
            raise self._lost(f"is lost: no answer in {self._timeout_seconds:g} s")
        for answer in answers.values():
            if isinstance(answer, DivergedError | ValueError):
                raise answer
        return [answers[index] for index in sorted(answers)]

    def _lost(self, what: str) -> LearnersLostError:
        """End all learners; return the error."""
        with suppress(Exception):  # of Ray: they may be gone with their node
            remove_placement_group(self._room)  # RLlib's shutdown would wait for one that hangs
        return LearnersLostError(f"one of {self._num_learners} learners {what}")


def _last_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]


def _guarded(act: Callable[[PolicyGradientLearner], T]) -> Callable[[PolicyGradientLearner], T | Exception]:
    """Return ``act`` with its own errors as answers: RLlib counts an actor that raises as dead."""

    def attempt(learner: PolicyGradientLearner) -> T | Exception:
        try:
            return act(learner)
        except (DivergedError, ValueError) as error:
            return error

    return attempt


def _settings(config: LearnerConfig, needs: Mapping[str, float]) -> AlgorithmConfig:
    """Return RLlib's settings of the learners, each of which ``needs`` these resources."""
    return (
        AlgorithmConfig()
        .framework(
            "torch",
            torch_skip_nan_gradients=True,  # LearningStep.finish finds them, with one transfer from the device
            torch_ddp_kwargs={"broadcast_buffers": False},  # statistics of BatchNorm do not change
        )
        .learners(
            num_learners=config.num_learners,
            num_cpus_per_learner=needs.get("CPU", 0),
            num_gpus_per_learner=needs.get("GPU", 0),
            custom_resources_per_learner={kind: n for kind, n in needs.items() if kind not in ("CPU", "GPU")},
            learner_class=PolicyGradientLearner,
            learner_config_dict={"config": config},
        )
    )


def _module_spec(config: LearnerConfig, net: PolicyNet, teacher: PolicyNet | None) -> RLModuleSpec:
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


def _packed(net: PolicyNet) -> dict[str, Any]:
    """Return a net as plain values, for another process."""
    weights = {name: tensor.detach().cpu().numpy() for name, tensor in net.state_dict().items()}
    return {"kind": net.kind, "num_planes": net.num_planes, "config": asdict(net.config), "weights": weights}


def _unpacked(packed: dict[str, Any]) -> PolicyNet:
    net = PolicyNet(packed["kind"], packed["num_planes"], NetConfig(**packed["config"]))
    net.load_state_dict({name: torch.from_numpy(np.array(weight)) for name, weight in packed["weights"].items()})
    return net
