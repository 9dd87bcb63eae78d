"""Ctrl-C, SIGTERM, a closed terminal (SIGHUP): the first asks to stop where nothing is lost; Ctrl-C again ends at once.

>>> with StopRequest() as stop:
...     while not stop.is_made:
...         work_a_little()
...     save()
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any, Self

from suphx.training.trainer import TrainingWatch

EXIT_CODE = 130
"""Exit code of a process that was stopped, as shells report it."""
_SIGHUP = getattr(signal, "SIGHUP", None)
"""None on Windows."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, *([] if _SIGHUP is None else [_SIGHUP]))
_RETRY_SECONDS = 0.05


class StopRequest(TrainingWatch):
    """Keeps the first Ctrl-C, SIGTERM or SIGHUP inside its block; a Ctrl-C after it ends the process.

    A second SIGTERM or SIGHUP does not: Ray's job API and the hook of a pod both send SIGTERM, and when a terminal
    closes, its shell and the kernel both send SIGHUP. A process that ignores SIGHUP (nohup) keeps ignoring it.

    Inside a TwoStepStop, a request that came too late for the block is passed on: at the end of the block it raises
    KeyboardInterrupt, if nothing else is raised.

    In another thread than the main one, which gets no signals, nothing is ever kept.
    """

    def __init__(self, next_step: str = "") -> None:
        """``next_step``: a sentence for the second Ctrl-C, printed after the message that the process has ended."""
        self.is_made = False
        """The process was asked to stop."""
        self._next_step = next_step
        self._handlers: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            kept = [number for number in _SIGNALS if number != _SIGHUP or not is_ignored(number)]
            self._handlers = {number: signal.signal(number, self._keep) for number in kept}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if kind is None and self.is_made and isinstance(self._outer, TwoStepStop):
            raise KeyboardInterrupt

    def is_stopping(self) -> bool:
        """Return whether the process was asked to stop: a training that has this as its watch saves and stops."""
        return self.is_made

    def _keep(self, number: int, frame: FrameType | None) -> None:
        if self._is_second(number):
            return
        self.is_made = True
        if self._outer is not None:
            self._outer.is_made = True
        _write("stopping: the state is being saved; a second Ctrl-C ends the command at once")

    def _is_second(self, number: int) -> bool:
        """Return whether the process was asked before; end it if so and this is Ctrl-C."""
        if self.is_made and number == signal.SIGINT:
            next_step = self._next_step or (self._outer._next_step if self._outer is not None else "")
            _write(f"ended at once; only the state of the last save is kept. {next_step}".rstrip())
            os._exit(EXIT_CODE)
        return self.is_made

    @property
    def _outer(self) -> StopRequest | None:
        """The request around this block."""
        found = (getattr(handler, "__self__", None) for handler in self._handlers.values())
        return next((outer for outer in found if isinstance(outer, StopRequest)), None)


class TwoStepStop(StopRequest):
    """Raises KeyboardInterrupt at the first such signal inside its block; a Ctrl-C after it ends the process.

    A StopRequest inside the block keeps the first one; a Ctrl-C after it still ends the process.
    """

    def _keep(self, number: int, frame: FrameType | None) -> None:
        if self._is_second(number):
            return
        self.is_made = True
        raise KeyboardInterrupt


def is_ignored(number: int) -> bool:
    """Return whether this process ignores a signal, as SIGHUP after ``nohup``."""
    return signal.getsignal(number) is signal.SIG_IGN


def _write(text: str) -> None:
    with contextlib.suppress(OSError):  # the terminal has closed
        os.write(2, f"\nsuphx: {text}\n".encode())  # not print: the signal may have come in the middle of one


def take_interrupts() -> None:
    """Make SIGTERM and SIGHUP a KeyboardInterrupt, and let none be lost in a callback.

    SIGHUP stays ignored where it is (nohup). Nothing happens off the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if _SIGHUP is not None and not is_ignored(_SIGHUP):
        signal.signal(_SIGHUP, signal.default_int_handler)
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
        threading.Timer(_RETRY_SECONDS, _interrupt_main_thread).start()
    else:
        sys.__unraisablehook__(raised)


def _interrupt_main_thread() -> None:
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    else:
        _thread.interrupt_main(signal.SIGTERM)
