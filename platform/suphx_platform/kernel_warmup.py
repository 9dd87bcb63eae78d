"""Kernels are compiled before they are needed, on all cores, with a bar; later ones while the work has begun.

>>> with KernelWarmup(console, later=["nets"]) as kernels:
...     kernels.wait_for("engine", "scripted games")  # a bar until these are compiled
...     play_first_games()  # meanwhile the others are compiled
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suphx_platform.console import Console

_SECONDS_BETWEEN_LOOKS = 0.2
_PATIENCE_SECONDS = 5.0
_LEAST_COUNT = 20
_FIRST_GAMES = ("engine", "scripted games")
_SUPERVISED = (*_FIRST_GAMES, "encoder", "samples", "nets", "net games")


@dataclass(slots=True)
class CompileTimes:
    """What was compiled, and the time that it took."""

    groups: dict[str, float] = field(default_factory=dict)
    """Seconds by group, of which a part may be waiting for kernels that other processes compiled."""
    kernels: dict[str, float] = field(default_factory=dict)
    """CPU seconds by kernel, without those of the kernels that it calls."""


def compile_kernels(console: Console, *groups: str) -> CompileTimes:
    """Compile ``groups`` of training/warmup.py that are not in the cache; all of them if none is named."""
    with KernelWarmup(console, groups) as kernels:
        kernels.wait_for(*groups)
        return kernels.times


@contextmanager
def kernels_of_a_run(console: Console, *, plays_itself: bool) -> Iterator[None]:
    """Compile what the first games need, then the rest while the block runs."""
    from suphx.riichi.kernel_lock import watchers

    def say_once(kernel: str) -> None:
        if say_once in watchers:
            watchers.remove(say_once)
            console.say(f"waiting for kernels that are being compiled: {kernel.removeprefix('suphx.')}")

    with KernelWarmup(console, _SUPERVISED + (("self-play",) if plays_itself else ())) as kernels:
        kernels.wait_for(*_FIRST_GAMES)
        watchers.append(say_once)
        try:
            yield
        finally:
            if say_once in watchers:
                watchers.remove(say_once)


class KernelWarmup:
    """Consumes: nothing. Produces: compiled kernels in the cache. Waits for: its crew process, in ``wait_for``.

    The crew compiles ``groups`` in the order of ``KERNEL_GROUPS``. It is stopped at the end of the block; kernels that
    are compiled by then stay in the cache.
    """

    def __init__(self, console: Console, groups: Iterable[str] = ()) -> None:
        from numba import config

        from suphx.training.compiled_groups import missing_groups
        from suphx.training.warmup import KERNEL_GROUPS

        wanted = set(groups) or set(KERNEL_GROUPS)
        if unknown := wanted - set(KERNEL_GROUPS):
            raise ValueError(f"no kernel group {', '.join(sorted(unknown))}: use {', '.join(KERNEL_GROUPS)}")
        self.times = CompileTimes()
        self._console = console
        ordered = [group for group in KERNEL_GROUPS if group in wanted]
        self._missing = [] if vars(config)["DISABLE_JIT"] else missing_groups(ordered)
        self._changed = threading.Condition()
        self._latest = ""
        self._is_over = False
        self._crew: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        if self._missing:
            command = [sys.executable, "-m", "suphx_platform.kernel_crew", *self._missing]
            self._crew = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self._reader = threading.Thread(target=self._read, args=(self._crew,), daemon=True, name="kernels")
            self._reader.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._crew is None:
            return
        assert self._crew.stdin is not None
        assert self._crew.stdout is not None
        self._crew.stdin.close()  # it ends, and its workers with it
        try:
            self._crew.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._crew.kill()
            self._crew.wait()
        self._reader.join(_PATIENCE_SECONDS)  # to the end of the workers, which write there too
        self._crew.stdout.close()

    def wait_for(self, *groups: str) -> None:
        """Show a bar until ``groups`` (all if none is named) are compiled; ChildProcessError if the crew fails."""
        wanted = set(groups) & set(self._missing) if groups else set(self._missing)
        if not wanted - set(self.times.groups):
            return
        from suphx.training.compiled_groups import count_missing_kernels

        total = count_missing_kernels()
        with self._console.progress("kernels", name="compiling") as progress, self._changed:
            while wanted - set(self.times.groups):
                self._check()
                self._changed.wait(_SECONDS_BETWEEN_LOOKS)
                done = sum(name.startswith("suphx.") for name in self.times.kernels)  # the others are numba's own
                progress.state.total = total if done >= _LEAST_COUNT else None  # before, the speed says nothing
                progress.reach(min(total, done), note=self._latest)

    def _check(self) -> None:
        assert self._crew is not None
        if self._is_over:
            code = self._crew.wait(_PATIENCE_SECONDS)
            raise ChildProcessError(
                f"compiling kernels ended with exit code {code} (its messages are above); "
                "what was compiled is kept, run the command again"
            )

    def _read(self, crew: subprocess.Popen[str]) -> None:
        try:
            self._read_events(crew)
        finally:  # whatever went wrong: nobody may wait for ever
            with self._changed:
                self._is_over = True
                self._changed.notify_all()

    def _read_events(self, crew: subprocess.Popen[str]) -> None:
        assert crew.stdout is not None
        for line in crew.stdout:
            event = json.loads(line)
            name: str = event["name"]
            with self._changed:
                if event["event"] == "group":
                    self.times.groups[name] = event["seconds"]
                elif event["event"] == "compiled":
                    self.times.kernels[name] = self.times.kernels.get(name, 0.0) + event["seconds"]
                elif name.startswith("suphx."):
                    self._latest = name.removeprefix("suphx.")
                self._changed.notify_all()
