"""The nets that learn by self-play, one step of their optimizers, and their state as named tensors:
``net.<head>.<parameter>``, ``optimizer.<head>.<parameter>.<slot>``, ``gradient.<head>.<parameter>``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import AdamW

from suphx.experience.decisions import Decisions
from suphx.games.registry import find_learning
from suphx.models.checkpoint import copied
from suphx.models.device import find_device, first_weights, uses_bf16
from suphx.models.policy import CriticNet, PolicyNet
from suphx.training.learner_config import LearnerConfig
from suphx.training.optimizer import net_logits, new_optimizer
from suphx.training.policy_gradient import (
    BatchColumns,
    decision_loss,
    distillation_loss,
    kl_divergence,
    value_loss,
)
from suphx.training.trainer import DivergedError
from suphx.training.training_state import below, restore_tensors, state_tensors


class ActorCritic(nn.Module):
    """The nets of one head: a policy net that learns, the net that it began as, perhaps a critic and a teacher.

    The policy stays in evaluation mode: the policy that learns must be the one that acts.
    """

    bf16 = False
    is_frozen = False

    def __init__(self, config: LearnerConfig, start: PolicyNet, teacher: PolicyNet | None = None) -> None:
        """Copy ``start``, the initial policy, and ``teacher``, to which the policy stays near.

        The first weights of the critic depend on the head only, so that they are the same in every process.
        """
        super().__init__()
        self.policy = copied(start)
        self.fixed = {name: copied(net) for name, net in (("start", start), ("teacher", teacher)) if net is not None}
        """Nets that do not learn, which are no submodules."""
        self.critic: CriticNet | None = None
        if config.has_critic:
            hidden = find_learning(start.kind.game).hidden if config.oracle_critic else None
            size = replace(config.critic, num_oracle_planes=0 if hidden is None else hidden.layout.num_planes)
            with first_weights(start.kind.number):
                self.critic = CriticNet(start.kind, start.num_planes, size, start.num_columns)

    def forward(self, batch: BatchColumns) -> dict[str, Tensor | None]:
        """Return ``logits`` [n, k] and ``values`` [n] of a batch, None without a critic."""
        self.policy.eval()  # BatchNorm keeps its initial statistics
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            logits = net_logits(self.policy, batch["planes"], self.bf16)
        values = None if self.critic is None else net_logits(self.critic, batch["critic_planes"], self.bf16).float()
        return {"logits": logits, "values": values}

    def seen_planes(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Return what each net sees of stored ``rows``; nets that see the same share an array."""
        seen = {"planes": self.policy.seen(rows)}  # the same as when it acted
        if self.critic is not None:
            net = self.critic.net
            is_same = net.config.num_oracle_planes == self.policy.config.num_oracle_planes == 0
            seen["critic_planes"] = seen["planes"] if is_same else net.seen(rows, sees_all=True)
        if (teacher := self.fixed.get("teacher")) is not None:
            seen["teacher_planes"] = teacher.seen(rows, sees_all=True)
        return seen


_LOSS_COLUMNS = ("masks", "actions", "is_joint", "log_probs", "rewards", "is_last")
_TINY = torch.finfo(torch.float32).tiny


def local_step(config: LearnerConfig, nets: Sequence[PolicyNet], teachers: Sequence[PolicyNet] = ()) -> LearningStep:
    """Return this process as the only learner; ``nets`` and ``teachers`` as for ``Learner``. ValueError if the config
    needs several.
    """
    if config.num_learners > 1:
        raise ValueError(f"num_learners is {config.num_learners}: several learners need Ray, without it use 1")
    of_heads = {teacher.kind.number: teacher for teacher in teachers}
    actors = {net.kind.name: ActorCritic(config, net, of_heads.get(net.kind.number)) for net in nets}
    return LearningStep(config, actors, find_device(config.device))


def clip_gradients(nets: Mapping[tuple[str, str], nn.Module], max_norm: float) -> dict[tuple[str, str], Tensor]:
    """Clip the gradient of each net that has one to ``max_norm``, in place; return the norms before that, 0-d each."""
    norms = {}
    for name, net in nets.items():
        parameters = [p for p in net.parameters() if p.grad is not None]
        if parameters:
            norms[name] = nn.utils.clip_grad_norm_(parameters, max_norm)
    return norms


def copied_gradients(net: nn.Module) -> dict[str, Tensor]:
    """Return copies of the gradients of ``net`` by parameter."""
    return {key: p.grad.clone() for key, p in net.named_parameters() if p.grad is not None}


def gradient_cosine(now: Mapping[str, Tensor], last: Mapping[str, Tensor]) -> Tensor:
    """Return the cosine, 0-d, of two gradients of the same parameters. Sums in float64 do not depend on the memory
    layout, which a gradient that was saved and read may have changed.
    """
    f64 = torch.float64
    products = torch.stack([(now[key] * last[key]).sum(dtype=f64) for key in now]).sum()
    norms = [torch.stack([g.square().sum(dtype=f64) for g in of.values()]).sum().sqrt() for of in (now, last)]
    return (products / (norms[0] * norms[1]).clamp_min(_TINY)).float()


