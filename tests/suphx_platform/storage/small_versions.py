"""Small folders to store, and calls of a store of objects that fail: a test sets them in place of the store's own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from suphx_platform.storage.manifest import MANIFEST
from suphx_platform.storage.objects import ObjectStore
from suphx_platform.storage.storage import Storage

NAME = "run-1/supervised/discard"


def fill(folder: Path, text: str, large: bytes = b"") -> Path:
    """Make a folder with files at two depths; ``text``: the content of its file ``state``."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "state").write_text(text)
    (folder / "deep" / "er" / "empty").touch()
    (folder / ".mark").write_text("not stored")
    if large:
        (folder / "large").write_bytes(large)
    return folder


def text_of(folder: Path) -> str:
    return (folder / "state").read_text()


def numbers(storage: Storage, name: str = NAME) -> list[int]:
    """Return the numbers of the finished versions."""
    return [version.number for version in storage.versions(name)]


def unowned(storage: Storage, name: str = NAME) -> set[str]:
    """Return the objects of a name, but for marks of writers, that no finished version has."""
    versions = storage.versions(name)
    owned = {key for version in versions for key in (f"{version.path}/{MANIFEST}", *map(version.key, version.files))}
    found = set(storage._store.keys(f"{name}/"))
    assert owned <= found
    return {key for key in found - owned if "/.writers/" not in key}


def write(storage: Storage, key: str, data: bytes, tmp_path: Path) -> None:
    """Put an object where no caller of the storage could."""
    file = tmp_path / "object"
    file.write_bytes(data)
    storage._store.upload(key, file)


def refuse(*_: object) -> None:
    """Stands for any call that the keys do not allow."""
    raise PermissionError("the server says AccessDenied")


def cut_off(store: ObjectStore, num_deletions: int) -> Callable[[Sequence[str]], None]:
    """Return a ``delete`` whose connection breaks after some deletions."""
    delete, left = store.delete, iter(range(num_deletions))

    def delete_some(keys: Sequence[str]) -> None:
        for key in keys:
            if next(left, None) is None:
                raise OSError("the connection broke")
            delete([key])

    return delete_some
