"""The learner of the paper's Figure 6: policy nets and critics that learn from batches of decisions, through RLlib.

>>> learner = Learner(LearnerConfig(), [policy_net])
>>> report = learner.update({DISCARD: decisions})
>>> weights = learner.weights()
>>> learner.close()

With ``num_learners`` above 1 the devices are Ray actors of RLlib's ``LearnerGroup``: each takes its part of the batch,
and the gradient is that of the whole batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar, cast

import numpy as np
import ray
from torch import Tensor

from suphx.experience.trajectory import Decisions
from suphx.games.riichi import HEAD_NAMES
from suphx.models.device import torch_threads
from suphx.models.nets.policy import PolicyNet
from suphx.training.loop.loss_watch import DivergedError
from suphx.training.reinforcement.entropy import EntropyControl
from suphx_platform.parts.learner_config import LearnerConfig
from suphx_platform.parts.parameter_server import Weights
from suphx_platform.parts.rllib_learner import Figures, PolicyGradientLearner, Share, new_group

T = TypeVar("T")


class LearnersLostError(Exception):
    """A learner died or hangs, and all were ended with it, or there is no room for so many.

    Make a new Learner and restore the last state.
    """


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What one update did, by head."""

    figures: Mapping[str, Mapping[str, float]]
    """Head name -> figures of policy_gradient.py, gradient norms, alpha. Of several learners: means over the parts."""
    num_rows: int
    number: int
    """The learner's updates so far, this one included."""


