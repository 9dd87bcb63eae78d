"""Ctrl-C and SIGTERM as a wish to stop, which is granted where nothing is lost by it.

>>> with StopRequest() as stop:
...     while not stop.is_made:
...         work_a_little()
...     save()
"""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Keeps the first Ctrl-C or SIGTERM inside its block; the second one does what it does elsewhere.

    In another thread than the main one, which gets no signals, nothing is ever kept.
    """

    def __init__(self) -> None:
        self.is_made = False
        """Somebody wants this process to stop."""
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            self._handlers = {number: signal.signal(number, self._keep) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def _keep(self, number: int, frame: FrameType | None) -> None:
        self.is_made = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers = {}
