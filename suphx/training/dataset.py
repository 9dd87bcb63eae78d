"""Samples for supervised learning, encoded on the fly from recorded kyokus and shuffled across games.

Every epoch puts the kyokus into a new random order and cuts them into chunks, which worker processes encode;
consecutive chunks make a window of rows, which are shuffled and cut into batches. Everything random follows from the
seed, the epoch and the number of a chunk: batches are the same for any number of workers, and a stream resumes at any
position after encoding two windows. Memory is bounded in bytes.

No torch here: worker processes import this module, and torch would cost each of them 300 MB.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import count
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suphx.experience.columns import joined
from suphx.experience.observation import Samples
from suphx.training.config import StreamConfig
from suphx.worker_interrupt import end_with_parent, starting_workers, worker_deaths

_REMEDY = "lower stream.num_workers or stream.buffer_bytes"
_FIRST_CHUNK_KYOKUS = 64

# Both run in worker processes: they must be picklable.
Encode = Callable[[NDArray[np.int64]], Samples]  # kyoku indices to samples
Augment = Callable[[Samples, np.random.Generator], None]  # changes samples in place


def sample_bytes(samples: Samples) -> int:
    """Return how much memory one of the samples takes."""
    return int(samples.planes.shape[1] + samples.masks.shape[1] + samples.labels.itemsize)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPosition:
    """Where the next batch stands; a stream made with it goes on exactly there."""

    epoch: int = 0
    previous_chunk: int = 0
    """First chunk of the window before this one, whose last rows may be part of the next batch."""
    window_chunk: int = 0
    """First chunk of this window."""
    carried_samples: int = 0
    """Rows of the previous window that did not fill a batch."""
    batch: int = 0
    """Batches of this window already given."""
    epochs: float = 0.0
    """Epochs given so far, with the fraction."""

    @classmethod
    def near(cls, epochs: float, num_kyokus: int, chunk_kyokus: int) -> Self:
        """Return the start of a window about ``epochs`` into a stream of ``num_kyokus``: never beyond the epoch."""
        epoch = int(epochs)
        num_chunks = -(-num_kyokus // chunk_kyokus)
        chunk = min(int((epochs - epoch) * num_chunks), max(0, num_chunks - 1))
        return cls(epoch=epoch, previous_chunk=chunk, window_chunk=chunk, epochs=epochs)


@dataclass(frozen=True, slots=True)
class _Window:
    samples: Samples
    """Views of the stream's buffer: gone when the next window is gathered."""
    order: NDArray[np.int64]
    end_chunk: int

    def last(self, num_rows: int) -> Samples:
        return self.samples.take(self.order[len(self.order) - num_rows :])


