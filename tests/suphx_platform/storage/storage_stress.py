"""Faults of every kind between a training and a real S3 server, with ``kill -9`` in between: nothing good is lost.

``python -m tests.suphx_platform.storage.storage_stress --seconds 1800 --kills 50 --outages 90,600`` starts Ceph's
object gateway, a proxy before it and a training (stressed_training.py). One fault follows another, the training is
killed at random moments, and a reader that goes past the proxy looks at every version that appears. It prints a JSON
object and exits with 1 if

- a manifest named a part that is missing or not as it was written,
- the newest version became older, or a state that was loaded was not whole,
- a save held the training,
- a storage that stays away was not given up in time (``storage.max_outage_hours`` and one call).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from suphx_platform.storage.storage import DamagedVersionError, Storage
from suphx_platform.storage.storage_config import StorageConfig
from tests.repository import REPOSITORY
from tests.suphx_platform.storage import stressed_training
from tests.suphx_platform.storage.faulty_proxy import FaultyProxy, faulty_proxy, refusal
from tests.suphx_platform.storage.s3_server import ACCESS_KEY, BUCKET, S3Server, missing_programs, s3_server

MAX_SAVE_SECONDS = 5.0
"""A save takes hard links; more than this, even on a busy machine, means that it waited for the storage."""
_FAULT_SECONDS = (0.5, 4.0)
_QUIET_SECONDS = (0.5, 3.0)
_LOOK_SECONDS = 0.5
_LAST_SECONDS = 60.0
"""Without a fault at the end: what waits must arrive."""
_GIVE_UP_SECONDS = 10.0
_CALL_SECONDS = 60.0 * 2
"""More than a call with two attempts takes."""


@dataclass(slots=True)
class Findings:
    """What the stress has seen; ``violations`` must stay empty."""

    faults: dict[str, int] = field(default_factory=dict)
    kills: int = 0
    versions_checked: int = 0
    newest_number: int = 0
    resumed_at: list[int] = field(default_factory=list)
    steps: int = 0
    saves: int = 0
    slowest_save_seconds: float = 0.0
    """For how long a save held the training."""
    gave_up_after_seconds: float | None = None
    violations: list[str] = field(default_factory=list)

    def note(self, fault: str) -> None:
        """Count a fault."""
        self.faults[fault] = self.faults.get(fault, 0) + 1


def wrong_keys(data: bytes) -> bytes:
    """Have the server see another user, of whom it knows nothing."""
    return data.replace(ACCESS_KEY.encode(), ACCESS_KEY[::-1].encode())


@contextmanager
def _set(proxy: FaultyProxy, name: str, value: object) -> Iterator[None]:
    setattr(proxy, name, value)
    try:
        yield
    finally:
        setattr(proxy, name, None)


@contextmanager
def _event(event: threading.Event, *, is_set: bool = True) -> Iterator[None]:
    (event.set if is_set else event.clear)()
    try:
        yield
    finally:
        (event.clear if is_set else event.set)()


def faults(proxy: FaultyProxy) -> dict[str, Callable[[], Any]]:
    """Return the contexts in which each fault reigns."""
    return {
        "reset": lambda: _event(proxy.is_resetting),
        "500": lambda: _set(proxy, "refusal", refusal(500, "InternalError")),
        "503": lambda: _event(proxy.is_busy),
        "drip": lambda: _event(proxy.is_dripping),
        "truncated": lambda: _set(proxy, "max_answer", 150),
        "hang": lambda: _event(proxy.is_open, is_set=False),
        "clock skew": lambda: _set(proxy, "refusal", refusal(403, "RequestTimeTooSkewed")),
        "wrong keys": lambda: _set(proxy, "tampering", wrong_keys),
        "missing bucket": lambda: _set(proxy, "refusal", refusal(404, "NoSuchBucket")),
    }


class Training:
    """The training as a process of its own."""

    def __init__(self, folder: Path, config: StorageConfig, environment: dict[str, str], until: float) -> None:
        self.folder = folder / "state"
        self._settings = folder / "config.json"
        self._settings.write_text(json.dumps(asdict(config)))
        self._environment, self._until = environment, until
        self.log, self.errors = folder / "state.steps.jsonl", folder / "training.err"
        self.process = self._start()

    def kill(self) -> None:
        """End it as a power cut would, and start it again."""
        self.process.kill()
        self.process.wait()
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        module = stressed_training.__name__
        command = [sys.executable, "-m", module, str(self._settings), str(self.folder), str(self._until)]
        with self.errors.open("ab") as errors:
            return subprocess.Popen(command, cwd=REPOSITORY, env=self._environment, stderr=errors)


def look(storage: Storage, space: Path, findings: Findings, seen: set[str]) -> None:
    """Load every version that is new; note those that are damaged while their manifest is still there."""
    versions = storage.versions(stressed_training.NAME)
    for version in versions:
        if version.path in seen:
            continue
        seen.add(version.path)
        try:
            storage.load(version, space)
            step = stressed_training.check(space)
            if step != version.number:
                findings.violations.append(f"{version.path} has the state of step {step}")
            findings.versions_checked += 1
        except (DamagedVersionError, ValueError) as error:
            if any(each.path == version.path for each in storage.versions(stressed_training.NAME)):
                findings.violations.append(f"{version.path}: {error}")
    newest = versions[-1].number if versions else 0
    if newest < findings.newest_number:
        findings.violations.append(f"the newest version was {findings.newest_number}, now it is {newest}")
    findings.newest_number = max(newest, findings.newest_number)


def entries(log: Path) -> list[dict[str, Any]]:
    """Return the lines of the training's log, without those that a kill has cut."""
    found = []
    for line in log.read_text().splitlines():
        with suppress(ValueError):
            found.append(json.loads(line))
    return found


