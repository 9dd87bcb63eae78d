"""What a run does with each of its stages: decided, and shown, before the first of them begins.

A result or an unfinished attempt in the run's folder may have been made by other code than that of now: an update of
this program, other versions of its libraries. It is never replaced unless the user has asked for that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from suphx_pipelines.provenance import digest_json
from suphx_pipelines.stage import Stage
from suphx_pipelines.stage_code import StageCode, changes, stage_code
from suphx_pipelines.stage_folder import Done, all_finished
from suphx_pipelines.stage_storage import StageStorage
from suphx_pipelines.stage_work import CONTINUED, StageWork, local_work
from suphx_platform.console import Console
from suphx_platform.storage import Version
from suphx_platform.table_text import count_text, duration_text

CodeChange = Literal["stop", "keep", "redo"]
"""What to do with results of other code: stop before anything is changed, keep them, or replace them."""
CODE_CHANGES: tuple[CodeChange, ...] = get_args(CodeChange)
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
    is_summary: bool = False
    """As for Stage."""
    elsewhere: Path | None = None
    """Folder of a result with the same settings that was made by other code in another run."""

    @property
    def versions(self) -> Sequence[Version]:
        """Versions in the storage that are fetched before the stage: the first that is not damaged."""
        return self.work.versions if self.work else ()

    @property
    def needs_consent(self) -> bool:
        """Tell whether work is replaced that takes more than seconds to repeat."""
        return self.replaced is not None and not self.is_summary

    @property
    def change_of_result(self) -> str:
        """What has changed since the result, or a part of it, was made that is used; empty if nothing has."""
        return self.change if self.work else ""

    @property
    def action(self) -> str:
        """Return what is done, in a few words."""
        if self.work:
            return "use the result" if self.work.done else "continue"
        return "run again" if self.replaced else "run"


class StagePlanner:
    """Usage::

    planner = StagePlanner(runs / "laptop-1f2e", storage, settings, "stop")
    plan = planner.plan(stages)  # stage name -> PlannedStage
    show_plan(plan, "laptop-1f2e", "stop", console)
    """

    def __init__(
        self,
        folder: Path,
        storage: StageStorage,
        settings: Callable[[Stage[Any]], dict[str, Any]],
        on_code_change: CodeChange,
    ) -> None:
        """``folder``: the run's; ``settings``: the inputs of a stage without its code and the stages that it needs."""
        self._folder = folder
        self._storage = storage
        self._settings = settings
        self._on_code_change = on_code_change

    def plan(self, stages: Sequence[Stage[Any]]) -> dict[str, PlannedStage]:
        """Return stage name -> what is done with it. Writes nothing. Raises ValueError for a damaged folder."""
        plan: dict[str, PlannedStage] = {}
        for stage in stages:
            plan[stage.name] = self._plan_stage(stage, {name: plan[name].digest for name in stage.needs})
        return plan

    def _plan_stage(self, stage: Stage[Any], upstream: Mapping[str, str]) -> PlannedStage:
        code = stage_code(stage.run)
        inputs = {**self._settings(stage), "upstream": dict(upstream), **code.inputs()}
        digest = digest_json([stage.name, inputs])
        work = self._find(stage.name, digest)
        if work is None:
            place = self._find_elsewhere(stage, inputs, digest)
            return PlannedStage(inputs=inputs, digest=digest, sources=code.sources, elsewhere=place)
        if work.is_of(stage.name, digest):
            return PlannedStage(inputs=work.inputs, digest=work.digest, sources=code.sources, work=work)
        change = _change_text(work, inputs, code)
        if stage.is_summary or self._on_code_change != "keep":
            return PlannedStage(
                inputs=inputs,
                digest=digest,
                sources=code.sources,
                change=change,
                replaced=work,
                is_summary=stage.is_summary,
            )
        if work.done is None:
            inputs[CONTINUED] = work.digest
            digest = digest_json([stage.name, inputs])
        else:
            inputs, digest = dict(work.inputs), work.digest
        return PlannedStage(inputs=inputs, digest=digest, sources=code.sources, work=work, change=change)

    def _find(self, name: str, digest: str) -> StageWork | None:
        """Return what there is of a stage: made with these inputs if possible, and as far as possible."""
        here = local_work(self._folder / name)
        is_same = here is not None and here.is_of(name, digest)
        if here is not None and is_same and here.done:
            return here
        stored = self._storage.further_work(name, self._folder / name)
        same = next((work for work in stored if work.is_of(name, digest)), None)
        if same is not None or is_same:
            return same or here
        return stored[0] if stored else here

    def _find_elsewhere(self, stage: Stage[Any], inputs: Mapping[str, Any], digest: str) -> Path | None:
        """Return the folder of another run's result with the same settings if none is of this code."""
        if stage.is_summary:
            return None
        found = list(all_finished(self._folder.parent, stage.name))
        if any(done.digest == digest for _, done in found):
            return None
        settings = digest_json(self._settings(stage))
        keys = self._settings(stage).keys()
        return next((path for path, done in found if digest_json(_only(done, keys)) == settings), None)


def _only(done: Done, keys: Any) -> dict[str, Any]:
    return {key: done.inputs.get(key) for key in keys}


def _change_text(work: StageWork, inputs: Mapping[str, Any], code: StageCode) -> str:
    before = StageCode(sources=work.sources, libraries=work.inputs.get("libraries") or {})
    upstream = work.inputs.get("upstream") or {}
    parts = []
    if not before.sources:
        parts = ["made by another version of Suphx"]
    elif differing := changes(before, code):
        parts = [f"changed: {', '.join(differing)}"]
    names = [name for name, digest in inputs["upstream"].items() if upstream.get(name) != digest]
    if names:
        parts.append(f"another result of {', '.join(names)}")
    return "; ".join(parts) or "other settings"


def show_plan(plan: Mapping[str, PlannedStage], run_id: str, on_code_change: CodeChange, console: Console) -> None:
    """Print what is done with each stage if the code of any has changed; ValueError if the user has to decide."""
    for name, stage in plan.items():
        if stage.elsewhere:
            console.say(f"{name}: the result in {stage.elsewhere} has the same settings but other code; it is not used")
    changed = [name for name, stage in plan.items() if stage.change]
    lost = [name for name in changed if plan[name].needs_consent]
    if not changed:
        return
    is_open = bool(lost) and on_code_change == "stop"
    console.say(f"run {run_id}: the code of {count_text(len(changed), 'stage')} has changed since the last attempt")
    for name, stage in plan.items():
        console.say(f"  {name}: {_stage_text(stage, is_open=is_open)}")
    if is_open:
        names = ", ".join(lost[:_SHOWN]) + (f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else "")
        raise ValueError(
            f"the code of run {run_id} has changed since these stages were run: {names}. Nothing was changed. Use "
            "--on-code-change keep to use their results, or --on-code-change redo to replace them"
        )


def _stage_text(stage: PlannedStage, *, is_open: bool) -> str:
    reason = f" ({stage.change})" if stage.change else ""
    if is_open and stage.needs_consent:
        assert stage.replaced is not None
        done = stage.replaced.done
        return f"{f'finished in {duration_text(done.seconds)}' if done else 'unfinished'}{reason}"
    return f"{stage.action}{reason}"
