"""How fast a training state gets into a storage and back, side by side with ``aws s3 cp``."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from suphx.models.net_config import NetConfig, Size, checkpoint_name
from suphx.models.policy import CriticNet, num_weights
from suphx.selfplay.agents.policy_set import random_policy_set
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.upload_queue import UploadQueue

STORAGE_PEERS = ("aws",)
_BLOCK = 1 << 24
_FLOAT_BYTES, _ADAM_STATES = 4, 2
_QUIET = "--only-show-errors"


def bench_storage(
    config: StorageConfig, *, size: Size, encoder: str, rounds: int, peer: str | None, say: Callable[[str], None]
) -> dict[str, object]:
    """Return the JSON object of ``suphx bench storage``; what was not measured is null.

    A training state is the five nets, and a file with the weights and Adam's moments of all nets and critics. In each
    round it is saved with its manifest, the peer copies the same files, and it is loaded again, checked. Rates are
    medians of the rounds. What is stored is removed at the end. ValueError for a peer that is not installed or cannot
    write to the storage, OSError if that does not answer.
    """
    _check_peer(config, peer)
    storage, name = Storage(replace(config, keep_last=1, keep_best=0)), f"bench-{uuid.uuid4().hex[:8]}"
    with tempfile.TemporaryDirectory(prefix="suphx-bench-") as space:
        folder = Path(space, "state")
        say(f"writing a training state of {size} nets")
        num_bytes = write_state(folder, size, encoder)
        save: list[float] = []
        load: list[float] = []
        copy: list[float] = []
        try:
            for number in range(1, rounds + 1):
                say(f"round {number} of {rounds}: saving {num_bytes / 2**20:,.0f} MiB")
                save.append(_seconds(partial(storage.save, name, folder, number=number)))
                if peer is not None:
                    say(f"round {number} of {rounds}: {peer}")
                    if number > 1:
                        _remove(config, name)
                    copy.append(_seconds(partial(_copy, config, folder, f"{name}-peer/{number}")))
                say(f"round {number} of {rounds}: loading")
                load.append(_seconds(partial(storage.load_newest, name, Path(space, "loaded"))))
            blocked = _blocked_seconds(storage, f"{name}-queue", folder)
        finally:
            for each in (name, f"{name}-queue"):
                storage.delete(each)
            if peer is not None:
                _remove(config, name)
    rates = {key: num_bytes / 2**20 / statistics.median(times) for key, times in (("save", save), ("load", load))}
    other = num_bytes / 2**20 / statistics.median(copy) if copy else None
    return {
        "mib": num_bytes / 2**20,
        "save_mib_per_second": rates["save"],
        "load_mib_per_second": rates["load"],
        "blocked_seconds": blocked,
        "rounds": rounds,
        "peer": {"name": peer, "mib_per_second": other} if other else None,
        "ratio": rates["save"] / other if other else None,
    }


def write_state(folder: Path, size: Size, encoder: str) -> int:
    """Write random files of the sizes that self-play saves for nets of this size; return their bytes."""
    config = NetConfig(size=size)
    folder.mkdir(parents=True)
    total = 0
    for net in random_policy_set(encoder, config, 0).policies:
        policy = num_weights(net) * _FLOAT_BYTES
        critic = num_weights(CriticNet(net.kind, net.num_planes, config)) * _FLOAT_BYTES
        _write_random(folder / checkpoint_name(net.kind.name), policy)
        total += (policy + critic) * (1 + _ADAM_STATES)
    _write_random(folder / "reinforcement_state.safetensors", total)
    return sum(path.stat().st_size for path in folder.iterdir())


def _write_random(path: Path, num_bytes: int) -> None:
    with path.open("wb") as file:
        for first in range(0, num_bytes, _BLOCK):
            file.write(os.urandom(min(_BLOCK, num_bytes - first)))


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _blocked_seconds(storage: Storage, name: str, folder: Path) -> float:
    """Return for how long a save during training holds the training."""
    with UploadQueue(storage) as uploads:
        return _seconds(partial(uploads.save, name, folder, number=1))


def _check_peer(config: StorageConfig, peer: str | None) -> None:
    if peer is None:
        return
    if peer not in STORAGE_PEERS:
        raise ValueError(f"{peer!r} is no program to compare with: use {', '.join(STORAGE_PEERS)}")
    if not config.is_bucket:
        raise ValueError(f"{peer} copies to buckets only: use --address s3://bucket/prefix")
    if shutil.which(peer) is None:
        raise ValueError("aws is not installed: python -m venv aws && aws/bin/pip install awscli, and put it on PATH")


def _copy(config: StorageConfig, folder: Path, name: str) -> None:
    _aws(config, "cp", "--recursive", str(folder), f"{config.address.rstrip('/')}/{name}")


def _remove(config: StorageConfig, name: str) -> None:
    _aws(config, "rm", "--recursive", f"{config.address.rstrip('/')}/{name}-peer/")


def _aws(config: StorageConfig, *words: str) -> None:
    """Run ``aws s3`` with the settings of the storage; ValueError with what it says."""
    endpoint = ["--endpoint-url", config.endpoint_url] if config.endpoint_url else []
    checksums = {
        "AWS_REQUEST_CHECKSUM_CALCULATION": config.checksums,
        "AWS_RESPONSE_CHECKSUM_VALIDATION": config.checksums,
    }
    command = ["aws", *endpoint, "s3", *words, _QUIET]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **checksums})
    if done.returncode != 0:
        raise ValueError(f"aws s3 {words[0]} failed: {(done.stderr or done.stdout).strip()[-500:]}")
