"""What runs on each learning device, in RLlib's terms: a module with the nets of a head, and the learner of all heads.

RLlib brings the machinery (modules by name, optimisers, gradients shared between devices by DDP); what is learned is
``suphx.training.reinforcement.policy_gradient``. ``learner.py`` is the only user, and no other file but the reference
with stock PPO knows RLlib's learners.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np
import ray
import torch
from gymnasium.spaces import Box, Discrete
from ray.util.placement_group import PlacementGroup, placement_group, remove_placement_group
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

from suphx.experience.trajectory import Decisions
from suphx.games.riichi import HEAD_NAMES, NUM_OUTPUTS, ORACLE, seen_rows
from suphx.models.device import find_device, uses_bf16
from suphx.models.nets.critic import CriticNet
from suphx.models.nets.net_config import NetConfig
from suphx.models.nets.policy import PolicyNet
from suphx.training.loop.compute import net_logits
from suphx.training.loop.loss_watch import DivergedError
from suphx.training.loop.optimizer import new_optimizer
from suphx.training.reinforcement.distillation import distillation_loss
from suphx.training.reinforcement.policy_gradient import decision_loss, kl_divergence
from suphx_platform.parts.learner_config import LearnerConfig

logging.getLogger("ray._common.deprecation").setLevel(logging.ERROR)  # RLlib uses what it has deprecated itself
logging.getLogger("ray.rllib.utils.actor_manager").setLevel(logging.CRITICAL)  # whoever asks it gets the error

Figures = dict[str, dict[str, float]]
"""Head name -> name of a figure -> its value."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one learner learns from in one update, of one head."""

    decisions: Decisions
    """One at least."""
    alpha: float
    """Entropy coefficient."""
    weight: float
    """Its rows as a share of those of all learners; 0 if its row only keeps the learners in step."""
    learns_policy: bool = True
    """False: only the critic learns."""
    rate_share: float = 1.0
    """Learning rate of the policy as a share of ``learning_rate``."""
    start_weight: float = 0.0
    """Weight of the divergence from the initial net."""


Step = Mapping[str, Share]
"""What one learner learns from in one step of the optimisers, by head name."""


