"""The workers of a learner as RLlib's ``LearnerGroup``: one in this process, or several Ray actors.

>>> learner = Learner(config, nets, new_workers=partial(RLlibWorkers, resources={"CPU": 1}, timeout_seconds=60))
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import ray
from ray.util.placement_group import remove_placement_group
from torch import Tensor

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # RLlib raises warnings while it is imported
    from ray.rllib.algorithms.algorithm_config import AlgorithmConfig
    from ray.rllib.core.learner.learner_group import LearnerGroup
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec

from suphx.models.device import find_device, torch_threads
from suphx.models.policy import PolicyNet
from suphx.selfplay.weights import Weights
from suphx.training.learner import KlColumns
from suphx.training.learner_config import LearnerConfig
from suphx.training.learning_step import Figures, Step, load_step_tensors, step_tensors
from suphx.training.trainer import DivergedError
from suphx_platform.ray.rllib_learner import PolicyGradientLearner, module_spec
from suphx_platform.ray.session import reserve_room

T = TypeVar("T")


class LearnersLostError(Exception):
    """A learner died or does not answer, and all were ended with it.

    Make a new Learner and restore the last state.
    """


class RLlibWorkers:
    """RLlib's learners. With several, each is a Ray actor and takes its part of every batch."""

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

        For several learners: ``resources`` are what Ray reserves for each, such as ``{"CPU": 1, "GPU": 1}`` (None: a
        CPU for each thread), under the name ``room`` (session.py), which may take as long as Ray has no room; a
        learner that does not answer within ``timeout_seconds`` is lost. Raises ValueError if this process is not
        connected to Ray, or device is cuda without GPUs; LearnersLostError if one dies while they start.
        """
        if config.num_learners > 1 and not ray.is_initialized():
            raise ValueError(f"num_learners is {config.num_learners}: several learners need Ray, without it use 1")
        self._config = config
        self._timeout_seconds = timeout_seconds
        self._handles: list[ray.actor.ActorHandle[Any] | None] = []
        self._group = _new_group(config, nets, teachers, resources, room)
        self._handles = self._on_each(_own_handle)

    def learn(self, parts: Sequence[Sequence[Step]]) -> list[list[Figures]]:
        """Make the steps of each learner; return the figures of each. Raises DivergedError and LearnersLostError."""
        arguments = [ray.put(own) for own in parts] if self._group.is_remote else parts
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
        return self._on_first(lambda learner: step_tensors(learner.step))

    def load_tensors(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from copies of ``tensors``; ValueError if they belong to other nets."""
        stored = ray.put(dict(tensors)) if self._group.is_remote else tensors
        self._on_each(lambda learner: load_step_tensors(learner.step, _fetched(stored)))

    def close(self) -> None:
        """End the learners' processes, if they are not this one."""
        self._group.shutdown()

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
                ray.kill(handle)  # RLlib's shutdown would wait for one that hangs
        self.close()
        why = _last_line(errors[0]) if errors else f"no answer in {self._timeout_seconds:g} s"
        error = LearnersLostError(f"one of {self._config.num_learners} learners is lost: {why}")
        error.__cause__ = errors[0] if errors else None
        return error


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


def _own_handle(learner: PolicyGradientLearner) -> ray.actor.ActorHandle[Any] | None:
    return ray.get_runtime_context().current_actor if learner.distributed else None


def _fetched(stored: Any) -> Any:
    return ray.get(stored) if isinstance(stored, ray.ObjectRef) else stored


def _new_group(
    config: LearnerConfig,
    nets: Sequence[PolicyNet],
    teachers: Sequence[PolicyNet],
    resources: Mapping[str, float] | None,
    room_name: str,
) -> LearnerGroup:
    """Return RLlib's group: one learner in this process, or several Ray actors with ``resources`` each.

    Several are on GPUs if ``resources`` has some, and are waited for until Ray has room. Raises ValueError if the
    device is cuda and ``resources`` has no GPU, LearnersLostError if one dies meanwhile.
    """
    is_remote = config.num_learners > 1
    needs = dict(resources or {"CPU": max(1, config.threads)})
    if is_remote and config.device == "cpu":
        needs.pop("GPU", None)
    if is_remote and config.device == "cuda" and not needs.get("GPU"):
        raise ValueError("device is cuda, but the learners get no GPUs: set gpus_per_learner, or use auto")
    room = reserve_room(needs, config.num_learners, name=room_name) if is_remote else None
    num_cpus, num_gpus = needs.pop("CPU", 0), needs.pop("GPU", 0)
    settings = (
        AlgorithmConfig()
        .framework(
            "torch",
            torch_skip_nan_gradients=True,  # LearningStep.finish finds them, with one transfer from the device
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
    of_heads = {teacher.kind.number: teacher for teacher in teachers}
    specs = {net.kind.name: module_spec(config, net, of_heads.get(net.kind.number)) for net in nets}
    modules = MultiRLModuleSpec(rl_module_specs=specs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # RLlib passes the placement group in a deprecated way
        try:
            return LearnerGroup(config=settings, module_spec=modules, placement_group=room)
        except ray.exceptions.RayActorError as error:
            if room is not None:
                remove_placement_group(room)  # the others end with it
            message = f"one of {config.num_learners} learners is lost while they start: {_last_line(error)}"
            raise LearnersLostError(message) from error
