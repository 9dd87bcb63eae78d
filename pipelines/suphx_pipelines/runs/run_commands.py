"""The commands and places that a run names: how to continue it, where its page and its results are."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from suphx.credentials import without_credentials
from suphx.games.registry import GAMES, agent_names, game_of_agents
from suphx.printable_text import encodable
from suphx.selfplay.agents.checkpoint_folder import has_nets
from suphx_pipelines.recipe.agent_stages import AGENT_STAGES, MONTE_CARLO_STAGE, SUPERVISED_FOLDER


def rayjob() -> str:
    """Return the name of the RayJob whose driver this process is, which ``suphx status`` takes; empty elsewhere.

    KubeRay names the cluster of a RayJob after it, with five characters more, and Ray marks what was submitted to it.
    """
    is_submitted = "RAY_JOB_CONFIG_JSON_ENV_VAR" in os.environ
    return os.environ.get("RAY_CLUSTER_NAME", "").rpartition("-")[0] if is_submitted else ""


def continue_command(command: list[str]) -> list[str]:
    """Return the command that continues a run: ``command``, or in a cluster the one for its RayJob."""
    job = rayjob()
    return ["suphx", "resume", job] if job else command


def place_lines(run_id: str, *, storage: str, page: str) -> list[str]:
    """Return lines that name the places of a run of a cluster; ``page``: that of the run in MLflow, if it has one."""
    lines = [f"Report: report.html, an artifact of {run_id} in MLflow: {page}"] if page else []
    lines += [f"Checkpoints and results: {storage.rstrip('/')}/{run_id}"] if storage else []
    if not lines:
        lines = [f"The results of {run_id} end with its head pod: set storage.address or tracking.uri of the chart"]
    return [*lines, f"On your machine: suphx status {rayjob()}"]


def with_places(values: Mapping[str, object], run_id: str, *, storage: str, page: str) -> dict[str, object]:
    """Return the result of a command for a person: in a cluster with places instead of the path of the report."""
    if not rayjob():
        return dict(values)
    named = [line.partition(": ")[::2] for line in place_lines(run_id, storage=storage, page=page)]
    return {name: value for name, value in values.items() if name != "report"} | dict(named)


def command_line(arguments: Sequence[str] | None = None) -> list[str]:
    """Return the command line of this process as a person types it; ``arguments``: default ``sys.argv``.

    Without the users and passwords of addresses; bytes that are not UTF-8 are escapes.
    """
    words = sys.argv if arguments is None else arguments
    program, *rest = (encodable(without_credentials(word)) for word in words)
    name = Path(program).name
    return [program_name(program) if name in ("suphx", "cli.py") else name, *rest]


def program_name(program: str = "") -> str:
    """Return how to call ``suphx`` in this shell: by name, or by path if its folder is not in PATH.

    ``program``: default ``sys.argv[0]``.
    """
    path = Path(program or sys.argv[0])
    is_script = path.name == "suphx" and path.parent != Path()
    if not is_script or shutil.which("suphx") is not None:
        return "suphx"
    near = os.path.relpath(path)
    return str(path) if near.startswith("..") else near


def page_command(run_id: str, folder: Path) -> list[str]:
    """Return the command that opens the page in MLflow of the run in ``folder``."""
    runs = [] if folder.parent == Path("runs") or rayjob() else ["--runs", str(folder.parent)]
    return [program_name(), "ui", run_id, *runs]


def agent_commands(folder: Path, storage: str = "") -> dict[str, list[str]]:
    """Return what it does -> the command, for the nets that a run made last; empty if it has none that can play.

    ``storage``: its address, if there is one; in a cluster the nets are named by their address there.
    """
    names = (MONTE_CARLO_STAGE, *AGENT_STAGES, SUPERVISED_FOLDER)
    found = [(folder / name, game) for name in names for game in GAMES if has_nets(folder / name, game=game)]
    if not found:
        return {}
    nets, game = found[0]
    program, agent = program_name(), str(nets)
    if rayjob():  # nobody outside can play with nets that no storage has
        agent = f"{storage.rstrip('/')}/{folder.name}/{nets.relative_to(folder).as_posix()}" if storage else ""
    if not agent:
        return {}
    named = [] if game_of_agents(None, [agent]) == game else ["--game", game]
    return {
        "Play against its agent": [program, "play", "--agent", agent, *named],
        "Play another match": [program, "evaluate", "--candidate", agent, "--opponent", agent_names(game)[-1], *named],
    }
