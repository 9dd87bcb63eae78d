"""Manual pages of commands as parsers, the types of values, and checks that several commands share."""

from __future__ import annotations

import argparse
import math
import re
import shlex
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from suphx.file_tree import has_files_below
from suphx.models.net_config import Size
from suphx.printable_text import shortened
from suphx.suggestion import did_you_mean
from suphx.usable_cores import usable_cores

if TYPE_CHECKING:
    from suphx_platform.console.console import Console

    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]
    Execute: TypeAlias = Callable[[argparse.Namespace, Console], Mapping[str, object] | None]

# As features/encoder.py defines them, which takes seconds to import; a test compares the two.
ENCODERS = ("mini", "suphx", "suphx-plain")
SIZES = get_args(Size)
DEFAULT_RUNS = Path("runs")
LEARNING = ("mlflow", "torch")
"""What commands need that train or compare nets and track it."""
EXAMPLES_TITLE = "examples:\n"
_HOST = "127.0.0.1"
_MAX_DIGITS = 20
_MAX_SECONDS = 10_000_000


class UsageError(ValueError):
    """An option has a wrong value, or does not fit the others."""


@contextmanager
def checked_options() -> Iterator[None]:
    """Raise the ValueError of a check of options alone as UsageError."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error


# Types of values: argparse turns their errors into wrong usage.


def whole(low: int, high: int) -> Callable[[str], int]:
    """Return the type of an argument that takes a whole number."""

    def number(text: str) -> int:
        if not text.isdecimal() or len(text) > _MAX_DIGITS or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{shortened(text, 40)!r} is not a whole number, {low:,} to {high:,}")
        return int(text)

    return number


positive = whole(1, 10_000_000)
"""A number of games, hands, deals or repetitions."""
parallel = whole(1, 1024)
"""A number of processes or threads."""
seed = whole(0, 2**62 - 1)


def seconds(text: str) -> float:
    """Return a time of 0 seconds (or hours) or more, at most some months."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= _MAX_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time: use a number from 0 on, such as 0.5")
    return value


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


# Parsers from manual pages

_TYPES: dict[str | None, Callable[[str], Any]] = {
    **dict.fromkeys(("DIR", "FILE", "FOLDER", "IN", "OUT", "PATH", "RECIPE", "RECORD"), Path),
    **{"N": positive, "S": seed, "SECONDS": seconds, "T": seconds, "H": seconds, "KEY=VALUE": assignment},
}
"""Types of values by their metavar, which is also the kind that a shell completes; others are texts."""
_SHARED = """\
RECIPE            name of a recipe (`suphx recipes` lists them), or a TOML file
--set KEY=VALUE   change one value, in TOML syntax: net.size=small, 'reinforcement.heads=["discard", "riichi"]'
--workers N       processes (default: one per core)
--runs DIR        folder of runs (default: runs)
--wait-hours H    if MLflow or the storage does not answer at the start, try again for this long, as the chart's runs
                  do (default: 0, an error)
--dry-run         check the recipe, its keys and the options, and start nothing
"""
_SHARED_SETTINGS: dict[str, Any] = {
    "set": {"action": "append", "default": [], "dest": "overrides"},
    "workers": {"type": parallel, "default": usable_cores()},
    "runs": DEFAULT_RUNS,
    "wait_hours": 0.0,
}
_ARGUMENT = re.compile(r"(\| )?(-[\w-]+(?:, -[\w-]+)*|\[?[A-Z_]+\]?…?)(?: (\S+))?(?:  +(.*))?")


def add_command(
    commands: Subparsers,
    options: argparse.ArgumentParser | None,
    page: str,
    execute: Execute | None,
    *,
    needs: Any = (),
    **settings: Any,
) -> argparse.ArgumentParser:
    """Add the command of a manual page: ``NAME: help``, a description, a line for each argument, and examples.

    A longer text of an argument continues in indented lines. ``| `` marks arguments that exclude each other, ``…`` one
    that is repeated, ``[VALUE]`` one that may be omitted. An argument without a text is one of ``_SHARED``.

    ``needs``: modules of an extra (suphx/extras.py) without which the command does nothing.
    ``settings``: by the name of an argument, its default, or a mapping of what argparse needs of it. An argument
    without VALUE and ``choices`` is a switch; other types than those of ``_TYPES`` are among its settings.
    """
    name, _, rest = page.strip().partition(": ")
    help_text, *parts = rest.split("\n\n")
    epilog = parts.pop() if parts and parts[-1].startswith(EXAMPLES_TITLE) else None
    arguments = parts.pop() if parts and re.match(r"\| |-|[A-Z_\[\]…]+(  |\n|$)", parts[-1]) else ""
    description = " ".join(" ".join(parts).split()) or f"{help_text[:1].upper()}{help_text[1:]}."
    parents = [options] if options else []
    parser = commands.add_parser(name, parents=parents, help=help_text, description=description, epilog=epilog)
    add_arguments(parser, arguments, settings)
    if execute is not None:
        defaults = {action.dest: action.default for action in parser._actions}
        parser.set_defaults(execute=execute, defaults=defaults, needs=needs)
    return parser


