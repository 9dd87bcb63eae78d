"""The saved state of a training: one safetensors file, from which it resumes with the same numbers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from suphx.models.checkpoints.tensor_file import read_tensors, write_tensors
from suphx.printable_text import shortened
from suphx.training.dataset import StreamPosition


def check_types(progress: Any) -> None:
    """Raise TypeError if a value of a dataclass has another type than that of a new one.

    A whole number will do for a float, and any number for None; the items of a list are dicts or dataclasses.
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


@dataclass(slots=True, kw_only=True)
class TrainingProgress:
    """The progress of a training: all of its state except the tensors."""

    step: int = 0
    """Optimizer steps done."""
    samples: int = 0
    """Samples learned from, by all workers."""
    seconds: float = 0.0
    """Time spent, over all starts."""
    waited_seconds: float = 0.0
    """Part of it in which the next batch was not ready."""
    positions: list[StreamPosition] = field(default_factory=list)
    """Position of each worker's next batch, by rank; empty before the first save."""
    history: list[dict[str, Any]] = field(default_factory=list)
    """One entry for each validation."""
    loss_sum: float = 0.0
    """Of the training loss over the samples since the last validation."""
    loss_samples: int = 0
    """Those samples."""
    staleness_sum: float = 0.0
    """Of the rounds of self-play since the last validation (Deep Monte-Carlo)."""
    staleness_rounds: int = 0
    """Those rounds."""
    weak_step: int = 0
    """Step of the weights that were kept as the weak ones; 0 before."""
    dealt: int = 0
    """Rounds of self-play that were given to somebody to play; no number is used twice (Deep Monte-Carlo)."""
    best_step: int = 0
    """Step of the best weights; 0 before the first validation."""
    best_loss: float | None = None
    """Validation loss of the best weights, or the share of games that they lost; None without validation samples."""
    num_worse: int = 0
    """Validations since the best one."""


def save_training_state(
    path: Path, net: nn.Module, best: dict[str, Tensor], optimizer: Optimizer, progress: TrainingProgress, run: Any
) -> None:
    """Write everything that a training needs to resume, atomically (OSError says what to do).

    ``run``: the settings that must not change when it resumes, as JSON values; ``best``: the best state dict so far.
    """
    tensors = state_tensors(net, optimizer) | {f"best.{name}": tensor for name, tensor in best.items()}
    header = {"kind": "training state", "format_version": FORMAT_VERSION, "progress": asdict(progress), "run": run}
    write_tensors(path, tensors, header)


def state_tensors(net: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """Return the weights and the optimizer's state of all parameters, by name: what ``restore_tensors`` takes."""
    tensors = {f"net.{name}": tensor for name, tensor in net.state_dict().items()}
    for name, parameter in net.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{name}.{key}"] = value
    return tensors


def load_training_state(
    path: Path, net: nn.Module, optimizer: Optimizer, run: dict[str, Any]
) -> tuple[TrainingProgress, dict[str, Tensor]]:
    """Fill ``net`` and ``optimizer`` from ``path``; return the progress and the best state dict.

    Raises ValueError that names every difference if the state was made by another run than ``run``, or is damaged.
    """
    tensors, header = read_tensors(path)
    if header.get("kind") != "training state" or header.get("format_version") != FORMAT_VERSION:
        raise ValueError(f"{path} is not a training state of format {FORMAT_VERSION}: delete it to start over")
    if not isinstance(header.get("run"), dict) or not isinstance(header.get("progress"), dict):
        raise ValueError(f"{path} has a damaged header: delete it to start over")
    _check_same_run(path, header["run"], run)
    try:
        positions = [StreamPosition(**position) for position in header["progress"]["positions"]]
        progress = TrainingProgress(**header["progress"] | {"positions": positions})
        check_types(progress)
        return progress, restore_tensors(tensors, net, optimizer)
    except (KeyError, TypeError, RuntimeError) as error:
        reason = shortened(str(error), 200)  # torch lists every tensor, one a line
        raise ValueError(f"{path} is damaged ({reason}): delete it to start over") from error


def restore_tensors(tensors: Mapping[str, Tensor], net: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """Fill ``net`` and ``optimizer``; return the best state dict. KeyError and RuntimeError for tensors of others."""
    parts: dict[str, dict[str, Tensor]] = {"net": {}, "best": {}, "optimizer": {}}
    for name, tensor in tensors.items():
        part, _, rest = name.partition(".")
        parts[part][rest] = tensor
    net.load_state_dict(parts["net"])
    for name, parameter in net.named_parameters():
        own = {
            key.rpartition(".")[2]: tensor.to(parameter.device)
            for key, tensor in parts["optimizer"].items()
            if key.rpartition(".")[0] == name
        }
        if any(tensor.shape not in (parameter.shape, ()) for tensor in own.values()):
            raise RuntimeError(f"the optimizer's state of {name} has another shape")
        optimizer.state[parameter] = own
    return parts["best"]


def _check_same_run(path: Path, then: dict[str, Any], now: dict[str, Any]) -> None:
    names = sorted(then.keys() | now.keys())
    differences = [f"{n} was {then.get(n)}, now {now.get(n)}" for n in names if then.get(n) != now.get(n)]
    if differences:
        raise ValueError(
            f"{path} belongs to another training ({'; '.join(differences)}): "
            "restore these settings to continue it, or delete the file to start over"
        )


class Clock:
    """Adds the time that passes to ``progress``; knows how fast rows go and how long was waited for them.

    On a GPU the wait is that of the process that launches the work: the device may still be busy with what was
    launched before, so that the share is the most that the device can have been idle for lack of samples.
    """

    def __init__(self, progress: TrainingProgress) -> None:
        self._progress = progress
        self._last_tick = self._lap_start = time.monotonic()
        self._lap_samples, self._lap_waited = progress.samples, progress.waited_seconds

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time inside the block as waiting."""
        start = time.monotonic()
        yield
        self._progress.waited_seconds += time.monotonic() - start

    def tick(self) -> None:
        """Add the time since the last tick."""
        now = time.monotonic()
        self._progress.seconds += now - self._last_tick
        self._last_tick = now

    def lap(self) -> tuple[float, float]:
        """Return rows a second and the share of waiting since the last lap, and start a new one."""
        now, progress = time.monotonic(), self._progress
        elapsed = max(now - self._lap_start, 1e-9)
        samples, waited = progress.samples - self._lap_samples, progress.waited_seconds - self._lap_waited
        self._lap_start, self._lap_samples, self._lap_waited = now, progress.samples, progress.waited_seconds
        return samples / elapsed, waited / elapsed
