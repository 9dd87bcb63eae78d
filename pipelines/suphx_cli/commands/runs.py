"""``suphx runs list | show | compare | replay | stop | send | delete``: the runs in the folder of runs."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_cli.arguments import DEFAULT_RUNS, UsageError, add_command, add_group, check_output_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from suphx_cli.arguments import Subparsers
    from suphx_pipelines.runs.run_summary import RunSummary
    from suphx_platform.cluster.run_attempts import StopOutcome
    from suphx_platform.console.console import Console

_RUNS = """
runs: list, show, compare, stop or delete runs on this machine, or replay games of a tournament

Work with the folders of runs on this machine, which `suphx run` and `suphx tournament` write. For runs that `suphx
launch` started on a cluster: `suphx jobs`, status, logs, stop, resume, delete.

examples:
  suphx runs list
  suphx runs show laptop-1f2e3d4c5b
  suphx runs compare laptop-1f2e3d4c5b laptop-6a7b8c9d0e
  suphx runs replay nightly-4a5b6c7d8e --wall 3 --to games
  suphx runs replay doudizhu_tournament-9e8d7c6b5a --deck 3 --to games
  suphx runs stop laptop-1f2e3d4c5b
  suphx runs send laptop-1f2e3d4c5b
  suphx runs delete laptop-1f2e3d4c5b
"""
_LIST = """
list: list the runs on this machine, newest first

List the runs in the folder of runs on this machine, newest first. For runs on a cluster: `suphx jobs`.

--runs
"""
_SHOW = """
show: show one run: stages, metrics, report, next command

RUN  id of a run, or its folder
--runs
"""
_COMPARE = """
compare: show the settings that differ between runs, and their metrics

RUN…  id of a run, or its folder; two or more
--runs
"""
_REPLAY = """
replay: play games of a finished tournament again and keep their records

Play the games on a wall (in a game of two sides: a deck) of a finished tournament again, with the nets of that night,
and write their records. Exit code 1: a game ended differently.

RUN               id of a run, or its folder, of a tournament
--wall, --deck N  number of the wall or deck in that night, from 1 on; may be repeated
--to FOLDER       folder for the records, one file a wall or deck
--runs
"""
_STOP = """
stop: save a run on this machine and stop it

Ask the process on this machine that works on a run to save and end (SIGTERM), and wait for that. The command that
started the run continues it. For a run on a cluster: `suphx stop`.

RUN             id of a run, or its folder
--wait SECONDS  maximum time to wait (default: 600)
--runs
"""
_SEND = """
send: send to MLflow the messages of a run that it has not received

Send to MLflow the messages of a run that it has not received: those that wait since an outage, and those that it
refused, for example because of an error of the server that is fixed now. Exit code 1: it refuses some.

RUN  id of a run, or its folder
--runs
"""
_DELETE = """
delete: delete runs on this machine: their folders and their metrics in MLflow

Delete the folders of runs and their metrics in the MLflow store of --runs. Stages that other runs reuse are kept there.
Checkpoints in a bucket and metrics on an MLflow server are not deleted. For a run on a cluster: `suphx delete`.

RUN…       id of a run, or its folder
-y, --yes  delete without asking
--runs
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``runs`` with its sub-commands."""
    verbs = add_group(commands, _RUNS)
    add_command(verbs, options, _LIST, execute_list)
    add_command(verbs, options, _SHOW, execute_show)
    add_command(verbs, options, _COMPARE, execute_compare, run={"dest": "runs_compared"})
    wall = {"action": "append", "required": True}
    add_command(verbs, options, _REPLAY, execute_replay, wall=wall, to={"required": True})
    add_command(verbs, options, _STOP, execute_stop, wait=600.0)
    add_command(verbs, options, _SEND, execute_send)
    add_command(verbs, options, _DELETE, execute_delete, run={"dest": "runs_deleted"})


def execute_list(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Print a table of all runs; ValueError if there is no folder of runs."""
    from suphx_pipelines.runs.run_list import list_runs
    from suphx_platform.console.table_text import duration_text, wrapped_table

    entries = list_runs(args.runs)
    if console.is_json:
        return {"runs": [entry.to_json() for entry in entries]}
    if not entries:
        console.line(f"no runs in {args.runs} yet: `suphx run laptop` starts one")
        return None
    rows = []
    for entry in entries:
        has_error = entry.error and entry.state in ("failed", "damaged")
        outcome = entry.verdict or (f"{entry.state}: {entry.error}" if has_error else "")
        rows.append((entry.run_id, entry.state, _local(entry.started), duration_text(entry.seconds), outcome))
    for line in wrapped_table(("run", "state", "started", "time", "verdict"), rows):
        console.line(line)
    return None


