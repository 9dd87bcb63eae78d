"""Nets that are measured: how fast they answer, and how fast they learn."""

from __future__ import annotations

import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suphx.experience.columns import joined
from suphx.experience.observation import Samples
from suphx.games.mahjong.planes import PlaneLayout
from suphx.games.riichi.archive.store import write_store
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.samples import encode_kyokus
from suphx.games.riichi.names import DECISIONS, head_index
from suphx.games.riichi.rules import tenhou
from suphx.kernel.record import I64
from suphx.models.device import find_device, resolve_compilation, torch_threads, uses_bf16
from suphx.models.inference import InferenceConfig, InferenceNet, inference_flops, training_flops
from suphx.models.net_config import Compilation, DeviceName, NetConfig, Normalization, Precision, Size
from suphx.models.policy import PolicyNet, num_weights
from suphx.models.sampling import actions_at
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training.config import StreamConfig, SupervisedConfig
from suphx.training.head_data import HeadData, KyokuSplit
from suphx.training.supervised import HeadTrainer, HeadTraining

PLAYER = "ukeire"
GAMES_A_BATCH = 8
MAX_DIFFERENT = 8192


def collect_samples(head: int, encoder: str, num_samples: int, *, seed: int, say: Callable[[str], None]) -> Samples:
    """Return ``num_samples`` samples of ``head`` in a random order, from games that ukeire plays.

    At most 8,192 of them are different ones; then they come again.
    """
    say(f"encoding positions of games that {PLAYER} plays")
    agent, seating = load_agent(PLAYER), np.zeros((GAMES_A_BATCH, 4), np.int64)
    parts: list[Samples] = []
    while sum(len(part.labels) for part in parts) < min(num_samples, MAX_DIFFERENT):
        games = play_games([agent], seating, range(seed, seed + GAMES_A_BATCH), tenhou())
        seed += GAMES_A_BATCH
        with tempfile.TemporaryDirectory(prefix="suphx-bench-") as name:
            store = write_store(games, Path(name))
            parts.append(encode_kyokus(store, np.arange(store.num_kyokus), head, encoder))
    count = sum(len(part.labels) for part in parts)
    chosen = np.resize(np.random.default_rng(seed).permutation(count), num_samples)
    return joined(parts).take(chosen)


PEAK_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """What was measured with one batch size."""

    batch: int
    observations_per_second: float
    waiting_share: float
    """Share of the time in which the device had no batch to work on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetCase:
    """One net on one device."""

    device: DeviceName = "auto"
    size: Size = "paper"
    head: str = "discard"
    encoder: str = "suphx"
    normalization: Normalization = "batch"
    precision: Precision = "auto"
    compilation: Compilation = "auto"
    threads: int = 1
    seconds: float = 5.0
    seed: int = 0

    @property
    def torch_device(self) -> torch.device:
        """The device; ValueError for cuda where there is none."""
        return find_device(self.device)

    @property
    def is_bf16(self) -> bool:
        """Whether the net computes in bfloat16."""
        return uses_bf16(self.precision, self.torch_device)

    @property
    def peak_dtype(self) -> torch.dtype:
        """The type of the device's peak: bfloat16 where the hardware has it, whatever the net computes in."""
        return torch.bfloat16 if uses_bf16("auto", self.torch_device) else torch.float32

    @property
    def layout(self) -> PlaneLayout:
        """The planes of an observation."""
        return find_encoder(self.encoder).layout(head_index(self.head))

    def new_net(self) -> PolicyNet:
        """Return an untrained net, on the CPU."""
        config = NetConfig(size=self.size, normalization=self.normalization)
        return PolicyNet(DECISIONS[head_index(self.head)], self.layout.num_planes, config)

    def describe(self, rates: Sequence[Rate], peak: float, flops: int) -> dict[str, object]:
        """Return the JSON object: the fastest batch size on top, every one under ``batches``.

        ``peak``: operations a second; ``flops``: operations of an observation. ``rows_per_second`` counts
        observations: scripts read the key by this name.
        """
        best = max(rates, key=lambda rate: rate.observations_per_second)
        device = self.torch_device
        on_gpu = device.type == "cuda"

        def figures(rate: Rate) -> dict[str, object]:
            return {
                "batch": rate.batch,
                "rows_per_second": rate.observations_per_second,
                "peak_share": rate.observations_per_second * flops / peak,
                "waiting_share": rate.waiting_share,
            }

        return {
            **figures(best),
            "device": device.type,
            "device_name": torch.cuda.get_device_name(device) if on_gpu else torch.backends.cpu.get_cpu_capability(),
            "threads": None if on_gpu else self.threads,
            "flop_per_observation": flops,
            "flop_per_second": best.observations_per_second * flops,
            "peak_flop_per_second": peak,
            "peak_precision": "bf16" if self.peak_dtype == torch.bfloat16 else "fp32",
            "size": self.size,
            "head": self.head,
            "planes": f"{self.layout.name} ({self.layout.num_planes})",
            "parameters": num_weights(self.new_net()),
            "normalization": self.normalization,
            "precision": "bf16" if self.is_bf16 else "fp32",
            "compilation": resolve_compilation(self.compilation, device),
            "batches": [figures(rate) for rate in rates],
        }


