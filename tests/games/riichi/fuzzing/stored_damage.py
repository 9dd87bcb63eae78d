"""Damaged files that the project itself wrote: stores of games, checkpoints, training states, marks of stages."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import torch
from torch.optim import AdamW

from suphx.games.riichi.archive.store import GAME, KYOKU, KyokuStore, StoreWriter
from suphx.games.riichi.features.samples import encode_kyokus
from suphx.games.riichi.names import CHOW_HEAD, DECISIONS, HEAD_NAMES
from suphx.models.checkpoint import CheckpointHeader, LayoutVersion, load_checkpoint, save_checkpoint
from suphx.models.net_config import NetConfig
from suphx.models.policy import PolicyNet
from suphx.training.trainer import TrainingProgress
from suphx.training.training_state import load_training_state, save_training_state
from suphx_pipelines.runs.stage_folder import DONE, STARTED, Done, Started, prepare, read_done, write_done
from tests.games.riichi.fuzzing.file_damage import Files, damage_bytes, damaged_json
from tests.games.riichi.fuzzing.fuzz_seed import Seed

PLANES = LayoutVersion("mini", 1, 3)
NET = NetConfig(size="tiny", channels=2, num_blocks=1, head_channels=1, head_hidden_1=2, head_hidden_2=2)
RUN = {"head": "chow", "learning_rate": 0.1}
DIGEST = "d" * 64


def sound_store(seeds: Sequence[Seed]) -> Files:
    """Return the files of a small store."""
    return dict(_store(seeds[0], seeds[len(seeds) // 2]))


def damaged_store(random: Random, seeds: Sequence[Seed]) -> Files:
    """Return the files of a small store, one of them damaged: its bytes, a field of a record, or the manifest."""
    files = sound_store(seeds)
    name = random.choice(("games.bin", "kyokus.bin", "kyokus.bin", "moves.bin", "store.json"))
    if name == "store.json" and random.random() < 0.5:
        files[name] = damaged_json(random, files[name])
    elif name in ("games.bin", "kyokus.bin") and random.random() < 0.7:
        records = np.frombuffer(files[name], GAME if name == "games.bin" else KYOKU).copy()
        kind, start = random.choice(list((records.dtype.fields or {}).values()))[:2]
        data = records.view(np.uint8).reshape(len(records), -1)
        for _ in range(random.choice((1, 1, 4))):
            place = random.randrange(len(records)), start + random.randrange(kind.itemsize)
            data[place] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
        files[name] = records.tobytes()
    else:
        files[name] = (
            _damaged_in_place(random, files[name]) if random.random() < 0.7 else damage_bytes(random, files[name])
        )
    return files


def play_store(folder: Path, number: int) -> None:
    """Read all of a store and encode its deals for one head; ValueError if it is damaged."""
    store = KyokuStore.open(folder)
    assert len(store.game_ids) == store.num_games
    assert store.game_of_kyoku.size == store.num_kyokus
    for index in range(store.num_kyokus):
        encode_kyokus(store, np.array([index]), number % len(HEAD_NAMES))


def damaged_checkpoint(random: Random, seeds: Sequence[Seed]) -> Files:
    """Return a damaged checkpoint."""
    return {"chow.safetensors": damaged_tensors(random, _checkpoint())}


def read_checkpoint(folder: Path, number: int) -> None:
    """Load the net; ValueError if it is damaged."""
    load_checkpoint(folder / "chow.safetensors", DECISIONS[CHOW_HEAD], PLANES)


def damaged_state(random: Random, seeds: Sequence[Seed]) -> Files:
    """Return a damaged training state."""
    return {"state.safetensors": damaged_tensors(random, _state())}


def read_state(folder: Path, number: int) -> None:
    """Load the training state; ValueError if it is damaged."""
    net = PolicyNet(DECISIONS[CHOW_HEAD], PLANES.num_planes, NET)
    load_training_state(folder / "state.safetensors", net, AdamW(net.parameters()), RUN)


def damaged_marks(random: Random, seeds: Sequence[Seed]) -> Files:
    """Return damaged marks of a finished stage."""
    files = dict(_marks())
    name = random.choice((DONE, STARTED))
    files[name] = (damaged_json if random.random() < 0.5 else damage_bytes)(random, files[name])
    return files


def read_marks(folder: Path, number: int) -> None:
    """Ask whether the stage is finished, and begin it; ValueError if a mark is damaged."""
    read_done(folder, DIGEST)
    prepare(folder, Started(digest=DIGEST))


def _damaged_in_place(random: Random, data: bytes) -> bytes:
    """Return as many bytes, some of them others."""
    changed = bytearray(data)
    for _ in range(random.randint(1, 4)):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


_DAMAGED_BYTES = 1 << 20
"""Of large files only the beginning is damaged, or the end cut off: the fuzzer itself should need little memory."""


def damaged_tensors(random: Random, data: bytes) -> bytes:
    """Damage the bytes of a safetensors file, or the JSON of its header with a length that fits."""
    kind = random.random()
    if kind < 0.3:
        begin, end = data[:_DAMAGED_BYTES], data[_DAMAGED_BYTES:]
        if end and random.random() < 0.3:
            return data[: random.randrange(len(data))]
        return damage_bytes(random, begin) + end
    length = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + length]
    if kind < 0.5:
        header = damage_bytes(random, header)
    elif kind < 0.8:
        content = json.loads(header)
        metadata = content["__metadata__"]
        metadata["suphx"] = damaged_json(random, metadata["suphx"].encode()).decode()
        header = json.dumps(content).encode()
    else:
        header = damaged_json(random, header)
    return len(header).to_bytes(8, "little") + header + data[8 + length :]


@functools.cache
def _store(*seeds: Seed) -> Files:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with StoreWriter(folder) as writer:
            for seed in seeds:
                writer.add(seed.log)
        return _read_all(folder)


@functools.cache
def _checkpoint() -> bytes:
    torch.manual_seed(1)
    header = CheckpointHeader(
        kind=DECISIONS[CHOW_HEAD], layout=PLANES, rules="tenhou-1", net=NET, step=1, metrics={"loss": 0.5}
    )
    with tempfile.TemporaryDirectory() as name:
        save_checkpoint(Path(name) / "a", PolicyNet(DECISIONS[CHOW_HEAD], PLANES.num_planes, NET), header)
        return (Path(name) / "a").read_bytes()


@functools.cache
def _state() -> bytes:
    torch.manual_seed(1)
    net = PolicyNet(DECISIONS[CHOW_HEAD], PLANES.num_planes, NET)
    optimizer = AdamW(net.parameters())
    torch.autograd.backward(net(torch.rand(4, PLANES.num_planes, 34)).square().mean())
    optimizer.step()
    with tempfile.TemporaryDirectory() as name:
        best = {key: weight.clone() for key, weight in net.state_dict().items()}
        save_training_state(Path(name) / "a", net, best, optimizer, TrainingProgress(step=1), RUN)
        return (Path(name) / "a").read_bytes()


@functools.cache
def _marks() -> Files:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, Started(digest=DIGEST))
        done = Done(digest=DIGEST, inputs={"recipe": {"a": 1}}, metrics={"loss": 0.5}, seconds=1.0, run_id="a-1")
        write_done(folder, done)
        return _read_all(folder)


def _read_all(folder: Path) -> Files:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
