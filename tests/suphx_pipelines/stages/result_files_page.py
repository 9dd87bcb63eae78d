"""docs/result_files.md: the files that stages write."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from suphx_pipelines.runs.stage import Stage
from tests.repository import REPOSITORY

PAGE = REPOSITORY / "docs" / "result_files.md"
OF_EVERY_STAGE = ("started.json", "done.json")
_SAME = re.compile(r"the same files as in `([^`]+)`")


def listed_files() -> list[str]:
    """Return the paths on the page, with ``<name>`` for what differs; a folder ends with a slash."""
    paths: list[str] = []
    for row in re.findall(r"^\| (`.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        places, _, content = row.partition(" | ")
        named = re.findall(r"`([^`]+)`", places)
        if found := _SAME.match(content):
            named = [
                place + path.removeprefix(found[1]) for place in named for path in paths if path.startswith(found[1])
            ]
        paths += named
    return paths


def undeclared_files(run: Path, stages: Iterable[Stage[Any]]) -> list[str]:
    """Return the files in the folders of ``stages`` below ``run`` that are not on the page."""
    declared = re.compile("|".join(map(_pattern, listed_files())))
    found = []
    for stage in stages:
        folder = run / stage.name
        names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
        visible = [name for name in names if not any(part.startswith(".") for part in name.split("/"))]
        paths = [f"{stage.name}/{name}" for name in visible if name not in OF_EVERY_STAGE]
        found += [path for path in paths if not declared.fullmatch(path)]
    return found


def _pattern(path: str) -> str:
    parts = re.split(r"<[^>]+>", path)
    return "[^/]+".join(map(re.escape, parts)) + (".+" if path.endswith("/") else "")
