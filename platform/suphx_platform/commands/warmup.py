"""``suphx warmup``: compile the kernels and build the lookup tables now, so that the first use does not wait."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``warmup``."""
    parser = commands.add_parser("warmup", parents=[options], help="compile the kernels now (images do this at build)")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Compile all that is not in the cache yet."""
    from suphx.cache_folder import cache_root, remove_unused
    from suphx.training.warmup import warm_up

    started = time.perf_counter()
    folder = cache_root()
    console.say(f"compiling kernels into {folder} (a minute or two if it is new)")
    warm_up()
    remove_unused(folder / "kernels")
    return {"folder": str(folder), "seconds": round(time.perf_counter() - started, 3)}
