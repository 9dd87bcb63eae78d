"""Stands for a full disk in tests."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Call(NamedTuple):
    """One call that the disk must see in its place."""

    name: str
    """``fsync``, ``rename``, ``link``, ``unlink`` or ``rmtree``."""
    path: Path
    """The file or folder; of ``rename`` and ``link``, the new name."""


def trace_disk(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Return a list that grows with each call that succeeds, until the test ends; the calls are really made."""
    calls: list[Call] = []

    def watch(module: Any, function: str, name: str, argument: int) -> None:
        real = getattr(module, function)

        def called(*arguments: Any, **options: Any) -> Any:
            target = arguments[argument]
            path = Path(f"/proc/self/fd/{target}").readlink() if isinstance(target, int) else Path(target)
            result = real(*arguments, **options)
            calls.append(Call(name, path))
            return result

        monkeypatch.setattr(module, function, called)

    watch(os, "fsync", "fsync", 0)
    watch(os, "rename", "rename", 1)
    watch(os, "replace", "rename", 1)
    watch(os, "link", "link", 1)
    watch(os, "unlink", "unlink", 0)
    watch(shutil, "rmtree", "rmtree", 0)
    return calls


@contextmanager
def files_limited_to(num_bytes: int) -> Iterator[None]:
    """Make the kernel refuse longer files: the nearest thing to a full disk that needs no rights."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
