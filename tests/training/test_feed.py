from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from suphx.experience.observation import Samples
from suphx.training.config import StreamConfig
from suphx.training.dataset import SampleStream, StreamPosition
from suphx.training.feed import BatchFeed

CPU = torch.device("cpu")
KYOKUS = np.arange(100, dtype=np.int64)


@dataclass(frozen=True)
class OneRowAKyoku:
    """A sample says which kyoku it is of; kyoku ``broken`` cannot be encoded."""

    broken: int = -1

    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        if self.broken in kyokus:
            raise ValueError(f"kyoku {self.broken} is broken")
        rows = np.repeat(kyokus[:, None], 5, axis=1).astype(np.uint8)
        return Samples(rows, np.zeros((len(rows), 0), np.uint8), np.zeros(len(rows), np.int8))


def stream(encode: OneRowAKyoku, position: StreamPosition | None = None) -> SampleStream:
    config = StreamConfig(chunk_kyokus=4, buffer_bytes=240, num_workers=0)
    return SampleStream(encode, KYOKUS, batch_size=8, seed=3, config=config, position=position)


@pytest.mark.parametrize("num_ahead", [1, 3])
def test_batches_and_positions_are_those_of_the_stream(num_ahead: int) -> None:
    plain = stream(OneRowAKyoku())
    with closing(BatchFeed(stream(OneRowAKyoku()), CPU, num_ahead)) as feed:
        for _ in range(40):
            expected, batch = next(plain), next(feed)
            assert torch.equal(batch.planes, torch.from_numpy(expected.planes))
            assert batch.position == plain.position
            assert batch.num_samples == len(expected.labels)


def test_a_training_goes_on_behind_the_batch_that_it_used_not_behind_those_made_ready() -> None:
    with closing(BatchFeed(stream(OneRowAKyoku()), CPU, 3)) as feed:
        batches = [next(feed) for _ in range(12)]
    with closing(BatchFeed(stream(OneRowAKyoku(), batches[6].position), CPU, 3)) as resumed:
        assert torch.equal(next(resumed).planes, batches[7].planes)


def test_an_error_of_the_stream_is_raised_where_the_batch_is_asked_for() -> None:
    with closing(BatchFeed(stream(OneRowAKyoku(broken=50)), CPU, 2)) as feed, pytest.raises(ValueError, match="broken"):
        list(feed)


def test_closing_ends_the_thread_even_if_nobody_takes_what_it_made() -> None:
    feed = BatchFeed(stream(OneRowAKyoku()), CPU, 2)
    next(feed)
    feed.close()
    assert "batch feed" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.gpu
def test_on_a_gpu_batches_are_whole_although_copies_and_computation_overlap() -> None:
    device = torch.device("cuda")
    plain = stream(OneRowAKyoku())
    busy = torch.rand(2048, 2048, device=device)
    with closing(BatchFeed(stream(OneRowAKyoku()), device, 2)) as feed:
        for _ in range(200):
            batch = next(feed)
            busy = torch.tanh(busy @ busy)  # the copies of later batches run beside this
            assert torch.equal(batch.planes.cpu(), torch.from_numpy(next(plain).planes))
