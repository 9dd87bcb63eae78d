"""How many positions per second one net evaluates: packed rows in host memory, sampled actions back in host memory."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from suphx.games.mahjong.planes import Samples
from suphx.models.device import torch_threads
from suphx.models.inference import InferenceConfig, InferenceNet, inference_flops
from suphx.models.sampling import sample_actions
from suphx_platform.bench.peak import measure_peak
from suphx_platform.bench.riichi.net_case import PEAK_SECONDS, NetCase, Rate

CPU_BATCHES = (64, 512)
GPU_BATCHES = (496, 992, 1984, 3968)
"""Whole waves of tiles on an H200 (models/inference.py)."""

_BATCHES_OF_ROWS = 4  # different batches that come again and again
_NUM_AHEAD = 3  # batches that a GPU has been given before the first answer is fetched


def bench_inference(case: NetCase, batches: Sequence[int], *, say: Callable[[str], None]) -> dict[str, object]:
    """Return the JSON object of ``suphx bench inference``; ``batches`` empty: by device.

    Two measurements of the device's peak stand around those of the net. ValueError for cuda where there is none.
    """
    device = case.torch_device
    sizes = tuple(sorted(set(batches))) or (GPU_BATCHES if device.type == "cuda" else CPU_BATCHES)
    samples = case.samples(_BATCHES_OF_ROWS * max(sizes), say)
    net = case.new_net()
    with torch_threads(case.threads):
        peak = measure_peak(device, case.peak_dtype, seconds=PEAK_SECONDS)
        rates = []
        for size in sizes:
            say(f"inference with batches of {size:,}")
            config = InferenceConfig(
                precision=case.precision,
                convolution=case.convolution,
                compilation=case.compilation,
                batch_sizes=(size,),
            )
            flow = _Flow(InferenceNet(net, device, config), samples, size)
            rates.append(flow.measure(case.seconds))
        peak = max(peak, measure_peak(device, case.peak_dtype, seconds=PEAK_SECONDS))
    return case.describe(rates, peak, inference_flops(net))


class _Flow:
    """Consumes batches of rows in host memory; produces actions and log-probabilities there. Waits for: the device.

    On a GPU rows come from page-locked memory on a stream of their own, while the batch before is computed.
    """

    def __init__(self, net: InferenceNet, samples: Samples, size: int) -> None:
        self._net = net
        self._size = size
        self._on_gpu = net.device.type == "cuda"
        self._rows = [self._in_host_memory(samples.planes, part) for part in range(_BATCHES_OF_ROWS)]
        self._masks = [self._in_host_memory(samples.masks, part) for part in range(_BATCHES_OF_ROWS)]
        self._copies = torch.cuda.Stream(net.device) if self._on_gpu else None  # type: ignore[no-untyped-call]

    def measure(self, seconds: float) -> Rate:
        """Answer batches for ``seconds`` and count."""
        self._run(0)
        started = time.perf_counter()
        count, busy = self._run(seconds)
        elapsed = time.perf_counter() - started
        return Rate(
            batch=self._size,
            observations_per_second=count * self._size / elapsed,
            waiting_share=max(0.0, 1 - busy / elapsed),
        )

    def _run(self, seconds: float) -> tuple[int, float]:
        """Return how many batches were answered, and the seconds in which the device computed."""
        end = time.perf_counter() + seconds
        under_way: deque[_Answer] = deque()
        count, busy = 0, 0.0
        while count < _NUM_AHEAD or time.perf_counter() < end:
            under_way.append(self._ask(count % _BATCHES_OF_ROWS))
            count += 1
            if len(under_way) == _NUM_AHEAD:
                busy += under_way.popleft().fetch()
        return count, busy + sum(answer.fetch() for answer in under_way)

    @torch.inference_mode()
    def _ask(self, part: int) -> _Answer:
        """Give one batch to the device."""
        rows, masks = self._rows[part], self._masks[part]
        answer = _Answer(self._net.device)
        if self._copies is not None:
            with torch.cuda.stream(self._copies):
                rows, masks = (tensor.to(self._net.device, non_blocking=True) for tensor in (rows, masks))
            present = torch.cuda.current_stream(self._net.device)
            present.wait_stream(self._copies)
            for tensor in (rows, masks):
                tensor.record_stream(present)
        answer.begin()
        actions, log_probs = sample_actions(self._net(rows), masks)
        answer.end(actions, log_probs)
        return answer

    def _in_host_memory(self, array: object, part: int) -> Tensor:
        tensor = torch.as_tensor(array)[part * self._size : (part + 1) * self._size].contiguous()
        return tensor.pin_memory() if self._on_gpu else tensor


class _Answer:
    """Actions and log-probabilities of one batch, on their way to host memory, and the time that they took."""

    def __init__(self, device: torch.device) -> None:
        self._on_gpu = device.type == "cuda"
        self._begun = self._ended = 0.0
        self._events: list[torch.cuda.Event] = []
        if self._on_gpu:
            self._events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]  # type: ignore[no-untyped-call]
        self._in_host_memory: list[Tensor] = []

    def begin(self) -> None:
        """Start the clock when the device comes to here."""
        if self._on_gpu:
            self._events[0].record()
        self._begun = time.perf_counter()

    def end(self, actions: Tensor, log_probs: Tensor) -> None:
        """Send the answer to host memory and stop the clock when the device comes to here."""
        for tensor in (actions, log_probs):
            target = torch.empty_like(tensor, device="cpu", pin_memory=self._on_gpu)
            self._in_host_memory.append(target.copy_(tensor, non_blocking=True))
        if self._on_gpu:
            self._events[1].record()
        self._ended = time.perf_counter()

    def fetch(self) -> float:
        """Wait for the answer; return the seconds that the device took for it."""
        if not self._on_gpu:
            return self._ended - self._begun
        self._events[1].synchronize()
        return float(self._events[0].elapsed_time(self._events[1])) / 1000
