"""``suphx launch | jobs | status | logs | stop | resume | scale``: runs on a Kubernetes cluster."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from suphx_platform.commands.parsing import add_recipe, positive, seconds

if TYPE_CHECKING:
    from suphx_platform.cluster_api import ClusterApi
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console
    from suphx_platform.launcher import Launcher
    from suphx_platform.run_status import RunStatus

ROLES = ("submitter", "head", "simulator", "inference", "learner")
_WAIT_SECONDS = 600.0


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add all seven."""
    place = argparse.ArgumentParser(add_help=False)
    place.add_argument("--context", metavar="NAME", help="context of your kubeconfig (default: the current one)")
    place.add_argument("--namespace", metavar="NAME", help="namespace of the chart (default: that of the context)")
    parents = [options, place]
    _add_launch(commands, parents)
    jobs = commands.add_parser("jobs", parents=parents, help="list the runs of a cluster")
    jobs.set_defaults(execute=execute_jobs)
    _add(commands, parents, "status", "tell how a run on a cluster is, and what stands in its way", execute_status)
    logs = _add(commands, parents, "logs", "show what a run on a cluster prints", execute_logs)
    logs.add_argument("--role", choices=ROLES, default=ROLES[0], help="whose (default: the driver's, by its submitter)")
    logs.add_argument("-f", "--follow", action="store_true", help="and what it will print, until it has ended")
    logs.add_argument("--tail", type=positive, metavar="N", help="the last lines of each pod only")
    stop = _add(commands, parents, "stop", "save a run on a cluster, then end its pods", execute_stop)
    stop.add_argument("--now", action="store_true", help="without saving: it goes on from what it stored last")
    _add_wait(stop)
    _add_wait(_add(commands, parents, "resume", "have a stopped or failed run on a cluster go on", execute_resume))
    scale = _add(commands, parents, "scale", "change the number of simulator pods of a run", execute_scale)
    scale.add_argument("--simulators", type=positive, required=True, metavar="N", help="pods of the simulator group")


def _add_launch(commands: Subparsers, parents: list[argparse.ArgumentParser]) -> None:
    launch = commands.add_parser(
        "launch",
        parents=parents,
        help="start a recipe on a cluster",
        description="Start a recipe on a Kubernetes cluster with our chart. The same recipe is never started twice.",
    )
    add_recipe(launch)
    launch.add_argument("--preset", metavar="P", help="size of the cluster (default: that of the chart's values)")
    launch.add_argument("--release", metavar="NAME", help="installation of the chart, if there are several")
    launch.add_argument("--dry-run", action="store_true", help="have the cluster check the objects, and create nothing")
    launch.set_defaults(execute=execute_launch)


def _add(
    commands: Subparsers,
    parents: list[argparse.ArgumentParser],
    name: str,
    text: str,
    execute: Callable[[argparse.Namespace, Console], dict[str, object] | None],
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, parents=parents, help=text)
    parser.add_argument("run", metavar="RUN", help="id of the run, as launch and jobs print it")
    parser.set_defaults(execute=execute)
    return parser


def _add_wait(parser: argparse.ArgumentParser) -> None:
    text = f"how long at most (default: {_WAIT_SECONDS:.0f})"
    parser.add_argument("--wait", type=seconds, default=_WAIT_SECONDS, metavar="SECONDS", help=text)


def execute_launch(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Create the objects of a run; ValueError for a bad recipe, ClusterError for what the cluster refuses."""
    from suphx_pipelines.recipe import load_recipe
    from suphx_pipelines.recipe_file import to_table, to_toml, without
    from suphx_pipelines.recipe_kind import check_kind
    from suphx_platform.run_manifest import run_id_of, run_objects

    check_kind(args.recipe, "run")
    recipe = load_recipe(args.recipe, args.overrides)
    launcher, _ = _connect(args, console)
    run_id = run_id_of(recipe.name, without(to_table(recipe), recipe.free_keys))
    objects = run_objects(
        launcher.template(args.release),
        preset=args.preset,
        run_id=run_id,
        recipe=to_toml(recipe),
        overrides=args.overrides,
    )
    return _shown(launcher.launch(objects, is_dry=args.dry_run), console)


def execute_jobs(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Return all runs of the namespace."""
    launcher, _ = _connect(args, console)
    runs = launcher.runs()
    if console.is_json:
        return {"runs": [status.to_json() for status in runs]}
    return {"runs": {status.run_id: _line(status) for status in runs} or "none: suphx launch RECIPE starts one"}


def execute_status(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Return how a run is, with what can be seen of it in MLflow and in the storage."""
    from suphx_platform.run_traces import with_traces

    launcher, api = _connect(args, console)
    return _shown(with_traces(launcher.status(args.run), api.get("rayjobs", args.run)), console)


def execute_logs(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Print the lines; return the status only to scripts."""
    from suphx_platform.run_log import RunLog

    launcher, api = _connect(args, console)
    launcher.status(args.run)  # says so if there is no such run
    for line in RunLog(api, args.run, args.role).lines(follow=args.follow, tail=args.tail):
        console.line(line)
    return launcher.status(args.run).to_json() if console.is_json else None


def execute_stop(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Save and stop a run."""
    launcher, _ = _connect(args, console)
    return _shown(launcher.stop(args.run, saves=not args.now, seconds=args.wait), console)


def execute_resume(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Have a run go on."""
    launcher, _ = _connect(args, console)
    return _shown(launcher.resume(args.run, seconds=args.wait), console)


def execute_scale(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Change the number of simulator pods."""
    launcher, _ = _connect(args, console)
    return _shown(launcher.scale(args.run, simulators=args.simulators), console)


def _shown(status: RunStatus, console: Console) -> dict[str, object]:
    return status.to_json() if console.is_json else status.to_text()


def _line(status: RunStatus) -> str:
    problems = f", {len(status.problems)} problems" if status.problems else ""
    return f"{status.state}, {status.preset}, {status.to_text().get('pods', 'no pods')}{problems}"


def _connect(args: argparse.Namespace, console: Console) -> tuple[Launcher, ClusterApi]:
    from suphx_platform.cluster_api import ClusterApi  # half a second: only when it is needed
    from suphx_platform.launcher import Launcher

    api = ClusterApi(context=args.context, namespace=args.namespace)
    return Launcher(api, say=console.say), api
