from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from suphx_pipelines.runs import provenance as engine_provenance
from suphx_pipelines.runs.provenance import digest_files, digest_json, environment, git_commit


def test_a_digest_depends_on_content_not_on_the_order_of_keys() -> None:
    assert digest_json({"a": 1, "b": [2]}) == digest_json({"b": [2], "a": 1})
    assert digest_json({"a": 1}) != digest_json({"a": 2})
    with pytest.raises(ValueError, match="JSON"):
        digest_json(float("nan"))


def test_files_are_named_relative_to_what_was_given(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.xml").write_text("one")
    (tmp_path / "b.xml").write_text("two")
    digests = digest_files(tmp_path)
    assert list(digests) == ["b.xml", "inner/a.xml"]
    assert digest_files(tmp_path / "b.xml") == {"b.xml": digests["b.xml"]}


def test_files_that_a_desktop_leaves_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("one")
    digests = digest_files(tmp_path)
    (tmp_path / ".DS_Store").write_text("places of icons")
    (tmp_path / ".Trashes").mkdir()
    (tmp_path / ".Trashes" / "b.xml").write_text("two")
    assert digest_files(tmp_path) == digests
    (tmp_path / "a.xml").unlink()
    with pytest.raises(ValueError, match="empty folder"):
        digest_files(tmp_path)
    assert list(digest_files(tmp_path / ".DS_Store")) == [".DS_Store"], "what was named itself"


def test_the_commit_is_not_that_of_a_project_in_which_suphx_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "venv" / "suphx_pipelines"
    package.mkdir(parents=True)
    (package / "provenance.py").write_text("")
    (tmp_path / ".gitignore").write_text("venv\n")
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "theirs"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    monkeypatch.setattr(engine_provenance, "__file__", str(package / "provenance.py"))
    assert git_commit() == "unknown"


def test_the_environment_names_commit_and_versions() -> None:
    facts = environment()
    assert facts["commit"] == git_commit()
    assert {"python", "torch", "numba", "suphx"} <= set(facts)