def execute_show(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Print all about one run; ValueError if there is no such run."""
    from suphx_pipelines.runs.run_list import find_run
    from suphx_pipelines.runs.run_summary import headlines
    from suphx_platform.console.table_text import duration_text, result_lines, value_text, wrapped_table

    run = find_run(args.runs, args.run)
    report = None if run.report is None else str(run.report)
    next_commands = _next_commands(run, args.runs)
    # none runs in a run that does not
    states = {name: run.state if each.status == "running" else each.status for name, each in run.stages.items()}
    if console.is_json:
        stages = {
            name: {"status": states[name], "seconds": stage.seconds, "metrics": stage.metrics}
            for name, stage in run.stages.items()
        }
        return {**run.to_json(), "stages": stages, "report": report, "next": next_commands}
    facts = {
        "run_id": run.run_id,
        "recipe": run.recipe,
        "state": run.state,
        "started": _local(run.started),
        "time": duration_text(run.seconds),
        "machine": run.machine or None,
        "command": shlex.join(run.command) or None,
        "verdict": run.verdict,
        "error": run.error,
        "report": report,
    }
    rows = []
    for name, stage in run.stages.items():
        figures = value_text("figures", headlines(name, stage.metrics))
        rows.append((name, str(states[name]), value_text("seconds", stage.seconds), figures))
    table = wrapped_table(("stage", "status", "time", "metrics"), rows)
    warnings = [f"warning: {warning}" for warning in run.warnings]
    for line in [*result_lines(facts), *warnings, "", *table, "", *(f"Next: {each}" for each in next_commands)]:
        console.line(line)
    return None


def execute_replay(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Play games again; ValueError if the run is not a finished tournament, for a wrong wall, or if a game differs."""
    from suphx_pipelines.runs.run_list import find_run

    folder = find_run(args.runs, args.run).folder
    check_output_folder(args.to, "--to")
    with console.activity("importing"):
        from suphx_pipelines.tournament.replay import replay_games
        from suphx_platform.console.table_text import wrapped_table
    columns, games = replay_games(folder, args.wall, args.to, console)
    differing = sum(not game.is_same for game in games)
    if console.is_json:
        console.result({"games": [asdict(game) for game in games], "differences": differing, "records": str(args.to)})
    else:
        rows = [
            (str(game.wall), *map("{}: {}".format, game.agents, game.places), "yes" if game.is_same else "no")
            for game in games
        ]
        for line in wrapped_table((*columns, "same again"), rows):
            console.line(line)
        console.line(f"Watch the first one: {shlex.join(['suphx', 'view', str(args.to)])}")
    if differing:
        raise ValueError(f"{differing} of {len(games)} games ended differently: the nets or the code have changed")
    return None


def execute_compare(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Print differences side by side; UsageError for fewer than two runs, ValueError for one that does not exist."""
    from suphx_pipelines.runs.run_list import find_run
    from suphx_pipelines.runs.run_summary import headlines
    from suphx_platform.console.table_text import text_table

    entries = _different([find_run(args.runs, name) for name in args.runs_compared])
    if len(entries) < 2:
        raise UsageError("one run cannot be compared: name two or more different runs")
    settings = _side_by_side([entry.settings() for entry in entries])
    settings = {key: values for key, values in settings.items() if any(each != values[0] for each in values)}
    measured = [entry.metrics for entry in entries]
    names = [entry.run_id for entry in entries]
    if console.is_json:
        return {"runs": names, "settings": settings, "metrics": _side_by_side(map(_flat, measured))}
    if console.verbosity != "verbose":
        measured = [{name: headlines(name, figures) for name, figures in stages.items()} for stages in measured]
    facts: dict[str, list[object]] = {
        "state": [entry.state for entry in entries],
        "seconds": [entry.seconds for entry in entries],
    }
    for title, table in (("run", facts), ("setting", settings), ("figure", _side_by_side(map(_flat, measured)))):
        rows = [
            ("time" if key == "seconds" else key, *(_compared_text(title, key, value) for value in values))
            for key, values in table.items()
        ]
        for line in [*text_table((title, *names), rows), *([] if rows else [f"  no {title} differs"]), ""]:
            console.line(line)
    return None


def _side_by_side(tables: Iterable[Mapping[str, object]]) -> dict[str, list[object]]:
    """Return key -> its value in each table, None where it has none."""
    kept = list(tables)
    return {key: [table.get(key) for table in kept] for key in dict.fromkeys(key for table in kept for key in table)}


def _flat(metrics: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {f"{stage}.{name}": value for stage, figures in metrics.items() for name, value in figures.items()}


def _compared_text(title: str, key: str, value: object) -> str:
    """Return a value of the table ``title``: settings as a recipe writes them, results with their units."""
    from suphx_platform.console.table_text import value_text

    if value is None:
        return "-"
    if title != "setting":
        return value_text(key.rpartition(".")[2], value) or "-"
    is_plain = isinstance(value, str) and value.isprintable() and value
    return str(value) if is_plain else json.dumps(value, ensure_ascii=False, default=str)


_NOT_SAVED: Mapping[StopOutcome | None, str] = {
    "failed": "ended with an error: see suphx runs show {run}",
    "killed": "was killed before it had saved: it continues from its last save",
    "unsaved": "is still saving: repeat the command to wait longer, or end it with kill -9, without saving",
}
"""How a request to stop can end without what was asked for; {run}: the id of the run."""


def execute_stop(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Stop a run; ValueError if its process did not save: it failed, was killed, or takes longer than ``--wait``."""
    from suphx_pipelines.runs.run_list import find_run, stop_run

    entry = find_run(args.runs, args.run)
    with console.activity(f"{entry.run_id} saves its state"):
        outcome = stop_run(entry.folder, seconds=args.wait)
    entry = find_run(args.runs, args.run)
    if outcome is None and entry.state == "running":
        raise ValueError(f"{entry.run_id} is running on another machine: stop it there")
    if outcome in _NOT_SAVED:
        raise ValueError(f"{entry.run_id} {_NOT_SAVED[outcome].format(run=entry.run_id)}")
    if console.is_json:
        return {"run_id": entry.run_id, "state": entry.state, "outcome": outcome}
    what = {None: f"does not run, it is {entry.state}", "saved": "is stopped and saved"}
    console.line(f"{entry.run_id} {what.get(outcome, 'finished before it was stopped')}")
    for line in _next_commands(entry, args.runs):
        console.line(line)
    return None


def execute_send(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Send what MLflow has not received; ValueError if it refuses some, OSError if it is unavailable."""
    from suphx_pipelines.runs.run_list import find_run_folder
    from suphx_platform.console.table_text import count_text
    from suphx_platform.tracking.tracking import TrackingStore

    folder = find_run_folder(args.runs, args.run).resolve()
    with console.activity("sending messages to MLflow"):
        number, left = TrackingStore(folder.parent).send_refused(folder.name)
    if left:
        raise ValueError(
            f"MLflow has not taken {left} of {count_text(number, 'message')} of {folder.name}, which are kept: the "
            "warnings above give the reasons"
        )
    if console.is_json:
        return {"run_id": folder.name, "sent": number}
    console.line(f"{count_text(number, 'message')} of {folder.name} sent to MLflow")
    return None


def execute_delete(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Delete runs after a question; ValueError for one that does not exist or is running, before any is deleted."""
    from suphx_pipelines.runs.run_list import check_is_run, delete_run, find_run_folder, freed_bytes, run_entry
    from suphx_pipelines.runs.run_lock import is_locked
    from suphx_platform.console.table_text import bytes_text, count_text

    runs = args.runs.resolve()  # now: the working directory may be deleted with a run
    folders = [find_run_folder(args.runs, name) for name in args.runs_deleted]
    entries = _different([run_entry(folder) for folder in folders])
    for entry in entries:
        check_is_run(entry.folder)
        if is_locked(entry.folder):
            raise ValueError(
                f"{entry.run_id} is running: stop it first (suphx runs stop {entry.run_id}); nothing was deleted"
            )
    sizes = [freed_bytes(entry.folder) for entry in entries]
    for entry, size in zip(entries, sizes, strict=True):
        console.say(f"{entry.folder}: {entry.state}, started {_local(entry.started)}, {bytes_text(size)}")
    if not args.yes:
        if not sys.stdin.isatty():
            raise ValueError("cannot ask for confirmation without a terminal: add --yes; nothing was deleted")
        which = "this run" if len(entries) == 1 else f"these {len(entries)} runs"
        print(f"Delete {which}? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise ValueError("nothing was deleted")
    own: list[str] = []
    deleted_ids: list[str] = []
    try:
        for entry in entries:
            target = entry.folder.resolve()  # the folder may be a link; its names in ``runs``
            places = [(target.parent, target.name), (entry.folder.parent.resolve(), entry.folder.name)]
            called = [name for parent, name in places if parent == runs][:1]
            delete_run(entry.folder)
            own += called
            deleted_ids.append(entry.run_id)
        for link in filter(Path.is_symlink, folders):  # a run may be named by several
            link.unlink()
    except (ValueError, OSError):
        if deleted_ids:
            console.warn(f"deleted before this error: {', '.join(deleted_ids)}")
        raise
    finally:
        in_mlflow, about_mlflow = _delete_in_mlflow(runs, own, console)
    names = [entry.run_id for entry in entries]
    if console.is_json:
        return {"deleted": names, "freed_bytes": sum(sizes), "deleted_in_mlflow": in_mlflow}
    deleted = count_text(len(entries), "run was", "runs were")
    console.line(f"{deleted} deleted, {bytes_text(sum(sizes))} freed. {about_mlflow}".rstrip())
    return None


def _different(entries: Sequence[RunSummary]) -> list[RunSummary]:
    """Return the runs without those that were named twice, as by name and by folder."""
    return list({entry.folder.resolve(): entry for entry in entries}.values())


def _delete_in_mlflow(runs: Path, names: Sequence[str], console: Console) -> tuple[list[str], str]:
    """Delete metrics in the folder's own MLflow store, no other; return the runs that had any, and a sentence."""
    from suphx_platform.tracking.mlflow_client import TrackingError
    from suphx_platform.tracking.mlflow_store import MlflowStore

    store = MlflowStore(runs)
    if store.is_server:
        return [], f"Figures on the MLflow server {store.uri} are kept."
    if store.is_elsewhere:
        return [], f"Figures in the MLflow store {store.uri}, which MLFLOW_TRACKING_URI names, are kept."
    if not store.is_there:
        return [], ""
    try:
        with console.activity("deleting metrics in MLflow"):
            deleted = [name for name in names if store.delete(name)]
    except TrackingError as error:
        console.warn(f"the metrics in MLflow were not deleted: {error}")
        return [], ""
    return deleted, "The metrics in MLflow were deleted too." if deleted else ""


def _next_commands(entry: RunSummary, runs: Path) -> list[str]:
    """Return what one wants to do next: continue a run that is not finished, look at one that is."""
    if entry.folder.parent.resolve() != runs.resolve():  # RUN is a folder
        runs = entry.folder.parent
    place = [] if runs == DEFAULT_RUNS else ["--runs", str(runs)]
    if entry.state in ("interrupted", "failed"):
        has_folder = any(word.partition("=")[0] == "--runs" for word in entry.command)
        return [shlex.join([*entry.command, *([] if has_folder else place)])] if entry.command else []
    from suphx_pipelines.runs.run_commands import agent_commands, program_name

    commands = [[program_name(), "ui", entry.run_id, *place]]
    if entry.state == "finished":
        commands += agent_commands(entry.folder).values()
    return [shlex.join(command) for command in commands]


def _local(started: str) -> str:
    """Return a time as the clock on the wall shows it, to the minute."""
    try:
        return f"{datetime.fromisoformat(started).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return started
