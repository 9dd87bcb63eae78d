"""The learner of the paper's Figure 6: policy nets and critics that learn from batches of decisions, through RLlib.

RLlib brings the machinery: one ``TorchLearner`` a device, gradients shared between them, a ``MultiRLModule`` with one
module for each head. What is learned is ``suphx.training.policy_gradient``; no other file knows RLlib's learners.

>>> learner = Learner(LearnerConfig(), [policy_net])
>>> report = learner.update({DISCARD: transitions})
>>> weights = learner.weights()
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar, cast

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # RLlib warns of itself while it is imported
    from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
    from ray.rllib.core.learner.learner_group import LearnerGroup
    from ray.rllib.core.learner.torch.torch_learner import TorchLearner
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from ray.rllib.core.rl_module.torch.torch_rl_module import TorchRLModule
    from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch

from suphx.features.head import DISCARD, HEAD_NAMES, NUM_OUTPUTS
from suphx.features.planes import row_bytes
from suphx.models.critic import CriticNet
from suphx.models.device import find_device, torch_threads, uses_bf16
from suphx.models.policy import NetConfig, PolicyNet
from suphx.selfplay.trajectory import COLUMNS, Transitions
from suphx.training.compute import net_logits
from suphx.training.entropy import EntropyControl
from suphx.training.loss_watch import DivergedError
from suphx.training.optimizer import new_optimizer
from suphx.training.policy_gradient import decision_loss, kl_divergence
from suphx_platform.learner_config import LearnerConfig
from suphx_platform.parameter_server import Weights

logging.getLogger("ray._common.deprecation").setLevel(logging.ERROR)  # RLlib uses what it has deprecated itself

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What one update did, by head."""

    figures: Mapping[str, Mapping[str, float]]
    """Head name -> figures of policy_gradient.py, gradient norms, alpha."""
    num_rows: int
    number: int
    """The learner's updates so far, this one included."""


