"""The sources that a module depends on: its own file and, recursively, those of the modules it imports.

Only modules below the roots that the caller names count (this project's); installed packages do not. Every import
statement counts, also those inside functions. Statements are found by a pattern because parsing takes 50 times as
long; the pattern may find too much (an import statement quoted in a text), which is safe, and a test compares it with
the parser for all sources of this project.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_COMMENT = re.compile(r"#[^\n]*|\\\n")
_STATEMENT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b[ \t]*(\([^)]*\)|[^\n;]*)|import[ \t]+([^\n;]+))", re.MULTILINE
)


def imported_names(source: str) -> set[str]:
    """Return the dotted names that ``source`` imports: ``a.b`` for ``import a.b`` and for ``from a import b``."""
    names = set()
    for package, members, modules in _STATEMENT.findall(_COMMENT.sub("", source)):
        for part in (members or modules).strip("()").split(","):
            if words := part.split():
                names.add(f"{package}.{words[0]}" if package else words[0])
    return names


def closure(path: Path, roots: Sequence[Path]) -> set[str]:
    """Return ``path`` and every file below ``roots`` that it imports, directly or through others."""
    found: set[str] = set()
    waiting = [str(path)]
    places = tuple(map(str, roots))
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += _direct(current, places)
    return found


def closure_digest(path: Path, roots: Sequence[Path]) -> str:
    """Return hexadecimal digits that change when any file of the closure changes, appears or disappears."""
    places = sorted((str(root) for root in roots), key=len, reverse=True)
    files = sorted((_name_below(places, file), _content(file)[0]) for file in closure(path, roots))
    return hashlib.sha256(repr(files).encode()).hexdigest()


def last_change(path: Path, roots: Sequence[Path]) -> float:
    """Return when the file of the closure that was changed last was changed, in seconds since 1970."""
    return max(_content(file)[1] for file in closure(path, roots))


def forget() -> None:
    """Read every file again at the next call."""
    for remembered in (_modules_in, _existing, _direct, _content):
        remembered.cache_clear()


def _name_below(places: Sequence[str], file: str) -> str:
    return next((file[len(place) :] for place in places if file.startswith(place + os.sep)), file)


@cache
def _direct(path: str, places: tuple[str, ...]) -> list[str]:
    names = imported_names(Path(path).read_text(encoding="utf-8"))
    return sorted({file for name in names for place in places for file in _module_files(name, place)})


def _module_files(name: str, place: str) -> list[str]:
    """Return the files that importing ``name`` runs: those of its packages and its own; ``a.*`` is all of package a."""
    *packages, last = name.split(".")
    files: list[str] = []
    if (packages[0] if packages else last) in _modules_in(place):
        for package in packages:
            place = f"{place}/{package}"
            files += _existing(place)
        files += map(str, Path(place).glob("*.py")) if last == "*" else _existing(f"{place}/{last}")
    return files


@cache
def _modules_in(place: str) -> set[str]:
    return {name.partition(".")[0] for name in os.listdir(place)}  # noqa: PTH208  # here and below: Path is ten times slower


@cache
def _existing(place: str) -> list[str]:
    return [path for path in (f"{place}.py", f"{place}/__init__.py") if os.path.isfile(path)]  # noqa: PTH113


@cache
def _content(path: str) -> tuple[str, float]:
    """Return the digest of the file and the time of its last change."""
    changed = os.stat(path).st_mtime  # noqa: PTH116
    return hashlib.sha256(Path(path).read_bytes()).hexdigest(), changed
