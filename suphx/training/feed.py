"""Batches on the device before the step asks for them: a thread draws, copies and keeps a few ready.

On a GPU the copies run beside the computation: from page-locked memory, on a stream of their own. On a CPU the thread
saves the step the shuffling. Batches are those of the stream, in the same order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from queue import Full, Queue

import torch
from torch import Tensor

from suphx.experience.observation import Samples
from suphx.training.dataset import SampleStream, StreamPosition


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples on the device."""

    planes: Tensor
    """uint8 [n, observation_bytes]: bit-packed planes."""
    masks: Tensor
    """uint8 [n, 34] or [n, 0]."""
    labels: Tensor
    """int8 [n]."""
    position: StreamPosition
    """Of the stream behind this batch: where a training that has learned from it continues."""

    @property
    def num_samples(self) -> int:
        """How many samples there are."""
        return len(self.labels)


class BatchFeed:
    """Consumes: a SampleStream, which it closes. Produces: batches on ``device``. Waits for: the stream.

    >>> with closing(BatchFeed(stream, torch.device("cuda"), num_ahead=2)) as feed:
    ...     batch = next(feed)

    A thread keeps ``num_ahead`` batches ready, at least one. An error of the stream is raised by the ``next`` that
    finds it.
    """

    def __init__(self, stream: SampleStream, device: torch.device, num_ahead: int) -> None:
        self._stream = stream
        self._mover = _CudaMover(device, num_ahead) if device.type == "cuda" else _Mover(device)
        self._queue: Queue[Batch | BaseException] = Queue(num_ahead)
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._fill, name="batch feed", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        item = self._queue.get()
        if isinstance(item, BaseException):
            raise item
        return self._mover.receive(item)

    def close(self) -> None:
        """End the thread and the stream; batches that are ready are thrown away."""
        self._is_closing.set()
        self._thread.join()
        self._stream.close()

    def _fill(self) -> None:
        while not self._is_closing.is_set():
            item: Batch | BaseException
            try:
                item = self._mover.send(next(self._stream), self._stream.position)
            except BaseException as error:  # noqa: BLE001 - it is raised again where the batch is asked for
                item = error
            self._put(item)
            if isinstance(item, BaseException):
                return

    def _put(self, item: Batch | BaseException) -> None:
        while not self._is_closing.is_set():
            try:
                self._queue.put(item, timeout=0.1)
            except Full:
                continue
            return


class _Mover:
    def __init__(self, device: torch.device) -> None:
        self._device = device

    def send(self, samples: Samples, position: StreamPosition) -> Batch:
        rows, masks, labels = (part.to(self._device) for part in _tensors(samples))
        return Batch(rows, masks, labels, position)

    def receive(self, batch: Batch) -> Batch:
        return batch


class _CudaMover(_Mover):
    """Copies on a stream of its own out of a ring of page-locked memory, which is written again when it was read."""

    def __init__(self, device: torch.device, num_ahead: int) -> None:
        super().__init__(device)
        self._copies = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._ring: deque[_Pinned] = deque(_Pinned() for _ in range(num_ahead + 1))
        self._sent: deque[torch.cuda.Event] = deque()

    def send(self, samples: Samples, position: StreamPosition) -> Batch:
        pinned = self._ring[0]
        self._ring.rotate(-1)
        with torch.cuda.stream(self._copies):
            rows, masks, labels = (part.to(self._device, non_blocking=True) for part in pinned.fill(samples))
            pinned.was_read = self._copies.record_event()
        self._sent.append(pinned.was_read)
        return Batch(rows, masks, labels, position)

    def receive(self, batch: Batch) -> Batch:
        current = torch.cuda.current_stream(self._device)
        current.wait_event(self._sent.popleft())
        for tensor in (batch.planes, batch.masks, batch.labels):
            tensor.record_stream(current)  # the allocator must not give its memory away before this stream is done
        return batch


class _Pinned:
    """Page-locked memory for one batch, and the event of the copy out of it."""

    def __init__(self) -> None:
        self.was_read = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._tensors: list[Tensor] = []

    def fill(self, samples: Samples) -> list[Tensor]:
        """Return views that hold ``samples``; waits until the copy of what was there before has ended."""
        self.was_read.synchronize()
        parts = _tensors(samples)
        if not self._tensors or len(self._tensors[0]) < len(samples):
            self._tensors = [torch.empty_like(part, pin_memory=True) for part in parts]
        views = [tensor[: len(part)] for tensor, part in zip(self._tensors, parts, strict=True)]
        for view, part in zip(views, parts, strict=True):
            view.copy_(part)
        return views


def _tensors(samples: Samples) -> list[Tensor]:
    return [torch.from_numpy(array) for array in (samples.planes, samples.masks, samples.labels)]
