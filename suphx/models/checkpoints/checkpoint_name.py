"""What the files of checkpoints are called."""

from __future__ import annotations


def checkpoint_name(head: str, *, is_weak: bool = False) -> str:
    """Return the file name of a head's checkpoint: of its best weights, or of the weak ones of an early step."""
    return f"{head}-weak.safetensors" if is_weak else f"{head}.safetensors"
