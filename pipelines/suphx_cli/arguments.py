"""Arguments that several sub-commands share, and the types of their values."""

from __future__ import annotations

import argparse
import math
import re
import shlex
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, TypeAlias, get_args

from suphx.evaluation.match_config import KEPT_FOLDER
from suphx.file_tree import has_files_below
from suphx.models.net_config import Size
from suphx.printable_text import shortened
from suphx.suggestion import did_you_mean
from suphx.usable_cores import usable_cores

if TYPE_CHECKING:
    from suphx_platform.console.console import Console

# As features/encoder.py defines them, which takes seconds to import; a test compares the two.
ENCODERS = ("mini", "suphx", "suphx-plain")
SIZES = get_args(Size)
_HOST = "127.0.0.1"
_MAX_DIGITS = 20


def check_output_folder(folder: Path, option: str = "--out") -> None:
    """Raise ValueError if no file can be written into ``folder``, which may be missing and is left as it was."""
    missing: list[Path] = []
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        is_in_the_way = isinstance(error, (FileExistsError, NotADirectoryError))
        reason = "a file is in its place" if is_in_the_way else error.strerror
        place = folder if folder.parts else Path.cwd()
        raise ValueError(
            f"nothing can be written into the folder {place} ({reason}): choose another with {option}"
        ) from error
    finally:
        for each in missing:
            with suppress(OSError):  # it was not made
                each.rmdir()


def check_output_file(path: Path, option: str = "--out") -> None:
    """Raise ValueError if ``path`` cannot be written as a file; its folder may be missing and is left as it was."""
    if path.is_dir():
        raise ValueError(f"{option} is {path}, which is a folder: name a file in it")
    check_output_folder(path.parent, option)


def check_runs(folder: Path) -> None:
    """Raise ValueError if no run can be written into the folder of runs; it may be missing."""
    check_output_folder(folder, "--runs")


def check_source_of_runs(folder: Path) -> None:
    """Raise ValueError if a folder of runs, in which agents are looked up, is named and is not there."""
    if not folder.is_dir() and (folder.exists() or folder != DEFAULT_RUNS):
        raise ValueError(f"--runs is {folder}, which is no folder: name your folder of runs")


def check_newest_from(place: str) -> None:
    """Raise ValueError if the key ``pool.newest_from`` of a tournament names a folder that does not exist."""
    if place and not place.startswith("s3://") and not Path(place).is_dir():
        raise ValueError(
            f"pool.newest_from is {place}, which is no folder: name a folder of runs, or s3://bucket/prefix"
        )


def check_port(number: int) -> None:
    """Raise ValueError if nothing can be served at the port ``number`` of this machine; 0 is any free one."""
    with socket.socket() as probe:
        # as servers do: a port that was closed a moment ago is free
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, number))
        except OSError as error:
            raise ValueError(
                f"port {number} on {_HOST} cannot be used ({error.strerror}): choose another with --port"
            ) from error


def free_port() -> int:
    """Return a port of this machine that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])


def check_no_source(path: Path, sources: Iterable[Path], option: str = "--out") -> None:
    """Raise ValueError if ``path`` would replace one of ``sources``."""
    if path.resolve() in {source.resolve() for source in sources}:
        raise ValueError(f"{option} is {path}, which is one of the records: name another file")


_TEXT_BROWSERS = ("www-browser", "links", "links2", "elinks", "lynx", "w3m")
"""They would take the terminal, and run no scripts of pages."""


def show_page(address: str, console: Console) -> None:
    """Open a page in the browser of whoever has typed the command, if it was a person; say so if there is none.

    It may take until the person closes the browser: a command in ``BROWSER`` is waited for.
    """
    import webbrowser

    if console.is_json or not sys.stderr.isatty():
        return
    with suppress(webbrowser.Error):
        browser = webbrowser.get()
        if browser.basename not in _TEXT_BROWSERS and browser.open(address):
            return
    console.say(f"No browser with windows was found: open {address} yourself.")


def check_records(path: Path, option: str = "--records") -> None:
    """Raise ValueError if ``path`` does not exist or is a folder without any file."""
    if not path.exists():
        raise ValueError(f"{path}: no such file or folder of records: {_hint(path)}check {option}")
    if path.is_dir() and not has_files_below(path):
        raise ValueError(f"{path} is an empty folder: put game records there, or check {option}")


def _hint(path: Path) -> str:
    names = [str(each) for each in path.parent.iterdir()] if path.parent.is_dir() else []
    return did_you_mean(str(path), names)


def check_new_folder(folder: Path | None) -> None:
    """Raise ValueError if games cannot be kept in ``folder``: it has files, not those of a match that was stopped."""
    if folder is None or (folder / KEPT_FOLDER).is_dir():
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"--keep-games is {folder}, which is not an empty folder: name a new one")


@contextmanager
def resumable(console: Console, saved: Callable[[KeyboardInterrupt], str]) -> Iterator[None]:
    """Stop the block at the first Ctrl-C, SIGTERM or SIGHUP, and print what is saved and the command that continues.

    ``saved`` returns the sentence about what is saved. KeyboardInterrupt is raised again.
    """
    from suphx_pipelines.runs.run_commands import command_line, continue_command
    from suphx_platform.console.stop_request import TwoStepStop

    next_step = f"Continue with: {shlex.join(continue_command(command_line()))}"
    try:
        with TwoStepStop(next_step):
            yield
    except KeyboardInterrupt as error:
        console.error(f"{saved(error)} {next_step}")
        raise


@contextmanager
def steps(console: Console) -> Iterator[Callable[[str], None]]:
    """Yield a function that ends the step before and begins the one of the given name.

    >>> with steps(console) as begin:
    ...     begin("collecting positions")
    ...     begin("encoding")
    """
    with ExitStack() as stack:

        def begin(name: str) -> None:
            stack.close()
            stack.enter_context(console.activity(name))

        yield begin


class UsageError(ValueError):
    """An option has a wrong value, or does not fit the others."""


@contextmanager
def checked_options() -> Iterator[None]:
    """Raise the ValueError of a check of options alone as UsageError."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error


if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]

DEFAULT_RUNS = Path("runs")
EXAMPLES_TITLE = "examples:\n"
RECIPE_HELP = "name of a recipe (`suphx recipes` lists them), or a TOML file"


def examples(*commands: str) -> str:
    """Return the epilog of a command's help that shows ``commands``, a line each."""
    return EXAMPLES_TITLE + "\n".join(f"  {command}" for command in commands)


def whole(low: int, high: int) -> Callable[[str], int]:
    """Return the type of an argument that takes a whole number; argparse turns its error into wrong usage."""

    def number(text: str) -> int:
        if not text.isdecimal() or len(text) > _MAX_DIGITS or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{shortened(text, 40)!r} is not a whole number, {low:,} to {high:,}")
        return int(text)

    return number


positive = whole(1, 10_000_000)
"""A number of games, hands, deals or repetitions."""
parallel = whole(1, 1024)
"""A number of processes or threads."""
tables = whole(1, 65_536)
"""A number of games that are played at once; as of ``simulator.num_tables``."""
seed = whole(0, 2**62 - 1)
_MAX_SECONDS = 10_000_000


def seconds(text: str) -> float:
    """Return a time of 0 seconds or more, at most some months."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= _MAX_SECONDS:
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
        "--workers", type=parallel, default=usable_cores(), metavar="N", help="processes (default: one per core)"
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
