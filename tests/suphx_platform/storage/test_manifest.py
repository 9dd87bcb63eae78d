from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suphx_platform.storage.manifest import (
    CheckpointVersion,
    ManifestError,
    read_manifest,
    write_manifest,
)
from suphx_platform.storage.objects import PART_BYTES

PATH = "run/000000000007.001"
DIGEST = "0f" * 32
VERSION = CheckpointVersion(
    PATH, 7, -0.5, "ab" * 16, {"state": [(PART_BYTES, DIGEST), (5, DIGEST)], "a/b.json": [], "牌": [(1, DIGEST)]}, 12.5
)


def changed(**values: Any) -> bytes:
    return json.dumps(json.loads(write_manifest(VERSION)) | values).encode()


def test_what_is_written_is_read() -> None:
    assert read_manifest(PATH, write_manifest(VERSION)) == VERSION


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"torn", "it is not JSON"),
        (b"[" * 200_000, "it is not JSON"),
        (b"\xff", "it is not JSON"),
        (b"[]", "it is not a table"),
        (changed(format=1), "written by another version of this program"),
        (changed(part_bytes=1), "written by another version of this program"),
        (changed(writer="../../../secret"), r"its writer '\.\./\.\./\.\./secret' is not 32 hexadecimal digits"),
        (changed(writer=None), "its writer None is not"),
        (changed(writer="AB" * 16), "its writer 'ABAB"),
        (changed(files=[]), "its files are not a table"),
        *(
            (changed(files={name: []}), "is no name of a file inside the folder")
            for name in (
                "",
                ".",
                "..",
                "../x",
                "/x",
                "a//b",
                "a/../b",
                ".hidden",
                "x\0y",
                "a\\b",
                "a" * 300,
                "a/" * 600,
            )
        ),
        (changed(files={"a/b": [], "a/b/c/d": []}), "'a/b/c/d' is inside of a file"),
        (changed(files={"a": {}}), "the parts of 'a' are not a list"),
        *(
            (changed(files={"a": [part]}), "not a size and a SHA-256")
            for part in ([0, DIGEST], [-1, DIGEST], [10**30, DIGEST], [True, DIGEST], [1.0, DIGEST], [1, "x"], [1], 1)
        ),
        (changed(files={"a": [[math.inf, DIGEST]]}), "it is not JSON: Infinity is no number"),
        (changed(score=math.nan), "it is not JSON: NaN is no number"),
        (write_manifest(VERSION).replace(b"-0.5", b"1e999"), "its score is inf: not a finite number"),
        (changed(score=10**400), "not a finite number"),
        (changed(saved="now"), "its saved is 'now': not a finite number"),
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


@given(st.sampled_from(["format", "writer", "score", "part_bytes", "saved", "files", "new"]), VALUES)
def test_damaged_manifests_are_refused_or_lead_nowhere_else(key: str, value: Any) -> None:
    try:
        version = read_manifest(PATH, changed(**{key: value}))
    except ManifestError:
        return
    assert math.isfinite(version.score or 0)
    assert math.isfinite(version.saved)
    for name, parts in version.files.items():
        assert version.key(name).startswith(f"{PATH}/{VERSION.writer}/")
        assert not {"", ".", ".."} & set(name.split("/"))
        assert all(0 < size <= PART_BYTES for size, _ in parts)