def read_log(log: Path, findings: Findings) -> None:
    """Add what the training has noted."""
    for entry in entries(log):
        if entry["event"] == "resumed":
            findings.resumed_at.append(entry["step"])
        elif entry["event"] == "save":
            findings.saves += 1
            findings.slowest_save_seconds = max(findings.slowest_save_seconds, entry["seconds"])
        elif entry["event"] == "step":
            findings.steps += 1
    if findings.slowest_save_seconds > MAX_SAVE_SECONDS:
        findings.violations.append(f"a save held the training for {findings.slowest_save_seconds:.1f} s")


def stress(server: S3Server, folder: Path, *, seconds: float, kills: int, outages: list[float], seed: int) -> Findings:
    """Let faults and kills follow each other for ``seconds``, and then the outages."""
    random_source, findings = random.Random(seed), Findings()
    os.environ.update(server.environment)
    direct = Storage(StorageConfig(address=f"s3://{BUCKET}/stress-{seed}", endpoint_url=server.endpoint_url))
    port = int(server.endpoint_url.rpartition(":")[2])
    with faulty_proxy(port) as proxy, _reader(direct, folder / "loaded", findings):
        address = f"http://127.0.0.1:{proxy.port}"
        config = StorageConfig(address=direct.config.address, endpoint_url=address, max_attempts=2, threads=4)
        environment = {**os.environ, "AWS_MAX_ATTEMPTS": "2"}
        began = time.time()
        until = began + seconds + sum(outages) + _LAST_SECONDS
        training = Training(folder, config, environment, until)
        try:
            dates = sorted(began + random_source.uniform(0.05, 1.0) * (seconds + sum(outages)) for _ in range(kills))
            killer = threading.Thread(target=_kill, args=(training, dates, findings), daemon=True)
            killer.start()
            pause = seconds / max(1, len(outages) + 1)
            for outage in [*outages, 0.0]:
                _rage(proxy, random_source, findings, time.time() + pause)
                if outage:
                    with _event(proxy.is_busy):
                        findings.note(f"outage of {outage:g} s")
                        time.sleep(outage)
            killer.join()
            training.process.wait()
        finally:
            training.process.kill()
        if training.process.returncode != 0:
            told = training.errors.read_text(errors="replace")[-1000:]
            findings.violations.append(f"the training ended with exit code {training.process.returncode}: {told}")
        _give_up(proxy, config, folder, findings)
    read_log(training.log, findings)
    _check_end(training.log, findings)
    return findings


