"""The ``suphx`` command: parses arguments, runs one sub-command, turns errors into one line and an exit code.

Exit codes: 0 success, 1 failure, 2 wrong usage, 130 stopped with Ctrl-C, 141 the output's reader has closed its pipe.
This module imports next to nothing, so that Ctrl-C during the imports is one line too. Sub-commands import what is
heavy (torch, numba, mlflow) only after they have checked their arguments.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from typing import TypeGuard

    from suphx_platform.console.console import Console

STOPPED = 130  # as shells report it
PIPE_CLOSED = 141
WRONG_USAGE = 2  # as argparse has it


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    from suphx_cli.command_parser import new_parser

    return new_parser()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code; wrong usage raises SystemExit(2) as argparse does."""
    # Python's last collection visits all objects of torch, ray and mlflow, which takes seconds: a person whose command
    # says "stopped" would wait for it.
    atexit.register(gc.freeze)
    try:
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # the caller has closed it (``>&-``)
                setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - pathlib takes time
        try:
            return _run(sys.argv[1:] if arguments is None else arguments)
        finally:
            sys.stdout.flush()  # here, so that a closed pipe is noticed in this function
    except KeyboardInterrupt:
        print("suphx: stopped", file=sys.stderr, flush=True)
        return STOPPED
    except ModuleNotFoundError as error:
        if not _is_missing_extra(error):
            raise
        print(f"suphx: {describe(error)}", file=sys.stderr, flush=True)
        return WRONG_USAGE
    except OSError as error:
        from suphx_platform.console.console import is_lost_output, silence_output

        if not is_lost_output(error):
            raise
        silence_output()
        return PIPE_CLOSED


def _run(arguments: Sequence[str]) -> int:
    import argparse

    from suphx_platform.console.console import Console
    from suphx_platform.console.stop_request import take_interrupts

    take_interrupts()
    parser = build_parser()
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what may follow
        from suphx_cli.completion import answer_shell

        answer_shell(parser)
    if not arguments:
        parser.print_help()
        return 0
    args = parser.parse_args(arguments, argparse.Namespace(json=False, debug=False, verbosity="normal", needs=()))
    return _execute(args, Console(is_json=args.json, verbosity=args.verbosity))


def _execute(args: argparse.Namespace, console: Console) -> int:
    from contextlib import redirect_stdout

    from suphx.extras import need
    from suphx_platform.console.console import logged_to

    try:
        with redirect_stdout(sys.stderr), logged_to(console):
            need(*args.needs)
            result = args.execute(args, console)
        if result is not None:
            console.result(result)
    except Exception as error:
        from suphx_cli.arguments import UsageError
        from suphx_platform.console.console import is_lost_output

        if is_lost_output(error):
            raise
        if args.debug:
            import traceback

            console.error(traceback.format_exc().rstrip())
        console.error(f"suphx: {describe(error)}")
        return WRONG_USAGE if isinstance(error, UsageError) or _is_missing_extra(error) else 1
    return 0


def describe(error: Exception) -> str:
    """Return one line that says what went wrong, where, and what to do."""
    if _is_missing_extra(error):
        from suphx.extras import needs

        text = needs(str(error.name).partition(".")[0])
    elif isinstance(error, ValueError) or type(error).__module__.startswith("suphx"):
        text = str(error)
    elif isinstance(error, OSError) and error.filename is None:  # our own code's message, or no more is known
        text = error.strerror or str(error)
    elif isinstance(error, OSError):
        remedy = _REMEDIES.get(type(error), "check that the disk has free space and the folder is writable, then retry")
        text = f"{error.strerror}: {error.filename}: {remedy}"
    else:
        text = f"unexpected {type(error).__name__}: {error}; add --debug for the traceback"
    return " ".join(text.split())


def _is_missing_extra(error: Exception) -> TypeGuard[ModuleNotFoundError]:
    """Tell whether a package of an extra is not installed."""
    from suphx.extras import EXTRA_OF

    return isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] in EXTRA_OF


_REMEDIES: dict[type[OSError], str] = {
    FileNotFoundError: "check the path",
    NotADirectoryError: "name a folder",
    IsADirectoryError: "name a file",
    PermissionError: "choose a place that you can read and write",
    FileExistsError: "choose another name or remove it",
}


if __name__ == "__main__":
    sys.exit(main())
