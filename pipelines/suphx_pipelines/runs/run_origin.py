"""Which run it is, and what it was made of: its id, recipe, packages and records, with their digests.

A run has the id that its recipe and its records give, or one that is named by hand (``--run-id``). Its folder
``origin`` has ``recipe.toml`` and ``provenance.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path

from suphx.atomic_file import write_atomically
from suphx.printable_text import encodable
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.recipe_file import AnyRecipe, flatten, load_config, to_table, to_toml, without
from suphx_pipelines.runs.provenance import digest_json, environment
from suphx_pipelines.runs.run_lock import LOCK_FILE
from suphx_pipelines.runs.stage import R, Stage
from suphx_pipelines.runs.stage_folder import DONE
from suphx_platform.cluster.run_attempts import ATTEMPTS
from suphx_platform.storage.storage import ORIGIN
from suphx_platform.tracking.mlflow_store import check_same_settings

_DIGEST_LENGTH = 10
RECIPE_FILE = "recipe.toml"
NO_RECORDS = "none given"
"""In the place of the digest of records."""
ORIGIN_FOLDER, PROVENANCE_FILE = ORIGIN, "provenance.json"
_LOCK = Path(__file__).parents[3] / "requirements.lock"
_MAX_FILES = 10_000
"""Record files that are listed one by one."""


def derived_run_id(recipe: AnyRecipe, records_digest: str | None = None) -> str:
    """Return the recipe's name and a digest of what influences the results: its settings and the records.

    >>> derived_run_id(load_tournament_recipe(Path("nightly.toml"), [("night", "2026-11-27")]))
    """
    identity = without(to_table(recipe), recipe.free_keys)
    return f"{recipe.name}-{digest_json([identity, records_digest])[:_DIGEST_LENGTH]}"


def check_named_run(folder: Path, recipe: R, stages: Sequence[Stage[R]], records: str) -> None:
    """Raise ValueError if ``folder`` holds something else than this run; ``records``: their digest, or NO_RECORDS."""
    path = folder / RECIPE_FILE
    if not path.is_file():
        found = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set()
        if others := found - {LOCK_FILE, ATTEMPTS}:
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


def installed_packages() -> dict[str, str]:
    """Return name -> version of all installed packages, sorted."""
    found = {each.metadata["Name"].lower().replace("_", "-"): each.version for each in distributions()}
    return dict(sorted(found.items()))


def write_origin(run: Path, recipe: AnyRecipe, records: Mapping[str, str]) -> tuple[bool, dict[str, str]]:
    """Write the recipe into the folder of a run, and into its folder ``origin`` with ``provenance.json`` beside it.

    ``records``: file -> SHA-256 of the records that the user gave. In ``provenance.json``, ``packages_digest`` and
    ``records_digest`` are SHA-256 of their tables, equal for equal content; ``lock_digest`` is that of
    requirements.lock where the code lies beside it. Return whether a file in ``origin`` was not there already as it is
    now, and the digests as tags of the run in MLflow.
    """
    packages = installed_packages()
    content = {
        "run_id": run.name,
        "environment": environment(),
        "packages_digest": digest_json(packages),
        "lock_digest": hashlib.sha256(_LOCK.read_bytes()).hexdigest() if _LOCK.is_file() else None,
        "packages": packages,
        "records_digest": digest_json(dict(records)) if records else None,
        "num_record_files": len(records),
        "records": dict(records) if len(records) <= _MAX_FILES else None,
    }
    text, origin = to_toml(recipe).encode(), run / ORIGIN_FOLDER
    write_atomically(run / RECIPE_FILE, [text])
    origin.mkdir(exist_ok=True)
    written = encodable(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    is_changed = False
    for path, data in ((origin / RECIPE_FILE, text), (origin / PROVENANCE_FILE, written)):
        if not path.is_file() or path.read_bytes() != data:
            write_atomically(path, [data])
            is_changed = True
    names = ("packages_digest", "lock_digest", "records_digest")
    return is_changed, {f"suphx.{name}": str(content[name]) for name in names if content[name]}
