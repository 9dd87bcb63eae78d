"""Ray's job API over HTTP, as the submitter's pod uses it."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from tests.cluster.ray_pod import TOKEN

_ANSWER_SECONDS = 120
"""A dashboard beside a driver that starts answers late where cores are few; the test has its own limits."""


class RayJobClient:
    """Usage: ``client.submit("a", "suphx run …")``, then ``client.status("a")``."""

    def __init__(self, head: str) -> None:
        self._address = f"http://{head}:8265"

    def submit(self, job: str, entrypoint: str) -> None:
        """Have the head run a command; OSError while it is not there yet."""
        self._call("/api/jobs/", {"submission_id": job, "entrypoint": entrypoint})

    def stop(self, job: str) -> None:
        """Send a command SIGTERM, as the operator does for a RayJob that is deleted."""
        self._call(f"/api/jobs/{job}/stop", {})

    def status(self, job: str) -> str:
        """Return PENDING, RUNNING, SUCCEEDED, FAILED or STOPPED."""
        return str(self._call(f"/api/jobs/{job}")["status"])

    def log(self, job: str) -> str:
        """Return what the command has printed."""
        return str(self._call(f"/api/jobs/{job}/logs")["logs"])

    def _call(self, path: str, body: Any = None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._address + path, data=data, headers=headers)
        with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as answer:
            found: dict[str, Any] = json.load(answer)
            return found
