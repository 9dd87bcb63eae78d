"""Kernels are compiled before they are needed, on all cores, with a bar; later ones while the work has begun.

>>> with KernelWarmup(console, ["engine", "scripted games", "nets"]) as kernels:
...     kernels.wait_for("engine", "scripted games")  # a bar until these are compiled
...     play_first_games()  # meanwhile the others are compiled
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from suphx_platform.console.console import Console

_PATIENCE_SECONDS = 5.0
_POOL_MODULE = "suphx_platform.kernels.compile_pool"


def compile_kernels(console: Console, *groups: str) -> KernelWarmup:
    """Compile ``groups`` of training/warmup.py that are not in the cache; all of them if none is named."""
    with KernelWarmup(console, groups) as kernels:
        kernels.wait_for(*groups)
        return kernels


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
        self.groups: dict[str, float] = {}
        """Seconds from the start to the moment when each group was compiled."""
        self._console = console
        ordered = [group for group in KERNEL_GROUPS if group in wanted]
        self._missing = [] if vars(config)["DISABLE_JIT"] else missing_groups(ordered)
        if self._missing and not is_writable(cache_root()):  # such as in a sandbox: the pool could leave nothing
            console.say(f"{cache_root()} cannot be written: kernels are compiled when they are needed")
            self._missing = []
        self._started = time.monotonic()
        self._pool: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        if self._missing:
            command = [sys.executable, "-m", _POOL_MODULE, *self._missing]
            # in its own process group, so that Ctrl-C in a terminal reaches this process only
            self._pool = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, process_group=0
            )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._pool is None:
            return
        assert self._pool.stdin is not None
        assert self._pool.stdout is not None
        self._pool.terminate()  # its workers end with it
        self._pool.wait()
        self._pool.stdin.close()
        self._pool.stdout.close()

    def wait_for(self, *groups: str) -> None:
        """Show a bar until ``groups`` (all if none is named) are compiled; ChildProcessError if the pool fails."""
        wanted = set(groups) & set(self._missing) if groups else set(self._missing)
        if not wanted - set(self.groups):
            return
        self._console.say(
            "Compiling the rules engine for this machine: minutes, but only once after an installation or an update"
        )
        bar = self._console.progress("groups", len(wanted), name="compiling kernels")
        assert self._pool is not None
        assert self._pool.stdout is not None
        with bar as progress:
            while left := [group for group in self._missing if group in wanted and group not in self.groups]:
                progress.reach(len(wanted) - len(left), note=", ".join(left))
                line = self._pool.stdout.readline()
                if not line:
                    code = self._pool.wait(_PATIENCE_SECONDS)
                    raise ChildProcessError(
                        f"compiling kernels ended with exit code {code}; its messages are above. Kernels compiled so "
                        "far are kept: run the command again"
                    )
                self.groups[line.strip()] = round(time.monotonic() - self._started, 3)


class RunKernels(KernelWarmup):
    """The kernels of a run, which are compiled while its block runs.

    >>> with RunKernels(console, "riichi", plays_itself=True, has_records=False) as kernels:
    ...     kernels.wait()  # a bar until those of the first games are compiled
    ...     play_first_games()  # meanwhile the others are compiled
    """

    def __init__(self, console: Console, game: str, *, plays_itself: bool, has_records: bool) -> None:
        from suphx.training.warmup import run_groups

        self._first, groups = run_groups(game, plays_itself=plays_itself, has_records=has_records)
        super().__init__(console, groups)
        self.is_ready = False

    def wait(self) -> None:
        """Show a bar until the kernels of the first games are compiled; errors as for ``wait_for``."""
        self.wait_for(*self._first)
        self.is_ready = True