def new_group(
    config: LearnerConfig,
    nets: Sequence[PolicyNet],
    teachers: Sequence[PolicyNet],
    resources: Mapping[str, float] | None,
    timeout_seconds: float,
) -> LearnerGroup:
    """Return RLlib's group: one learner in this process, or several Ray actors with ``resources`` each.

    ``teachers``: one for each of ``nets``, or none.

    Several are on GPUs if ``resources`` has some. Raises ValueError if the device wants some and they have none,
    TimeoutError if Ray has no room for them in ``timeout_seconds``.
    """
    is_remote = config.num_learners > 1
    needs = dict(resources or {"CPU": max(1, config.threads)})
    if is_remote and config.device == "cpu":
        needs.pop("GPU", None)
    if is_remote and config.device == "cuda" and not needs.get("GPU"):
        raise ValueError("device is cuda, but the learners get no GPUs: set gpus_per_learner, or use auto")
    room = _room(needs, config.num_learners, timeout_seconds) if is_remote else None
    num_cpus, num_gpus = needs.pop("CPU", 0), needs.pop("GPU", 0)
    settings = (
        AlgorithmConfig()
        .framework(
            "torch",
            torch_skip_nan_gradients=True,  # PolicyGradientLearner looks for them, with one look at the device
            torch_ddp_kwargs={"broadcast_buffers": False},  # statistics of BatchNorm do not change
        )
        .learners(
            num_learners=config.num_learners if is_remote else 0,
            num_cpus_per_learner=num_cpus,
            num_gpus_per_learner=num_gpus if is_remote else int(find_device(config.device).type == "cuda"),
            custom_resources_per_learner=needs,
            learner_class=PolicyGradientLearner,
            learner_config_dict={"config": config},
        )
    )
    of_heads = {teacher.head: teacher for teacher in teachers}
    specs = {HEAD_NAMES[net.head]: _spec(net, of_heads.get(net.head), config) for net in nets}
    modules = MultiRLModuleSpec(rl_module_specs=specs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # RLlib gives Ray the room in a way that Ray has deprecated
        return LearnerGroup(config=settings, module_spec=modules, placement_group=room)


def _room(needs: Mapping[str, float], num_learners: int, timeout_seconds: float) -> PlacementGroup:
    """Return a reservation of ``needs`` for every learner; RLlib's group gives it back when it ends."""
    bundle = {name: amount for name, amount in needs.items() if amount}
    room: PlacementGroup = placement_group([bundle] * num_learners)
    if not room.wait(timeout_seconds):
        remove_placement_group(room)
        raise TimeoutError(
            f"Ray cannot place {num_learners} learners of {bundle} each within {timeout_seconds:g} s: it has "
            f"{ray.available_resources()} left; lower num_learners, or add nodes"
        )
    return room


def _spec(net: PolicyNet, teacher: PolicyNet | None, config: LearnerConfig) -> RLModuleSpec:
    has_critic = config.gradient.baseline == "critic"
    critic = replace(config.critic, num_oracle_planes=ORACLE.num_planes if config.oracle_critic else 0)
    return RLModuleSpec(
        module_class=ActorCritic,
        observation_space=Box(0, 255, (net.row_bytes,), np.uint8),
        action_space=Discrete(NUM_OUTPUTS[net.head]),
        model_config={
            "head": net.head,
            "num_planes": net.num_planes,
            "start": _packed(net),
            "teacher": None if teacher is None else _packed(teacher),
            "critic": asdict(critic) if has_critic else None,
        },
    )


def _packed(net: PolicyNet) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the config and the weights of a net as plain values."""
    return asdict(net.config), {name: tensor.detach().cpu().numpy() for name, tensor in net.state_dict().items()}


class ActorCritic(TorchRLModule):
    """The policy net of one head and its critic."""

    bf16 = False
    """Whether to compute in bfloat16."""
    is_frozen = False
    """Whether the policy gets no gradient."""

    def setup(self) -> None:
        """Build the nets that ``model_config`` describes; the critic's weights are the same in every process."""
        model = cast(dict[str, Any], self.model_config)
        self.policy = self.started_as()
        self.critic: CriticNet | None = None
        if model["critic"] is not None:
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(model["head"])
                self.critic = CriticNet(model["head"], model["num_planes"], NetConfig(**model["critic"]))

    def started_as(self) -> PolicyNet:
        """Return a new net with the weights that the policy began with, in evaluation mode."""
        return self._unpacked("start")

    def teacher(self) -> PolicyNet:
        """Return a new net with the weights of the teacher, in evaluation mode."""
        return self._unpacked("teacher")

    def _unpacked(self, name: str) -> PolicyNet:
        model = cast(dict[str, Any], self.model_config)
        config, weights = model[name]
        net = PolicyNet(model["head"], model["num_planes"], NetConfig(**config))
        net.load_state_dict({name: torch.from_numpy(np.array(weight)) for name, weight in weights.items()})
        return net.eval()

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        # BatchNorm keeps the statistics that it came with: the policy that learns must be the one that acts.
        self.policy.eval()
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            logits = net_logits(self.policy, batch["rows"], self.bf16)
        values = None if self.critic is None else net_logits(self.critic, batch[_CRITIC_ROWS], self.bf16).float()
        return {"logits": logits, "values": values}

    def seen_columns(self, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the columns with what each net sees of the rows instead of these."""
        rows = columns["rows"]
        seen = dict(columns) | {"rows": self.seen_by_policy(rows)}
        if self.critic is not None:
            net = self.critic.net
            is_same = net.config.num_oracle_planes == self.policy.config.num_oracle_planes == 0
            seen[_CRITIC_ROWS] = seen["rows"] if is_same else _seen_by(net, rows, sees_all=True)
        teacher = cast(dict[str, Any], self.model_config)["teacher"]
        if teacher is not None:
            num_oracle = teacher[0]["num_oracle_planes"]
            seen[_TEACHER_ROWS] = seen_rows(rows, self.policy.num_planes, num_oracle, sees_all=True)
        return seen

    def seen_by_policy(self, rows: np.ndarray) -> np.ndarray:
        """Return what the policy sees of stored rows: what it saw when it acted."""
        return _seen_by(self.policy, rows)


_CRITIC_ROWS, _TEACHER_ROWS = "critic_rows", "teacher_rows"
_STOP_FIGURE = "kl_of_all"
_TINY = torch.finfo(torch.float32).tiny


def _seen_by(net: PolicyNet, rows: np.ndarray, *, sees_all: bool = False) -> np.ndarray:
    return seen_rows(rows, net.num_planes, net.config.num_oracle_planes, sees_all=sees_all)


class PolicyGradientLearner(TorchLearner):
    """Delegates to suphx.training; refuses gradients that are not finite."""

    def build(self) -> None:
        """Build nets and optimisers."""
        self._shares: Step = {}
        self._pending: dict[tuple[str, str], Tensor] = {}
        self._figures: Figures = {}
        self._teachers: dict[str, PolicyNet] = {}
        """By head name, once they are asked for."""
        self._gradients: dict[str, dict[str, Tensor]] = {}
        """Of the policy in its last update, by head name and parameter."""
        self._starts: dict[str, PolicyNet] = {}
        """Nets that learning began with, by head name, once they are asked for."""
        if self.distributed and self._settings.threads:
            torch.set_num_threads(self._settings.threads)  # the process has nothing else to do
        super().build()
        for _, actor in self.actors():
            actor.bf16 = uses_bf16(self._settings.precision, cast(torch.device, self.device))

    def actors(self) -> list[tuple[str, ActorCritic]]:
        """Return the modules by head name."""
        return [(name, cast(ActorCritic, module.unwrapped())) for name, module in self.module.items()]

    def learn(self, parts: Sequence[Sequence[Step] | ray.ObjectRef[Any]]) -> list[Figures]:
        """Make the steps of this learner's part; return figures of that part for each step.

        The gradients are those of all learners' rows together. Raises DivergedError, before the step changes anything,
        if one is not finite.
        """
        own = parts[torch.distributed.get_rank() if self.distributed else 0]
        return [self._make(step) for step in (ray.get(own) if isinstance(own, ray.ObjectRef) else own)]

    def _make(self, step: Step) -> Figures:
        """Make one optimiser step; return its figures."""
        self._shares = step
        actors, batches = dict(self.actors()), {}
        for name, share in step.items():
            actor = actors[name]
            # Learners that share gradients need one of every parameter: there the loss of the policy counts 0.
            actor.is_frozen = not share.learns_policy and not self.distributed
            self._set_rate(actor.policy, self._settings.learning_rate * share.rate_share)
            batches[name] = self._batch(actor.seen_columns(_columns(share.decisions)))
        self.update(batch=MultiAgentBatch(batches, sum(map(len, batches.values()))))
        return self._figures

    def weights(self) -> dict[str, dict[str, np.ndarray]]:
        """Return copies of the policy nets' weights by head name."""
        return {
            name: {key: _copied(value).numpy() for key, value in actor.policy.state_dict().items()}
            for name, actor in self.actors()
        }

    def tensors(self) -> dict[str, Tensor]:
        """Return copies of the nets' weights and of what the optimisers remember, on the CPU."""
        found: dict[str, Tensor] = {}
        for name, actor in self.actors():
            found |= {f"net.{name}.{key}": _copied(value) for key, value in actor.state_dict().items()}
            for key, parameter in actor.named_parameters():
                for slot, value in self._optimizer_state(parameter).items():
                    found[f"optimizer.{name}.{key}/{slot}"] = _copied(value)
            for key, gradient in self._gradients.get(name, {}).items():
                found[f"gradient.{name}.{key}"] = _copied(gradient)
        return found

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on with copies of such ``tensors``; ValueError if they are of other nets."""
        for name, actor in self.actors():
            try:
                actor.load_state_dict(_below(tensors, f"net.{name}."))
            except RuntimeError as error:
                raise ValueError(
                    f"the stored {name} net does not match this recipe: delete the stage's folder to start over"
                ) from error
            for key, parameter in actor.named_parameters():
                slots = _below(tensors, f"optimizer.{name}.{key}/")
                copies = {slot: value.to(parameter.device, copy=True) for slot, value in slots.items()}
                self._optimizer_state(parameter).update(copies)
            gradients = _below(tensors, f"gradient.{name}.")
            self._gradients[name] = {key: value.to(self.device, copy=True) for key, value in gradients.items()}

    @torch.inference_mode()
    def kl_to_start(self, parts: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
        """Return the mean KL(policy || net that it began as) by head name over packed rows and legal masks."""
        actors = dict(self.actors())
        divergences = {}
        for name, columns in parts.items():
            actor = actors[name]
            rows, masks = self._moved(actor.seen_by_policy(columns[0])), self._moved(columns[1])
            own, begun = (net_logits(net, rows, actor.bf16).float() for net in (actor.policy, self._start(name)))
            divergences[name] = kl_divergence(own, begun, masks)
        return {name: divergence.item() for name, divergence in divergences.items()}

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

    def compute_loss_for_module(
        self, *, module_id: str, config: AlgorithmConfig, batch: dict[str, Any], fwd_out: dict[str, Any]
    ) -> Tensor:
        """Return the loss of one head, weighted so that the mean over learners is the mean over all their rows."""
        share, settings = self._shares[module_id], self._settings
        logits = fwd_out["logits"]
        loss, figures = decision_loss(
            *(logits, fwd_out["values"], batch, share.alpha, settings.gradient), learns_policy=share.learns_policy
        )
        if share.start_weight:
            with torch.no_grad():
                begun = net_logits(self._start(module_id), batch["rows"], dict(self.actors())[module_id].bf16)
            divergence = kl_divergence(logits, begun, batch["masks"])
            loss, figures = loss + share.start_weight * divergence, figures | {"kl_to_start": divergence.detach()}
        if settings.distillation.weight:
            masks = batch["masks"]
            with torch.no_grad():
                goal = net_logits(self._teacher(module_id), batch[_TEACHER_ROWS], dict(self.actors())[module_id].bf16)
            extra, distance = distillation_loss(logits, goal, masks, settings.distillation)
            loss, figures = loss + share.learns_policy * extra, figures | {"teacher_distance": distance}
        self._pending |= {(module_id, name): value for name, value in figures.items()}
        return loss * (share.weight * settings.num_learners)

    def postprocess_gradients(self, gradients_dict: dict[Any, Tensor]) -> dict[Any, Tensor]:
        """Clip the gradients of each net and read all figures; DivergedError if a gradient is not finite.

        A policy does not move while only its critic learns, or if it is too far from the one that played.
        """
        norms: dict[tuple[str, str], Tensor] = {}
        for module_id, actor in self.actors():
            for name, net in actor.named_children():
                parameters = [p for p in net.parameters() if p.grad is not None]
                if parameters:
                    norms[module_id, name] = nn.utils.clip_grad_norm_(parameters, self._settings.gradient_clip)
        pending = self._pending | {(module_id, f"{name}_norm"): norm for (module_id, name), norm in norms.items()}
        gradients = self._policy_gradients()
        pending |= self._shared_divergences() | self._cosines(gradients)
        self._pending = {}
        values = torch.stack([value.detach().float() for value in pending.values()]).tolist()  # the one wait
        self._figures = {name: {} for name in self._shares}
        for (module_id, name), value in zip(pending, values, strict=True):
            self._figures[module_id][name] = value
        for module_id, name in norms:
            norm = self._figures[module_id][f"{name}_norm"]
            if not math.isfinite(norm):
                raise DivergedError(f"the gradient of the {module_id} {name} net is {norm}")
        self._gradients |= gradients
        held = self._held_parameters()
        return {
            key: gradient
            for key, gradient in gradients_dict.items()
            if gradient is not None and id(self._params[key]) not in held
        }

    def _shared_divergences(self) -> dict[tuple[str, str], Tensor]:
        """Return KL(policy that played || policy) over all learners' rows, for each head whose limit it is."""
        if not self._settings.trust_region.max_kl:
            return {}
        names = [name for name, share in self._shares.items() if share.learns_policy]
        if not names:
            return {}
        parts = torch.stack([self._pending[name, "kl"] * self._shares[name].weight for name in names])
        if self.distributed:
            torch.distributed.all_reduce(parts)
        return {(name, _STOP_FIGURE): part for name, part in zip(names, parts, strict=True)}

    def _policy_gradients(self) -> dict[str, dict[str, Tensor]]:
        """Return copies of the gradients of the policies that learn, by head name and parameter."""
        actors = dict(self.actors())
        return {
            name: {key: p.grad.clone() for key, p in actors[name].policy.named_parameters() if p.grad is not None}
            for name, share in self._shares.items()
            if share.learns_policy
        }

    def _cosines(self, gradients: Mapping[str, Mapping[str, Tensor]]) -> dict[tuple[str, str], Tensor]:
        """Return the cosine of each policy's gradient and that of its last update."""
        cosines = {}
        for name, now in gradients.items():
            last = self._gradients.get(name)
            if last:
                products = torch.stack([(now[key] * last[key]).sum() for key in now]).sum()
                norms = [torch.stack([g.square().sum() for g in of.values()]).sum().sqrt() for of in (now, last)]
                cosines[name, "gradient_cosine"] = products / (norms[0] * norms[1]).clamp_min(_TINY)
        return cosines

    def _held_parameters(self) -> set[int]:
        """Take the gradients of policies that must not move; return the ids of their parameters."""
        held: set[int] = set()
        for name, share in self._shares.items():
            figures = self._figures[name]
            if share.learns_policy and _STOP_FIGURE in figures:
                figures["stopped_share"] = float(figures.pop(_STOP_FIGURE) > self._settings.trust_region.max_kl)
            if not share.learns_policy or figures.get("stopped_share"):
                for parameter in dict(self.actors())[name].policy.parameters():
                    parameter.grad = None
                    held.add(id(parameter))
        return held

    def _set_rate(self, net: nn.Module, rate: float) -> None:
        first = next(net.parameters())
        for optimizer in self._named_optimizers.values():
            if any(parameter is first for group in optimizer.param_groups for parameter in group["params"]):
                self._set_optimizer_lr(optimizer, rate)

    def _start(self, name: str) -> PolicyNet:
        if name not in self._starts:
            self._starts[name] = dict(self.actors())[name].started_as().to(self.device)
        return self._starts[name]

    def _teacher(self, name: str) -> PolicyNet:
        if name not in self._teachers:
            self._teachers[name] = dict(self.actors())[name].teacher().to(self.device)
        return self._teachers[name]

    def _batch(self, columns: Mapping[str, np.ndarray]) -> SampleBatch:
        moved: dict[int, Tensor] = {}  # two nets may see the same
        for column in columns.values():
            if id(column) not in moved:
                moved[id(column)] = self._moved(column)
        return SampleBatch({name: moved[id(column)] for name, column in columns.items()})

    def _moved(self, column: np.ndarray) -> Tensor:
        tensor = torch.from_numpy(np.require(column, requirements="W"))  # Ray's objects are read-only
        device = cast(torch.device, self.device)
        return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor

    def _optimizer_state(self, parameter: nn.Parameter) -> dict[str, Tensor]:
        for optimizer in self._named_optimizers.values():
            if any(parameter is known for group in optimizer.param_groups for known in group["params"]):
                state: dict[str, Tensor] = optimizer.state[parameter]
                return state
        raise AssertionError("every parameter has an optimiser")

    @property
    def _settings(self) -> LearnerConfig:
        config: LearnerConfig = self.config.learner_config_dict["config"]
        return config


def _columns(decisions: Decisions) -> dict[str, np.ndarray]:
    """Return what the loss needs."""
    columns = decisions.columns() | {"rows": decisions.rows.dense()}
    return {name: column for name, column in columns.items() if name != "versions"}


def _copied(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", copy=True)


def _below(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
