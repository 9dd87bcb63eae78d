"""Waits until MLflow and the storage answer, so that an outage at the start of a run costs no attempt on a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from suphx.growing_pause import GrowingPause
from suphx_platform.console.console import Console
from suphx_platform.storage.objects.object_store import ExpiredKeysError

T = TypeVar("T")

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
"""Seconds between two attempts."""


def wait_for_services(reach: Callable[[], T], max_hours: float, console: Console) -> T:
    """Call ``reach`` until it raises no OSError, and return what it returns; raise the last one after ``max_hours``.

    A PermissionError (wrong keys or password) and an ExpiredKeysError are raised at once: waiting does not help.
    """
    began, pause, has_failed = time.monotonic(), GrowingPause(_FIRST_PAUSE, _LONGEST_PAUSE), False
    while True:
        try:
            found = reach()
        except (PermissionError, ExpiredKeysError):
            raise
        except OSError as error:
            waited = time.monotonic() - began
            if waited >= 3600 * max_hours:
                raise
            if not has_failed:
                console.say(f"{error}; trying again for up to {max_hours:g} h (--wait-hours)")
        else:
            if has_failed:
                console.say(f"all services answer, after {(time.monotonic() - began) / 60:.0f} min")
            return found
        has_failed = True
        time.sleep(min(pause.next(), 3600 * max_hours - waited))
