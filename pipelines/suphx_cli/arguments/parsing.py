"""Arguments that several sub-commands share, and the types of their values."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from suphx.usable_cores import usable_cores

if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]

DEFAULT_RUNS = Path("runs")
EXAMPLES_TITLE = "examples:\n"
RECIPE_HELP = "name of a recipe (`suphx recipes` lists them), or a TOML file"


def examples(*commands: str) -> str:
    """Return the epilog of a command's help that shows ``commands``, a line each."""
    return EXAMPLES_TITLE + "\n".join(f"  {command}" for command in commands)


def positive(text: str) -> int:
    """Return a whole number of at least 1; argparse turns the error into wrong usage."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def not_negative(text: str) -> int:
    """Return a whole number of at least 0; argparse turns the error into wrong usage."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return int(text)


def seconds(text: str) -> float:
    """Return a time of 0 seconds or more."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time: use seconds from 0 on, such as 0.5")
    return value


def some_seconds(text: str) -> float:
    """Return a time of more than 0 seconds."""
    if (value := seconds(text)) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is too short: use more than 0 seconds, such as 0.5")
    return value


def hours(text: str) -> float:
    """Return a time of 0 hours or more."""
    try:
        return seconds(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time: use hours from 0 on, such as 0.5") from error


def port(text: str) -> int:
    """Return a TCP port, 1-65535."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: use 1 to 65535")
    return int(text)


def any_port(text: str) -> int:
    """Return a TCP port, or 0 for any free one."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: use 1 to 65535, or 0 for any free port")
    return int(text)


def assignment(text: str) -> tuple[str, str]:
    """Split ``"learner.learning_rate=3e-4"`` at its first equals sign."""
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE, such as supervised.max_steps=200")
    return key.strip(), value


def run_id(text: str) -> str:
    """Return a name that can be a folder and an object of a cluster."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a run id: use lower-case letters, digits, - and _")
    return text


def add_recipe(parser: argparse.ArgumentParser, text: str = RECIPE_HELP) -> None:
    """Add ``RECIPE``, a name or a file, and ``--set KEY=VALUE`` for changes of its values."""
    parser.add_argument("recipe", type=Path, metavar="RECIPE", help=text)
    parser.add_argument(
        "--set",
        type=assignment,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="overrides",
        help='change one value, in TOML syntax: net.size=small, \'reinforcement.heads=["discard", "riichi"]\'',
    )


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add ``--workers N``, by default one per core."""
    parser.add_argument(
        "--workers", type=positive, default=usable_cores(), metavar="N", help="processes (default: one per core)"
    )


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Add ``--runs DIR``, the folder that holds all runs."""
    parser.add_argument("--runs", type=Path, default=DEFAULT_RUNS, metavar="DIR", help="folder of runs (default: runs)")


def add_code_change(parser: argparse.ArgumentParser) -> None:
    """Add ``--on-code-change``: what to do with results in the run's folder that were made by other code."""
    parser.add_argument(
        "--on-code-change",
        choices=("stop", "keep", "redo"),
        default="stop",
        help="if the code of a stage has changed since it was run: stop before anything is changed (default), keep its "
        "result, or redo the stage",
    )


def add_wait(parser: argparse.ArgumentParser) -> None:
    """Add ``--wait-hours``: how long the start waits for MLflow and the storage."""
    parser.add_argument(
        "--wait-hours",
        type=hours,
        default=0.0,
        metavar="H",
        help="if MLflow or the storage does not answer at the start, try again for this long, as the chart's runs do "
        "(default: 0, an error)",
    )


def add_dry_run(parser: argparse.ArgumentParser) -> None:
    """Add ``--dry-run``: only check."""
    parser.add_argument("--dry-run", action="store_true", help="check the recipe and all options, and start nothing")
