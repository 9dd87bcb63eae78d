from __future__ import annotations

from pathlib import Path

import pytest

from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.runs.run_summary import RUN_FILE, RunSummary, StageSummary, command_line, machine_text


def summary() -> RunSummary:
    return RunSummary(
        run_id="laptop-1",
        recipe="laptop",
        command=["suphx", "run", "laptop"],
        state="running",
        started="2026-11-22T03:00:00+00:00",
        stages={"records": StageSummary(status="finished", seconds=3.5, warnings=["few games"]), "b": StageSummary()},
    )


def test_a_summary_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    summary().write(tmp_path)
    assert RunSummary.read(tmp_path) == summary()
    assert summary().warnings == ["few games"]
    assert read_json(tmp_path / RUN_FILE)["stages"]["b"] == {"status": "waiting", "seconds": 0.0, "warnings": []}


def test_a_folder_without_a_summary_has_none(tmp_path: Path) -> None:
    assert RunSummary.read(tmp_path) is None


def test_keys_of_a_later_version_are_ignored(tmp_path: Path) -> None:
    summary().write(tmp_path)
    write_json(tmp_path / RUN_FILE, read_json(tmp_path / RUN_FILE) | {"mood": "good"})
    assert RunSummary.read(tmp_path) == summary()


def test_a_damaged_summary_is_named(tmp_path: Path) -> None:
    write_json(tmp_path / RUN_FILE, {"run_id": "x", "stages": 3})
    with pytest.raises(ValueError, match=r"run\.json is damaged .* remove it"):
        RunSummary.read(tmp_path)


@pytest.mark.parametrize(
    "broken",
    [
        {"command": 7},
        {"command": [1]},
        {"seconds": "long"},
        {"seconds": 10**400},
        {"seconds": True},
        {"state": "new"},
        {"started": None},
        {"verdict": []},
        {"stages": {"a": {"seconds": {}}}},
        {"stages": {"a": {"status": "new"}}},
    ],
)
def test_a_value_of_another_type_is_named(tmp_path: Path, broken: dict[str, object]) -> None:
    summary().write(tmp_path)
    write_json(tmp_path / RUN_FILE, read_json(tmp_path / RUN_FILE) | broken)
    with pytest.raises(ValueError, match=r"run\.json is damaged \(TypeError.* is "):
        RunSummary.read(tmp_path)


def test_the_command_line_is_the_one_that_a_person_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / ".venv" / "bin" / "suphx"
    script.parent.mkdir(parents=True)
    script.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin")
    assert command_line([str(script), "run", "laptop"]) == [".venv/bin/suphx", "run", "laptop"]
    monkeypatch.chdir(script.parent)
    assert command_line(["/nowhere/bin/suphx", "run", "laptop"]) == ["/nowhere/bin/suphx", "run", "laptop"]
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin")
    assert command_line([str(script), "run", "laptop"]) == ["suphx", "run", "laptop"]
    assert command_line(["/opt/suphx/platform/suphx_platform/cli.py", "run"]) == ["suphx", "run"]
    assert command_line(["suphx", "run", "--records", "a\udcff"]) == ["suphx", "run", "--records", "a\\udcff"]


def test_the_machine_has_cores_and_memory() -> None:
    assert " cores, " in machine_text()
    assert " GiB" in machine_text()
