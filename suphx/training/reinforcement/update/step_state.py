"""What a learning step remembers, as named tensors: weights, state of the optimizers, gradients of the last update.

The names are ``net.<head>.<parameter>``, ``optimizer.<head>.<parameter>/<slot>`` and ``gradient.<head>.<parameter>``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:
    from suphx.training.reinforcement.update.learning_step import LearningStep


def step_tensors(step: LearningStep) -> dict[str, Tensor]:
    """Return copies of all tensors of ``step``, on the CPU."""
    found: dict[str, Tensor] = {}
    for head, actor in step.actors.items():
        found |= {f"net.{head}.{key}": _copied(value) for key, value in actor.state_dict().items()}
        for key, parameter in actor.named_parameters():
            for slot, value in step.optimizer_state(head, key, parameter).items():
                found[f"optimizer.{head}.{key}/{slot}"] = _copied(value)
        for key, gradient in step.last_gradients.get(head, {}).items():
            found[f"gradient.{head}.{key}"] = _copied(gradient)
    return found


def load_step_tensors(step: LearningStep, tensors: Mapping[str, Tensor]) -> None:
    """Continue ``step`` from copies of ``tensors``; ValueError if they belong to other nets."""
    for head, actor in step.actors.items():
        try:
            actor.load_state_dict(tensors_below(tensors, f"net.{head}."))
        except RuntimeError as error:
            raise ValueError(
                f"the stored {head} net does not match this recipe: delete the stage's folder to start over"
            ) from error
        for key, parameter in actor.named_parameters():
            slots = tensors_below(tensors, f"optimizer.{head}.{key}/")
            copies = {slot: value.to(parameter.device, copy=True) for slot, value in slots.items()}
            state = step.optimizer_state(head, key, parameter)
            state.clear()  # what is not stored, as before the first update, was not there
            state.update(copies)
        gradients = tensors_below(tensors, f"gradient.{head}.")
        step.last_gradients[head] = {key: value.to(step.device, copy=True) for key, value in gradients.items()}


def _copied(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", copy=True)


def tensors_below(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names begin with ``prefix``, by the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
