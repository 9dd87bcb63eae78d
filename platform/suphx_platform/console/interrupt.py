"""Ctrl-C, ``kill`` and a closed terminal: all end a command by KeyboardInterrupt, wherever it is."""

from __future__ import annotations

import signal
import sys
import threading

from suphx_platform.console.stop_request import StopRequest, is_ignored

_RETRY_SECONDS = 0.05


def take_interrupts() -> None:
    """Make SIGTERM and SIGHUP a KeyboardInterrupt, and let none be lost in a callback.

    SIGHUP stays ignored where it is (nohup). Nothing happens off the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if not is_ignored(signal.SIGHUP):
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    sys.unraisablehook = _hook


def _hook(raised: sys.UnraisableHookArgs) -> None:
    """Raise a lost KeyboardInterrupt again a moment later; other exceptions are printed as ever.

    Python prints and drops an exception inside a callback of C code (while numba compiles) or of a destructor. A real
    signal also ends a call that waits, such as ``time.sleep``; ``_thread.interrupt_main`` would not.
    """
    if isinstance(raised.exc_value, KeyboardInterrupt):
        request = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
        if isinstance(request, StopRequest):
            request.is_made = False  # the first signal was lost; the one that follows is not a second one
        threading.Timer(_RETRY_SECONDS, signal.pthread_kill, (threading.main_thread().ident, signal.SIGTERM)).start()
    else:
        sys.__unraisablehook__(raised)
