"""Calls of a store of objects that fail: a test sets them in the place of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from suphx_platform.storage.bucket import ObjectStore


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