class Learner:
    """Consumes: batches of decisions. Produces: weights. Waits for: its devices, no longer than ``timeout_seconds``."""

    def __init__(
        self,
        config: LearnerConfig,
        nets: Sequence[PolicyNet],
        *,
        teachers: Sequence[PolicyNet] = (),
        resources: Mapping[str, float] | None = None,
        timeout_seconds: float = 600.0,
    ) -> None:
        """``nets``: where learning begins, one for each head that learns; ``teachers``: nets of the same heads that see
        what is hidden, if ``config.distillation`` has a weight.

        For several learners: ``resources`` are what Ray keeps for each, such as ``{"CPU": 1, "GPU": 1, "learner": 1}``
        (None: a CPU for each thread); without an answer for ``timeout_seconds`` one is lost. Raises ValueError if this
        process is not connected to Ray, or device is cuda without GPUs; LearnersLostError if there is no room in time.
        """
        if config.num_learners > 1 and not ray.is_initialized():
            raise ValueError(f"num_learners is {config.num_learners}: several learners need Ray, without it use 1")
        if config.distillation.weight and [net.head for net in teachers] != [net.head for net in nets]:
            raise ValueError("distillation.weight needs a teacher for each head that learns: give some, or set it to 0")
        self._config = config
        self._timeout_seconds = timeout_seconds
        self.num_updates = 0
        """Updates made, over all starts of a run."""
        entropy = config.entropy
        self._controls = {
            net.head: EntropyControl(target=entropy.target_of(net.head), alpha=entropy.alpha) for net in nets
        }
        self._critic_rows = dict.fromkeys(self._controls, 0)
        """Decisions from which only the critic of a head has learned."""
        self._handles: list[ray.actor.ActorHandle[Any] | None] = []
        try:
            self._group = new_group(config, nets, teachers, resources, timeout_seconds)
        except TimeoutError as error:
            raise LearnersLostError(str(error)) from error
        self._handles = self._on_each(_own_handle)

    def update(self, batches: Mapping[int, Decisions]) -> UpdateReport:
        """Learn from one batch for each head (some may be absent): one optimiser step, of a critic alone several.

        Raises DivergedError, and leaves the weights as they were, if a loss or gradient is not a finite number;
        LearnersLostError.
        """
        num_rows = sum(map(len, batches.values()))
        if not num_rows:
            raise ValueError("an update needs decisions of one head at least: the batches are empty")
        if self._config.permute_rewards:
            seed = self.num_updates
            batches = {head: batch.with_permuted_rewards((seed, head)) for head, batch in batches.items()}
        parts = self._parts(batches)
        arguments = [ray.put(own) for own in parts] if self._group.is_remote else parts
        found = self._on_each(lambda learner: learner.learn(arguments))
        figures = _figures(parts, found)
        for name, values in figures.items():
            head = HEAD_NAMES.index(name)
            values |= self._control(head, values["entropy"])
            if self._is_critic_alone(head):
                self._critic_rows[head] += len(batches[head])
        self.num_updates += 1
        return UpdateReport(figures, num_rows, self.num_updates)

    def weights(self) -> Weights:
        """Return copies of the policy nets' weights by head name, plain numpy."""
        states = self._on_first(lambda learner: learner.weights())
        return {name: {key: np.array(value) for key, value in state.items()} for name, state in states.items()}

    def kl_to_start(self, batches: Mapping[int, Decisions], num_rows: int = 512) -> dict[str, float]:
        """Return KL(policy || the net that this learner was made with) in nats, by head name.

        Mean over ``num_rows`` decisions of each batch, evenly spaced in it. The reference stays the same after a
        ``restore``.
        """
        parts = {
            HEAD_NAMES[head]: (part.rows.dense(), part.masks)
            for head, batch in batches.items()
            if len(part := batch.take(np.arange(0, len(batch), max(1, len(batch) // num_rows))[:num_rows]))
        }
        return self._on_first(lambda learner: learner.kl_to_start(parts))

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return copies of tensors (weights, optimiser) and plain values (counter, entropy control) for ``restore``.

        It does not depend on the number of learners.
        """
        controls = {HEAD_NAMES[head]: asdict(control) for head, control in self._controls.items()}
        tensors = self._on_first(lambda learner: learner.tensors())
        critic_rows = {HEAD_NAMES[head]: rows for head, rows in self._critic_rows.items()}
        return tensors, {"num_updates": self.num_updates, "controls": controls, "critic_rows": critic_rows}

    def restore(self, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
        """Go on from a ``state``; ValueError if it is of other nets."""
        stored = ray.put(dict(tensors)) if self._group.is_remote else tensors
        self._on_each(lambda learner: learner.load_tensors(_fetched(stored)))
        self._controls = {
            HEAD_NAMES.index(name): EntropyControl(**control) for name, control in values["controls"].items()
        }
        self._critic_rows = {HEAD_NAMES.index(name): rows for name, rows in values["critic_rows"].items()}
        self.num_updates = values["num_updates"]

    def process_ids(self) -> list[int]:
        """Return the process of each learner, on whatever machine it is."""
        return self._on_each(lambda _: os.getpid())

    def close(self) -> None:
        """End the learners' processes, if they have any of their own; nothing can be asked of this one any more."""
        self._group.shutdown()

    def _is_critic_alone(self, head: int) -> bool:
        has_critic = self._config.gradient.baseline == "critic"
        return has_critic and self._critic_rows[head] < self._config.critic_start.decisions

    def _control(self, head: int, entropy: float) -> dict[str, float]:
        """Count a batch with the mean ``entropy``; return the entropy's coefficient and target in its update."""
        control, config = self._controls[head].measured(entropy), self._config.entropy
        self._controls[head] = control if self._is_critic_alone(head) else control.after(entropy, config)
        return {"alpha": control.alpha, "entropy_target": control.target_now(config) or 0.0}

    def _parts(self, batches: Mapping[int, Decisions]) -> list[list[dict[str, Share]]]:
        """Return each learner's part: the steps that it makes, by head name.

        The first step is that of the policies; critics that learn alone make several with fewer rows.
        """
        together: dict[int, Decisions] = {}
        steps: list[dict[int, Decisions]] = []
        for head, batch in batches.items():
            if not len(batch):
                continue
            if not self._is_critic_alone(head):
                together[head] = batch
                continue
            slices = batch.split(-(-len(batch) // self._config.critic_start.batch_rows))
            steps += [{head: part} for part in slices if len(part)]
        shares = [self._shares(step) for step in ([together] if together else []) + steps]
        return [list(own) for own in zip(*shares, strict=True)]

    def _shares(self, step: Mapping[int, Decisions]) -> list[dict[str, Share]]:
        """Return each learner's part of a step by head name: whole trajectories, as even as they allow.

        All learners must take part for every head: a learner without a trajectory gets a row with the weight 0.
        """
        shares: list[dict[str, Share]] = [{} for _ in range(self._config.num_learners)]
        region = self._config.trust_region
        for head, batch in step.items():
            control, is_alone = self._controls[head], self._is_critic_alone(head)
            for own, part in zip(shares, batch.split(len(shares)), strict=True):
                own[HEAD_NAMES[head]] = Share(
                    decisions=part if len(part) else batch.part(0, 1),
                    alpha=control.alpha,
                    weight=len(part) / len(batch),
                    learns_policy=not is_alone,
                    rate_share=self._config.rate_share_after(control.num_updates),
                    start_weight=0.0 if is_alone else region.start_weight_after(control.num_updates),
                )
        return shares

    def _on_first(self, act: Callable[[PolicyGradientLearner], T]) -> T:
        """Return what ``act`` gives on one of the learners, which are all alike."""
        return self._ask(act, [0])[0]

    def _on_each(self, act: Callable[[PolicyGradientLearner], T]) -> list[T]:
        """Return what ``act`` gives on every learner, in their order."""
        return self._ask(act, list(range(self._config.num_learners)))

    def _ask(self, act: Callable[[PolicyGradientLearner], T], indices: list[int]) -> list[T]:
        """Return what ``act`` gives on the learners ``indices``.

        Raises DivergedError and ValueError of ``act``; of several learners LearnersLostError for any other error, and
        if one does not answer.
        """
        with torch_threads(self._config.threads):
            found = self._group.foreach_learner(
                cast(Any, _guarded(act)),
                remote_actor_ids=indices,
                healthy_only=False,
                timeout_seconds=self._timeout_seconds,
            )
        results: list[Any] = list(found)
        answers = {result.actor_id: result.get() for result in results}
        lost = [result.get() for result in results if not result.ok]
        if lost or len(answers) < len(indices):
            raise self._lost(lost)
        for answer in answers.values():
            if isinstance(answer, DivergedError | ValueError):
                raise answer
        return [answers[index] for index in sorted(answers)]

    def _lost(self, errors: list[Exception]) -> LearnersLostError:
        for handle in self._handles:
            if handle is not None:
                ray.kill(handle)  # a hanging one would keep RLlib's own shutdown waiting
        self.close()
        why = str(errors[0]).strip().splitlines()[-1] if errors else f"no answer in {self._timeout_seconds:g} s"
        error = LearnersLostError(f"one of {self._config.num_learners} learners is lost: {why}")
        error.__cause__ = errors[0] if errors else None
        return error


def _guarded(act: Callable[[PolicyGradientLearner], T]) -> Callable[[PolicyGradientLearner], T | Exception]:
    """Return ``act`` with its own errors as answers: RLlib counts an actor that raises as dead."""

    def attempt(learner: PolicyGradientLearner) -> T | Exception:
        try:
            return act(learner)
        except (DivergedError, ValueError) as error:
            return error

    return attempt


def _own_handle(learner: PolicyGradientLearner) -> ray.actor.ActorHandle[Any] | None:
    return ray.get_runtime_context().current_actor if learner.distributed else None


def _fetched(stored: Any) -> Any:
    return ray.get(stored) if isinstance(stored, ray.ObjectRef) else stored


def _figures(parts: Sequence[Sequence[Mapping[str, Share]]], found: Sequence[Sequence[Figures]]) -> Figures:
    """Return the means over the steps, each a mean of what the learners found, weighted by their rows."""
    sums: dict[tuple[str, str], list[float]] = {}
    for number in range(len(parts[0])):
        for head in parts[0][number]:
            shares, figures = [own[number][head] for own in parts], [own[number][head] for own in found]
            for name in figures[0]:
                mean = sum(share.weight * values[name] for share, values in zip(shares, figures, strict=True))
                sums.setdefault((head, name), []).append(mean)
    result: Figures = {}
    for (head, name), means in sums.items():
        result.setdefault(head, {})[name] = sum(means) / len(means)
    return result
