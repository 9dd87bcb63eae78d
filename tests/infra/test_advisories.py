"""Advisories in OSV's format against locks, without a network."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from tests.infra.setup_module import load_setup_module
from tests.repository import REPOSITORY

advisories = load_setup_module("advisories")


def advisory(identifier: str, **affected: Any) -> dict[str, Any]:
    package = {"ecosystem": "PyPI", "name": affected.pop("name", "Kan_Kan")}
    return {
        "id": identifier,
        "aliases": [f"CVE-{identifier}"],
        "summary": "a meld can be read twice",
        "affected": [{"package": package, **affected}],
    }


def in_range(*events: dict[str, str]) -> dict[str, Any]:
    return {"ranges": [{"type": "ECOSYSTEM", "events": list(events)}]}


def check(folder: Path, *options: str, lock: str = "kan-kan==2.5 \\\n    --hash=sha256:0\n") -> tuple[int, list[str]]:
    (folder / "some.lock").write_text(lock)
    script = REPOSITORY / "infra" / "setup" / "advisories.py"
    command = [sys.executable, str(script), str(folder / "osv"), str(folder / "some.lock"), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def store(folder: Path, *entries: dict[str, Any]) -> None:
    (folder / "osv" / "more").mkdir(parents=True, exist_ok=True)
    for entry in entries:
        (folder / "osv" / "more" / f"{entry['id']}.json").write_text(json.dumps(entry))


@pytest.mark.parametrize(
    ("events", "affected"),
    [
        ([{"introduced": "0"}], "2.5"),
        ([{"introduced": "0"}, {"fixed": "2.5.1"}], "2.5"),
        ([{"introduced": "2.5"}, {"last_affected": "2.5"}], "2.5"),
        ([{"fixed": "2.6"}, {"introduced": "2.4"}], "2.5"),
        ([{"introduced": "1"}, {"fixed": "2"}, {"introduced": "2.5rc1"}], "2.5"),
        ([{"introduced": "0"}, {"fixed": "2.5"}], None),
        ([{"introduced": "0"}, {"last_affected": "2.4.9"}], None),
        ([{"introduced": "2.5.1"}], None),
        ([{"introduced": "1"}, {"fixed": "2"}, {"introduced": "3"}], None),
    ],
)
def test_a_version_is_compared_with_the_events_of_a_range(events: list[dict[str, str]], affected: str | None) -> None:
    assert advisories.is_in_range(Version("2.5"), events) == (affected is not None)


def test_an_affected_package_is_named_with_all_names_of_the_advisory(tmp_path: Path) -> None:
    store(tmp_path, advisory("A-1", **in_range({"introduced": "0"}, {"fixed": "3"})), advisory("A-2", versions=["2.6"]))
    assert check(tmp_path) == (
        1,
        ["kan-kan 2.5: A-1, CVE-A-1: a meld can be read twice", "1 advisories affect 1 locked packages"],
    )
    assert check(tmp_path, "--ignore", "CVE-A-1")[0] == 0


def test_a_listed_version_is_affected_and_a_local_build_is_that_version(tmp_path: Path) -> None:
    store(tmp_path, advisory("A-1", versions=["2.5", "junk"]))
    assert check(tmp_path, lock="kan-kan==2.5+cpu --hash=sha256:0\n")[0] == 1