class _Buffer:
    """Room for the samples of one window; used for every window again, so that memory stays flat."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._room: Samples | None = None
        self._num_rows = 0

    def clear(self) -> None:
        self._num_rows = 0

    def append(self, chunk: Samples) -> bool:
        """Add the samples of ``chunk``; return whether there is room for more, by the bytes that are allowed."""
        wanted = max(1, self._max_bytes // sample_bytes(chunk))
        end = self._num_rows + len(chunk)
        if self._room is None or end > len(self._room):
            # Behind what is wanted there must be room for the rest of the last chunk. Memory that is never written to
            # costs nothing.
            num_rows = max(end, wanted) + max(end, wanted) // 4
            room = Samples(*(np.empty((num_rows, *own.shape[1:]), own.dtype) for own in chunk.columns().values()))
            if self._room is not None:
                _write(room, 0, self.samples())
            self._room = room
        _write(self._room, self._num_rows, chunk)
        self._num_rows = end
        return end < wanted

    def samples(self) -> Samples:
        """Return views of what is there."""
        assert self._room is not None
        return self._room.part(0, self._num_rows)


def _write(room: Samples, start: int, samples: Samples) -> None:
    for target, source in zip(room.columns().values(), samples.columns().values(), strict=True):
        target[start : start + len(source)] = source


class SampleStream:
    """An endless iterator of batches of ``batch_size`` samples, epoch after epoch.

    Consumes: chunks of kyokus, through ``encode`` in worker processes. Produces: batches. Waits for: the first chunks
    of a window. Rows at the end of an epoch that fill no batch are dropped. ``next`` raises ValueError for data without
    samples and for a batch larger than a window, WorkerDiedError if a worker process has died.

    >>> with closing(SampleStream(encode, split.train, batch_size=512, seed=1, config=StreamConfig())) as stream:
    ...     batch, position = next(stream), stream.position  # a new stream with this position resumes after the batch
    """

    def __init__(
        self,
        encode: Encode,
        kyokus: NDArray[np.int64],
        *,
        batch_size: int,
        seed: int,
        config: StreamConfig,
        position: StreamPosition | None = None,
        augment: Augment | None = None,
    ) -> None:
        if len(kyokus) == 0:
            raise ValueError("there are no kyokus to learn from: give more records")
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}: use at least 1")
        self.position = position or StreamPosition()
        self._encode = encode
        self._augment = augment
        self._kyokus = np.sort(kyokus)
        self._batch_size = batch_size
        self._seed = seed
        self._window_bytes = config.buffer_bytes // 2
        self._buffer = _Buffer(self._window_bytes)
        self._chunk_kyokus = config.chunk_kyokus
        self._num_chunks = -(-len(kyokus) // config.chunk_kyokus)
        self._num_workers = config.num_workers
        self._pool: ProcessPoolExecutor | None = None
        if config.num_workers:  # spawned, not forked: a fork of a process that has run torch or numba may hang
            context, work = multiprocessing.get_context("spawn"), (encode, augment)
            self._pool = ProcessPoolExecutor(config.num_workers, context, initializer=_become_worker, initargs=work)
        self._batches = self._iterate()

    def __iter__(self) -> Iterator[Samples]:
        return self

    def __next__(self) -> Samples:
        return next(self._batches)

    def close(self) -> None:
        """End the worker processes; what they are encoding is thrown away."""
        self._batches.close()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def _iterate(self) -> Generator[Samples, None, None]:
        chunks = self._encoded_chunks()
        position = self.position
        carry: Samples | None = None
        if position.carried_samples:
            previous = self._gather(chunks, position.previous_chunk)
            carry = previous.last(position.carried_samples)
            del previous
        while True:
            carry = yield from self._cut(self._gather(chunks, self.position.window_chunk), carry)

    def _gather(self, chunks: Iterator[Samples], first_chunk: int) -> _Window:
        """Return the window that starts with ``first_chunk``, the next of ``chunks``, in its random order."""
        self._buffer.clear()
        end_chunk, has_room = first_chunk, True
        while end_chunk < self._num_chunks and has_room:
            chunk = next(chunks)
            needed = self._batch_size * sample_bytes(chunk)
            if needed > self._window_bytes:
                raise ValueError(
                    f"batch_size is {self._batch_size}, which needs {needed:,} bytes: lower it, "
                    f"or raise buffer_bytes to at least {2 * needed:,}"
                )
            has_room = self._buffer.append(chunk)
            end_chunk += 1
        samples = self._buffer.samples()
        random = np.random.default_rng([self._seed, self.position.epoch, 1 + first_chunk])
        return _Window(samples, random.permutation(len(samples)), end_chunk)

    def _cut(self, window: _Window, carry: Samples | None) -> Generator[Samples, None, Samples | None]:
        """Yield the batches of ``window``, the carried rows first; return the rows that it leaves to the next."""
        position, size = self.position, self._batch_size
        num_carried = len(carry) if carry is not None else 0
        num_rows = num_carried + len(window.samples)
        is_last = window.end_chunk == self._num_chunks
        num_batches = num_rows // size
        if is_last and position.window_chunk == 0 and num_batches == 0:
            if num_rows == 0:
                raise ValueError(
                    f"{len(self._kyokus)} kyokus hold no sample to learn from: give more records, or use fewer workers"
                )
            num_batches = 1
        for batch in range(position.batch, num_batches):
            start = batch * size - num_carried
            part = window.samples.take(window.order[max(start, 0) : start + size])
            window_share = (batch + 1) / num_batches * (window.end_chunk - position.window_chunk)
            epochs = position.epoch + (position.window_chunk + window_share) / self._num_chunks
            self.position = replace(position, batch=batch + 1, epochs=epochs)
            yield joined([carry, part]) if carry is not None and start < 0 else part
        if is_last:
            self.position = StreamPosition(epoch=position.epoch + 1, epochs=position.epoch + 1.0)
            return None
        rest = num_rows - num_batches * size
        self.position = StreamPosition(
            epoch=position.epoch,
            previous_chunk=position.window_chunk if rest else window.end_chunk,
            window_chunk=window.end_chunk,
            carried_samples=rest,
            epochs=position.epoch + window.end_chunk / self._num_chunks,
        )
        return window.last(rest) if rest else None

    def _encoded_chunks(self) -> Iterator[Samples]:
        """Yield every chunk from the position on, in order; workers are kept busy half a buffer ahead.

        WorkerDiedError if a worker has died.
        """
        plan = self._plan(self.position.epoch, self.position.previous_chunk)
        if self._pool is None:
            for chunk in plan:
                yield _encode_chunk(self._encode, self._augment, chunk)
            return
        ahead: deque[Future[Samples]] = deque()
        largest = 0
        while True:
            num_ahead = max(1 + self._num_workers, self._window_bytes // largest if largest else 0)
            while len(ahead) < num_ahead:
                with worker_deaths(_REMEDY), starting_workers():  # the pool starts them as it needs them
                    ahead.append(self._pool.submit(_encode_in_worker, next(plan)))
            with worker_deaths(_REMEDY):
                batch = ahead.popleft().result()
            largest = max(largest, batch.nbytes)
            yield batch

    def _plan(self, epoch: int, first_chunk: int) -> Iterator[_Chunk]:
        for number in count(epoch):
            order = np.random.default_rng([self._seed, number]).permutation(self._kyokus)
            for chunk in range(first_chunk, self._num_chunks):
                start = chunk * self._chunk_kyokus
                # Ascending inside the chunk: the store is read forwards; the window's order is random anyway.
                kyokus = np.sort(order[start : start + self._chunk_kyokus])
                yield kyokus, (self._seed, number, chunk, _AUGMENTATION)
            first_chunk = 0


_Chunk = tuple[NDArray[np.int64], tuple[int, ...]]
"""Kyokus, and the seed of their augmentation."""
_AUGMENTATION = 1  # keeps these random numbers apart from those of the windows


def _encode_chunk(encode: Encode, augment: Augment | None, chunk: _Chunk) -> Samples:
    kyokus, seed = chunk
    samples = encode_checked(encode, kyokus)
    if augment is not None:
        augment(samples, np.random.default_rng(seed))
    return samples


def encode_checked(encode: Encode, kyokus: NDArray[np.int64]) -> Samples:
    """Return the samples of ``kyokus``; ValueError if a label is not legal or the lengths differ."""
    samples = encode(kyokus)
    lengths = len(samples.planes), len(samples.masks), len(samples.labels)
    if len(set(lengths)) > 1:
        given = "{} rows, {} masks, {} labels".format(*lengths)
        raise ValueError(f"the encoder gave {given} for kyokus {_span(kyokus)}: they must be as many")
    has_masks = samples.masks.shape[1] > 0
    if has_masks and not samples.masks[np.arange(len(samples.labels)), samples.labels].all():
        raise ValueError(f"the encoder gave a label that its mask calls illegal, in kyokus {_span(kyokus)}")
    return samples


def first_samples(encode: Encode, kyokus: NDArray[np.int64], max_samples: int, seed: int) -> Samples | None:
    """Return at most ``max_samples`` samples of ``kyokus`` taken in a random order; None if there are none."""
    order = np.random.default_rng(seed).permutation(kyokus)
    parts: list[Samples] = []
    num_rows = 0
    for start in range(0, len(order), _FIRST_CHUNK_KYOKUS):
        if num_rows >= max_samples:
            break
        parts.append(encode_checked(encode, np.sort(order[start : start + _FIRST_CHUNK_KYOKUS])))
        num_rows += len(parts[-1])
    return joined(parts).part(0, max_samples) if num_rows else None


def _span(kyokus: NDArray[np.int64]) -> str:
    return f"{kyokus.min()} to {kyokus.max()}" if len(kyokus) else "(none)"


_work: tuple[Encode, Augment | None] | None = None  # set in worker processes only


def _become_worker(encode: Encode, augment: Augment | None) -> None:
    global _work
    _work = encode, augment
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends its workers
    end_with_parent()


def _encode_in_worker(chunk: _Chunk) -> Samples:
    assert _work is not None
    return _encode_chunk(*_work, chunk)