def add_group(commands: Subparsers, page: str) -> Subparsers:
    """Add a command that has sub-commands, and return what adds these."""
    parser = add_command(commands, None, page, None)
    return parser.add_subparsers(title="commands", metavar="COMMAND", required=True)


def add_arguments(parser: argparse.ArgumentParser, text: str, settings: Mapping[str, Any]) -> None:
    """Add the arguments of a manual page, as ``add_command`` does."""
    shared = {line.split()[0]: line for line in _joined(_SHARED)}
    group: argparse._MutuallyExclusiveGroup | None = None
    for line in _joined(text):
        found = _ARGUMENT.fullmatch(shared.get(line, line))
        assert found is not None, line
        bar, names, metavar, help_text = found.groups()
        flags = names.split(", ") if names.startswith("-") else []
        dest = next((each for each in flags if each.startswith("--")), names).strip("-[]…").replace("-", "_").lower()
        given = settings.get(dest, _SHARED_SETTINGS.get(dest, {}) if line in shared else {})
        values = dict(given) if isinstance(given, Mapping) else {"default": given}
        value = metavar if flags else names
        if value is not None:
            metavar = value[1:-1] if value[0] == "[" else value.rstrip("…")
            values.update({"nargs": "?"} if value[0] == "[" else {"nargs": "+"} if value[-1] == "…" else {})
            values = {"type": _TYPES.get(metavar, str), "metavar": metavar} | values
        elif not values.keys() & {"choices", "action"}:
            values["action"] = "store_true"
        if not flags:
            values.setdefault("dest", dest)
        group = (group or parser.add_mutually_exclusive_group()) if bar else None
        (group or parser).add_argument(*flags, help=help_text, **values)


def _joined(text: str) -> list[str]:
    return re.sub(r"\n +", " ", text).splitlines()


# Checks before the work


def given_options(args: argparse.Namespace, names: Iterable[str]) -> list[str]:
    """Return those of these options that do not have their defaults."""
    return [f"--{name.replace('_', '-')}" for name in names if getattr(args, name) != args.defaults[name]]


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


def check_output_file(path: Path, sources: Iterable[Path], option: str = "--out") -> None:
    """Raise ValueError if ``path`` cannot be written as a file or would replace one of the records ``sources``.

    Its folder may be missing and is left as it was.
    """
    if path.is_dir():
        raise ValueError(f"{option} is {path}, which is a folder: name a file in it")
    check_output_folder(path.parent, option)
    if path.resolve() in {source.resolve() for source in sources}:
        raise ValueError(f"{option} is {path}, which is one of the records: name another file")


def check_source_of_runs(folder: Path) -> None:
    """Raise ValueError if a folder of runs, in which agents are looked up, is named and is not there."""
    if not folder.is_dir() and (folder.exists() or folder != DEFAULT_RUNS):
        raise ValueError(f"--runs is {folder}, which is not a folder: name your folder of runs")


@contextmanager
def local_agent(address: str, runs: Path, game: str) -> Iterator[str]:
    """Yield the address of an agent on this machine: nets that are elsewhere are copied here for the block.

    ValueError if there is nothing of that name.
    """
    from suphx_platform.agents.agent_source import AgentSource
    from suphx_platform.tracking.mlflow_store import MlflowStore

    with TemporaryDirectory(prefix="suphx-agent-") as space:
        yield AgentSource(MlflowStore(runs)).fetch(address, Path(space) / "agent", game)


def check_records(path: Path, option: str = "--records") -> None:
    """Raise ValueError if ``path`` does not exist or is a folder without any file."""
    if not path.exists():
        names = [str(each) for each in path.parent.iterdir()] if path.parent.is_dir() else []
        hint = did_you_mean(str(path), names)
        raise ValueError(f"{path}: no such file or folder of records: {hint}check {option}")
    if path.is_dir() and not has_files_below(path):
        raise ValueError(f"{path} is an empty folder: put game records there, or check {option}")


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
