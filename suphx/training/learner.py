"""The learner of the paper's Figure 6: policy nets and critics that learn from batches of decisions.

>>> learner = Learner(LearnerConfig(), [policy_net])
>>> report = learner.update({DISCARD_HEAD: decisions})
>>> weights = learner.weights()
>>> learner.close()

One update is computed by ``suphx.training.learning_step``: in this process, or by RLlib's learners
(platform/suphx_platform/ray/rllib_learner.py), each of which takes its part of the batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from torch import Tensor

from suphx.experience.decisions import Decisions
from suphx.models.checkpoint import Net
from suphx.models.device import torch_threads
from suphx.models.policy import PolicyNet
from suphx.selfplay.backend import Learned
from suphx.selfplay.weights import Weights
from suphx.training.learner_config import LearnerConfig
from suphx.training.learning_step import Figures, Step, local_step
from suphx.training.trainer import DivergedError
from suphx.training.update_control import UpdateControl

KlColumns = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""Head name -> packed rows and legal masks."""


class LearnerWorkers(Protocol):
    """Computes the steps of a learner: a ``LearningStep`` in this process, or several elsewhere, which have the same
    weights.
    """

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
        nets: Sequence[Net],
        *,
        teachers: Sequence[PolicyNet] = (),
        new_workers: NewWorkers = local_step,
        report_every: int = 10,
    ) -> None:
        """``nets``: initial nets, one for each head that learns; ``teachers``: nets of the same heads that see hidden
        tiles, without effect unless ``config.distillation`` has a weight; ``new_workers``: makes the workers that
        compute the updates; ``report_every``: updates between two measurements of how far the policy is from its start.

        Raises ValueError if teachers are missing, and what ``new_workers`` raises.
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
        """Learn from one batch for each head (some may be absent): one optimizer step, of a critic alone several.

        Return by head name figures of policy_gradient.py, gradient norms and alpha; of several workers, means over
        their parts. Raises DivergedBatchError, before the step, if a loss or gradient is not a finite number (of a
        critic alone, earlier steps of the update are made); ValueError if there are no decisions; and what the workers
        raise.
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

        Mean over ``num_decisions`` decisions of each batch, evenly spaced in it. The reference stays the same after a
        ``restore``.
        """
        columns = {
            self._names[head]: (part.planes.dense(), part.masks)
            for head, batch in batches.items()
            if batch.candidates is None  # the distance of such policies is not measured
            and len(part := batch.take(np.arange(0, len(batch), max(1, len(batch) // num_decisions))[:num_decisions]))
        }
        with torch_threads(self._threads):
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
