"""``--peer NAME,NAME``: what a benchmark compares with."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from suphx.suggestion import did_you_mean


def peer_names(known: Sequence[str]) -> Callable[[str], list[str]]:
    """Return the type of an argument that takes names among ``known``, separated by commas."""

    def names_in(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",") if name.strip()]
        for name in names:
            if name not in known:
                remedy = did_you_mean(name, known) or f"use {' or '.join(known)}"
                raise argparse.ArgumentTypeError(f"{name!r} is not an engine to compare with: {remedy.strip()}")
        return names

    return names_in
