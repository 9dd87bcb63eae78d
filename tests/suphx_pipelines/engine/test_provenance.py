from __future__ import annotations

from pathlib import Path

import pytest

from suphx_pipelines.engine.provenance import digest_files, digest_json, environment, git_commit


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


def test_the_environment_names_commit_and_versions() -> None:
    facts = environment()
    assert facts["commit"] == git_commit()
    assert {"python", "torch", "numba", "suphx"} <= set(facts)
