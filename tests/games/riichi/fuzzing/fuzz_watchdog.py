"""Runs numbered work in child processes and tells which number killed one, hung, or took too much memory.

Consumes a work function that can be pickled and a range of numbers; produces one Summary. A chunk whose process dies is
done again without the number at fault, so that nothing else is lost.
"""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import resource
import signal
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

Work = Callable[[int], Iterable[str]]
"""Does one number and says what came of it; any exception is a finding."""

MakeWork = Callable[[], contextlib.AbstractContextManager[Work]]
"""Makes the work of a process, and cleans up after it."""

_POLL_SECONDS = 0.5
_PAGE_BYTES = resource.getpagesize()
_CONTEXT = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not happen."""

    number: int
    what: str
    """"died", "hung", "memory", or the exception with the last line of its traceback."""
    detail: str = ""


@dataclass(slots=True)
class Summary:
    """What came of all numbers."""

    num_done: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    slowest_seconds: float = 0.0
    slowest_number: int = -1
    peak_bytes: int = 0
    """Largest resident memory of a process."""

    def add(self, other: Summary) -> None:
        """Take in what came of other numbers."""
        self.num_done += other.num_done
        self.kinds += other.kinds
        self.findings += other.findings
        self.peak_bytes = max(self.peak_bytes, other.peak_bytes)
        if other.slowest_seconds > self.slowest_seconds:
            self.slowest_seconds, self.slowest_number = other.slowest_seconds, other.slowest_number


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one number may take."""

    seconds: float = 60.0
    bytes: int = 2 * 1024**3
    """Resident memory of the process."""


def do_chunk(work: Work, numbers: Iterable[int], begin: Callable[[int], None] = lambda number: None) -> Summary:
    """Do ``numbers`` in this process; ``begin`` is told each before it starts."""
    summary = Summary()
    for number in numbers:
        begin(number)
        start = time.monotonic()
        try:
            summary.kinds.update(work(number))
        except Exception as error:  # noqa: BLE001 (every one is a finding, which the caller reports)
            last = traceback.extract_tb(error.__traceback__)[-1]
            what = f"{type(error).__name__} in {Path(last.filename).name}, {last.name}"
            summary.findings.append(Finding(number, what, "".join(traceback.format_exception(error))))
        seconds = time.monotonic() - start
        summary.num_done += 1
        if seconds > summary.slowest_seconds:
            summary.slowest_seconds, summary.slowest_number = seconds, number
    summary.peak_bytes = _peak_bytes()
    return summary


class _Child:
    """A process that does one chunk after another."""

    def __init__(self, make_work: MakeWork) -> None:
        self.connection, far = _CONTEXT.Pipe()
        # number at work and when it began; -1 while nothing is at work
        self._at_work = _CONTEXT.RawArray("d", [-1.0, 0.0])
        self._process: SpawnProcess = _CONTEXT.Process(target=_serve, args=(far, self._at_work, make_work), daemon=True)
        self._process.start()
        far.close()
        self._chunk: list[int] = []

    def give(self, chunk: list[int]) -> None:
        """Let it do the numbers of ``chunk``."""
        self._chunk = chunk
        with contextlib.suppress(BrokenPipeError):  # it has ended already, which ``answer`` finds
            self.connection.send(chunk)

    def answer(self) -> Summary | Finding:
        """Return what it has sent: what came of its chunk, or that it is dead."""
        try:
            summary: Summary = self.connection.recv()
        except (EOFError, ConnectionError):
            self._process.join()
            code = self._process.exitcode or 0
            return self._finding("died", signal.Signals(-code).name if code < 0 else f"exit status {code}")
        return summary

    def offence(self, limits: Limits) -> Finding | None:
        """Return which limit the number at work has passed, if any."""
        if self._at_work[0] < 0:
            return None
        if time.monotonic() - self._at_work[1] > limits.seconds:
            return self._finding("hung")
        return self._finding("memory") if _resident_bytes(self._process.pid) > limits.bytes else None

    def end(self, at_fault: int | None = None) -> list[int]:
        """End the process, however it is; return the numbers of its chunk without the one at fault."""
        self._process.kill()
        self._process.join()
        self.connection.close()
        return [number for number in self._chunk if number != at_fault]

    def _finding(self, what: str, detail: str = "") -> Finding:
        number = int(self._at_work[0])
        if number < 0:
            raise RuntimeError(f"a process {what} before its first number ({detail})")
        return Finding(number, what, detail)


def watch(
    make_work: MakeWork,
    numbers: range,
    num_processes: int,
    *,
    limits: Limits,
    chunk_size: int = 250,
    progress: Callable[[int], None] = lambda done: None,
) -> Summary:
    """Do ``numbers`` in ``num_processes`` children and return what came of them."""
    chunks = [list(numbers[i : i + chunk_size]) for i in range(0, len(numbers), chunk_size)][::-1]
    total = Summary()
    children: list[_Child] = []
    try:
        while chunks or children:
            while chunks and len(children) < num_processes:
                children.append(_Child(make_work))
                children[-1].give(chunks.pop())
            ready = wait([child.connection for child in children], _POLL_SECONDS)
            for child in list(children):
                outcome = child.answer() if child.connection in ready else child.offence(limits)
                if isinstance(outcome, Finding):
                    total.add(Summary(num_done=1, findings=[outcome]))
                    children.remove(child)
                    chunks += [rest] if (rest := child.end(outcome.number)) else []
                elif outcome is not None:
                    total.add(outcome)
                    progress(total.num_done)
                    if chunks:
                        child.give(chunks.pop())
                    else:
                        children.remove(child)
                        child.end()
    finally:
        for child in children:
            child.end()
    return total


def _peak_bytes() -> int:
    """Return this process's own peak; that of getrusage includes what its parent had when it was made."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def _resident_bytes(pid: int | None) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES
    except OSError:  # it has just ended
        return 0


def _serve(connection: Connection, at_work: Any, make_work: MakeWork) -> None:
    """Do chunks until the parent is gone."""
    faulthandler.enable()
    warnings.simplefilter("error")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends its children

    def begin(number: int) -> None:
        at_work[1] = time.monotonic()
        at_work[0] = number

    with contextlib.suppress(EOFError), make_work() as work:
        while True:
            chunk = connection.recv()
            summary = do_chunk(work, chunk, begin)
            at_work[0] = -1.0
            connection.send(summary)
    os._exit(0)
