"""Columns of a batch of decisions by name, of numpy arrays or of tensors.

Dictionaries, because RLlib hands them through its learners; with types, so that a wrong name is found before it runs.
"""

from __future__ import annotations

from typing import Generic, NotRequired, TypedDict, TypeVar

A = TypeVar("A")


class LossColumns(TypedDict, Generic[A]):
    """What the loss of a policy and its critic needs of n decisions; shapes as in ``Decisions``."""

    masks: A
    costs: A
    actions: A
    is_joint: A
    log_probs: A
    rewards: A
    is_last: A


class SeenPlanes(TypedDict, Generic[A]):
    """What each net sees of n decisions: bit-packed planes, uint8 [n, width]."""

    planes: A
    """Of the policy."""
    critic_planes: NotRequired[A]
    teacher_planes: NotRequired[A]


class BatchColumns(LossColumns[A], SeenPlanes[A]):
    """All columns that a learner needs of one head's batch."""