@contextmanager
def _reader(storage: Storage, space: Path, findings: Findings) -> Iterator[None]:
    """Look at every version that appears while the block runs, and once more at its end."""
    is_over, seen = threading.Event(), set[str]()

    def read() -> None:
        try:
            while not is_over.wait(_LOOK_SECONDS):
                look(storage, space, findings, seen)
            look(storage, space, findings, seen)
        except Exception as error:
            findings.violations.append(f"the reader failed: {error!r}")
            raise

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _rage(proxy: FaultyProxy, random_source: random.Random, findings: Findings, until: float) -> None:
    """Let one fault follow another."""
    kinds = faults(proxy)
    while time.time() < until:
        name = random_source.choice(list(kinds))
        with kinds[name]():
            findings.note(name)
            time.sleep(random_source.uniform(*_FAULT_SECONDS))
        time.sleep(random_source.uniform(*_QUIET_SECONDS))


def _kill(training: Training, dates: list[float], findings: Findings) -> None:
    for date in dates:
        time.sleep(max(0.0, date - time.time()))
        training.kill()
        findings.kills += 1


def _check_end(log: Path, findings: Findings) -> None:
    """The last save of a training that has ended is stored."""
    saves = [entry["step"] for entry in entries(log) if entry["event"] == "save"]
    if saves and findings.newest_number != saves[-1]:
        findings.violations.append(f"the last save is {saves[-1]}, the newest version {findings.newest_number}")


def _give_up(proxy: FaultyProxy, config: StorageConfig, folder: Path, findings: Findings) -> None:
    """A storage that hangs for good ends the training with an error, not later than it says."""
    limited = asdict(config) | {"max_outage_hours": _GIVE_UP_SECONDS / 3600}
    script = (
        "import json, sys, time\nfrom pathlib import Path\n"
        "from suphx_platform.storage.storage import Storage\n"
        "from suphx_platform.storage.storage_config import StorageConfig\n"
        "from suphx_platform.storage.upload_queue import UploadQueue\n"
        "queue = UploadQueue(Storage(StorageConfig(**json.loads(sys.argv[1]))))\n"
        "began = time.monotonic()\nqueue.save('given-up', Path(sys.argv[2]), number=1)\n"
        "try:\n    queue.flush()\nexcept OSError:\n    print(time.monotonic() - began, flush=True)\n"
    )
    (folder / "small").mkdir()
    (folder / "small" / "file").write_text("small")
    with _event(proxy.is_busy):
        command = [sys.executable, "-c", script, json.dumps(limited), str(folder / "small")]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, env=os.environ, check=False)
    if not done.stdout:
        findings.violations.append(f"a storage that is away for good was not given up: {done.stderr[-300:]}")
        return
    findings.gave_up_after_seconds = float(done.stdout)
    if findings.gave_up_after_seconds > _GIVE_UP_SECONDS + _CALL_SECONDS:
        findings.violations.append(f"given up after {findings.gave_up_after_seconds:.0f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=1800, help="of faults, besides the outages (default: 1800)")
    parser.add_argument("--kills", type=int, default=50, help="kill -9 at random moments (default: 50)")
    parser.add_argument("--outages", default="90,600", help="lengths of outages in seconds (default: 90,600)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if missing := missing_programs():
        parser.error(f"install Ceph's programs first: {', '.join(missing)}")
    outages = [float(text) for text in arguments.outages.split(",") if text]
    with tempfile.TemporaryDirectory(prefix="suphx-stress-") as name:
        folder = Path(name)
        (folder / "server").mkdir()
        with s3_server(folder / "server") as server:
            server.client().create_bucket(Bucket=BUCKET)
            found = stress(
                *(server, folder),
                seconds=arguments.seconds,
                kills=arguments.kills,
                outages=outages,
                seed=arguments.seed,
            )
    print(json.dumps(asdict(found), indent=2))
    return 1 if found.violations else 0


if __name__ == "__main__":
    sys.exit(main())
