"""A store of hanchans that agents without any skill played: cheap, and different every time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import Samples
from suphx.games.mahjong.planes import layout
from suphx.games.riichi.archive.store import KyokuStore, write_store
from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD
from suphx.games.riichi.rules import Rules, tenhou
from suphx.models.net_config import NetConfig
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games
from suphx.training.config import StreamConfig, SupervisedConfig
from suphx.training.head_data import HeadData, KyokuSplit
from suphx.training.supervised import HeadTraining
from suphx.training.trainer import TrainingWatch

LAYOUT = layout("test", 1, [("legal", 1, "what may be discarded"), ("noise", 1, "nothing of use")])
ROWS_A_KYOKU = 20
SAMPLE_BYTES = LAYOUT.observation_bytes + 34 + 1


@dataclass(frozen=True)
class LowestLegal:
    """Made-up decisions: discard the lowest legal kind, or say yes when kind 0 is legal."""

    head: int

    def __call__(self, kyokus: NDArray[np.int64]) -> Samples:
        bits = np.concatenate([np.random.default_rng(k).random((ROWS_A_KYOKU, 2, 34)) < 0.25 for k in kyokus.tolist()])
        bits[:, 0, 33] |= ~bits[:, 0].any(axis=1)
        legal = bits[:, 0]
        rows = np.packbits(bits.reshape(len(bits), -1), axis=1, bitorder="little")
        if self.head == DISCARD_HEAD:
            return Samples(rows, legal.astype(np.uint8), legal.argmax(axis=1).astype(np.int8))
        return Samples(rows, np.zeros((len(rows), 0), np.uint8), legal[:, 0].astype(np.int8))


def head_data(
    head: int = DISCARD_HEAD, num_kyokus: int = 200, num_validation: int = 10, num_test: int = 20
) -> HeadData:
    order = np.arange(num_kyokus)
    held_out = num_validation + num_test
    return HeadData(
        kind=DECISIONS[head],
        layout=LAYOUT,
        digest="made up",
        encode=LowestLegal(head),
        split=KyokuSplit(order[held_out:], order[:num_validation], order[num_validation:held_out]),
        game_of_kyoku=order,
        max_validation_samples=10_000,
        max_test_samples=50_000,
    )


NET = NetConfig(size="tiny", channels=8, num_blocks=1)
SHORT = SupervisedConfig(
    batch_size=64,
    max_steps=60,
    min_steps=0,
    validate_every=20,
    min_validations=0,
    report_every=1,
    warmup_steps=5,
    save_seconds=0,
    threads=1,
)
STREAM = StreamConfig(chunk_kyokus=4, buffer_bytes=512 * SAMPLE_BYTES, num_workers=0)


def job(config: SupervisedConfig = SHORT, **fields: Any) -> HeadTraining:
    given: dict[str, Any] = {"data": head_data(), "net": NET, "stream": STREAM, **fields}
    return HeadTraining(rules_version="rules 1", config=config, **given)


def played_store(folder: Path, num_games: int, *, rules: Rules | None = None, player: str = "tsumogiri") -> KyokuStore:
    agent = load_agent(player)
    seating = np.zeros((num_games, 4), np.int64)
    return write_store(play_games([agent], seating, range(num_games), rules or tenhou()), folder)


class StopAfter(TrainingWatch):
    """Wants a training to stop when so many steps are done, which it sees after the next one; notes how far it was."""

    def __init__(self, steps: int) -> None:
        self.steps, self.shares = steps, list[float]()

    def progress(self, share_done: float) -> None:
        self.shares.append(share_done)

    def is_stopping(self) -> bool:
        return len(self.shares) >= self.steps


def untimed(value: Any) -> Any:
    """Return metrics without what differs from run to run."""
    if isinstance(value, Mapping):
        return {name: untimed(own) for name, own in value.items() if name not in _TIMES}
    return [untimed(own) for own in value] if isinstance(value, list) else value


_TIMES = ("seconds", "samples_per_second", "waiting_share")
