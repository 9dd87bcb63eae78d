from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suphx_platform.storage.manifest import CheckpointVersion, ManifestError, read_manifest, write_manifest

PATH = "run/000000000007.001"
DIGEST = "0f" * 32
VERSION = CheckpointVersion(
    path=PATH,
    writer="ab" * 16,
    files={"state": (2**25, DIGEST), "a/b.json": (0, DIGEST), "牌": (1, DIGEST)},
    score=-0.5,
    saved=12.5,
)
NO_NAMES = ("", ".", "..", "../x", "/x", "a//b", "a/../b", ".hidden", "x\0y", "a\\b", "a" * 300, "a/" * 600)
NO_DIGESTS: tuple[object, ...] = ([-1, DIGEST], [True, DIGEST], [1.0, DIGEST], [1, "x"], [1], 1, {}, [[1, DIGEST]])


def changed(**values: Any) -> bytes:
    return json.dumps(json.loads(write_manifest(VERSION)) | values).encode()


def test_what_is_written_is_read() -> None:
    assert read_manifest(PATH, write_manifest(VERSION)) == VERSION
    assert VERSION.number == 7


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"torn", "it is not JSON"),
        (b"[" * 200_000, "it is not JSON"),
        (b"\xff", "it is not JSON"),
        (b"[]", "written by another version of this program"),
        (changed(format=2), "written by another version of this program"),
        *((changed(writer=writer), "its writer") for writer in ("../../../secret", None, "AB" * 16)),
        (changed(files=[]), "its files are not a table"),
        *((changed(files={name: [1, DIGEST]}), "is no name of a file inside the folder") for name in NO_NAMES),
        (changed(files={"a/b": [1, DIGEST], "a/b/c/d": [1, DIGEST]}), "'a/b/c/d' is inside of a file"),
        *((changed(files={"a": digest}), "not a size and a SHA-256") for digest in NO_DIGESTS),
        *((changed(score=score), "is not a finite number") for score in (math.nan, math.inf, 10**400, "high")),
        *((changed(saved=saved), "is not a finite number") for saved in (None, math.nan, "now")),
    ],
)
def test_what_this_program_does_not_write_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ManifestError, match=message):
        read_manifest(PATH, data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["..", "../x", "/x", "x", DIGEST]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["..", "a", "a/b", ""]), inner),
    max_leaves=5,
)


@given(st.sampled_from(["format", "writer", "score", "saved", "files", "new"]), VALUES)
def test_damaged_manifests_are_refused_or_lead_nowhere_else(key: str, value: Any) -> None:
    try:
        version = read_manifest(PATH, changed(**{key: value}))
    except ManifestError:
        return
    assert math.isfinite(version.score or 0)
    assert math.isfinite(version.saved)
    for name, (size, _) in version.files.items():
        assert version.key(name).startswith(f"{PATH}/{VERSION.writer}/")
        assert not {"", ".", ".."} & set(name.split("/"))
        assert size >= 0
