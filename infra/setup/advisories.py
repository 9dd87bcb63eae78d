"""Compare locks with a folder of advisories, without a network.

The folder has advisories of PyPI as JSON files in OSV's format (https://ossf.github.io/osv-schema/), for example the
unpacked archive of all of them that OSV offers. Prints one line for each locked version that an advisory affects, and
exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_PIN = re.compile(r"^([a-z0-9-]+)==([^\s;+]+)", re.MULTILINE)


def read_pins(locks: list[Path]) -> set[tuple[str, Version]]:
    """Return the names and versions in the locks, without the names of local builds."""
    return {
        (canonicalize_name(name), Version(version))
        for lock in locks
        for name, version in _PIN.findall(lock.read_text(encoding="utf-8"))
    }


def is_in_range(version: Version, events: list[dict[str, str]]) -> bool:
    """Return whether a version lies in a range of OSV's format.

    A range goes from `introduced` to before `fixed`, or through `last_affected`.
    """
    is_affected = False
    for event in sorted(events, key=_event_version):
        edge = _event_version(event)
        if "introduced" in event and version >= edge:
            is_affected = True
        elif ("fixed" in event and version >= edge) or ("last_affected" in event and version > edge):
            is_affected = False
    return is_affected


def is_affected(version: Version, affected: dict[str, Any]) -> bool:
    """Return whether an entry of an advisory names this version, in its list of versions or in a range."""
    named = {_version(text) for text in affected.get("versions", [])}
    ranges = [entry["events"] for entry in affected.get("ranges", []) if entry.get("type") == "ECOSYSTEM"]
    return version in named or any(is_in_range(version, events) for events in ranges)


def find_advisories(pins: set[tuple[str, Version]], folder: Path) -> Iterator[str]:
    """Yield a line for each pinned version that an advisory in the folder affects.

    Raises:
        ValueError: The folder has no advisories, or a file is not an advisory.
    """
    files = sorted(folder.glob("**/*.json"))
    if not files:
        raise ValueError(f"{folder} has no advisories (*.json in OSV's format)")
    versions = dict(pins)
    for file in files:
        try:
            advisory = json.loads(file.read_text(encoding="utf-8"))
            if "withdrawn" not in advisory:
                yield from _lines(advisory, versions)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{file} is not an advisory in OSV's format: {error!r}") from error


def _lines(advisory: dict[str, Any], versions: dict[str, Version]) -> Iterator[str]:
    for affected in advisory.get("affected", []):
        package = affected.get("package", {})
        name = canonicalize_name(package.get("name", ""))
        if package.get("ecosystem") == "PyPI" and name in versions and is_affected(versions[name], affected):
            names = ", ".join([advisory["id"], *advisory.get("aliases", [])])
            yield f"{name} {versions[name]}: {names}: {advisory.get('summary', 'no summary')}"


def _event_version(event: dict[str, str]) -> Version:
    return _version(next(iter(event.values()))) or Version("0")


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:  # a few old releases; none of them is locked
        return None


def main() -> int:
    """Compare the locks with the advisories; return 1 if any affects them."""
    parser = argparse.ArgumentParser(description="Compare locks with a folder of advisories, without a network.")
    parser.add_argument("folder", type=Path, help="advisories as JSON files in OSV's format, in any subfolder")
    parser.add_argument("locks", type=Path, nargs="+", metavar="LOCK", help="locks with name==version lines")
    parser.add_argument("--ignore", action="append", default=[], metavar="ID", help="skip this advisory; repeatable")
    args = parser.parse_args()
    pins = read_pins(args.locks)
    try:
        found = [line for line in find_advisories(pins, args.folder) if not any(_names(line, i) for i in args.ignore)]
    except ValueError as error:
        parser.exit(2, f"error: {error}\n")
    print("".join(f"{line}\n" for line in found) + f"{len(found)} advisories affect {len(pins)} locked packages")
    return 1 if found else 0


def _names(line: str, identifier: str) -> bool:
    return identifier in line.split(": ")[1].split(", ")


if __name__ == "__main__":
    sys.exit(main())
