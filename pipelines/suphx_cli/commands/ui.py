"""``suphx ui``: MLflow's user interface, opened at the list of runs or at one run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx_cli.arguments import add_command, any_port, check_port, free_port

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

_PAGE = """
ui: show runs, figures and models in MLflow

Start the MLflow UI on 127.0.0.1, print its link, and serve it until Ctrl-C. If MLFLOW_TRACKING_URI names a server
(http:// or https://), print the link to it and exit.

[RUN_ID]  the run to open (default: the list of runs)
--port N  port on 127.0.0.1; 0 is any free port (default: 0)
--runs
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``ui``."""
    add_command(commands, options, _PAGE, execute, needs=("mlflow",), port={"type": any_port, "default": 0})


def execute(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Serve until Ctrl-C; ValueError if there is no store or no such run, or if the port is in use.

    Also if MLFLOW_TRACKING_URI names a store that is not a server, which ``mlflow ui`` shows.
    """
    check_port(args.port)
    with console.activity("importing"):
        from suphx_pipelines.runs.run_summary import end_abandoned
        from suphx_platform.tracking.tracking import TrackingStore
        from suphx_platform.tracking.tracking_ui import check_own, page_address, serve_ui, wait_for_ui

    store = TrackingStore(args.runs)
    if store.is_server:
        return {"url": page_address(store, store.uri, args.run_id)}
    check_own(store)
    number = args.port or free_port()
    with serve_ui(args.runs, number) as process:
        address = page_address(store, f"http://127.0.0.1:{number}", args.run_id)
        for name in end_abandoned(args.runs, store):
            console.say(f"the process of run {name} no longer exists: the run is marked as killed in MLflow")
        with console.activity("starting MLflow"):
            wait_for_ui(process, number)
        console.result({"url": address})
        console.say("The page is served to this machine only. Press Ctrl-C to stop.")
        exit_code = process.wait()
    raise ChildProcessError(f"the MLflow server ended with exit code {exit_code}; its error is printed above")