ANSWER_BATCHES = {"cpu": (64, 512), "cuda": (496, 992, 1984, 3968)}
LEARN_BATCHES = {"cpu": (512,), "cuda": (992, 1984, 3968)}
"""By device; those of a GPU are whole waves of tiles on an H200 (models/inference.py)."""

_BATCHES_OF_ROWS = 4  # different batches, which come again and again
_NUM_AHEAD = 3  # batches that a GPU has been given before the first answer is fetched


def bench_inference(case: NetCase, batches: Sequence[int], *, say: Callable[[str], None]) -> dict[str, object]:
    """Return the JSON object of ``suphx bench inference``; ``batches`` empty: by device."""
    net = case.new_net()

    def measure(samples: Samples, size: int) -> Rate:
        config = InferenceConfig(precision=case.precision, compilation=case.compilation, batch_sizes=(size,))
        return _answer(InferenceNet(net, case.torch_device, config), samples, size, case.seconds)

    sizes = batches or ANSWER_BATCHES[case.torch_device.type]
    return case.describe(*_measured(case, sizes, measure, "inference", say), inference_flops(net))


def _measured(
    case: NetCase,
    batches: Sequence[int],
    measure: Callable[[Samples, int], Rate],
    what: str,
    say: Callable[[str], None],
) -> tuple[list[Rate], float]:
    """Return the rate of each batch size, and the device's peak: the better of those before and after them.

    ValueError for cuda where there is none.
    """
    device, sizes = case.torch_device, sorted(set(batches))
    num_samples = max(_BATCHES_OF_ROWS * max(sizes), _ROWS_A_BLOCK)
    head = head_index(case.head)
    samples = collect_samples(head, case.encoder, num_samples, seed=case.seed, say=say)
    with torch_threads(case.threads):
        peak = measure_peak(device, case.peak_dtype, seconds=PEAK_SECONDS)
        rates = []
        for size in sizes:
            say(f"{what} with batches of {size:,}")
            rates.append(measure(samples, size))
        peak = max(peak, measure_peak(device, case.peak_dtype, seconds=PEAK_SECONDS))
    return rates, peak


def _answer(net: InferenceNet, samples: Samples, size: int, seconds: float) -> Rate:
    """Answer batches for ``seconds``, from rows in host memory to actions and log-probabilities there."""
    on_gpu = net.device.type == "cuda"

    def in_host_memory(array: object, part: int) -> Tensor:
        tensor = torch.as_tensor(array)[part * size : (part + 1) * size].contiguous()
        return tensor.pin_memory() if on_gpu else tensor

    batches = [
        (in_host_memory(samples.planes, part), in_host_memory(samples.masks, part)) for part in range(_BATCHES_OF_ROWS)
    ]
    copies = torch.cuda.Stream(net.device) if on_gpu else None  # type: ignore[no-untyped-call]

    def run(seconds: float) -> tuple[int, float]:
        """Return how many batches were answered, and the seconds in which the device computed."""
        end = time.perf_counter() + seconds
        under_way: deque[Callable[[], float]] = deque()
        count, busy = 0, 0.0
        while count < _NUM_AHEAD or time.perf_counter() < end:
            under_way.append(_ask(net, *batches[count % _BATCHES_OF_ROWS], copies))
            count += 1
            if len(under_way) == _NUM_AHEAD:
                busy += under_way.popleft()()
        return count, busy + sum(fetch() for fetch in under_way)

    run(0)
    started = time.perf_counter()
    count, busy = run(seconds)
    elapsed = time.perf_counter() - started
    return Rate(batch=size, observations_per_second=count * size / elapsed, waiting_share=max(0.0, 1 - busy / elapsed))


