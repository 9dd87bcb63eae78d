"""Which net is measured, on which device, and what both benchmarks of nets say about it."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from suphx.games.mahjong.planes import PlaneLayout, Samples
from suphx.games.riichi.archive.archive import parse_all
from suphx.games.riichi.archive.store import KyokuStore, StoreWriter
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.head import head_index
from suphx.games.riichi.features.samples import encode_kyokus
from suphx.games.riichi.names import DECISIONS
from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.rules import tenhou
from suphx.models.device import find_device, resolve_compilation, uses_bf16
from suphx.models.net_config import (
    FASTEST,
    Compilation,
    Convolution,
    DeviceName,
    NetConfig,
    Normalization,
    Precision,
    Size,
)
from suphx.models.policy import PolicyNet, num_weights
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games

PLAYER = "ukeire"
GAMES_A_BATCH = 8
MAX_DIFFERENT = 8192


def collect_samples(
    records: Path | None, head: int, encoder: str, num_samples: int, *, seed: int, say: Callable[[str], None]
) -> Samples:
    """Return ``num_samples`` samples of ``head`` in a random order.

    Games are taken until there are enough samples, but at most 8,192 different ones; then they come again. Raises
    ValueError if there is no sample at all.
    """
    say(f"encoding positions of {records}" if records else f"encoding positions of games that {PLAYER} plays")
    parts: list[Samples] = []
    logs = _recorded(records) if records else _played(seed)
    while sum(len(part.labels) for part in parts) < min(num_samples, MAX_DIFFERENT):
        games = list(itertools.islice(logs, GAMES_A_BATCH))
        if not games:
            break
        parts.append(_encode(games, head, encoder))
    count = sum(len(part.labels) for part in parts)
    if not count:
        raise ValueError(f"{records} has no position for this net: use other records")
    chosen = np.resize(np.random.default_rng(seed).permutation(count), num_samples)
    return Samples(
        np.concatenate([part.planes for part in parts])[chosen],
        np.concatenate([part.masks for part in parts])[chosen],
        np.concatenate([part.labels for part in parts])[chosen],
    )


def _recorded(records: Path) -> Iterator[GameLog]:
    replayer = Replayer()
    for log in parse_all([records], 1, quarantine=Quarantine()):
        if not replayer.replay(log):
            yield log


def _played(seed: int) -> Iterator[GameLog]:
    agent = load_agent(PLAYER)
    seating = np.zeros((GAMES_A_BATCH, 4), np.int64)
    for first in itertools.count(seed, GAMES_A_BATCH):
        yield from play_games([agent], seating, range(first, first + GAMES_A_BATCH), tenhou())


def _encode(games: list[GameLog], head: int, encoder: str) -> Samples:
    with tempfile.TemporaryDirectory(prefix="suphx-bench-") as name:
        with StoreWriter(Path(name)) as writer:
            for game in games:
                writer.add(game)
        store = KyokuStore.open(Path(name))
        return encode_kyokus(store, np.arange(store.num_kyokus), head, encoder)


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
        return PolicyNet(DECISIONS[head_index(self.head)], self.layout.num_planes, config)

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
