"""``suphx ui``: MLflow's user interface over the local store of runs."""

from __future__ import annotations

import argparse
import socket
from typing import TYPE_CHECKING

from suphx_platform.commands.parsing import add_runs, port

if TYPE_CHECKING:
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``ui``."""
    parser = commands.add_parser("ui", parents=[options], help="open MLflow over the runs of this machine")
    parser.add_argument("--port", type=port, default=5000, metavar="N", help="port on 127.0.0.1 (default: 5000)")
    add_runs(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> None:
    """Serve until Ctrl-C; ValueError if there is no store or the port is taken."""
    from suphx_platform.tracking_ui import serve_ui

    _check_free(args.port)
    with serve_ui(args.runs, args.port) as process:
        console.result({"url": f"http://127.0.0.1:{args.port}"})
        console.say("Ctrl-C stops it")
        exit_code = process.wait()
    raise ChildProcessError(f"MLflow's server stopped by itself with exit code {exit_code}: see its lines above")


def _check_free(number: int) -> None:
    with socket.socket() as probe:
        # As the server itself does: a port whose last user has just gone is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
        except OSError as error:
            raise ValueError(f"port {number} of 127.0.0.1 cannot be used ({error.strerror}): try --port") from error
