"""A run that is named by hand (``--run-id``): its folder must be free, or that of the same recipe and records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from suphx_pipelines.engine.json_file import read_json
from suphx_pipelines.engine.stage import R, Stage
from suphx_pipelines.engine.stage_folder import DONE
from suphx_pipelines.recipe.recipe_file import flatten, load_config, to_table, without
from suphx_pipelines.runs.run_lock import LOCK_FILE
from suphx_platform.cluster.runs.run_attempts import ATTEMPTS
from suphx_platform.tracking.same_settings import check_same_settings

RECIPE_FILE = "recipe.toml"
NO_RECORDS = "none given"
"""In the place of the digest of records."""


def check_named_run(folder: Path, recipe: R, stages: Sequence[Stage[R]], records: str) -> None:
    """Raise ValueError if ``folder`` holds something else than this run; ``records``: their digest, or NO_RECORDS."""
    path = folder / RECIPE_FILE
    if not path.is_file():
        others = (
            [entry.name for entry in folder.iterdir() if entry.name not in (LOCK_FILE, ATTEMPTS)]
            if folder.is_dir()
            else []
        )
        if others:
            raise ValueError(
                f"{folder} is not a run: it contains {min(others)} but no {RECIPE_FILE}; choose another --run-id"
            )
        return
    try:
        there = load_config(type(recipe), path)
    except ValueError as error:
        raise ValueError(f"{error}: fix {path}, or choose another --run-id; nothing was changed") from error
    before, now = (flatten(without(to_table(each), recipe.free_keys)) for each in (there, recipe))
    unset = dict.fromkeys((*before, *now), "not set")  # TOML has no null: optional keys may be missing
    check_same_settings(str(folder), unset | before, unset | now)
    for stage in stages:
        done = folder / stage.name / DONE
        if stage.reads_records and done.is_file():
            used = (read_json(done).get("inputs") or {}).get("records", records)
            check_same_settings(str(folder), {"--records": used}, {"--records": records})
