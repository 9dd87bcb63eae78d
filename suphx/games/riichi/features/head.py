"""The five decision kinds of the paper's Table 1, each learned by its own net."""

from __future__ import annotations

from collections.abc import Sequence

DISCARD_HEAD, RIICHI_HEAD, CHOW_HEAD, PONG_HEAD, KONG_HEAD = range(5)
HEAD_NAMES = ("discard", "riichi", "chow", "pong", "kong")
NUM_OUTPUTS = (34, 2, 2, 2, 2)  # paper, Table 2; of two outputs, 1 means yes
NUM_CHOICES = (34, 0, 0, 0, 0)  # columns of a mask of legal answers; yes and no are always legal

CLAIM_HEADS = (
    CHOW_HEAD,
    PONG_HEAD,
    KONG_HEAD,
)  # one input row for each possible claim, with the planes of the hand after it

PLAYOUT_HEADS = (DISCARD_HEAD, RIICHI_HEAD, CHOW_HEAD, PONG_HEAD)
"""Heads whose every answer is an action: the no of a riichi is the discard that follows it, that of a chow or pong the
next claim or a pass. The no of an own kan is not one: other decisions have to follow it."""


def head_index(name: str) -> int:
    """Return the number of a head by its name; ValueError for an unknown one."""
    if name not in HEAD_NAMES:
        raise ValueError(f"{name!r} is no head: use one of {', '.join(HEAD_NAMES)}")
    return HEAD_NAMES.index(name)


def check_heads(names: Sequence[str]) -> None:
    """Raise ValueError unless ``names`` are one or more heads, each once."""
    for name in names:
        head_index(name)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"heads is {list(names)}: use one or more of {', '.join(HEAD_NAMES)}, each once")
