"""The ``suphx`` command: parses arguments, runs one sub-command, turns errors into one line and an exit code.

Exit codes: 0 success, 1 failure, 2 wrong usage, 130 stopped with Ctrl-C. Sub-commands import what is heavy (torch,
numba, mlflow) only when they run, so that ``--help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib.metadata import version
from typing import NoReturn

from suphx_platform.commands import adapt, bench, cluster, evaluate, records, reference, run, tournament, ui, warmup
from suphx_platform.console import Console

COMMANDS = (run, ui, records, evaluate, tournament, adapt, reference, bench, warmup, cluster)
STOPPED = 130  # as shells report it


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    # Suppressed defaults, so that an option may stand before or behind the sub-command.
    options = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument("--json", action="store_true", help="print one JSON object as the last line on stdout")
    options.add_argument("--debug", action="store_true", help="show the traceback of an error")
    description = "Train, evaluate and inspect Suphx, a Riichi Mahjong agent."
    parser = _Parser(prog="suphx", description=description, parents=[options])
    parser.add_argument("--version", action="version", version=f"suphx {version('suphx')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_parser(commands, options)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; wrong usage raises SystemExit(2) as argparse does."""
    args = build_parser().parse_args(arguments, argparse.Namespace(json=False, debug=False))
    console = Console(is_json=args.json)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # `kill` ends a command as tidily as Ctrl-C
    try:
        with redirect_stdout(sys.stderr):
            result = args.execute(args, console)
        if result is not None:
            console.result(result)
    except KeyboardInterrupt:
        console.say("suphx: stopped")
        return STOPPED
    except Exception as error:  # noqa: BLE001 - the one edge where every error becomes one line
        if args.debug:
            traceback.print_exc()
        console.say(f"suphx: {describe(error)}")
        return 1
    return 0


def describe(error: Exception) -> str:
    """Return one line that says what went wrong, where, and what to do."""
    if isinstance(error, ValueError) or type(error).__module__.startswith("suphx"):
        text = str(error)
    elif isinstance(error, OSError):
        text = _describe_os_error(error)
    else:
        text = f"unexpected {type(error).__name__}: {error}; add --debug for the traceback"
    return " ".join(text.split())


def _describe_os_error(error: OSError) -> str:
    if error.filename is None:  # raised by our own code with the whole story as its text, or there is no more to say
        return error.strerror or str(error)
    remedy = _REMEDIES.get(type(error), "see that the disk has room and the folder can be written, then try again")
    return f"{error.strerror}: {error.filename}: {remedy}"


_REMEDIES: dict[type[OSError], str] = {
    FileNotFoundError: "check the path",
    NotADirectoryError: "name a folder",
    IsADirectoryError: "name a file",
    PermissionError: "choose a place that you may read and write",
    FileExistsError: "choose another name or remove it",
}


if __name__ == "__main__":
    sys.exit(main())
