"""What a run does with each of its stages: decided before the first of them begins.

What there is of a stage, here or in the storage, is used whatever code has made it; a warning names the commit. It is
an error if it was made with other settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from suphx_pipelines.recipe.recipe_file import flatten
from suphx_pipelines.runs.provenance import digest_json
from suphx_pipelines.runs.stage import Stage
from suphx_pipelines.runs.stage_storage import FILES, NEWEST, UPSTREAM, StageStorage, StageWork, local_work
from suphx_platform.tracking.mlflow_store import check_same_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStage:
    """How one stage of a run is finished."""

    inputs: Mapping[str, Any]
    digest: str
    """Of the inputs; those of the existing work if that is used."""
    work: StageWork | None = None
    """What there is and is used: a result, or an attempt to continue. None: the stage is run from its start."""
    is_replaced: bool = False
    """Whether there is a result that is made again."""

    @property
    def is_finished(self) -> bool:
        """Tell whether there is a result that is used."""
        return self.work is not None and self.work.done is not None


@dataclass(frozen=True, slots=True)
class StagePlanner:
    """Usage::

    planner = StagePlanner(runs / "laptop-1f2e", storage, settings, code_digest())
    plan = planner.plan(stages)  # stage name -> PlannedStage
    """

    folder: Path
    """The run's."""
    storage: StageStorage
    settings: Callable[[Stage[Any]], dict[str, Any]]
    """Returns the inputs of a stage without the stages that it needs. Their entry ``files`` is None if files outside of
    the run are missing, and NEWEST if those that an address names are copied: then it is that of the existing work."""
    code: str

    def plan(self, stages: Sequence[Stage[Any]]) -> dict[str, PlannedStage]:
        """Return stage name -> what is done with it. Writes nothing.

        Raises ValueError for a damaged folder, and for work of other settings or of another version of Suphx.
        """
        plan: dict[str, PlannedStage] = {}
        for stage in stages:
            plan[stage.name] = self._plan_stage(stage, {name: plan[name] for name in stage.needs})
        return plan

    def _plan_stage(self, stage: Stage[Any], upstream: Mapping[str, PlannedStage]) -> PlannedStage:
        """Return what is done with a stage.

        A summary of other code is made again, and so is work in the run's folder if a stage that it needs has no result
        any more.
        """
        work, settings = self._find(stage.name), self.settings(stage)
        if FILES in settings and settings[FILES] in (None, NEWEST):
            before = None if work is None else work.made.inputs.get(FILES)
            # no other run has this text, and none later
            newest = f"the newest of {self.folder.name} at {datetime.now(UTC).isoformat()}"
            settings[FILES] = before or (newest if settings[FILES] == NEWEST else None)
        inputs = {**settings, UPSTREAM: {name: planned.digest for name, planned in upstream.items()}}
        new = PlannedStage(inputs=inputs, digest=digest_json([stage.name, inputs]))
        if work is None or not (work.versions or all(planned.is_finished for planned in upstream.values())):
            return new
        if stage.is_summary and work.made.code != self.code:
            return replace(new, is_replaced=True)
        self._check(stage.name, work.made.digest, work.made.inputs, inputs)
        return replace(new, inputs=work.made.inputs, digest=work.made.digest, work=work)

    def _find(self, name: str) -> StageWork | None:
        """Return what there is of a stage, as far as possible."""
        here = local_work(self.folder / name)
        if here is not None and here.done:
            return here
        stored = self.storage.further_work(name, self.folder / name)
        return stored[0] if stored else here

    def _check(self, name: str, digest: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """Raise ValueError if the work on a stage was made with other settings than those of now."""
        what = f"{name} of the run {self.folder.name}"
        if not digest:
            raise ValueError(f"{what} was made by another version of Suphx: use another --run-id, or delete the run")
        if FILES in now and before.get(FILES, now[FILES]) != now[FILES]:
            raise ValueError(
                f"{what} was made with other content of the files that the recipe names. Nothing was changed. Restore "
                "the files, or use another --run-id"
            )
        others = UPSTREAM, FILES
        settings = [{key: value for key, value in each.items() if key not in others} for each in (before, now)]
        check_same_settings(what, *map(flatten, settings))
