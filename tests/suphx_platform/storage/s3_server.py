"""A real S3 server on loopback for tests: Ceph's object gateway with one monitor and one store in memory.

It checks keys and signatures, and knows multipart uploads and conditional puts as well as servers do that people run.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from tests.free_port import free_port

PROGRAMS = ("ceph", "ceph-mon", "ceph-osd", "monmaptool", "radosgw", "radosgw-admin")
START_SECONDS = 600
BUCKET = "suphx"
ACCESS_KEY, SECRET_KEY = "suphx-test", "suphx-test-secret"


def missing_programs() -> list[str]:
    """Return what must be installed before a server can be started."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


@dataclass(frozen=True)
class S3Server:
    endpoint_url: str

    @property
    def environment(self) -> dict[str, str]:
        """What boto3 reads."""
        return {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_S3": self.endpoint_url,
        }

    def client(self) -> Any:
        """Return a client of boto3 that needs nothing from the environment."""
        import boto3

        return boto3.session.Session().client(
            "s3",
            endpoint_url=self.endpoint_url,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            region_name="us-east-1",
        )


@contextmanager
def s3_server(folder: Path, host: str = "127.0.0.1", store_bytes: int = 2**31) -> Iterator[S3Server]:
    """Run a server at an address of this machine while the block runs; ``folder`` holds its files.

    ``store_bytes``: the most that it stores, in memory.
    """
    for name in ("mon", "osd", "rgw", "run", "log"):
        (folder / name).mkdir(parents=True)
    mon_port, port = free_port(), free_port()
    config = folder / "ceph.conf"
    config.write_text(configuration(folder, mon_port, f"{host}:{port}", store_bytes))
    processes: list[subprocess.Popen[bytes]] = []
    try:
        start_monitor(folder, config, mon_port, processes)
        start_store(folder, config, processes)
        run_daemon(folder, processes, "radosgw", "-c", config, "-n", "client.rgw", "-f")
        url = f"http://{host}:{port}"
        wait_until(lambda: answers(url), "the gateway", processes)
        names = ("--uid=test", "--display-name=test", f"--access-key={ACCESS_KEY}", f"--secret-key={SECRET_KEY}")
        run(folder, "radosgw-admin", "-c", config, "-n", "client.rgw", "user", "create", *names)
        yield S3Server(url)
    finally:
        for process in reversed(processes):
            process.send_signal(signal.SIGKILL)
            process.wait()


def configuration(folder: Path, mon_port: int, endpoint: str, store_bytes: int) -> str:
    settings: dict[str, dict[str, object]] = {
        "global": {
            "fsid": uuid.uuid4(), "mon_host": f"[v1:127.0.0.1:{mon_port}]", "mon_initial_members": "a",
            "public_network": "127.0.0.0/8", "auth_cluster_required": "none", "auth_service_required": "none",
            "auth_client_required": "none", "ms_bind_ipv6": "false", "ms_bind_msgr2": "false",
            "osd_pool_default_size": 1, "osd_pool_default_min_size": 1, "osd_pool_default_pg_num": 1,
            "osd_pool_default_pgp_num": 1, "osd_pool_default_pg_autoscale_mode": "off", "osd_crush_chooseleaf_type": 0,
            "mon_allow_pool_size_one": "true", "mon_data_avail_crit": 1, "run_dir": folder / "run",
            "admin_socket": "", "log_file": f"{folder}/log/$name.log", "crash_dir": folder / "log",
        },
        "mon.a": {"mon_data": folder / "mon"},
        "osd": {
            "osd_objectstore": "memstore", "osd_data": folder / "osd", "memstore_device_bytes": store_bytes,
            "osd_class_update_on_start": "false", "osd_crush_update_on_start": "false", "osd_op_num_shards": 1,
            "osd_op_num_threads_per_shard": 2, "osd_max_object_name_len": 256,
        },
        "client.rgw": {
            "rgw_data": folder / "rgw", "rgw_frontends": f"beast endpoint={endpoint}", "rgw_thread_pool_size": 32,
            "rgw_num_rados_handles": 1, "rgw_dynamic_resharding": "false", "rgw_override_bucket_index_max_shards": 1,
            "rgw_gc_obj_min_wait": 5, "rgw_gc_processor_period": 5,  # deleted objects give their memory back
        },
    }  # fmt: skip
    sections = []
    for name, values in settings.items():
        sections += [f"[{name}]", *(f"{key} = {value}" for key, value in values.items())]
    return "\n".join(sections) + "\n"


def start_monitor(folder: Path, config: Path, port: int, processes: list[subprocess.Popen[bytes]]) -> None:
    fsid = config.read_text().split("fsid = ")[1].split()[0]
    monmap = folder / "monmap"
    run(folder, "monmaptool", "--create", "--fsid", fsid, "--addv", "a", f"[v1:127.0.0.1:{port}]", monmap)
    run(folder, "ceph-mon", "-c", config, "--mkfs", "-i", "a", "--monmap", monmap)
    run_daemon(folder, processes, "ceph-mon", "-c", config, "-i", "a", "-f")
    wait_until(lambda: ceph(config, "mon", "stat") is not None, "the monitor", processes)


def start_store(folder: Path, config: Path, processes: list[subprocess.Popen[bytes]]) -> None:
    number = str(uuid.uuid4())
    # Both may be said again; a monitor that has just answered its first question may refuse the second.
    wait_until(lambda: ceph(config, "osd", "new", number) is not None, "the monitor", processes)
    place = ("osd", "crush", "add", "osd.0", "1.0", "host=localhost", "root=default")
    wait_until(lambda: ceph(config, *place) is not None, "the monitor", processes)
    run(folder, "ceph-osd", "-c", config, "-i", "0", "--mkfs", "--osd-uuid", number)
    run_daemon(folder, processes, "ceph-osd", "-c", config, "-i", "0", "-f")
    wait_until(lambda: "1 up" in (ceph(config, "osd", "stat") or ""), "the store", processes)


def run(folder: Path, *command: object) -> None:
    with (folder / "log" / "setup.log").open("ab") as log:
        subprocess.run([str(part) for part in command], stdout=log, stderr=log, check=True, timeout=START_SECONDS)


def run_daemon(folder: Path, processes: list[subprocess.Popen[bytes]], *command: object) -> None:
    with (folder / "log" / f"{command[0]}.out").open("wb") as log:
        processes.append(subprocess.Popen([str(part) for part in command], stdout=log, stderr=log))


def ceph(config: Path, *question: str) -> str | None:
    command = ["ceph", "-c", str(config), "--connect-timeout", "3", *question]
    with suppress(subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout
    return None


def answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5):
            return True
    except (URLError, OSError):
        return False


def wait_until(is_ready: Callable[[], bool], what: str, processes: Sequence[subprocess.Popen[bytes]]) -> None:
    limit = time.monotonic() + START_SECONDS
    while not is_ready():
        assert all(process.poll() is None for process in processes), f"a server ended while {what} was starting"
        assert time.monotonic() < limit, f"{what} did not start"
        time.sleep(0.2)
