"""What a run does with each of its stages: decided, and shown, before the first of them begins.

A result or an unfinished attempt in the run's folder may have been made by other code than that of now: an update of
this program, other versions of its libraries. It is never replaced unless the user has asked for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from suphx_pipelines.runs.provenance import StageCode, changes, digest_json, stage_code
from suphx_pipelines.runs.stage import Stage
from suphx_pipelines.runs.stage_storage import CONTINUED, FILES, NEWEST, StageStorage, StageWork, local_work
from suphx_platform.console.console import Console
from suphx_platform.console.table_text import duration_text

CodeChange = Literal["stop", "keep", "redo"]
"""What to do with results of other code: stop before anything is changed, keep them, or replace them."""
_MISSING_INPUT = "its input is missing"
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStage:
    """How one stage of a run is finished."""

    inputs: Mapping[str, Any]
    digest: str
    """Of the inputs; those of the existing result if that is used."""
    sources: Mapping[str, str]
    work: StageWork | None = None
    """What there is and is used: a result, or an attempt to continue. None: the stage is run from its start."""
    change: str = ""
    """What has changed since its result, or an attempt, was made; empty if nothing has."""
    replaced: StageWork | None = None
    """What there is and is not used."""
    needs_consent: bool = False
    """Whether work is replaced that takes more than seconds to repeat."""
    is_outdated: bool = False
    """Whether its work in the run's folder is dropped: a stage that it needs has no result any more."""

    @property
    def continues(self) -> Sequence[str]:
        """Digests of the attempts whose files, here or in a version, the stage goes on with."""
        return self.work.digests if self.work else ()

    @property
    def is_finished(self) -> bool:
        """Tell whether there is a result that is used."""
        return self.work is not None and self.work.done is not None

    @property
    def reason(self) -> str:
        """What has changed, or is missing, in parentheses; empty if nothing is."""
        change = self.change or (_MISSING_INPUT if self.is_outdated else "")
        return f" ({change})" if change else ""

    @property
    def action(self) -> str:
        """Return what is done, in a few words."""
        if self.work:
            return "use the result" if self.work.done else "continue"
        return "run again" if self.replaced or self.is_outdated else "run"


