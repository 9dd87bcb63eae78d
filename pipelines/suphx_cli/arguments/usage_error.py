"""Options that are wrong whatever there is on this machine: wrong usage, with exit code 2 as argparse has it.

>>> with checked_options():
...     check_hanchans(args.hanchans)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class UsageError(ValueError):
    """An option has a wrong value, or does not fit the others."""


@contextmanager
def checked_options() -> Iterator[None]:
    """Raise the ValueError of a check of options alone as UsageError."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error
