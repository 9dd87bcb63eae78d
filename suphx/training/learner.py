"""The learner of the paper's Figure 6: policy nets and critics that learn from batches of decisions.

>>> learner = Learner(LearnerConfig(), [policy_net])
>>> figures, weights = learner.update({DISCARD_HEAD: decisions}), learner.weights()

One update is computed by learning_step.py in this process, or by several learners of RLlib (platform:
rllib_learner.py), each of which takes its part of the batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from suphx.experience.decisions import Decisions
from suphx.games.learning import DecisionKind
from suphx.models.device import torch_threads
from suphx.models.policy import PolicyNet
from suphx.selfplay.backend import Learned
from suphx.selfplay.weights import Weights
from suphx.training.learner_config import EntropyControl, LearnerConfig
from suphx.training.learning_step import Figures, HeadBatch, Step, local_step
from suphx.training.trainer import DivergedError


class UpdateControl:
    """Turns batches into steps for each learner, and their figures into the settings of the next update."""

    def __init__(self, config: LearnerConfig, kinds: Sequence[DecisionKind]) -> None:
        """``kinds``: those that learn."""
        self._config, entropy = config, config.entropy
        self._names = {kind.number: kind.name for kind in kinds}
        self.num_updates = 0
        """Updates so far, over all starts of a run."""
        self._controls = {
            kind.name: EntropyControl(target=entropy.target_of(kind), alpha=entropy.alpha) for kind in kinds
        }
        self._policy_updates = dict.fromkeys(self._controls, 0)
        """Updates that moved the policy of a head."""
        self._critic_decisions = dict.fromkeys(self._controls, 0)
        """Decisions from which only the critic of a head has learned."""

    @property
    def is_critic_alone(self) -> bool:
        """Whether only critics learn from the next update.

        The critic that has seen the most decisions ends this time for all heads: those that decide rarely could need
        more updates than a run has.
        """
        config = self._config
        return config.has_critic and max(self._critic_decisions.values()) < config.critic_warmup.decisions

    @property
    def num_policy_updates(self) -> int:
        """Updates that moved the policy that has moved most often: learning rates and half-lives depend on them."""
        return max(self._policy_updates.values())

    def steps_by_learner(self, batches: Mapping[int, Decisions]) -> list[list[Step]]:
        """Return the steps of each learner for an update from ``batches``, by head; some may be absent or empty.

        A critic that learns alone makes several steps with fewer rows. ValueError if all batches are empty.
        """
        if not any(map(len, batches.values())):
            raise ValueError("an update needs decisions of one head at least: the batches are empty")
        together: dict[str, Decisions] = {}
        alone: list[dict[str, Decisions]] = []
        for number, batch in batches.items():
            if not len(batch):
                continue
            head = self._names[number]
            own = batch.with_permuted_rewards((self.num_updates, number)) if self._config.permute_rewards else batch
            if not self.is_critic_alone:
                together[head] = own
                continue
            slices = own.split(-(-len(own) // self._config.critic_warmup.batch_size))
            alone += [{head: part} for part in slices if len(part)]
        steps = [self._step_by_learner(step) for step in ([together] if together else []) + alone]
        return [list(own) for own in zip(*steps, strict=True)]

    def count(self, parts: Sequence[Sequence[Step]], found: Sequence[Sequence[Figures]]) -> Figures:
        """Count the update of ``parts`` with the figures that each learner ``found`` in each step; return their means
        with the entropy coefficient and target, by head name.
        """
        figures = mean_figures(parts, found)
        is_alone = self.is_critic_alone
        num_updates = max(control.num_updates for control in self._controls.values())
        for head, values in figures.items():
            if "entropy" in values:  # of a policy
                entropy, config = values["entropy"], self._config.entropy
                control = self._controls[head].measured(entropy, num_updates)
                values |= {"alpha": control.alpha, "entropy_target": control.target_now(config) or 0.0}
                self._controls[head] = control if is_alone else control.after(entropy, config)
            self._policy_updates[head] += not is_alone
            if is_alone:  # the rows without those that only keep learners in step
                batches = [step[head] for own in parts for step in own if head in step]
                self._critic_decisions[head] += sum(len(batch.decisions) for batch in batches if batch.weight)
        self.num_updates += 1
        return figures

    def state(self) -> dict[str, Any]:
        """Return plain values for ``restore``."""
        return {
            "num_updates": self.num_updates,
            "policy_updates": dict(self._policy_updates),
            "controls": {head: asdict(control) for head, control in self._controls.items()},
            "critic_decisions": dict(self._critic_decisions),
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Continue from a ``state``."""
        self._controls = {head: EntropyControl(**control) for head, control in values["controls"].items()}
        self._policy_updates = dict(values["policy_updates"])
        self._critic_decisions = dict(values["critic_decisions"])
        self.num_updates = values["num_updates"]

    def _step_by_learner(self, step: Mapping[str, Decisions]) -> list[Step]:
        """Return each learner's share of a step: whole trajectories, as even as they allow. A learner without a
        trajectory gets a row with the weight 0, as all must take part for every head.
        """
        parts: list[dict[str, HeadBatch]] = [{} for _ in range(self._config.num_learners)]
        region = self._config.trust_region
        num_updates, is_alone = self.num_policy_updates, self.is_critic_alone
        for head, batch in step.items():
            alpha = self._controls[head].alpha
            for own, part in zip(parts, batch.split(len(parts)), strict=True):
                own[head] = HeadBatch(
                    decisions=part if len(part) else batch.part(0, 1),
                    alpha=alpha,
                    weight=len(part) / len(batch),
                    learns_policy=not is_alone,
                    rate_share=self._config.rate_share_after(num_updates),
                    kl_coeff=0.0 if is_alone else region.kl_coeff_after(num_updates),
                )
        return list(parts)


