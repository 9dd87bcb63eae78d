"""What a person or a script sees of a command: messages, progress and the one JSON result.

Messages and progress go to stderr, results to stdout; with ``--json`` stdout carries nothing but one JSON object as its
last line (the contract that scripts read).
"""

from __future__ import annotations

import json
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

SECONDS_BETWEEN_LINES = 10.0


class Progress(ABC):
    """Something that counts work that is done."""

    @abstractmethod
    def advance(self, count: int = 1, note: str = "") -> None:
        """Count ``count`` more units; ``note`` is a short text such as ``"loss 0.71"``."""

    def count(self, items: Iterable[T]) -> Iterator[T]:
        """Pass ``items`` on and count each."""
        for item in items:
            yield item
            self.advance()


class Console:
    """Usage::

    console = Console(is_json=False)
    console.say("reading records")
    with console.progress("games", total=100) as progress:
        progress.advance()
    console.result({"games": 100})
    """

    def __init__(self, *, is_json: bool = False) -> None:
        self.is_json = is_json
        # Taken now: cli.py sends whatever libraries print to stderr while a command runs.
        self._stdout = sys.stdout

    def say(self, text: str) -> None:
        """Print one line for the person who waits."""
        print(text, file=sys.stderr, flush=True)

    def line(self, text: str) -> None:
        """Print one line of what the command is there to show; with ``--json`` to stderr, as stdout has the result."""
        print(text, file=sys.stderr if self.is_json else self._stdout, flush=True)

    @contextmanager
    def progress(self, unit: str, total: int | None = None) -> Iterator[Progress]:
        """Show progress in ``unit``s while the block runs: a bar on a terminal, a plain line now and then elsewhere."""
        if sys.stderr.isatty():
            from tqdm import tqdm

            with tqdm(total=total, unit=f" {unit}", dynamic_ncols=True, file=sys.stderr) as bar:
                yield _BarProgress(bar)
            return
        lines = _LineProgress(self, unit, total)
        yield lines
        lines.finish()

    def result(self, values: Mapping[str, object]) -> None:
        """Print the result of the command: one JSON line with ``--json``, else a readable list."""
        text = json.dumps(values, ensure_ascii=False, allow_nan=False) if self.is_json else "\n".join(_lines(values))
        print(text, file=self._stdout, flush=True)


class _BarProgress(Progress):
    def __init__(self, bar: Any) -> None:
        self._bar = bar  # a tqdm bar

    def advance(self, count: int = 1, note: str = "") -> None:
        if note:
            self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(count)


class _LineProgress(Progress):
    def __init__(self, console: Console, unit: str, total: int | None) -> None:
        self._console = console
        self._unit = unit
        self._total = total
        self._count = 0
        self._note = ""
        self._started = self._last_line = time.monotonic()

    def advance(self, count: int = 1, note: str = "") -> None:
        self._count += count
        self._note = note
        if time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._print()

    def finish(self) -> None:
        self._print()

    def _print(self) -> None:
        self._last_line = time.monotonic()
        of = f" of {self._total:,}" if self._total is not None else ""
        note = f", {self._note}" if self._note else ""
        self._console.say(f"{self._count:,}{of} {self._unit} in {self._last_line - self._started:.0f} s{note}")


def _lines(values: Mapping[str, object], indent: str = "") -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield f"{indent}{key}:"
            yield from _lines(value, indent + "  ")
        else:
            yield f"{indent}{key}: {_text(value)}"


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_text(item) for item in value) + "]" if value else "none"
    return str(value)
