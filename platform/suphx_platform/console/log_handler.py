"""What the project's own modules log, as messages of the command: redacted, in run.log, and clear of progress bars.

Modules log at the level INFO what is a message, and at WARNING what is a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from suphx_platform.console.console import Console

_PACKAGES = ("suphx", "suphx_platform", "suphx_pipelines", "suphx_cli")


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