@dataclass(frozen=True, slots=True)
class StagePlanner:
    """Usage::

    planner = StagePlanner(runs / "laptop-1f2e", storage, settings, "stop")
    plan = planner.plan(stages)  # stage name -> PlannedStage
    check_plan(plan, "laptop-1f2e", console)  # ValueError: the user has to decide
    """

    folder: Path
    """The run's."""
    storage: StageStorage
    settings: Callable[[Stage[Any]], dict[str, Any]]
    """Returns the inputs of a stage without its code and the stages that it needs. Their entry ``files`` is None if
    files outside of the run are missing, and NEWEST if those that an address names are copied: then it is that of the
    existing work."""
    on_code_change: CodeChange

    def plan(self, stages: Sequence[Stage[Any]]) -> dict[str, PlannedStage]:
        """Return stage name -> what is done with it. Writes nothing. Raises ValueError for a damaged folder."""
        plan: dict[str, PlannedStage] = {}
        for stage in stages:
            plan[stage.name] = self._plan_stage(stage, {name: plan[name] for name in stage.needs})
        return plan

    def _plan_stage(self, stage: Stage[Any], upstream: Mapping[str, PlannedStage]) -> PlannedStage:
        """Return what is done with a stage.

        Work of the same inputs (code included) goes on. Of work by other code a summary is always made again; another
        stage is only if ``on_code_change`` says so: otherwise its result is kept, and unfinished work goes on under
        a digest that names the inputs that it began with. If a stage that it needs has no result any more, work in the
        run's folder is dropped; work that only the storage has is treated as that by other code.
        """
        code = stage_code(stage.run, stage.modules)
        digests = {name: planned.digest for name, planned in upstream.items()}
        settings = self.settings(stage)
        if FILES in settings and settings[FILES] in (None, NEWEST):
            works = [local_work(self.folder / stage.name)]
            works += self.storage.further_work(stage.name, self.folder / stage.name)
            before = next((work.made.inputs[FILES] for work in works if work and work.made.inputs.get(FILES)), None)
            # no other run has this text, and none later
            newest = f"the newest of {self.folder.name} at {datetime.now(UTC).isoformat()}"
            settings[FILES] = before or (newest if settings[FILES] == NEWEST else None)
        inputs = {**settings, "upstream": digests, **code.inputs()}
        digest = digest_json([stage.name, inputs])
        new = PlannedStage(inputs=inputs, digest=digest, sources=code.sources)
        work = self._find(stage.name, digest)
        if work is None:
            return new
        keeps, is_same = self.on_code_change == "keep", work.is_of(stage.name, digest)
        is_outdated = not all(planned.is_finished for planned in upstream.values())
        if is_outdated and not work.versions and (keeps or is_same):
            return replace(new, is_outdated=True)
        if is_same and (keeps or not is_outdated):
            return replace(new, inputs=work.made.inputs, digest=work.made.digest, work=work)
        change = _MISSING_INPUT if is_same else _change_text(work, inputs, code)
        if stage.is_summary or not keeps:
            return replace(new, change=change, replaced=work, needs_consent=not stage.is_summary)
        if work.done is not None:
            return replace(new, inputs=work.made.inputs, digest=work.made.digest, work=work, change=change)
        inputs = {**inputs, CONTINUED: " ".join(work.digests)}
        return replace(new, inputs=inputs, digest=digest_json([stage.name, inputs]), work=work, change=change)

    def _find(self, name: str, digest: str) -> StageWork | None:
        """Return what there is of a stage: made with these inputs if possible, and as far as possible."""
        here = local_work(self.folder / name)
        is_same = here is not None and here.is_of(name, digest)
        if here is not None and is_same and here.done:
            return here
        stored = self.storage.further_work(name, self.folder / name)
        same = next((work for work in stored if work.is_of(name, digest)), None)
        if self.on_code_change == "redo":  # then nothing of other inputs is used, however far it got
            every = (same, here, *self.storage.all_work(name))
            same = next((work for work in every if work and work.is_of(name, digest)), None)
            return same or (stored[0] if stored else here)
        if stored and not (same is stored[0] or (same and same.done)):
            return stored[0]  # of other inputs, and further: the user decides
        return same or here


def _change_text(work: StageWork, inputs: Mapping[str, Any], code: StageCode) -> str:
    before = StageCode(sources=work.made.sources, libraries=work.made.inputs.get("libraries") or {})
    upstream = work.made.inputs.get("upstream") or {}
    parts = []
    if not before.sources:
        parts = ["made by another version of Suphx"]
    elif differing := changes(before, code):
        parts = [f"changed: {', '.join(differing)}"]
    names = [name for name, digest in inputs["upstream"].items() if upstream.get(name) != digest]
    if names:
        parts.append(f"its input has changed: {', '.join(names)}")
    if FILES in inputs and work.made.inputs.get(FILES, inputs[FILES]) != inputs[FILES]:
        parts.append("other content of the files that the recipe names")
    return "; ".join(parts) or "other settings"


def check_plan(plan: Mapping[str, PlannedStage], run_id: str, console: Console) -> None:
    """Print the plan and raise ValueError if it replaces work that is not repeated in seconds."""
    lost = [name for name, stage in plan.items() if stage.needs_consent]
    if not lost:
        return
    console.say(f"run {run_id}: code or inputs have changed since the last attempt")
    for name, stage in plan.items():
        done = stage.replaced.done if stage.replaced else None
        there = f"finished in {duration_text(done.seconds)}" if done else "unfinished"
        console.say(f"  {name}: {there if stage.needs_consent else stage.action}{stage.reason}")
    names = ", ".join(lost[:_SHOWN]) + (f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else "")
    raise ValueError(
        f"code or inputs of run {run_id} have changed since these stages were run: {names}. Nothing was changed. Use "
        "--on-code-change keep to use their results, or --on-code-change redo to replace them"
    )


def show_plan(plan: Mapping[str, PlannedStage], console: Console) -> None:
    """Print what is done with each stage if work of any is done again or by other code; nothing otherwise."""
    if any(stage.reason for stage in plan.values()):
        console.say("code, inputs or results have changed since the last attempt:")
        for name, stage in plan.items():
            console.say(f"  {name}: {stage.action}{stage.reason}")
