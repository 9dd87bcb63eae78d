"""What a run leaves about itself while it works, ``run.json`` and ``run.log``, and the commands and places it names.

``run.json`` is written when a run starts and whenever its state changes, whole or not at all; ``suphx runs`` and the
report read it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, get_origin, get_type_hints

from suphx.credentials import without_credentials
from suphx.finite_number import is_finite_number
from suphx.printable_text import encodable
from suphx.usable_cores import usable_cores
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.runs.provenance import environment, git_commit
from suphx_platform.console.console import Console, is_lost_output

if TYPE_CHECKING:
    from suphx_pipelines.runs.verdict import Verdict

RUN_FILE = "run.json"
RunState = Literal["running", "finished", "failed", "interrupted"]
StageState = Literal["waiting", "running", "finished", "kept", "reused"]
_GIB = 2**30
_PURPOSES = {
    "records": "Reads the game records, or plays games of a scripted agent, for the nets to learn from.",
    "supervised": "Trains one net on the decisions of the games. *Model metrics* has loss and accuracy over the steps.",
    "initial_agent": "Copies the nets of the agent that the run begins with.",
    "learning_curve": "Trains a net on a part of the games, to measure the effect of more games.",
    "ablation": "Trains a net with the planes of one encoder, to measure the effect of the planes.",
    "evaluation": "Plays a match of the nets so far against an opponent on shared walls.",
    "playouts": "Learns from playouts: several actions of one decision, played on the same hidden tiles.",
    "reinforcement": "Improves nets by self-play. *Model metrics* has strength, entropy and throughput.",
    "oracle": "Self-play of nets that see hidden tiles (oracle guiding).",
    "oracle_decay": "Self-play that sees fewer and fewer hidden tiles, and at last none.",
    "oracle_distillation": "Self-play that stays near a teacher that sees hidden tiles.",
    "entropy_study": "Self-play with a fixed coefficient of the entropy, for comparison.",
    "reward_predictor": "Trains the net that predicts the reward of a game from its kyokus so far.",
    "agent_comparison": "Trains or plays the agents of the paper's figure 8 beside each other.",
    "sample_game": "Plays games of the newest or strongest nets; `game.html` under *Artifacts* shows them.",
    "report": "Writes the report: `report.html` and its pictures under *Artifacts*.",
    "learning": "Learns by deep Monte-Carlo self-play.",
    "pool": "Finds the agents of the night: those of the recipe, the newest nets of all runs and the champion.",
    "leaderboard": "Plays games between all agents of the pool and rates them over all nights.",
    "decision": "Plays the best new nets against the champion until it is clear who is stronger.",
    "promotion": "Registers the nets that have won against the champion as the new one.",
    "match": "Plays the finished nets against the opponents on shared decks.",
}
"""First part of the stage's name -> what it does."""
LOG_FILE = "run.log"
_REFRESH_SECONDS = 120.0
"""So much of the time spent is lost, at most, when the process is killed."""
_FINISHED: tuple[StageState, ...] = ("finished", "kept", "reused")
FindVerdict = Callable[[Mapping[str, Mapping[str, float]]], "Verdict"]
"""Stage name -> metrics, to the verdict on the run."""


def rayjob() -> str:
    """Return the name of the RayJob whose driver this process is, which ``suphx status`` takes; empty elsewhere.

    KubeRay names the cluster of a RayJob after it, with five characters more, and Ray marks what was submitted to it.
    """
    is_submitted = "RAY_JOB_CONFIG_JSON_ENV_VAR" in os.environ
    return os.environ.get("RAY_CLUSTER_NAME", "").rpartition("-")[0] if is_submitted else ""


def nets_address(nets: Path, run: Path, storage: str) -> str:
    """Return the agent with the ``nets`` of a run's folder: their folder, or in a cluster their address.

    ``storage``: its address, if there is one. Empty: nobody outside can play with them.
    """
    if not rayjob():
        return str(nets)
    return f"{storage.rstrip('/')}/{run.name}/{nets.relative_to(run).as_posix()}" if storage else ""


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


@dataclass(slots=True, kw_only=True)
class StageSummary:
    """One stage of a run."""

    status: StageState = "waiting"
    """``kept``: finished in an earlier sitting; ``reused``: the result of another run was taken."""
    seconds: float = 0.0
    """Time spent on it, over all sittings."""
    warnings: list[str] = field(default_factory=list)
    """What is wrong with its result, such as a net that has not learned."""


