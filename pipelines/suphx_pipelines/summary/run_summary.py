"""``run.json`` in a run's folder: what the run is, how far it is and what came out of it.

It is written when a run starts and whenever its state changes, whole or not at all; ``suphx runs`` and the report
read it.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from suphx.credentials import without_credentials
from suphx.finite_number import is_finite_number
from suphx.printable_text import encodable
from suphx.usable_cores import usable_cores
from suphx_pipelines.engine.json_file import read_json, write_json
from suphx_pipelines.summary.run_places import rayjob

RUN_FILE = "run.json"
RunState = Literal["running", "finished", "failed", "interrupted"]
StageState = Literal["waiting", "running", "finished", "kept", "reused"]
_GIB = 2**30


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


def _known(cls: type[Any], content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that this version knows."""
    return {each.name: content[each.name] for each in fields(cls) if each.name in content}


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