@torch.inference_mode()
def _ask(net: InferenceNet, rows: Tensor, masks: Tensor, copies: torch.cuda.Stream | None) -> Callable[[], float]:
    """Give a batch to the device; return what waits for its answer, and tells the seconds that the device took.

    On a GPU rows come from page-locked memory on the stream ``copies``, while the batch before is computed.
    """
    if copies is None:
        started = time.perf_counter()
        actions_at(net(rows), masks, torch.rand(len(rows)))
        seconds = time.perf_counter() - started
        return lambda: seconds
    with torch.cuda.stream(copies):
        rows, masks = (tensor.to(net.device, non_blocking=True) for tensor in (rows, masks))
    present = torch.cuda.current_stream(net.device)
    present.wait_stream(copies)
    for tensor in (rows, masks):
        tensor.record_stream(present)
    begun, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    begun.record()
    for tensor in actions_at(net(rows), masks, torch.rand(len(rows), device=net.device)):
        torch.empty_like(tensor, device="cpu", pin_memory=True).copy_(tensor, non_blocking=True)
    ended.record()

    def fetch() -> float:
        ended.synchronize()
        return float(begun.elapsed_time(ended)) / 1000

    return fetch


_ROWS_A_BLOCK = 64
_STEPS_A_LAP = 4
_WARM_UP_LAPS = 2  # compiling, choosing algorithms, first allocations


def bench_training(case: NetCase, batches: Sequence[int], *, say: Callable[[str], None]) -> dict[str, object]:
    """Return the JSON object of ``suphx bench training``; ``batches`` empty: by device."""
    sizes = batches or LEARN_BATCHES[case.torch_device.type]
    rates, peak = _measured(case, sizes, partial(_learn, case), "training", say)
    return case.describe(rates, peak, training_flops(case.new_net()))


class _EnoughError(Exception):
    """The time of the measurement is over."""


def _learn(case: NetCase, samples: Samples, size: int) -> Rate:
    num_laps = last_samples = rows = 0
    elapsed = waited = 0.0

    def count(point: Mapping[str, Any]) -> None:
        """Add up what the training loop reports after its warm-up; raise _EnoughError when the time is over."""
        nonlocal num_laps, last_samples, rows, elapsed, waited
        num_laps += 1
        if num_laps > _WARM_UP_LAPS:
            lap = point["samples"] - last_samples
            seconds = lap / point["samples_per_second"]
            rows += lap
            elapsed += seconds
            waited += seconds * point["waiting_share"]
            if elapsed >= case.seconds:
                raise _EnoughError
        last_samples = point["samples"]

    with tempfile.TemporaryDirectory(prefix="suphx-bench-") as name, suppress(_EnoughError):
        HeadTrainer(_job(case, samples, size), Path(name), report=count).run()
    return Rate(batch=size, observations_per_second=rows / elapsed, waiting_share=waited / elapsed)


def _job(case: NetCase, samples: Samples, size: int) -> HeadTraining:
    """Return a training without end that neither validates nor saves."""
    blocks = np.arange(len(samples.labels) // _ROWS_A_BLOCK)
    none = blocks[:0]

    def encode(chosen: I64) -> Samples:  # as an encoder gives those of kyokus
        return samples.take((chosen[:, None] * _ROWS_A_BLOCK + np.arange(_ROWS_A_BLOCK)).reshape(-1))

    return HeadTraining(
        data=HeadData(
            kind=DECISIONS[head_index(case.head)],
            layout=case.layout,
            digest="",
            encode=encode,
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
            compilation=case.compilation,
            device=case.device,
        ),
        stream=StreamConfig(num_workers=0, chunk_kyokus=len(blocks)),
    )


_GPU_WIDTH = 8192
_CPU_WIDTH = 1024
_PRODUCTS = 10  # between two looks at the clock


def measure_peak(device: torch.device, dtype: torch.dtype, *, seconds: float) -> float:
    """Return floating-point operations a second, the best of the tries that fit into ``seconds`` (at least one).

    Random numbers, not zeros: zeros take less power, and a GPU then keeps a higher clock than any net can.
    """
    width = _GPU_WIDTH if device.type == "cuda" else _CPU_WIDTH
    left = torch.randn(width, width, device=device).to(dtype)
    right = torch.randn(width, width, device=device).to(dtype)
    result = torch.empty(width, width, device=device, dtype=dtype)
    best = 0.0

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize(device)

    wait()
    end = time.perf_counter() + seconds
    while best == 0 or time.perf_counter() < end:
        started = time.perf_counter()
        for _ in range(_PRODUCTS):
            torch.mm(left, right, out=result)
        wait()
        best = max(best, _PRODUCTS * 2 * width**3 / (time.perf_counter() - started))
    return best