@dataclass(slots=True, kw_only=True)
class RunSummary:
    """The content of ``run.json``."""

    run_id: str
    recipe: str
    """The recipe's name."""
    command: list[str]
    """The command line that continues the run."""
    state: RunState
    started: str
    """When it was first started, ISO 8601 with the time zone."""
    seconds: float = 0.0
    """Time spent on it, over all sittings."""
    verdict: str | None = None
    """What came out of it, in one sentence; None before the end."""
    outcome: str | None = None
    """better, worse, not_better, undecided or none (verdict.py); None before the end."""
    stages: dict[str, StageSummary] = field(default_factory=dict)
    """Stage name -> summary, in order."""
    error: str | None = None
    """Why it failed."""
    machine: str = ""
    """Cores, memory and GPU in short words."""
    version: str = ""
    commit: str = ""
    tracking_page: str = ""
    """Address of the run's page in MLflow, or the command that opens it."""

    @property
    def warnings(self) -> list[str]:
        """What is wrong with the results, of all stages."""
        return [warning for stage in self.stages.values() for warning in stage.warnings]

    def write(self, folder: Path) -> None:
        """Replace ``run.json`` in the run's ``folder``."""
        write_json(folder / RUN_FILE, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the summary in the run's ``folder``; None if there is none, ValueError if it is damaged."""
        path = folder / RUN_FILE
        if not path.is_file():
            return None
        content = read_json(path)
        try:
            stages = {name: StageSummary(**_known(StageSummary, each)) for name, each in content["stages"].items()}
            summary = cls(**_known(cls, content) | {"stages": stages})
            for part in (summary, *stages.values()):
                _check_types(part)
            return summary
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is damaged ({error!r}): remove it, the run writes it again") from error


def _known(cls: type[Any], content: Mapping[str, Any]) -> dict[str, Any]:
    return {each.name: content[each.name] for each in fields(cls) if each.name in content}


def _check_types(part: Any) -> None:
    """Raise TypeError for a field of a dataclass whose value has not the type of its annotation."""
    for name, hint in get_type_hints(type(part)).items():
        value = getattr(part, name)
        if get_origin(hint) is Literal:
            is_right = value in get_args(hint)
        elif hint == list[str]:
            is_right = isinstance(value, list) and all(isinstance(item, str) for item in value)
        elif hint is float:
            is_right = is_finite_number(value)
        else:
            is_right = isinstance(value, hint if isinstance(hint, UnionType) else get_origin(hint) or hint)
        if not is_right:
            raise TypeError(f"{name} is {value!r:.80}")


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


def machine_text() -> str:
    """Return cores, memory and GPUs in short words, such as ``2 cores, 23 GiB, NVIDIA H100``."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB
    parts = [f"{usable_cores()} cores", f"{memory:.0f} GiB"]
    torch = sys.modules.get("torch")  # importing it takes seconds; whoever trains has done so
    if torch is not None and torch.cuda.is_available():
        count = torch.cuda.device_count()
        parts.append((f"{count} x " if count > 1 else "") + str(torch.cuda.get_device_name(0)))
    return ", ".join(parts)


def stage_note(name: str, run_id: str) -> str:
    """Return the description of stage ``name``, in Markdown."""
    purpose = _PURPOSES.get(name.partition("/")[0], "")
    place = (
        f"Stage `{name}` of the run `{run_id}`, whose description has the verdict and whose artifacts have the report."
    )
    return "\n\n".join(text for text in (purpose, place) if text)


class RunJournal:
    """Consumes: what happens to a run. Produces: its summary and its log. Waits for: nothing.

    >>> journal = RunJournal(folder, "laptop-1f2e3d4c5b", "laptop", ["records", "report"], console)
    >>> with journal.kept():
    ...     with journal.stage("records"):
    ...         work()
    ...     journal.end_stage("records", "finished", [])
    """

    def __init__(
        self,
        folder: Path,
        run_id: str,
        recipe: str,
        stages: Sequence[str],
        console: Console,
        *,
        refresh_seconds: float = _REFRESH_SECONDS,
    ) -> None:
        """``refresh_seconds``: how often the summary is written while a stage works, with the time spent so far."""
        self._folder = folder
        self._console = console
        self._refresh_seconds = refresh_seconds
        self._lock = threading.Lock()
        self._running: tuple[StageSummary, float] | None = None
        """The stage that works, and when it would have begun if it had worked all its time without a pause."""
        self._started_at = time.monotonic()
        before = RunSummary.read(folder)
        self._seconds_before = before.seconds if before else 0.0
        known = before.stages if before else {}
        self.summary = RunSummary(
            run_id=run_id,
            recipe=recipe,
            command=command_line(),
            state="running",
            started=before.started if before else datetime.now().astimezone().isoformat(timespec="seconds"),
            seconds=self._seconds_before,
            stages={name: known.get(name, StageSummary()) for name in stages},
            machine=machine_text(),
            version=environment()["suphx"],
            commit=git_commit(),
        )

    @property
    def is_continued(self) -> bool:
        """Tell whether an earlier sitting has begun the run."""
        return self._seconds_before > 0

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep the log and the summary while the block runs; the way in which it ends becomes the run's state."""
        with self._console.log_to(self._folder / LOG_FILE):
            self._write()
            self._console.detail(f"command: {shlex.join(self.summary.command)}")
            facts = {**environment(), "machine": self.summary.machine}
            self._console.detail(", ".join(f"{name} {value}" for name, value in facts.items()))
            try:
                with self._refreshed():
                    yield
            except BaseException as error:
                with suppress(OSError):  # such as a folder that is gone: what has ended the run is more important
                    if isinstance(error, KeyboardInterrupt) or is_lost_output(error):
                        self._end("interrupted")
                    else:
                        text = without_credentials(" ".join(str(error).split()))
                        self._end("failed", text or type(error).__name__)
                raise
            self._end("finished")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Count the time of the block for the stage."""
        summary = self.summary.stages[name]
        self._running = summary, time.monotonic() - summary.seconds
        summary.status, summary.warnings = "running", []
        self._write()
        try:
            yield
        finally:
            self._count()
            self._running = None

    def end_stage(self, name: str, status: StageState, warnings: Sequence[str]) -> None:
        """Note how a stage was finished, and what is wrong with its result."""
        summary = self.summary.stages[name]
        summary.status, summary.warnings = status, list(warnings)
        self._write()

    def set_started(self, seconds: float) -> None:
        """Note that the run was begun at this time, in seconds since 1970, if that is earlier than is known here."""
        if seconds < datetime.fromisoformat(self.summary.started).timestamp():
            self.summary.started = datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")

    def set_tracking_page(self, page: str) -> None:
        """Note where the run's page in MLflow is; ``page``: its address, empty if only a command opens it."""
        self.summary.tracking_page = page or shlex.join(page_command(self.summary.run_id, self._folder))

    def set_verdict(self, verdict: Verdict) -> None:
        """Note what came out of the run."""
        self.summary.verdict, self.summary.outcome = verdict.sentence, verdict.outcome

    def progress_text(self) -> str:
        """Return how many stages are finished, such as ``3 of 9 stages are finished``."""
        finished = sum(stage.status in _FINISHED for stage in self.summary.stages.values())
        return f"{finished} of {len(self.summary.stages)} stages are finished"

    def _end(self, state: RunState, error: str | None = None) -> None:
        self.summary.state = state
        self.summary.error = error
        if error is not None:
            self._console.detail(f"failed: {error}")
        self._write()

    @contextmanager
    def _refreshed(self) -> Iterator[None]:
        """Write the summary now and then while the block runs, so that a killed run keeps the time spent on it."""
        is_over = threading.Event()

        def refresh() -> None:
            while not is_over.wait(self._refresh_seconds):
                with suppress(OSError):  # such as a full disk: the next write of the run itself says so
                    self._write()

        thread = threading.Thread(target=refresh, name="run.json", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def _count(self) -> None:
        """Note the time spent until now, on the run and on the stage that works."""
        now, running = time.monotonic(), self._running
        self.summary.seconds = round(self._seconds_before + now - self._started_at, 3)
        if running is not None:
            stage, begun = running
            stage.seconds = round(now - begun, 3)

    def _write(self) -> None:
        with self._lock:
            self._count()
            self.summary.write(self._folder)