def new_stage(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of an ``UpdateControl`` with which the next stage begins: entropy control is carried over;
    counters begin at 0, and with them learning rates and the weight of the distance from the initial net.
    """
    return {**values, "num_updates": 0, "policy_updates": dict.fromkeys(values["policy_updates"], 0)}


def mean_figures(parts: Sequence[Sequence[Step]], found: Sequence[Sequence[Figures]]) -> Figures:
    """Return the means over all rows of what the learners ``found`` in their steps; the maxima of names in ``_max``."""
    values: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for number in range(len(parts[0])):
        for head in parts[0][number]:
            batches, figures = [own[number][head] for own in parts], [own[number][head] for own in found]
            rows = sum(len(batch.decisions) for batch in batches if batch.weight)
            for name in figures[0]:
                values.setdefault((head, name), []).extend(
                    (rows * batch.weight, own[name]) for batch, own in zip(batches, figures, strict=True)
                )
    result: Figures = {}
    for (head, name), weighted in values.items():
        if name.endswith("_max"):
            value = max(value for weight, value in weighted if weight)
        else:
            value = sum(weight * value for weight, value in weighted) / sum(weight for weight, _ in weighted)
        result.setdefault(head, {})[name] = value
    return result


KlColumns = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""Head name -> packed rows and legal masks."""


class LearnerWorkers(Protocol):
    """What computes the steps of a learner: a ``LearningStep`` in this process, or several elsewhere with the same
    weights. The methods are those of ``LearningStep``."""

    def learn(self, parts: Sequence[Sequence[Step]]) -> list[list[Figures]]:
        """Make the steps of each worker, with the gradients of all; return the figures of each."""

    def weights(self) -> Weights:
        """Return copies of the policies' weights."""

    def kl_to_start(self, columns: KlColumns) -> dict[str, float]:
        """Return distances from the initial nets."""

    def tensors(self) -> dict[str, Tensor]:
        """Return copies of all that is learned."""

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from ``tensors``."""

    def close(self) -> None:
        """End processes."""


NewWorkers = Callable[[LearnerConfig, Sequence[Any], Sequence[PolicyNet]], LearnerWorkers]
"""Makes workers from the config, the initial nets and the teachers."""


class DivergedBatchError(DivergedError):
    """A loss or gradient was not finite; no weights were changed by it."""

    def __init__(self, message: str, parts: Mapping[int, Decisions]) -> None:
        """``parts``: the decisions of the update, by head."""
        super().__init__(message)
        self.parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.parts)


class Learner:
    """Consumes: batches of decisions. Produces: weights. Waits for: its workers."""

    def __init__(
        self,
        config: LearnerConfig,
        nets: Sequence[PolicyNet],
        *,
        teachers: Sequence[PolicyNet] = (),
        new_workers: NewWorkers = local_step,
        report_every: int = 10,
    ) -> None:
        """``nets``: initial nets, one for each head that learns; ``teachers``: nets of the same heads that see hidden
        tiles, used if ``config.distillation`` has a weight; ``report_every``: updates between two measurements of the
        distance from the initial nets. Raises ValueError if teachers are missing, and what ``new_workers`` raises.
        """
        if config.distillation.weight and [net.kind for net in teachers] != [net.kind for net in nets]:
            raise ValueError("distillation.weight needs a teacher for each head that learns: give some, or set it to 0")
        self.control = UpdateControl(config, [net.kind for net in nets])
        self.workers = new_workers(config, nets, teachers if config.distillation.weight else ())
        self._names = {net.kind.number: net.kind.name for net in nets}
        self._threads, self._report_every = config.threads, report_every
        self._measures_kl = config.algorithm == "policy_gradient"

    @property
    def num_updates(self) -> int:
        """Updates made, over all starts of a run."""
        return self.control.num_updates

    def update(self, batches: Mapping[int, Decisions]) -> Figures:
        """Learn from one batch for each head (some may be absent); return figures by head name.

        It is one optimizer step, or several of the critic alone. Raises DivergedBatchError, before the step, if a loss
        or gradient is not finite; ValueError if there are no decisions; and what the workers raise.
        """
        parts = self.control.steps_by_learner(batches)
        try:
            with torch_threads(self._threads):
                return self.control.count(parts, self.workers.learn(parts))
        except DivergedError as error:
            raise DivergedBatchError(str(error), batches) from error

    def learn(self, parts: Mapping[int, Decisions], staleness: float) -> Learned:
        """Make one update of a run; raises DivergedBatchError."""
        started = time.monotonic()
        by_head = self.update(parts)
        figures = {f"{head}_{name}": value for head, own in by_head.items() for name, value in own.items()}
        figures |= {"staleness": staleness}
        if self._measures_kl and self.num_updates % self._report_every == 0:
            measured = {f"{head}_kl_to_start": value for head, value in self.kl_to_start(parts).items()}
            figures = measured | figures
        num_decisions = {self._names[head]: len(part) for head, part in parts.items()}
        return Learned(self.num_updates, figures, time.monotonic() - started, num_decisions)

    def weights(self) -> Weights:
        """Return copies of the policy nets' weights by head name, plain numpy."""
        return self.workers.weights()

    match_weights = weights

    def kl_to_start(self, batches: Mapping[int, Decisions], num_decisions: int = 512) -> dict[str, float]:
        """Return KL(policy || the net that this learner was made with) in nats, by head name.

        Mean over ``num_decisions`` decisions of each batch, evenly spaced in it.
        """
        columns = {
            self._names[head]: (part.planes.dense(), part.masks)
            for head, batch in batches.items()
            if len(part := batch.take(np.arange(0, len(batch), max(1, len(batch) // num_decisions))[:num_decisions]))
        }
        with torch_threads(self._threads):
            return self.workers.kl_to_start(columns)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return copies of tensors and plain values for ``restore``, whatever the number of workers."""
        return self.workers.tensors(), self.control.state()

    def restore(self, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
        """Continue from a ``state``; ValueError if it belongs to other nets."""
        self.workers.load_tensors(tensors)
        self.control.restore(values)

    def close(self) -> None:
        """End the workers' processes; the learner cannot be used afterwards."""
        self.workers.close()
