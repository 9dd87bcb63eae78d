"""What a head pod reports of its end: JSON in the termination message of its container, which the pod's status shows.

The pod's ``preStop`` hook writes it (suphx_pipelines/runs/pre_stop.py), and ``suphx stop`` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from suphx.json_text import parse_json

StopOutcome = Literal["saved", "finished", "failed", "killed", "unsaved"]
"""How the process of a run answered a request to stop. saved: it has stored its state; finished: the run was over
before; failed: it ended with an error; killed: it ended without a word; unsaved: it had not ended when the time was
up."""

MESSAGE_FILE = Path("/dev/termination-log")
"""Where Kubernetes reads the termination message of a container."""


def write_report(outcomes: Mapping[str, StopOutcome], file: Path = MESSAGE_FILE) -> None:
    """Write how each run of this pod was stopped; ``outcomes``: id of the run -> outcome, empty if there was none."""
    file.write_text(json.dumps({"stopped": dict(outcomes)}), encoding="ascii")


def read_report(pod: Mapping[str, Any]) -> dict[str, StopOutcome] | None:
    """Return what the status of a pod shows of its runs; None if there is no report in it."""
    for container in (pod.get("status") or {}).get("containerStatuses") or ():
        message = ((container.get("state") or {}).get("terminated") or {}).get("message")
        found = _parsed(str(message or ""))
        if found is not None:
            return found
    return None


def _parsed(message: str) -> dict[str, StopOutcome] | None:
    try:
        stopped = parse_json(message)["stopped"]
        return {str(run): outcome for run, outcome in stopped.items() if outcome in get_args(StopOutcome)}
    except (ValueError, KeyError, TypeError, AttributeError):  # another program's message
        return None
