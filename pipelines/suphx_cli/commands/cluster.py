"""``suphx launch | jobs | status | logs | stop | resume | delete``: runs on a Kubernetes cluster."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from suphx_cli.arguments import UsageError, add_arguments, add_command
from suphx_platform.cluster.cluster_error import ClusterError

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.cluster.launcher import Launcher
    from suphx_platform.cluster.run_status import RunStatus
    from suphx_platform.console.console import Console

ROLES = ("submitter", "head", "simulator", "inference", "learner")
DRY_RUNS = ("client", "server")
_PLACE_OPTIONS = """\
--context NAME    context of your kubeconfig (default: the current one)
--namespace NAME  namespace of the chart (default: the context's namespace)
"""
_RUN = "RUN  id of the run; `suphx jobs` lists them"
_WAIT = "--wait SECONDS  maximum time to wait for the cluster (default: 600)"
_LAUNCH = """
launch: start a recipe on a cluster

Run a recipe as a RayJob on a Kubernetes cluster, with the settings of the installed Helm chart. Launching a recipe that
is already running does not start it again. A tournament needs a chart with nightly.workers.

RECIPE
--set
--preset P        size of the run's cluster (default: the chart's value `preset`)
--release NAME    name of the Helm release, if the namespace has several
--dry-run [client|server]  create nothing. client: print the objects as YAML, which needs the program helm, but no
                  cluster; server (default): let the API server check them
