"""What a person or a script sees of a command: messages, progress and the one JSON result.

Messages and progress go to stderr, results to stdout; with ``--json`` stdout carries nothing but one JSON object as its
last line (the contract that scripts read). Users and passwords in addresses are left out of all of it.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import IO, Literal, TextIO

from suphx.credentials import without_credentials
from suphx.printable_text import encodable
from suphx_platform.console.progress import PERCENT_UNIT, Progress, ProgressBars, progress_lines
from suphx_platform.console.table_text import result_lines

Verbosity = Literal["quiet", "normal", "verbose"]
_PERCENT = 100
_PACKAGES = ("suphx", "suphx_platform", "suphx_pipelines", "suphx_cli")


def typed_line(prompt: str) -> str:
    """Return what is typed at ``prompt``; EOFError at the end of the input.

    The prompt goes to stderr if stdout is not a terminal: then a program reads the result of the command there.
    """
    if sys.stdout.isatty():
        return input(prompt)
    print(prompt, end="", file=sys.stderr, flush=True)
    return input()


def is_lost_output(error: BaseException) -> bool:
    """Return whether ``error`` comes from printing to a pipe that nobody reads any more, or to a closed terminal."""
    return isinstance(error, OSError) and error.errno in (errno.EPIPE, errno.EIO) and has_closed_output()


def has_closed_output() -> bool:
    """Return whether stdout or stderr is a pipe that nobody reads any more, or a closed terminal."""
    return any(_is_closed(stream) for stream in (sys.stdout, sys.stderr))


def silence_output() -> None:
    """Send what is still to be printed nowhere, so that Python's last flush does not fail either."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if _is_closed(stream):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _is_closed(stream: TextIO) -> bool:
    try:
        number = stream.fileno()
    except (OSError, ValueError):  # no file behind it, as in tests
        return False
    if not hasattr(select, "poll"):  # on Windows
        return False
    poll = select.poll()
    poll.register(number, 0)  # errors are reported without being asked for
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


class Console:
    """Usage::

    console = Console(is_json=False, verbosity="normal")
    with console.log_to(Path("runs/laptop/run.log")):
        console.say("reading records")
        with console.progress("games", total=100) as progress:
            progress.advance()
        with console.activity("opening the MLflow store"):
            ...
        console.warn("the kong net has too few samples")
    console.result({"games": 100})

    Every method may be called from any thread.
    """

    def __init__(self, *, is_json: bool = False, verbosity: Verbosity = "normal") -> None:
        self.is_json = is_json
        self.verbosity: Verbosity = verbosity
        self.warnings: list[str] = []
        # Taken now: cli.py sends whatever libraries print to stderr while a command runs.
        self._stdout = sys.stdout
        self._lock = threading.RLock()
        self._logs: list[IO[str]] = []
        self._bars = ProgressBars()

    def say(self, text: str) -> None:
        """Print one line for the person who waits; ``--quiet`` hides it."""
        self._print(text, is_shown=self.verbosity != "quiet")

    def detail(self, text: str) -> None:
        """Print one line that only ``--verbose`` shows."""
        self._print(text, is_shown=self.verbosity == "verbose")

    def warn(self, text: str) -> None:
        """Print a warning, which is always shown, and keep it in ``warnings``."""
        self.warnings.append(without_credentials(text))
        self._print(f"warning: {text}", is_shown=True)

    def error(self, text: str) -> None:
        """Print the line with which a command fails; it is always shown."""
        self._print(text, is_shown=True)

    def line(self, text: str) -> None:
        """Print one line of what the command is there to show; with ``--json`` to stderr, as stdout has the result."""
        text = _writable(text)
        with self._lock:
            self._log(text)
            print(text, file=sys.stderr if self.is_json else self._stdout, flush=True)

    @contextmanager
    def log_to(self, path: Path) -> Iterator[None]:
        """Append every message, shown or hidden, with its time to the file ``path`` while the block runs."""
        with path.open("a", encoding="utf-8") as log:
            with self._lock:
                self._logs.append(log)
            try:
                yield
            finally:
                with self._lock:
                    self._logs.remove(log)

    @contextmanager
    def progress(self, unit: str, total: float | None = None, name: str = "", note: str = "") -> Iterator[Progress]:
        """Show progress in ``unit``s while the block runs: a bar on a terminal, a plain line now and then elsewhere.

        ``unit``: what is counted, or ``%`` with a total of 100; ``name``: shown in front; ``note``: what is done until
        the first units are counted.
        """
        progress = Progress(unit, total, name, note)
        with self._shown(progress):
            yield progress
        is_line = self.verbosity != "quiet" and not _is_terminal()
        self._print(progress.line(is_finished=True), is_shown=is_line)

    @contextmanager
    def parts(self, name: str) -> Iterator[Callable[[float], None]]:
        """Show the progress of one piece of work in percent; call what the block gets with parts, which sum to 1."""
        with self.progress(PERCENT_UNIT, _PERCENT, name) as progress:
            yield lambda part: progress.advance(_PERCENT * part)

    @contextmanager
    def activity(self, name: str) -> Iterator[None]:
        """Show ``name`` and the time that passes while the block runs; nothing remains of it on a terminal."""
        with self._shown(Progress("", name=name)):
            yield

    def result(self, values: Mapping[str, object]) -> None:
        """Print the result of the command: one JSON line with ``--json``, else aligned lines and tables."""
        lines = [json.dumps(values, ensure_ascii=False, allow_nan=False)] if self.is_json else result_lines(values)
        print(_writable("\n".join(lines)), file=self._stdout, flush=True)

    def _shown(self, progress: Progress) -> AbstractContextManager[None]:
        if self.verbosity == "quiet":
            return nullcontext()
        if not _is_terminal():
            return progress_lines(progress, self.say)
        return self._bars.show(progress)

    def _print(self, text: str, *, is_shown: bool) -> None:
        text = _writable(text)
        with self._lock:
            self._log(text)
            if is_shown:
                print(text, file=sys.stderr, flush=True)

    def _log(self, text: str) -> None:
        for log in self._logs:
            log.write(f"{datetime.now().astimezone().isoformat(' ', 'seconds')} {text}\n")
            log.flush()


def _writable(text: str) -> str:
    """Return a text without credentials, and with escapes for what no stream can write."""
    return encodable(without_credentials(text))


def _is_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class _ConsoleHandler(logging.Handler):
    """Consumes: log records of any thread. Produces: warnings of the console; lines below a warning as messages."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        """Print the record, with its traceback if it has one."""
        try:
            show = self._console.warn if record.levelno >= logging.WARNING else self._console.say
            show(self.format(record))
        except Exception:  # noqa: BLE001  # as all handlers do: a closed output must not end the work that logs
            self.handleError(record)


@contextmanager
def logged_to(console: Console) -> Iterator[None]:
    """Send what this project's modules log to ``console`` while the block runs; other libraries' loggers stay."""
    handler = _ConsoleHandler(console)
    loggers = [logging.getLogger(name) for name in _PACKAGES]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
