"""Kernels are compiled before they are needed, on all cores, with a bar; later ones while the work has begun.

>>> with KernelWarmup(console, later=["nets"]) as kernels:
...     kernels.wait_for("engine", "scripted games")  # a bar until these are compiled
...     play_first_games()  # meanwhile the others are compiled
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from suphx.credentials import without_credentials
from suphx.json_text import parse_json

if TYPE_CHECKING:
    from suphx_platform.console.console import Console
    from suphx_platform.console.progress import Progress

_SECONDS_BETWEEN_LOOKS = 0.2
_SECONDS_BETWEEN_COUNTS = 2.0
_PATIENCE_SECONDS = 5.0
_LEAST_PERCENT, _MOST_PERCENT = 4, 99
_SUPERVISED = ("encoder", "replay", "samples", "nets", "net games")


@dataclass(slots=True)
class CompileTimes:
    """What was compiled, and the time that it took."""

    groups: dict[str, float] = field(default_factory=dict)
    """Seconds from the start to the moment when the group was compiled."""
    kernels: dict[str, float] = field(default_factory=dict)
    """CPU seconds by kernel, without those of the kernels that it calls."""


def compile_kernels(console: Console, *groups: str) -> CompileTimes:
    """Compile ``groups`` of training/warmup.py that are not in the cache; all of them if none is named."""
    with KernelWarmup(console, groups) as kernels:
        kernels.wait_for(*groups)
        return kernels.times


class RunKernels:
    """The kernels of a run, which are compiled while its block runs.

    >>> with RunKernels(console, plays_itself=True, has_records=False) as kernels:
    ...     kernels.wait()  # a bar until those of the first games are compiled
    ...     play_first_games()  # meanwhile the others are compiled
    """

    def __init__(self, console: Console, *, plays_itself: bool, has_records: bool) -> None:
        from suphx.training.warmup import FIRST_GAMES

        self._console = console
        self._first = ("replay",) if has_records else FIRST_GAMES
        self._warmup = KernelWarmup(console, {*FIRST_GAMES, *_SUPERVISED, *(("self-play",) if plays_itself else ())})
        self.is_ready = False
        """What the first games need is compiled."""

    def __enter__(self) -> Self:
        self._warmup.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        from suphx.kernel.jit import watchers

        self._warmup.__exit__(kind, error, at)
        if self._say_once in watchers:
            watchers.remove(self._say_once)

    def wait(self) -> None:
        """Show a bar until the kernels of the first games are compiled; errors as for KernelWarmup.wait_for."""
        from suphx.kernel.jit import watchers

        self._warmup.wait_for(*self._first)
        self.is_ready = True
        watchers.append(self._say_once)

    def _say_once(self, kernel: str, holder: int) -> None:
        from suphx.kernel.jit import watchers

        if self._say_once in watchers:
            watchers.remove(self._say_once)
            command = self._warmup.command_of(holder)
            by = f" by {command}" if command else ""
            self._console.say(f"waiting for kernels that are being compiled{by}: {kernel.removeprefix('suphx.')}")


class KernelWarmup:
    """Consumes: nothing. Produces: compiled kernels in the cache. Waits for: its pool process, in ``wait_for``.

    The pool compiles ``groups`` in the order of ``KERNEL_GROUPS``. It is stopped at the end of the block; kernels that
    are compiled by then stay in the cache.
    """

    def __init__(self, console: Console, groups: Iterable[str] = ()) -> None:
        from numba import config

        from suphx.cache_folder import cache_root, is_writable
        from suphx.training.warmup import KERNEL_GROUPS, missing_groups

        wanted = set(groups) or set(KERNEL_GROUPS)
        if unknown := wanted - set(KERNEL_GROUPS):
            raise ValueError(f"no kernel group {', '.join(sorted(unknown))}: use {', '.join(KERNEL_GROUPS)}")
        self.times = CompileTimes()
        self._console = console
        ordered = [group for group in KERNEL_GROUPS if group in wanted]
        self._missing = [] if vars(config)["DISABLE_JIT"] else missing_groups(ordered)
        if self._missing and not is_writable(cache_root()):  # such as in a sandbox: the pool could leave nothing
            console.say(f"{cache_root()} cannot be written: kernels are compiled when they are needed")
            self._missing = []
        self._changed = threading.Condition()
        self._latest = ""
        self._started = time.monotonic()
        self._is_over = False
        self._pool: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        if self._missing:
            command = [sys.executable, "-m", _POOL_MODULE, *self._missing]
            # in its own process group, so that Ctrl-C in a terminal reaches this process only
            self._pool = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0
            )
            self._reader = threading.Thread(target=self._read, args=(self._pool,), daemon=True, name="kernels")
            self._reader.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._pool is None:
            return
        assert self._pool.stdin is not None
        assert self._pool.stdout is not None
        self._pool.terminate()  # its workers end with it
        self._pool.wait()
        self._pool.stdin.close()
        self._reader.join(_PATIENCE_SECONDS)  # to the end of the workers, which write there too
        self._pool.stdout.close()

    def wait_for(self, *groups: str) -> None:
        """Show a bar until ``groups`` (all if none is named) are compiled; ChildProcessError if the pool fails."""
        wanted = set(groups) & set(self._missing) if groups else set(self._missing)
        if not wanted - set(self.times.groups):
            return
        from suphx.training.warmup import missing_costs

        costs = missing_costs(wanted)
        by_others: set[str] = set()
        counted_at = time.monotonic()
        with self._console.progress("%", 100, name="compiling kernels", note="importing") as progress, self._changed:
            while wanted - set(self.times.groups):
                self._check()
                self._changed.wait(_SECONDS_BETWEEN_LOOKS)
                if time.monotonic() - counted_at > _SECONDS_BETWEEN_COUNTS:
                    by_others = costs.keys() - missing_costs(wanted).keys()
                    counted_at = time.monotonic()
                self.show(progress, costs, by_others)
            progress.reach(100)

    def show(self, progress: Progress, costs: Mapping[str, float], by_others: Collection[str] = ()) -> None:
        """Set ``progress`` to the percent of ``costs``, seconds by kernel, that are compiled, here or ``by_others``."""
        total = sum(costs.values())
        done = sum(costs.get(name, 0.0) for name in {*self.times.kernels, *by_others})
        percent = min(100 * done / total, _MOST_PERCENT) if total else 0.0
        progress.total = 100 if percent > _LEAST_PERCENT else None  # before, the speed says nothing
        progress.reach(percent, note=self._latest)

    def command_of(self, process: int) -> str:
        """Return which command compiles a kernel in ``process``, such as "suphx warmup (process 17)".

        Empty if it is a worker of this pool. A process that cannot be seen, as in another container, is that of another
        command.
        """
        return _command_of(process, None if self._pool is None else self._pool.pid)

    def _check(self) -> None:
        assert self._pool is not None
        if self._is_over:
            code = self._pool.wait(_PATIENCE_SECONDS)
            raise ChildProcessError(
                f"compiling kernels ended with exit code {code}; its messages are above. "
                "Kernels compiled so far are kept: run the command again"
            )

    def _read(self, pool: subprocess.Popen[str]) -> None:
        try:
            self._read_events(pool)
        finally:  # also after an error, or wait_for would never return
            with self._changed:
                self._is_over = True
                self._changed.notify_all()

    def _read_events(self, pool: subprocess.Popen[str]) -> None:
        assert pool.stdout is not None
        for line in pool.stdout:
            event = parse_json(line)
            name: str = event["name"]
            with self._changed:
                if event["event"] == "group":
                    self.times.groups[name] = round(time.monotonic() - self._started, 3)
                elif event["event"] == "compiled":
                    self.times.kernels[name] = self.times.kernels.get(name, 0.0) + event["seconds"]
                elif event["event"] == "waits" and (command := self.command_of(event["holder"])):
                    self._latest = f"waiting for {command}"
                elif name.startswith("suphx."):
                    self._latest = name.removeprefix("suphx.")
                self._changed.notify_all()


def _command_of(process: int, own_pool: int | None) -> str:
    while process != own_pool:
        try:
            words = Path(f"/proc/{process}/cmdline").read_text(errors="replace").rstrip("\0").split("\0")
            parent = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return "another command"
        if _POOL_MODULE not in words:
            program = [Path(word).name for word in words[:2] if not re.fullmatch(r"python[\d.]*", Path(word).name)]
            command = without_credentials(shlex.join([*program, *words[2:]]))
            return f"{command[:_MOST_LETTERS]} (process {process})"
        process = parent
    return ""


_POOL_MODULE = "suphx_platform.kernels.compile_pool"
_MOST_LETTERS = 60
