"""A file that asks a run to save and stop.

On a cluster the file is a key of the ConfigMap that is mounted beside the recipe: `suphx stop` writes it and reads the
driver's answer in its log, so nobody needs the right to execute commands in pods.

>>> with StopFile(Path("/recipes/stop")):
...     run()  # gets SIGTERM when the file appears, which the command line takes as it takes Ctrl-C
"""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from types import TracebackType

STORED = "stopped as asked for, and everything is stored"
"""What the driver says when it is safe to end it."""
_POLL_SECONDS = 1.0


class StopFile:
    """Consumes: a file that may appear. Produces: SIGTERM for this process. Waits for: nothing."""

    def __init__(self, file: Path | None) -> None:
        """``file``: None: no file is watched."""
        self._file = file
        self._is_over = threading.Event()

    @property
    def is_there(self) -> bool:
        """Tell whether the run is to stop."""
        return self._file is not None and self._file.exists()

    def wait_gone(self) -> None:
        """Wait until the run is to go on after all, or this process is ended."""
        while self.is_there:
            time.sleep(_POLL_SECONDS)

    def __enter__(self) -> StopFile:
        self._is_over = threading.Event()
        if self._file is not None:
            threading.Thread(target=self._watch, args=(self._is_over,), daemon=True, name="stop file").start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_over.set()

    def _watch(self, is_over: threading.Event) -> None:
        while not is_over.wait(_POLL_SECONDS):
            if self.is_there:
                os.kill(os.getpid(), signal.SIGTERM)  # shells have background jobs ignore SIGINT
                return
