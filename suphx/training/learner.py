"""The learner of the paper's Figure 6: policy nets and critics that learn from batches of decisions.

>>> learner = Learner(LearnerConfig(), [policy_net])
>>> report = learner.update({DISCARD_HEAD: decisions})
>>> weights = learner.weights()
>>> learner.close()

One update is computed by ``suphx.training.learning_step``: in this process, or by RLlib's learners
(platform/suphx_platform/ray/learner_group.py), each of which takes its part of the batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from suphx.experience.decisions import Decisions
from suphx.models.checkpoint import Net
from suphx.models.device import find_device, torch_threads
from suphx.models.policy import PolicyNet
from suphx.selfplay.backend import Learned
from suphx.selfplay.weights import Weights
from suphx.training.learner_config import LearnerConfig
from suphx.training.learning_step import (
    Figures,
    LearningStep,
    Step,
    load_step_tensors,
    new_actor_critic,
    step_tensors,
)
from suphx.training.trainer import DivergedError
from suphx.training.update_control import UpdateControl

KlColumns = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""Head name -> packed rows and legal masks."""


class LearnerWorkers(Protocol):
    """Computes the steps of a learner, in this process or in several. All workers have the same weights."""

    def learn(self, parts: Sequence[Sequence[Step]]) -> list[list[Figures]]:
        """Make the steps of each worker, with the gradients of all; return the figures of each.

        Raises DivergedError, before the step, if a loss or gradient is not finite.
        """
        ...

    def weights(self) -> Weights:
        """Return copies of the policy nets' weights by head name."""
        ...

    def kl_to_start(self, columns: KlColumns) -> dict[str, float]:
        """Return the mean KL(policy || initial net) in nats by head name."""
        ...

    def tensors(self) -> dict[str, Tensor]:
        """Return copies of the nets' weights and of the optimizers' state, on the CPU."""
        ...

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from copies of ``tensors``; ValueError if they belong to other nets."""
        ...

    def close(self) -> None:
        """End the workers' processes, if they are not this one."""
        ...


class LocalWorker:
    """This process as the only worker."""

    def __init__(self, config: LearnerConfig, nets: Sequence[Net], teachers: Sequence[PolicyNet]) -> None:
        """``nets`` and ``teachers``: as for ``Learner``. ValueError if the config needs several workers."""
        if config.num_learners > 1:
            raise ValueError(f"num_learners is {config.num_learners}: several learners need Ray, without it use 1")
        of_heads = {teacher.kind.number: teacher for teacher in teachers}
        actors = {net.kind.name: new_actor_critic(config, net, of_heads.get(net.kind.number)) for net in nets}
        self._threads = config.threads
        self._step = LearningStep(config, actors, find_device(config.device))

    def learn(self, parts: Sequence[Sequence[Step]]) -> list[list[Figures]]:
        """Make the steps of the only worker."""
        (steps,) = parts
        figures: list[Figures] = []
        with torch_threads(self._threads):
            for step in steps:
                figures.append(self._step.make(step))
        return [figures]

    def weights(self) -> Weights:
        """Return copies of the policy nets' weights by head name."""
        return self._step.weights()

    def kl_to_start(self, columns: KlColumns) -> dict[str, float]:
        """Return the mean KL(policy || initial net) in nats by head name."""
        with torch_threads(self._threads):
            return self._step.kl_to_start(columns)

    def tensors(self) -> dict[str, Tensor]:
        """Return copies of the nets' weights and of the optimizers' state, on the CPU."""
        return step_tensors(self._step)

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from copies of ``tensors``; ValueError if they belong to other nets."""
        load_step_tensors(self._step, tensors)

    def close(self) -> None:
        """Do nothing: the worker ends with this process."""


NewWorkers = Callable[[LearnerConfig, Sequence[Any], Sequence[PolicyNet]], LearnerWorkers]
"""Makes workers from the config, the initial nets and the teachers."""


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What one update did, by head."""

    figures: Mapping[str, Mapping[str, float]]
    """Head name -> figures of policy_gradient.py, gradient norms, alpha. Of several workers: means over the parts."""
    number: int
    """The learner's updates so far, this one included."""


