"""``suphx warmup``: compile the kernels and build the lookup tables now, so that the first use does not wait."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console

NUM_TABLES = 16


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``warmup``."""
    parser = commands.add_parser("warmup", parents=[options], help="compile the kernels now (images do this at build)")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play games at random to their end, which compiles every kernel of the simulator."""
    import numpy as np

    from suphx.riichi.jit import cache_folder
    from suphx.riichi.rules import tenhou
    from suphx.riichi.simulator import Simulator

    started = time.perf_counter()
    folder = cache_folder()
    console.say(f"compiling kernels into {folder}")
    simulator = Simulator(NUM_TABLES, tenhou())
    simulator.reset(range(NUM_TABLES))
    random = np.random.default_rng(0)
    while (waiting := simulator.waiting()).size:
        legal = simulator.tables["legal"][waiting]
        simulator.advance(waiting, np.argmax(random.random(legal.shape) * legal, axis=1))
    return {"folder": str(folder), "seconds": round(time.perf_counter() - started, 3)}
