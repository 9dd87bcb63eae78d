"""What a run was made of, kept with it: its recipe, the installed packages and the records, with their digests.

Leaves the folder ``origin`` of the run: ``recipe.toml`` and ``provenance.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.printable_text import encodable
from suphx_pipelines.engine.json_file import read_json
from suphx_pipelines.engine.provenance import digest_json, environment
from suphx_pipelines.engine.stage import R, Stage
from suphx_pipelines.runs.named_run import NO_RECORDS, RECIPE_FILE, check_named_run
from suphx_platform.storage.stored_versions import ORIGIN

ORIGIN_FOLDER, PROVENANCE_FILE = ORIGIN, "provenance.json"
_LOCK = Path(__file__).parents[3] / "requirements.lock"
_MAX_FILES = 10_000
"""Record files that are listed one by one."""


def installed_packages() -> dict[str, str]:
    """Return name -> version of all installed packages, sorted."""
    found = {each.metadata["Name"].lower().replace("_", "-"): each.version for each in distributions()}
    return dict(sorted(found.items()))


def provenance(run_id: str, records: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of ``provenance.json``; ``records``: file -> SHA-256 of the records that the user gave.

    ``packages_digest`` and ``records_digest`` are SHA-256 of their tables, equal for equal content; ``lock_digest`` is
    that of requirements.lock where the code lies beside it.
    """
    packages = installed_packages()
    return {
        "run_id": run_id,
        "environment": environment(),
        "packages_digest": digest_json(packages),
        "lock_digest": hashlib.sha256(_LOCK.read_bytes()).hexdigest() if _LOCK.is_file() else None,
        "packages": packages,
        "records_digest": digest_json(dict(records)) if records else None,
        "num_record_files": len(records),
        "records": dict(records) if len(records) <= _MAX_FILES else None,
    }


def find_equal_run(runs: Path, recipe: R, stages: Sequence[Stage[R]], records: str | None) -> str | None:
    """Return the id of a run of this recipe and the ``records`` of this digest; None if there is none.

    It may have another id than a run that begins now: a version of the program that adds a key to recipes derives
    others from them.
    """
    for path in sorted(runs.glob(f"{recipe.name}-*/{ORIGIN_FOLDER}/{PROVENANCE_FILE}")):
        folder = path.parents[1]
        with suppress(ValueError, OSError):
            check_named_run(folder, recipe, stages, records or NO_RECORDS)
            if read_json(path).get("records_digest") == records:
                return folder.name
    return None


def write_origin(folder: Path, recipe: str, content: Mapping[str, Any]) -> bool:
    """Write the files into ``folder``; return whether any of them was not there already as it is now."""
    folder.mkdir(exist_ok=True)
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    is_changed = False
    for name, data in ((RECIPE_FILE, recipe.encode()), (PROVENANCE_FILE, encodable(text).encode())):
        path = folder / name
        if not path.is_file() or path.read_bytes() != data:
            write_atomically(path, [data])
            is_changed = True
    return is_changed


def origin_tags(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests as tags of the run in MLflow."""
    names = ("packages_digest", "lock_digest", "records_digest")
    return {f"suphx.{name}": str(content[name]) for name in names if content[name]}
