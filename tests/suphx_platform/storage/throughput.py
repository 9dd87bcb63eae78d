"""The speed of saves beside ``aws s3 cp``, both to Ceph's object gateway on loopback.

``python -m tests.suphx_platform.storage.throughput [--size tiny …]``: options are those of ``benchmarks/storage.py``
without ``--address`` and ``--peer``. The server keeps everything in memory: the paper's nets need about 12 GB.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.repository import REPOSITORY
from tests.suphx_platform.storage.s3_server import BUCKET, missing_programs, s3_server

_STORE_BYTES = 2**35


def main() -> int:
    if missing := missing_programs():
        sys.exit(f"install Ceph's programs first: {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="suphx-throughput-") as name:
        (Path(name) / "server").mkdir()
        with s3_server(Path(name) / "server", store_bytes=_STORE_BYTES) as server:
            server.client().create_bucket(Bucket=BUCKET)
            script = str(REPOSITORY / "benchmarks/storage.py")
            command = [sys.executable, script, "--address", f"s3://{BUCKET}/bench", "--peer", "aws", *sys.argv[1:]]
            return subprocess.run(command, cwd=REPOSITORY, env=os.environ | server.environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
