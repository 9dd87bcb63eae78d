"""How many samples a second one net learns from: the training loop itself, fed from packed samples in host memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from suphx.games.mahjong.planes import Samples
from suphx.games.riichi.features.head import head_index
from suphx.kernel.record import I64
from suphx.models.device import torch_threads
from suphx.models.inference import training_flops
from suphx.models.net_config import NetConfig
from suphx.training.config import StreamConfig, SupervisedConfig
from suphx.training.dataset import take
from suphx.training.head_data import HeadData, KyokuSplit
from suphx.training.supervised import HeadProgress, HeadTraining, train_head
from suphx_platform.bench.peak import measure_peak
from suphx_platform.bench.riichi.net_case import PEAK_SECONDS, NetCase, Rate

CPU_BATCHES = (512,)
GPU_BATCHES = (992, 1984, 3968)
"""Whole waves of tiles on an H200 (models/inference.py)."""

_BATCHES_OF_ROWS = 4  # different batches' worth of samples, shuffled again in every epoch
_ROWS_A_BLOCK = 64
_STEPS_A_LAP = 4
_WARM_UP_LAPS = 2  # compiling, choosing algorithms, first allocations


def bench_training(case: NetCase, batches: Sequence[int], *, say: Callable[[str], None]) -> dict[str, object]:
    """Return the JSON object of ``suphx bench training``; ``batches`` empty: by device.

    Two measurements of the device's peak stand around those of the net. ValueError for cuda where there is none.
    """
    device = case.torch_device
    sizes = tuple(sorted(set(batches))) or (GPU_BATCHES if device.type == "cuda" else CPU_BATCHES)
    samples = case.samples(max(_BATCHES_OF_ROWS * max(sizes), _ROWS_A_BLOCK), say)
    with torch_threads(case.threads):
        peak = measure_peak(device, case.peak_dtype, seconds=PEAK_SECONDS)
        rates = []
        for size in sizes:
            say(f"training with batches of {size:,}")
            rates.append(_measure(case, samples, size))
        peak = max(peak, measure_peak(device, case.peak_dtype, seconds=PEAK_SECONDS))
    return case.describe(rates, peak, training_flops(case.new_net()))


class _EnoughError(Exception):
    """The time of the measurement is over."""


class _Laps:
    """Adds up what the training loop reports after its warm-up, and ends it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._num_laps = 0
        self._last: HeadProgress | None = None
        self.rows = 0
        self.elapsed = 0.0
        self.waited = 0.0

    def __call__(self, report: HeadProgress) -> None:
        """Take a report; raises _EnoughError after ``seconds``."""
        self._num_laps += 1
        if self._last is not None and self._num_laps > _WARM_UP_LAPS:
            rows = report.samples - self._last.samples
            elapsed = rows / report.samples_per_second
            self.rows += rows
            self.elapsed += elapsed
            self.waited += elapsed * report.waiting_share
        self._last = report
        if self._num_laps > _WARM_UP_LAPS and self.elapsed >= self._seconds:
            raise _EnoughError


def _measure(case: NetCase, samples: Samples, size: int) -> Rate:
    laps = _Laps(case.seconds)
    with tempfile.TemporaryDirectory(prefix="suphx-bench-") as name, suppress(_EnoughError):
        train_head(_job(case, samples, size), Path(name), report=laps)
    return Rate(batch=size, observations_per_second=laps.rows / laps.elapsed, waiting_share=laps.waited / laps.elapsed)


def _job(case: NetCase, samples: Samples, size: int) -> HeadTraining:
    """Return a training without end that neither validates nor saves."""
    blocks = np.arange(len(samples.labels) // _ROWS_A_BLOCK)
    none = blocks[:0]
    return HeadTraining(
        data=HeadData(
            head=head_index(case.head),
            layout=case.layout,
            digest="",
            encode=_Memory(samples),
            split=KyokuSplit(train=blocks, validation=none, test=none),
            game_of_kyoku=blocks,
            max_validation_samples=1,
            max_test_samples=1,
        ),
        rules_version="tenhou",
        net=NetConfig(size=case.size, normalization=case.normalization),
        config=SupervisedConfig(
            batch_size=size,
            max_epochs=1e6,
            validate_every=10**9,
            save_seconds=1e6,
            report_every=_STEPS_A_LAP,
            threads=case.threads,
            precision=case.precision,
            convolution=case.convolution,
            compilation=case.compilation,
            device=case.device,
        ),
        stream=StreamConfig(num_workers=0, chunk_kyokus=len(blocks)),
    )


@dataclass(frozen=True, slots=True)
class _Memory:
    """Gives samples by blocks of rows, as an encoder gives those of kyokus."""

    samples: Samples

    def __call__(self, blocks: I64) -> Samples:
        """Return the rows of ``blocks``."""
        rows = (blocks[:, None] * _ROWS_A_BLOCK + np.arange(_ROWS_A_BLOCK)).reshape(-1)
        return take(self.samples, rows)