class Learner:
    """Consumes: batches of decisions. Produces: weights. Waits for: its workers."""

    def __init__(
        self,
        config: LearnerConfig,
        nets: Sequence[Net],
        *,
        teachers: Sequence[PolicyNet] = (),
        new_workers: NewWorkers = LocalWorker,
    ) -> None:
        """``nets``: initial nets, one for each head that learns; ``teachers``: nets of the same heads that see hidden
        tiles, without effect unless ``config.distillation`` has a weight; ``new_workers``: makes the workers that
        compute the updates.

        Raises ValueError if teachers are missing, and what ``new_workers`` raises.
        """
        if config.distillation.weight and [net.kind.number for net in teachers] != [net.kind.number for net in nets]:
            raise ValueError("distillation.weight needs a teacher for each head that learns: give some, or set it to 0")
        self.control = UpdateControl(config, [net.kind.number for net in nets], nets[0].kind.game)
        self.workers = new_workers(config, nets, teachers if config.distillation.weight else ())

    @property
    def num_updates(self) -> int:
        """Updates made, over all starts of a run."""
        return self.control.num_updates

    def update(self, batches: Mapping[int, Decisions]) -> UpdateReport:
        """Learn from one batch for each head (some may be absent): one optimizer step, of a critic alone several.

        Raises DivergedError, before the step, if a loss or gradient is not a finite number (of a critic alone, earlier
        steps of the update are made); ValueError if there are no decisions; and what the workers raise.
        """
        parts = self.control.steps_by_learner(batches)
        figures = self.control.count(parts, self.workers.learn(parts))
        return UpdateReport(figures, self.num_updates)

    def weights(self) -> Weights:
        """Return copies of the policy nets' weights by head name, plain numpy."""
        return self.workers.weights()

    def kl_to_start(self, batches: Mapping[int, Decisions], num_decisions: int = 512) -> dict[str, float]:
        """Return KL(policy || the net that this learner was made with) in nats, by head name.

        Mean over ``num_decisions`` decisions of each batch, evenly spaced in it. The reference stays the same after a
        ``restore``.
        """
        columns = {
            self.control.names[head]: (part.planes.dense(), part.masks)
            for head, batch in batches.items()
            if batch.candidates is None  # the distance of such policies is not measured
            and len(part := batch.take(np.arange(0, len(batch), max(1, len(batch) // num_decisions))[:num_decisions]))
        }
        return self.workers.kl_to_start(columns)

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return copies of tensors (weights, optimizers) and plain values (counter, entropy control) for ``restore``.

        The state does not depend on the number of workers.
        """
        return self.workers.tensors(), self.control.state()

    def restore(self, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
        """Continue from a ``state``; ValueError if it belongs to other nets."""
        self.workers.load_tensors(tensors)
        self.control.restore(values)

    def close(self) -> None:
        """End the workers' processes; the learner cannot be used afterwards."""
        self.workers.close()


class DivergedBatchError(DivergedError):
    """A loss or gradient was not finite; no weights were changed by it."""

    def __init__(self, message: str, parts: Mapping[int, Decisions]) -> None:
        """``parts``: the decisions of the update, by head."""
        super().__init__(message)
        self.parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.parts)


def learn(learner: Learner, parts: Mapping[int, Decisions], staleness: float, *, report_every: int) -> Learned:
    """Make one update of ``learner``; every ``report_every`` updates, measure how far the policy is from its start.

    Raises DivergedBatchError.
    """
    started = time.monotonic()
    try:  # as ``Learner.update``
        steps = learner.control.steps_by_learner(parts)
        by_head = learner.control.count(steps, learner.workers.learn(steps))
    except DivergedError as error:
        raise DivergedBatchError(str(error), parts) from error
    figures = {f"{head}_{name}": value for head, own in by_head.items() for name, value in own.items()}
    figures |= {"staleness": staleness}
    if learner.num_updates % report_every == 0:
        measured = {f"{head}_kl_to_start": value for head, value in learner.kl_to_start(parts).items()}
        figures = measured | figures
    num_decisions = {learner.control.names[head]: len(part) for head, part in parts.items()}
    return Learned(learner.num_updates, figures, time.monotonic() - started, num_decisions)
