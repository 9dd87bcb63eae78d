"""The saved state of a training: one safetensors file, from which it resumes with the same numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from suphx.models.tensor_file import read_tensors, write_tensors
from suphx.printable_text import shortened
from suphx.training.dataset import StreamPosition
from suphx.training.trainer import P, TrainingProgress


def check_types(progress: Any) -> None:
    """Raise TypeError if a value of a dataclass has another type than that of a new one; a whole number will do for a
    float, and any number for None.
    """
    new = type(progress)()
    for each in fields(progress):
        value = getattr(progress, each.name)
        if not _fits(value, getattr(new, each.name)):
            raise TypeError(f"{each.name} is {value!r:.80}")


def _fits(value: Any, new: Any) -> bool:
    if new is None:
        return value is None or type(value) in (int, float)
    if isinstance(new, list):
        return type(value) is list and all(isinstance(item, dict) or is_dataclass(item) for item in value)
    return type(value) is type(new) or (type(new) is float and type(value) is int)


FORMAT_VERSION = 3


def save_training_state(
    path: Path,
    net: nn.Module,
    best: dict[str, Tensor],
    optimizer: Optimizer,
    progress: TrainingProgress,
    run: Any,
    average: nn.Module | None = None,
) -> None:
    """Write all that a training of one net and its optimizer needs to resume; ``best``: the best state dict so far;
    ``average``: the net with averaged weights, if there is one.
    """
    tensors = state_tensors(net, optimizer) | {f"best.{name}": tensor for name, tensor in best.items()}
    if average is not None:
        tensors |= {f"average.{name}": tensor.detach().cpu() for name, tensor in average.state_dict().items()}
    write_state(path, tensors, progress, run)


def write_state(path: Path, tensors: dict[str, Tensor], progress: TrainingProgress, run: Any, **more: Any) -> None:
    """Write the state of a training, atomically (OSError says what to do). ``run``: the settings that must not change
    when it resumes; ``more``: further parts of the header; JSON values.
    """
    header = {"kind": "training state", "format_version": FORMAT_VERSION, "progress": asdict(progress), "run": run}
    write_tensors(path, tensors, header | more)


def state_tensors(net: nn.Module, *optimizers: Optimizer) -> dict[str, Tensor]:
    """Return copies, on the CPU, of weights (``net.<name>``) and of what the optimizers of their parameters remember
    (``optimizer.<name>.<slot>``): what ``restore_tensors`` takes.
    """
    tensors = {f"net.{name}": tensor for name, tensor in net.state_dict().items()}
    for name, parameter in net.named_parameters():
        for optimizer in optimizers:
            slots = optimizer.state.get(parameter, {})
            tensors |= {f"optimizer.{name}.{slot}": value for slot, value in slots.items()}
    return {name: tensor.detach().to("cpu", copy=True) for name, tensor in tensors.items()}


def load_training_state(
    path: Path, net: nn.Module, optimizer: Optimizer, run: dict[str, Any], average: nn.Module | None = None
) -> tuple[TrainingProgress, dict[str, Tensor]]:
    """Fill ``net``, ``optimizer`` and ``average`` from ``path``; return the progress and the best state dict.

    Raises ValueError that names every difference if the state was made by another run than ``run``, or is damaged.
    """
    tensors, progress, _ = read_state(path, run, TrainingProgress)
    with damage(path, ValueError):
        restore_tensors(tensors, net, optimizer)
    if average is not None:
        with damage(path, RuntimeError):
            average.load_state_dict(below(tensors, "average."))
    return progress, below(tensors, "best.")


def read_state(path: Path, run: dict[str, Any], kind: type[P]) -> tuple[dict[str, Tensor], P, dict[str, Any]]:
    """Return the tensors, the progress (of a ``kind``) and the header of ``write_state``; ValueError as above."""
    tensors, header = read_tensors(path)
    if header.get("kind") != "training state" or header.get("format_version") != FORMAT_VERSION:
        raise ValueError(f"{path} is not a training state of format {FORMAT_VERSION}: delete it to start over")
    if not isinstance(header.get("run"), dict) or not isinstance(header.get("progress"), dict):
        raise ValueError(f"{path} has a damaged header: delete it to start over")
    then = header["run"]
    names = sorted(then.keys() | run.keys())
    if differences := [f"{n} was {then.get(n)}, now {run.get(n)}" for n in names if then.get(n) != run.get(n)]:
        raise ValueError(
            f"{path} belongs to another training ({'; '.join(differences)}): "
            "restore these settings to continue it, or delete the file to start over"
        )
    with damage(path):
        positions = [StreamPosition(**position) for position in header["progress"]["positions"]]
        progress = kind(**header["progress"] | {"positions": positions})
        check_types(progress)
    return tensors, progress, header


@contextmanager
def damage(path: Path, *more: type[Exception]) -> Iterator[None]:
    """Turn errors about parts that are missing or not what they should be into a ValueError that names the file;
    ``more``: other such errors.
    """
    errors: tuple[type[Exception], ...] = (AttributeError, IndexError, KeyError, TypeError, *more)
    try:
        yield
    except errors as error:
        reason = shortened(str(error) if more and isinstance(error, more) else repr(error), 200)
        raise ValueError(f"{path} is damaged ({reason}): delete it to start over") from error


def restore_tensors(tensors: Mapping[str, Tensor], net: nn.Module, *optimizers: Optimizer) -> None:
    """Fill ``net`` and its ``optimizers`` with copies of ``state_tensors``; ValueError for those of other nets."""
    slots: dict[str, dict[str, Tensor]] = {}
    for key, tensor in below(tensors, "optimizer.").items():
        name, _, slot = key.rpartition(".")
        slots.setdefault(name, {})[slot] = tensor
    owners = {each: own for own in optimizers for group in own.param_groups for each in group["params"]}
    try:
        net.load_state_dict(below(tensors, "net."))
        for name, parameter in net.named_parameters():
            own = {slot: tensor.to(parameter.device, copy=True) for slot, tensor in slots.get(name, {}).items()}
            if any(tensor.shape not in (parameter.shape, ()) for tensor in own.values()):
                raise RuntimeError(f"the optimizer's state of {name} has another shape")
            owners[parameter].state[parameter] = own
    except RuntimeError as error:
        reason = shortened(str(error), 200)
        raise ValueError(
            f"the stored nets are not those of this recipe ({reason}): delete them to start over"
        ) from error


def below(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names begin with ``prefix``, by the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