@dataclass(frozen=True, slots=True)
class HeadBatch:
    """The decisions of one head in one step, and the settings of that step."""

    decisions: Decisions
    """At least one."""
    alpha: float
    weight: float
    """Its rows as a share of the rows of all learners; 0 if its row only keeps the learners in step."""
    learns_policy: bool = True
    """False: only the critic learns."""
    rate_share: float = 1.0
    """Learning rate of the policy as a share of ``learning_rate``."""
    kl_coeff: float = 0.0
    """Weight of the divergence from the initial net."""


Step = Mapping[str, HeadBatch]
"""One step of the optimizers of one learner: its batches by head name."""

Figures = dict[str, dict[str, float]]
"""Head name -> name of a figure -> its value."""


class LearningStep:
    """The nets that learn and their optimizers."""

    def __init__(
        self,
        config: LearnerConfig,
        actors: Mapping[str, ActorCritic],
        device: torch.device,
        *,
        is_distributed: bool = False,
    ) -> None:
        """``actors``: the nets by head name, which are moved to ``device``. ``is_distributed``: every process of
        ``torch.distributed`` makes the same steps from its part of every batch; the caller of ``loss`` takes the mean
        of the gradients.
        """
        self._config = config
        self._is_distributed = is_distributed
        self.device = device
        self.actors = actors
        """The nets by head name."""
        self.last_gradients: dict[str, dict[str, Tensor]] = {}
        """Gradients of the policies in the last updates that moved them, by head name and parameter."""
        self._step: Step = {}
        self._pending: dict[tuple[str, str], Tensor] = {}
        for actor in actors.values():
            actor.to(device).bf16 = uses_bf16(config.precision, device)
            for net in actor.fixed.values():
                net.to(device)
        self._whole = nn.ModuleDict(dict(actors))
        self._nets = {(head, name): net for head, actor in actors.items() for name, net in actor.named_children()}
        rates = {"policy": config.learning_rate, "critic": config.critic_learning_rate}
        self.optimizers: dict[tuple[str, str], AdamW] = {
            key: new_optimizer(net, rates[key[1]], config.weight_decay) for key, net in self._nets.items()
        }
        """By head name and net: policy or critic."""

    def learn(self, parts: Sequence[Sequence[Step]]) -> list[list[Figures]]:
        """Make the steps of the only learner; return their figures. Raises DivergedError as ``make``."""
        return [[self.make(step) for step in steps] for steps in parts]

    def make(self, step: Step) -> Figures:
        """Make one step; return its figures. Raises DivergedError, before it changes anything, as ``finish``."""
        batches = self.begin(step)
        for optimizer in self.optimizers.values():
            optimizer.zero_grad(set_to_none=True)
        outputs = {head: self.actors[head](batch) for head, batch in batches.items()}
        losses = [self.loss(head, batch, outputs[head]) for head, batch in batches.items()]
        torch.autograd.backward(torch.stack(losses).sum())
        figures = self.finish()
        for optimizer in self.optimizers.values():
            optimizer.step()
        return figures

    def begin(self, step: Step) -> dict[str, BatchColumns]:
        """Set learning rates, and which policies learn, for ``step``; return its batches by head name."""
        batches: dict[str, BatchColumns] = {}
        self._step = step
        for head, part in step.items():
            actor = self.actors[head]
            # Processes that share gradients need one of every parameter: there the loss of the policy counts 0.
            actor.is_frozen = not part.learns_policy and not self._is_distributed
            for group in self.optimizers[head, "policy"].param_groups:
                group["lr"] = self._config.learning_rate * part.rate_share
            decisions = part.decisions
            columns = {name: getattr(decisions, name) for name in _LOSS_COLUMNS}
            batches[head] = self._on_device(columns | actor.seen_planes(decisions.planes.dense()))
        return batches

    def loss(self, head: str, batch: BatchColumns, outputs: Mapping[str, Tensor | None]) -> Tensor:
        """Return the loss of one head, weighted so that the mean over learners is the mean over all their rows;
        ``outputs`` of the head's ``ActorCritic``.
        """
        part, config, actor = self._step[head], self._config, self.actors[head]
        logits, values = outputs["logits"], outputs["values"]
        assert logits is not None
        if config.algorithm == "monte_carlo":
            loss, figures = value_loss(logits, batch, config.gradient.reward_unit)
        else:
            loss, figures = self._policy_loss(part, actor, batch, logits, values)
        self._pending |= {(head, name): value for name, value in figures.items()}
        return loss * (part.weight * config.num_learners)

    def _policy_loss(
        self, part: HeadBatch, actor: ActorCritic, batch: BatchColumns, logits: Tensor, values: Tensor | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the loss of the policy gradient with all its terms, and figures to watch."""
        config, masks = self._config, batch["masks"]
        loss, figures = decision_loss(
            logits, values, batch, part.alpha, config.gradient, learns_policy=part.learns_policy
        )
        if part.kl_coeff:
            with torch.no_grad():
                start = net_logits(actor.fixed["start"], batch["planes"], actor.bf16)
            divergence = kl_divergence(logits, start, masks)
            loss, figures = loss + part.kl_coeff * divergence, figures | {"kl_penalty": divergence.detach()}
        if "teacher" in actor.fixed:
            with torch.no_grad():
                goal = net_logits(actor.fixed["teacher"], batch["teacher_planes"], actor.bf16)
            extra, distance = distillation_loss(
                logits, goal, masks, config.distillation, lambda own: self._sum_of_learners(own * part.weight)
            )
            loss, figures = loss + part.learns_policy * extra, figures | {"teacher_distance": distance}
        return loss, figures

    def finish(self) -> Figures:
        """Clip the gradients of each net; return all figures of the step. DivergedError if a gradient is not finite."""
        norms = clip_gradients(self._nets, self._config.max_grad_norm)
        pending = self._pending | {(head, f"{name}_norm"): norm for (head, name), norm in norms.items()}
        gradients = {
            head: copied_gradients(self.actors[head].policy) for head, part in self._step.items() if part.learns_policy
        }
        for head, now in gradients.items():
            if last := self.last_gradients.get(head):
                pending[head, "gradient_cosine"] = gradient_cosine(now, last)
        self._pending = {}
        values = torch.stack(
            [value.detach().float() for value in pending.values()]
        ).tolist()  # the only wait for the device
        figures: Figures = {head: {} for head in self._step}
        for (head, name), value in zip(pending, values, strict=True):
            figures[head][name] = value
        for head, name in norms:
            norm = figures[head][f"{name}_norm"]
            if not math.isfinite(norm):
                raise DivergedError(f"the gradient of the {head} {name} net is {norm}")
        for head in self._step.keys() - gradients.keys():
            for parameter in self.actors[head].policy.parameters():
                parameter.grad = None  # optimizers then leave it as it is
        self.last_gradients |= gradients
        return figures

    @torch.inference_mode()
    def kl_to_start(self, parts: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
        """Return the mean KL(policy || initial net) in nats by head name, over packed rows and legal masks."""
        divergences = {}
        for head, (rows, masks) in parts.items():
            actor = self.actors[head]
            seen = self._moved(actor.policy.seen(rows))
            own, start = (net_logits(net, seen, actor.bf16).float() for net in (actor.policy, actor.fixed["start"]))
            divergences[head] = kl_divergence(own, start, self._moved(masks))
        return {head: divergence.item() for head, divergence in divergences.items()}

    def weights(self) -> dict[str, dict[str, np.ndarray]]:
        """Return copies of the policy nets' weights by head name."""
        return {
            head: {key: value.detach().to("cpu", copy=True).numpy() for key, value in actor.policy.state_dict().items()}
            for head, actor in self.actors.items()
        }

    def tensors(self) -> dict[str, Tensor]:
        """Return copies of the nets' weights, the optimizers' state and the last gradients, on the CPU."""
        gradients = {
            f"gradient.{head}.{key}": gradient.to("cpu", copy=True)
            for head, own in self.last_gradients.items()
            for key, gradient in own.items()
        }
        return state_tensors(self._whole, *self.optimizers.values()) | gradients

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from copies of ``tensors``; ValueError if they belong to other nets."""
        restore_tensors(tensors, self._whole, *self.optimizers.values())
        for head in self.actors:
            gradients = below(tensors, f"gradient.{head}.")
            self.last_gradients[head] = {key: value.to(self.device, copy=True) for key, value in gradients.items()}

    def close(self) -> None:
        """Do nothing: the nets end with this process."""

    def _sum_of_learners(self, own: Tensor) -> Tensor:
        """Return the sum of a tensor over all learners, which all call this in the same order."""
        if self._is_distributed:
            torch.distributed.all_reduce(own)
        return own

    def _on_device(self, columns: Mapping[str, np.ndarray]) -> BatchColumns:
        moved: dict[int, Tensor] = {}  # two nets may see the same
        for column in columns.values():
            if id(column) not in moved:
                moved[id(column)] = self._moved(column)
        return {name: moved[id(column)] for name, column in columns.items()}

    def _moved(self, column: np.ndarray) -> Tensor:
        tensor = torch.from_numpy(np.require(column, requirements="W"))  # Ray's objects are read-only
        return tensor.pin_memory().to(self.device, non_blocking=True) if self.device.type == "cuda" else tensor
