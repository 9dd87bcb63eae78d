"""How fast a training state gets into a storage and back, and ``aws s3 cp`` of the same files in the same rounds.

``python benchmarks/storage.py --address s3://bucket/prefix --peer aws``. A training state is the five nets, and a file
with the weights and Adam's moments of all nets and critics. Rates are medians; what is stored is removed at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path

from suphx.models.net_config import NetConfig, Size, checkpoint_name
from suphx.models.policy import CriticNet, num_weights
from suphx.selfplay.agents.policy_set import random_policy_set
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.upload_queue import UploadQueue

BLOCK = 1 << 24
FLOAT_BYTES, ADAM_STATES = 4, 2


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", required=True, help="s3://bucket/prefix or a folder")
    parser.add_argument("--endpoint-url", default="", help="S3-compatible server (default: AWS_ENDPOINT_URL_S3)")
    parser.add_argument("--peer", choices=("aws",), help="also copy with `aws s3 cp`, which must be on PATH")
    parser.add_argument("--size", default="paper", help="of the nets")
    parser.add_argument("--encoder", default="suphx", help="planes of the nets")
    parser.add_argument("--threads", type=int, default=8, help="parts at once")
    parser.add_argument("--rounds", type=int, default=3, help="saves and loads")
    args = parser.parse_args()
    config = StorageConfig(
        address=args.address, endpoint_url=args.endpoint_url, threads=args.threads, keep_last=1, keep_best=0
    )
    if args.peer and config.is_folder:
        parser.error("aws copies to buckets only: use --address s3://bucket/prefix")
    values = measure(config, size=args.size, encoder=args.encoder, rounds=args.rounds, has_peer=bool(args.peer))
    print(json.dumps(values, indent=2))


def measure(config: StorageConfig, *, size: Size, encoder: str, rounds: int, has_peer: bool) -> dict[str, object]:
    """Save and load a state ``rounds`` times; what was not measured is null. OSError if the storage does not answer."""
    storage, name = Storage(config), f"bench-{uuid.uuid4().hex[:8]}"
    peer_address = f"{config.address.rstrip('/')}/{name}-peer/"
    save: list[float] = []
    load: list[float] = []
    copy: list[float] = []
    with tempfile.TemporaryDirectory(prefix="suphx-bench-") as space:
        folder = Path(space, "state")
        num_bytes = write_state(folder, size, encoder)
        try:
            for number in range(1, rounds + 1):
                print(f"round {number} of {rounds}: {num_bytes / 2**20:,.0f} MiB", file=sys.stderr)
                save.append(_seconds(partial(storage.save, name, folder, number=number)))
                if has_peer:
                    copy.append(_seconds(partial(_aws, config, "cp", str(folder), f"{peer_address}{number}")))
                load.append(_seconds(partial(storage.load_newest, name, Path(space, "loaded"))))
            with UploadQueue(storage) as uploads:
                blocked = _seconds(partial(uploads.save, f"{name}-queue", folder, number=1))
        finally:
            storage.delete(name)
            storage.delete(f"{name}-queue")
            if has_peer:
                _aws(config, "rm", peer_address)
    rates = [num_bytes / 2**20 / statistics.median(times) if times else None for times in (save, load, copy)]
    return {
        "mib": num_bytes / 2**20,
        **dict(zip(("save_mib_per_second", "load_mib_per_second", "aws_mib_per_second"), rates, strict=True)),
        "ratio": statistics.median(copy) / statistics.median(save) if copy else None,
        "blocked_seconds": blocked,
    }


def write_state(folder: Path, size: Size, encoder: str) -> int:
    """Write random files of the sizes that self-play saves for nets of this size; return their bytes."""
    config = NetConfig(size=size)
    folder.mkdir(parents=True)
    total = 0
    for net in random_policy_set(encoder, config, 0, game="riichi").policies:
        policy = num_weights(net) * FLOAT_BYTES
        critic = num_weights(CriticNet(net.kind, net.num_planes, config)) * FLOAT_BYTES
        _write_random(folder / checkpoint_name(net.kind.name), policy)
        total += (policy + critic) * (1 + ADAM_STATES)
    _write_random(folder / "reinforcement_state.safetensors", total)
    return sum(path.stat().st_size for path in folder.iterdir())


def _write_random(path: Path, num_bytes: int) -> None:
    with path.open("wb") as file:
        for first in range(0, num_bytes, BLOCK):
            file.write(os.urandom(min(BLOCK, num_bytes - first)))


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _aws(config: StorageConfig, *words: str) -> None:
    """Run ``aws s3`` with the settings of the storage."""
    endpoint = ["--endpoint-url", config.endpoint_url] if config.endpoint_url else []
    checksums = {f"AWS_{way}_CHECKSUM_{what}": config.checksums for way, what in
                 (("REQUEST", "CALCULATION"), ("RESPONSE", "VALIDATION"))}  # fmt: skip
    command = ["aws", *endpoint, "s3", words[0], "--recursive", *words[1:], "--only-show-errors"]
    subprocess.run(command, check=True, env={**os.environ, **checksums})


if __name__ == "__main__":
    main()