--values FILE     values file of the chart for --dry-run=client (default: the chart's own values)
--replace         a tournament only: first delete the RayJobs of its other nights, which are stopped if they still run
-f, --follow      print the log and return when the run has ended
--rm              with --follow: delete the run from the cluster after it has succeeded
--wait SECONDS    maximum time to wait for other nights to end (--replace) and, with --follow, for an API server that
                  does not answer (default: 600)
"""
_JOBS = """
jobs: list the runs on a cluster

List the runs in a namespace of a cluster, each of which is a RayJob. For runs on this machine: `suphx runs list`.
"""
_STATUS = f"""
status: show the state of a run on a cluster

Show the state of a run, its pods by role, its attempts, and its problems with a next step for each. Metrics are shown
if MLFLOW_TRACKING_URI is set, the last checkpoint if this machine can read the storage, and why attempts have failed if
it can read one of the two.

{_RUN}
"""
_LOGS = f"""
logs: print the log of a run on a cluster

Print the log of a run: the driver's, which the submitter pod prints, or that of the pods of another role. The pods of a
failed attempt are deleted: `suphx status` shows why it has failed.

{_RUN}
--role          role of the pods (default: submitter)
-f, --follow    keep printing new lines until the run ends
--tail N        print only the last N lines of each pod
--wait SECONDS  with --follow: maximum time to wait for an API server that does not answer (default: 600)
"""
_STOP = f"""
stop: save a run on a cluster and stop it

Save the state of a run on a cluster, then delete its RayJob and its pods; its recipe is kept. The command returns when
all pods have terminated, and fails if the run did not save. `suphx resume` continues the run. For a run on this
machine: `suphx runs stop`.

{_RUN}
--now  do not save; training since the last checkpoint is lost
{_WAIT}
"""
_RESUME = f"""
resume: resume a stopped or failed run on a cluster

Resume a stopped or failed run from its last checkpoint, after all pods of the last attempt have terminated.

{_RUN}
{_WAIT}
"""
_DELETE = f"""
delete: delete a run from a cluster

Save the state of a run that is running, as `suphx stop` does, then delete its RayJob, its pods and its recipe. The
command returns when all pods have terminated. Checkpoints and metrics are kept. For a run on this machine: `suphx runs
delete`.

{_RUN}
-y, --yes  delete without asking
--now      do not save; training since the last checkpoint is lost
--force    also remove the finalizer; only if no KubeRay operator runs
{_WAIT}
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add all seven."""
    place = argparse.ArgumentParser(add_help=False, parents=[options])
    add_arguments(place, _PLACE_OPTIONS, {})
    dry_run = {"type": _dry_run, "const": "server", "metavar": "client|server"}
    needs = ("kubernetes",)
    add_command(commands, place, _LAUNCH, execute_launch, dry_run=dry_run, wait=600.0)
    add_command(commands, place, _JOBS, execute_jobs, needs=needs)
    add_command(commands, place, _STATUS, execute_status, needs=needs)
    add_command(
        commands, place, _LOGS, execute_logs, needs=needs, role={"choices": ROLES, "default": ROLES[0]}, wait=600.0
    )
    add_command(commands, place, _STOP, execute_stop, needs=needs, wait=600.0)
    add_command(commands, place, _RESUME, execute_resume, needs=needs, wait=600.0)
    add_command(commands, place, _DELETE, execute_delete, needs=needs, wait=600.0)


def _dry_run(text: str) -> str:
    if text not in DRY_RUNS:
        raise argparse.ArgumentTypeError(f"{text!r} is neither client nor server: write --dry-run=server or =client")
    return text


def execute_launch(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Create the objects of a run.

    UsageError for options that do not fit, ValueError for a wrong recipe, ClusterError for what the cluster refuses.
    """
    if args.values is not None and args.dry_run != "client":
        raise UsageError("--values belongs to --dry-run=client: a cluster has the values of its helm install")
    if args.rm and not args.follow:
        raise UsageError("--rm deletes the run when it has ended: add --follow")
    if args.follow and args.dry_run:
        raise UsageError("--follow waits for a run, and --dry-run creates none: use one of them")
    if args.replace and args.dry_run:
        raise UsageError("--replace deletes RayJobs, and --dry-run changes nothing: use one of them")
    from suphx_pipelines import cluster_runs

    if args.dry_run == "client":
        return _previewed(args, console)
    with console.activity("launching"):
        launched = cluster_runs.launch(
            args.recipe,
            preset=args.preset,
            settings=dict(args.overrides),
            release=args.release,
            replace=args.replace,
            dry_run=args.dry_run is not None,
            seconds=args.wait if args.follow or args.replace else 0.0,
            **_place(args),
        )
    if args.follow:
        return _followed(launched.run_id, args, console)
    return _shown(launched, console) | ({"dry_run": args.dry_run} if args.dry_run else {})


def _followed(run: str, args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Print the log of a run until it has ended; ClusterError unless it has succeeded."""
    from suphx_pipelines import cluster_runs

    launcher = _connect(args)
    show = console.say if console.is_json else console.line
    for line in launcher.log(run, ROLES[0]).lines(follow=True, tail=None):
        show(line)
    ended = cluster_runs.wait(run, context=args.context, namespace=args.namespace)
    if args.rm:
        launcher.delete(run, seconds=args.wait)
    return _shown(ended, console)


def _previewed(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Print the objects that a launch would create."""
    from suphx_pipelines import cluster_runs
    from suphx_platform.cluster.run_manifest import manifest

    with console.activity("rendering the chart"):
        objects = cluster_runs.preview(
            args.recipe,
            preset=args.preset,
            settings=dict(args.overrides),
            values=args.values,
            release=args.release,
            namespace=args.namespace,
        )
    created = [objects.job, objects.recipe]
    if not console.is_json:
        console.line(manifest(created))
        return None
    return {"run_id": objects.run_id, "dry_run": "client", "objects": created}


def execute_jobs(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Return all runs of the namespace."""
    runs = _connect(args).runs()
    if console.is_json:
        return {"runs": [status.to_json() for status in runs]}
    return {"runs": {status.run_id: _line(status) for status in runs} or "none: suphx launch RECIPE starts one"}


def execute_status(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Return the status of a run, with its metrics in MLflow and its last checkpoint in the storage."""
    from suphx_pipelines import cluster_runs

    return _shown(cluster_runs.status(args.run, **_place(args)), console)


def execute_logs(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Print the lines; with ``--json`` return the status."""
    from suphx_platform.cluster.run_log import NoLogError

    launcher = _connect(args)
    launcher.status(args.run)  # an error if there is no such run
    try:
        log = launcher.log(args.run, args.role)
        for line in log.lines(follow=args.follow, tail=args.tail):
            console.line(line)
    except NoLogError as error:
        raise ClusterError(f"{error}{_last_failure(args.run, launcher)}") from error
    return launcher.status(args.run).to_json() if console.is_json else None


def _last_failure(run: str, launcher: Launcher) -> str:
    """Return a sentence about the last failed attempt of a run that has no log now; empty without one."""
    from suphx_platform.cluster.run_attempts import with_progress

    status = with_progress(launcher.status(run), launcher.source(run))
    if status.failed_attempts:
        last = status.failed_attempts[-1]
        return f". Attempt {last.number} has failed: {last.reason}"
    return f". {status.attempts.failed} attempts have failed" if status.attempts and status.attempts.failed else ""


def execute_stop(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Save and stop a run."""
    from suphx_pipelines import cluster_runs

    return _shown(cluster_runs.stop(args.run, save=not args.now, seconds=args.wait, **_place(args)), console)


def execute_resume(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Continue a run."""
    return _shown(_connect(args).resume(args.run, seconds=args.wait), console)


def execute_delete(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Delete a run from the cluster after a question, and return what was removed and what is kept."""
    launcher = _connect(args)
    if not args.yes:
        console.warn(f"{launcher.question(args.run, saves=not args.now)} [y/N]")
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise ClusterError("nothing was deleted: answer y, or use --yes")
    deletion = launcher.delete(args.run, seconds=args.wait, saves=not args.now, forces=args.force)
    return deletion if console.is_json else {name: value for name, value in deletion.items() if value}


def _shown(status: RunStatus, console: Console) -> dict[str, object]:
    return status.to_json() if console.is_json else status.to_text()


def _line(status: RunStatus) -> str:
    from suphx_platform.console.table_text import count_text

    problems = f", {count_text(len(status.problems), 'problem')}" if status.problems else ""
    text = status.to_text()
    attempts = f", attempt {text['attempts']}" if "attempts" in text else ""
    return f"{status.state}, {status.preset}, {text.get('pods', 'no pods')}{attempts}{problems}"


def _connect(args: argparse.Namespace) -> Launcher:
    """Return the launcher of a command, which waits for an unavailable API server as long as ``--wait`` says.

    A command that only looks waits for seconds.
    """
    from suphx_pipelines import cluster_runs

    is_waiting = getattr(args, "follow", True)
    return cluster_runs.connect(seconds=getattr(args, "wait", 0.0) if is_waiting else 0.0, **_place(args))


def _place(args: argparse.Namespace) -> dict[str, str | None]:
    return {"context": args.context, "namespace": args.namespace}
