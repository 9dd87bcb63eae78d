"""``suphx warmup``: compile the kernels and build the lookup tables now, so that the first use does not wait."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console
    from suphx_platform.kernels.kernel_warmup import CompileTimes

_NUM_SLOWEST = 15


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``warmup``."""
    parser = commands.add_parser(
        "warmup",
        parents=[options],
        help="compile the rules engine in advance",
        description="Compile all kernels of the rules engine that are not in the cache, on all cores, and build its "
        "tables.",
    )
    parser.add_argument("--profile", action="store_true", help=f"list the {_NUM_SLOWEST} kernels that took longest")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Compile all that is not in the cache yet."""
    from suphx.cache_folder import cache_root, remove_unused
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    started = time.perf_counter()
    folder = cache_root()
    console.say(f"compiling kernels into {folder}")
    times = compile_kernels(console)
    remove_unused(folder / "kernels")
    values: dict[str, object] = {
        "folder": str(folder),
        "seconds": round(time.perf_counter() - started, 3),
        "compiled": len(times.kernels),
        "cpu_seconds": round(sum(times.kernels.values()), 3),
        "groups": times.groups,
    }
    return values | ({"slowest": _slowest(times)} if args.profile else {})


def _slowest(times: CompileTimes) -> dict[str, float]:
    """Return CPU seconds by kernel, without those of the kernels that it calls, longest first."""
    return dict(sorted(times.kernels.items(), key=lambda item: -item[1])[:_NUM_SLOWEST])