class Learner:
    """Consumes: batches of decisions. Produces: weights. Waits for: nothing."""

    def __init__(self, config: LearnerConfig, nets: Sequence[PolicyNet]) -> None:
        """``nets``: where learning begins, one for each head that learns."""
        self._config = config
        self.num_updates = 0
        """Updates made, over all starts of a run."""
        entropy = config.entropy
        self._controls = {
            net.head: EntropyControl(
                target=entropy.target if net.head == DISCARD else entropy.answer_target, alpha=entropy.alpha
            )
            for net in nets
        }
        with torch_threads(config.threads), torch.random.fork_rng():
            torch.manual_seed(0)  # of the critics' first weights
            self._group = _new_group(config, nets)

    def update(self, batches: Mapping[int, Transitions]) -> UpdateReport:
        """Learn from one batch for each head (some may be absent): one optimiser step.

        Raises DivergedError, and leaves the weights as they were, if a loss or gradient is not a finite number.
        """
        parts = {HEAD_NAMES[head]: self._sample_batch(batch) for head, batch in batches.items() if len(batch)}
        num_rows = sum(map(len, batches.values()))
        if not parts:
            raise ValueError("an update needs decisions of one head at least: the batches are empty")
        with torch_threads(self._config.threads):
            (results, *_) = self._group.update(batch=MultiAgentBatch(parts, num_rows))
        figures = {name: _figures(results[name]) for name in parts}
        for name, values in figures.items():
            head = HEAD_NAMES.index(name)
            values["alpha"] = self._controls[head].alpha
            self._controls[head] = self._controls[head].after(values["entropy"], self._config.entropy)
        self.num_updates += 1
        return UpdateReport(figures, num_rows, self.num_updates)

    def weights(self) -> Weights:
        """Return copies of the policy nets' weights by head name, plain numpy."""
        prefix = "policy."
        states = self._group.get_weights()
        return {
            name: {key.removeprefix(prefix): np.array(value) for key, value in state.items() if key.startswith(prefix)}
            for name, state in states.items()
        }

    def kl_to_start(self, batches: Mapping[int, Transitions], num_rows: int = 512) -> dict[str, float]:
        """Return KL(policy || the net that this learner was made with) in nats, by head name.

        Mean over the first ``num_rows`` decisions of each batch; a ``restore`` does not change what it is measured
        against.
        """
        parts = {
            HEAD_NAMES[head]: (batch.rows[:num_rows], batch.masks[:num_rows])
            for head, batch in batches.items()
            if len(batch)
        }
        with torch_threads(self._config.threads):
            return self._on_each(lambda learner: learner.kl_to_start(parts))[0]

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return copies of tensors (weights, optimiser) and plain values (counter, entropy control) for ``restore``."""
        controls = {HEAD_NAMES[head]: asdict(control) for head, control in self._controls.items()}
        tensors = self._on_each(lambda learner: learner.tensors())[0]
        return tensors, {"num_updates": self.num_updates, "controls": controls}

    def restore(self, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
        """Go on from a ``state``; ValueError if it is of other nets."""
        self._on_each(lambda learner: learner.load_tensors(tensors))
        self._controls = {
            HEAD_NAMES.index(name): EntropyControl(**control) for name, control in values["controls"].items()
        }
        self.num_updates = values["num_updates"]

    def _on_each(self, act: Callable[[_PolicyGradientLearner], T]) -> list[T]:
        """Return what ``act`` gives on every RLlib learner."""
        return [result.get() for result in self._group.foreach_learner(cast(Any, act))]

    def _sample_batch(self, batch: Transitions) -> SampleBatch:
        columns = {name: getattr(batch, name) for name in COLUMNS if name != "versions"}
        alpha = np.full(len(batch), self._controls[batch.head].alpha, np.float32)  # travels with the rows
        return SampleBatch({**columns, "alpha": alpha})


def _new_group(config: LearnerConfig, nets: Sequence[PolicyNet]) -> LearnerGroup:
    device = find_device(config.device)
    bf16 = uses_bf16(config.precision, device)
    settings = (
        AlgorithmConfig()
        .framework("torch")
        .learners(
            num_learners=0,  # in this process
            num_gpus_per_learner=int(device.type == "cuda"),
            learner_class=_PolicyGradientLearner,
            learner_config_dict={"config": config},
        )
    )
    specs = {HEAD_NAMES[net.head]: _spec(net, config, bf16) for net in nets}
    return LearnerGroup(config=settings, module_spec=MultiRLModuleSpec(rl_module_specs=specs))


def _spec(net: PolicyNet, config: LearnerConfig, bf16: bool) -> RLModuleSpec:
    return RLModuleSpec(
        module_class=_Actor,
        observation_space=Box(0, 255, (row_bytes(net.num_planes),), np.uint8),
        action_space=Discrete(NUM_OUTPUTS[net.head]),
        model_config={
            "head": net.head,
            "num_planes": net.num_planes,
            "net": asdict(net.config),
            "critic": asdict(config.critic) if config.gradient.baseline == "critic" else None,
            "weights": {name: tensor.detach().cpu().numpy() for name, tensor in net.state_dict().items()},
            "bf16": bf16,
        },
    )


class _Actor(TorchRLModule):
    """The policy net of one head and its critic."""

    def setup(self) -> None:
        """Build the nets that ``model_config`` describes, with its weights."""
        model = cast(dict[str, Any], self.model_config)
        self.bf16: bool = model["bf16"]
        self.policy = self.started_as()
        self.critic: CriticNet | None = None
        if model["critic"] is not None:
            self.critic = CriticNet(model["head"], model["num_planes"], NetConfig(**model["critic"]))

    def started_as(self) -> PolicyNet:
        """Return a new net with the weights that the policy began with, in evaluation mode."""
        model = cast(dict[str, Any], self.model_config)
        net = PolicyNet(model["head"], model["num_planes"], NetConfig(**model["net"]))
        net.load_state_dict({name: torch.from_numpy(np.array(weight)) for name, weight in model["weights"].items()})
        return net.eval()

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        # BatchNorm keeps the statistics that it came with: the policy that learns must be the one that acts.
        self.policy.eval()
        rows = batch["rows"]
        logits = net_logits(self.policy, rows, self.bf16)
        values = None if self.critic is None else net_logits(self.critic, rows, self.bf16).float()
        return {"logits": logits, "values": values}


class _PolicyGradientLearner(TorchLearner):
    """Delegates to suphx.training; refuses gradients that are not finite."""

    def build(self) -> None:
        """Build nets and optimisers."""
        self._starts: dict[str, PolicyNet] = {}
        """Nets that learning began with, by head name, once they are asked for."""
        super().build()

    def configure_optimizers_for_module(self, module_id: str, config: AlgorithmConfig | None = None) -> None:
        """Register one optimiser for the policy and one for the critic."""
        settings = self._settings
        actor = dict(self.actors())[module_id]
        rates = {"policy": settings.learning_rate, "critic": settings.critic_learning_rate}
        for name, rate in rates.items():
            net = getattr(actor, name)
            if net is not None:
                self.register_optimizer(
                    module_id=module_id,
                    optimizer_name=name,
                    optimizer=new_optimizer(net, rate, settings.weight_decay),
                    params=list(net.parameters()),
                    lr_or_lr_schedule=rate,
                )

    def actors(self) -> list[tuple[str, _Actor]]:
        """Return the modules by head name."""
        return [(name, cast(_Actor, module.unwrapped())) for name, module in self.module.items()]

    def tensors(self) -> dict[str, Tensor]:
        """Return copies of the nets' weights and of what the optimisers remember, on the CPU."""
        found: dict[str, Tensor] = {}
        for name, actor in self.actors():
            found |= {f"net.{name}.{key}": _copied(value) for key, value in actor.state_dict().items()}
            for key, parameter in actor.named_parameters():
                for slot, value in self._optimizer_state(parameter).items():
                    found[f"optimizer.{name}.{key}/{slot}"] = _copied(value)
        return found

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on with copies of such ``tensors``; ValueError if they are of other nets."""
        for name, actor in self.actors():
            try:
                actor.load_state_dict(_below(tensors, f"net.{name}."))
            except RuntimeError as error:
                raise ValueError(f"the stored {name} net is not the one of this recipe: start anew") from error
            for key, parameter in actor.named_parameters():
                slots = _below(tensors, f"optimizer.{name}.{key}/")
                copies = {slot: value.to(parameter.device, copy=True) for slot, value in slots.items()}
                self._optimizer_state(parameter).update(copies)

    def _optimizer_state(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        for optimizer in self._named_optimizers.values():
            if any(parameter is known for group in optimizer.param_groups for known in group["params"]):
                state: dict[str, Tensor] = optimizer.state[parameter]
                return state
        raise AssertionError("every parameter has an optimiser")

    @torch.inference_mode()
    def kl_to_start(self, parts: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
        """Return the mean KL(policy || net that it began as) by head name over packed rows and legal masks."""
        actors = dict(self.actors())
        divergences = {}
        for name, columns in parts.items():
            actor = actors[name]
            if name not in self._starts:
                self._starts[name] = actor.started_as().to(self.device)
            rows, masks = (torch.from_numpy(column).to(self.device) for column in columns)
            own, begun = (net_logits(net, rows, actor.bf16).float() for net in (actor.policy, self._starts[name]))
            divergences[name] = kl_divergence(own, begun, masks)
        return {name: divergence.item() for name, divergence in divergences.items()}

    def compute_loss_for_module(
        self, *, module_id: str, config: AlgorithmConfig, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """Return the loss of one head and log its figures."""
        alpha = float(batch["alpha"][0])
        loss, figures = decision_loss(fwd_out["logits"], fwd_out["values"], batch, alpha, self._settings.gradient)
        self._log(module_id, figures)
        return loss

    def postprocess_gradients(self, gradients_dict: dict[Any, Tensor]) -> dict[Any, Tensor]:
        """Clip the gradients of each net; DivergedError, before anything is changed, if one is not finite."""
        for module_id, actor in self.actors():
            for name, net in actor.named_children():
                parameters = [p for p in net.parameters() if p.grad is not None]
                if not parameters:
                    continue
                norm = nn.utils.clip_grad_norm_(parameters, self._settings.gradient_clip)
                if not math.isfinite(float(norm)):
                    raise DivergedError(f"the gradient of the {module_id} {name} net is {float(norm)}")
                self._log(module_id, {f"{name}_norm": norm})
        return {key: gradient for key, gradient in gradients_dict.items() if gradient is not None}

    def _log(self, module_id: str, figures: Mapping[str, Tensor]) -> None:
        for name, value in figures.items():
            self.metrics.log_value((module_id, _PREFIX + name), float(value), window=1)

    @property
    def _settings(self) -> LearnerConfig:
        config: LearnerConfig = self.config.learner_config_dict["config"]
        return config


_PREFIX = "suphx/"


def _copied(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", copy=True)


def _below(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _figures(results: Mapping[str, Any]) -> dict[str, float]:
    """Return our own figures of one module, out of all that RLlib counts."""
    return {
        name.removeprefix(_PREFIX): float(value.peek() if hasattr(value, "peek") else value)
        for name, value in results.items()
        if name.startswith(_PREFIX)
    }
