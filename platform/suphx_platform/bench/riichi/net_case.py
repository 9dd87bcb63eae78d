"""Which net is measured, on which device, and what both benchmarks of nets say about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from suphx.games.riichi import PlaneLayout, Samples, find_encoder, head_index
from suphx.models.computation import FASTEST, Compilation, Convolution, DeviceName, Precision
from suphx.models.device import find_device, resolve_compilation, uses_bf16
from suphx.models.nets.net_config import NetConfig, Normalization, Size
from suphx.models.nets.policy import PolicyNet, num_weights
from suphx_platform.bench.riichi.positions import collect_samples

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
    """One net on one device; ValueError for an unknown encoder."""

    device: DeviceName = "auto"
    size: Size = "paper"
    head: str = "discard"
    encoder: str = "suphx"
    normalization: Normalization = "batch"
    precision: Precision = "auto"
    convolution: Convolution = FASTEST
    compilation: Compilation = "auto"
    threads: int = 1
    """Of torch, on a CPU."""
    seconds: float = 5.0
    """Time for each batch size, after warming up."""
    records: Path | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        find_encoder(self.encoder)  # raises ValueError for an unknown one, before games are played

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
        return PolicyNet(head_index(self.head), self.layout.num_planes, config)

    def samples(self, num_samples: int, say: Callable[[str], None]) -> Samples:
        """Return as many samples of real or played games."""
        head = head_index(self.head)
        return collect_samples(self.records, head, self.encoder, num_samples, seed=self.seed, say=say)

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
            "convolution": self.convolution,
            "compilation": resolve_compilation(self.compilation, device),
            "batches": [figures(rate) for rate in rates],
        }
