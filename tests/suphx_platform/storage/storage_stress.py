"""Faults of every kind between a training and a real S3 server, with ``kill -9`` in between: nothing good is lost.

``python -m tests.suphx_platform.storage.storage_stress --seconds 1800 --kills 50 --outages 90,600`` starts Ceph's
object gateway, a proxy before it and a training as a process of its own (``--train``). One fault follows another, the
training is killed at random moments, and a reader that goes past the proxy looks at every version that appears. It
prints a JSON object and exits with 1 if a manifest named a file that is missing or not as it was written, the newest
version became older, a state that was loaded was not whole, the last save is not stored, or a save held the training.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from suphx.atomic_file import write_atomically
from suphx_platform.storage.bucket import PART_BYTES
from suphx_platform.storage.storage import DamagedVersionError, Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.storage.upload_queue import UploadQueue
from tests.repository import REPOSITORY
from tests.suphx_platform.storage.faulty_proxy import FaultyProxy, faulty_proxy, refusal
from tests.suphx_platform.storage.s3_server import ACCESS_KEY, BUCKET, S3Server, missing_programs, s3_server

NAME = "run-1/reinforcement"
SIZES = {"state.safetensors": 2 * PART_BYTES + 1000, "nets/discard.safetensors": 300_000}
_SAVE_SECONDS = 1.0
MAX_SAVE_SECONDS = 5.0
"""A save takes hard links; more than this, even on a busy machine, means that it waited for the storage."""
_FAULT_SECONDS = (0.5, 4.0)
_QUIET_SECONDS = (0.5, 3.0)
_LOOK_SECONDS = 0.5
_LAST_SECONDS = 60.0
"""Without a fault at the end: what waits must arrive."""


@dataclass(slots=True)
class Findings:
    """What the stress has seen; ``violations`` must stay empty."""

    faults: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    versions_checked: int = 0
    newest_number: int = 0
    resumed_at: list[int] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)


def wrong_keys(data: bytes) -> bytes:
    """Have the server see another user, of whom it knows nothing."""
    return data.replace(ACCESS_KEY.encode(), ACCESS_KEY[::-1].encode())


FAULTS: dict[str, tuple[str, object]] = {
    "reset": ("is_resetting", True),
    "500": ("refusal", refusal(500, "InternalError")),
    "503": ("is_busy", True),
    "truncated": ("max_answer", 150),
    "hang": ("is_open", False),
    "clock skew": ("refusal", refusal(403, "RequestTimeTooSkewed")),
    "wrong keys": ("tampering", wrong_keys),
    "missing bucket": ("refusal", refusal(404, "NoSuchBucket")),
}


@contextmanager
def fault(proxy: FaultyProxy, name: str) -> Iterator[None]:
    """Let a fault reign while the block runs."""
    attribute, value = FAULTS[name]
    event = getattr(proxy, attribute)
    if isinstance(event, threading.Event):
        (event.set if value else event.clear)()
        yield
        (event.clear if value else event.set)()
    else:
        setattr(proxy, attribute, value)
        yield
        setattr(proxy, attribute, None)


def content(step: int, name: str) -> bytes:
    """Return the bytes of a file after ``step`` steps, so that everybody can tell whether a state is whole."""
    seed = np.frombuffer(f"{step} {name}".encode(), np.uint8)
    return np.random.default_rng(seed).bytes(SIZES[name])


def step_of(folder: Path) -> int:
    """Return the step whose state is in ``folder``; ValueError if it is not whole."""
    step = int((folder / "step").read_text())
    for name in SIZES:
        if (folder / name).read_bytes() != content(step, name):
            raise ValueError(f"{name} is not that of step {step}")
    return step


def train(storage: Storage, folder: Path, until: float) -> None:
    """Continue from the storage, as another machine would, save every step, and append a line to the log for each."""
    shutil.rmtree(folder, ignore_errors=True)
    log, step = folder.with_suffix(".jsonl"), _resume(storage, folder, until)
    _note(log, resumed=step)
    with UploadQueue(storage) as uploads:
        while time.time() < until:
            step += 1
            time.sleep(_SAVE_SECONDS)
            for name in SIZES:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                write_atomically(folder / name, [content(step, name)])
            write_atomically(folder / "step", [str(step).encode()])
            began = time.monotonic()
            uploads.save(NAME, folder, number=step)
            _note(log, saved=step, seconds=time.monotonic() - began)


def _resume(storage: Storage, folder: Path, until: float) -> int:
    """Load the newest state, however often the storage must be asked, as `--wait-hours` does."""
    while True:
        try:
            found = storage.load_newest(NAME, folder)
            return 0 if found is None else step_of(folder)
        except OSError:
            if time.time() > until:
                raise
            time.sleep(0.5)


def _note(log: Path, **values: Any) -> None:
    with log.open("a") as file:
        file.write(json.dumps(values) + "\n")


class Training:
    """The training as a process of its own."""

    def __init__(self, folder: Path, config: StorageConfig, until: float) -> None:
        self.log, self.errors = folder / "state.jsonl", folder / "training.err"
        settings = folder / "config.json"
        settings.write_text(json.dumps(asdict(config)))
        self._arguments = [str(settings), str(folder / "state"), str(until)]
        self.process = self._start()

    def kill(self) -> None:
        """End it as a power cut would, and start it again."""
        self.process.kill()
        self.process.wait()
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.suphx_platform.storage.storage_stress", "--train", *self._arguments]
        with self.errors.open("ab") as errors:
            return subprocess.Popen(command, cwd=REPOSITORY, env=os.environ | {"AWS_MAX_ATTEMPTS": "2"}, stderr=errors)


def look(storage: Storage, space: Path, findings: Findings, seen: set[str]) -> None:
    """Load every version that is new; note those that are damaged while their manifest is still there."""
    versions = storage.versions(NAME)
    for version in versions:
        if version.path in seen:
            continue
        seen.add(version.path)
        try:
            storage.load(version, space)
            step = step_of(space)
            if step != version.number:
                findings.violations.append(f"{version.path} has the state of step {step}")
            findings.versions_checked += 1
        except (DamagedVersionError, ValueError) as error:
            if any(each.path == version.path for each in storage.versions(NAME)):
                findings.violations.append(f"{version.path}: {error}")
    newest = versions[-1].number if versions else 0
    if newest < findings.newest_number:
        findings.violations.append(f"the newest version was {findings.newest_number}, now it is {newest}")
    findings.newest_number = max(newest, findings.newest_number)


@contextmanager
def _reader(storage: Storage, space: Path, findings: Findings) -> Iterator[None]:
    """Look at every version that appears while the block runs, and once more at its end."""
    is_over, seen = threading.Event(), set[str]()

    def read() -> None:
        while not is_over.wait(_LOOK_SECONDS):
            look(storage, space, findings, seen)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
    look(storage, space, findings, seen)


def stress(server: S3Server, folder: Path, *, seconds: float, kills: int, outages: list[float], seed: int) -> Findings:
    """Let faults and kills follow each other for ``seconds``, and then the outages."""
    chance, findings = random.Random(seed), Findings()
    os.environ.update(server.environment)
    direct = Storage(StorageConfig(address=f"s3://{BUCKET}/stress-{seed}", endpoint_url=server.endpoint_url))
    port, total = int(server.endpoint_url.rpartition(":")[2]), seconds + sum(outages)
    with faulty_proxy(port) as proxy, _reader(direct, folder / "loaded", findings):
        address = f"http://127.0.0.1:{proxy.port}"
        config = StorageConfig(address=direct.config.address, endpoint_url=address, max_attempts=2, threads=4)
        began = time.time()
        training = Training(folder, config, began + total + _LAST_SECONDS)
        try:
            dates = sorted(began + chance.uniform(0.05, 1.0) * total for _ in range(kills))
            killer = threading.Thread(target=_kill, args=(training, dates, findings), daemon=True)
            killer.start()
            for outage in [*outages, 0.0]:
                _rage(proxy, chance, findings, time.time() + seconds / (len(outages) + 1))
                with fault(proxy, "503"):
                    time.sleep(outage)
            killer.join()
            training.process.wait()
        finally:
            training.process.kill()
    if training.process.returncode != 0:
        findings.violations.append(f"the training failed: {training.errors.read_text(errors='replace')[-1000:]}")
    _read_log(training.log, findings)
    return findings


def _rage(proxy: FaultyProxy, chance: random.Random, findings: Findings, until: float) -> None:
    """Let one fault follow another."""
    while time.time() < until:
        name = chance.choice(list(FAULTS))
        findings.faults[name] += 1
        with fault(proxy, name):
            time.sleep(chance.uniform(*_FAULT_SECONDS))
        time.sleep(chance.uniform(*_QUIET_SECONDS))


def _kill(training: Training, dates: list[float], findings: Findings) -> None:
    for date in dates:
        time.sleep(max(0.0, date - time.time()))
        training.kill()
        findings.kills += 1


def _read_log(log: Path, findings: Findings) -> None:
    """Note where the training was resumed, whether a save held it, and whether the last one is stored."""
    last = 0
    for line in log.read_text().splitlines():
        with suppress(ValueError):  # a kill has cut it
            entry = json.loads(line)
            if "resumed" in entry:
                findings.resumed_at.append(entry["resumed"])
            elif entry["seconds"] > MAX_SAVE_SECONDS:
                findings.violations.append(f"a save held the training for {entry['seconds']:.1f} s")
            last = entry.get("saved", last)
    if findings.newest_number != last:
        findings.violations.append(f"the last save is {last}, the newest version {findings.newest_number}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=1800, help="of faults, besides the outages (default: 1800)")
    parser.add_argument("--kills", type=int, default=50, help="kill -9 at random moments (default: 50)")
    parser.add_argument("--outages", default="90,600", help="lengths of outages in seconds (default: 90,600)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--train", nargs=3, metavar=("CONFIG", "FOLDER", "UNTIL"), help="only train")
    arguments = parser.parse_args()
    if arguments.train:
        config, state, until = arguments.train
        train(Storage(StorageConfig(**json.loads(Path(config).read_text()))), Path(state), float(until))
        return 0
    if missing := missing_programs():
        parser.error(f"install Ceph's programs first: {', '.join(missing)}")
    outages = [float(text) for text in arguments.outages.split(",") if text]
    with tempfile.TemporaryDirectory(prefix="suphx-stress-") as name:
        folder = Path(name)
        (folder / "server").mkdir()
        with s3_server(folder / "server") as server:
            server.client().create_bucket(Bucket=BUCKET)
            limits = {"seconds": arguments.seconds, "kills": arguments.kills, "seed": arguments.seed}
            found = stress(server, folder, outages=outages, **limits)
    print(json.dumps(asdict(found), indent=2))
    return 1 if found.violations else 0


if __name__ == "__main__":
    sys.exit(main())
