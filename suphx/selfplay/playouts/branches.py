"""Decisions of one head of which several actions were played out: the columns that a net learns from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from suphx.games.riichi import NO_BRANCH
from suphx.kernel.record import I16, I64, U8
from suphx.models.sampling import masked_logits

F32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Branches:
    """Rows of one head; all columns have the same length n."""

    planes: U8
    """uint8 [n, observation_bytes]: bit-packed planes."""
    masks: U8
    """uint8 [n, 34]: legal kinds of discards; [n, 0] for the other heads."""
    choices: I16
    """int16 [n, k]: the actions that were tried, the most probable first; NO_BRANCH: none."""
    points: F32
    """float32 [n, k]: what the deciding seat won or lost until the end of the deal after each of them."""
    deals: I64
    """int64 [n]: a number for the deal of each decision; decisions of one deal share its tiles."""

    def __len__(self) -> int:
        return len(self.planes)

    def take(self, indices: I64) -> Branches:
        """Return the rows ``indices`` [m]."""
        return Branches(*(getattr(self, field.name)[indices] for field in fields(self)))

    def permuted(self, generator: np.random.Generator) -> Branches:
        """Return the same decisions with the points of each exchanged at random among the actions that were tried."""
        keys = generator.random(self.choices.shape)
        keys[self.choices == NO_BRANCH] = 2.0  # these come last and stay where they are
        return replace(self, points=np.take_along_axis(self.points, keys.argsort(axis=1), axis=1))


def join(parts: Sequence[Branches]) -> Branches:
    """Return the rows of all ``parts``, of which there is at least one."""
    return Branches(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(Branches)))


def probable_actions(logits: Tensor, masks: Tensor, *, max_branches: int, min_probability: float) -> I16:
    """Return the actions that are worth a try, int16 [n, k]; k is at most ``max_branches``.

    ``logits`` and ``masks`` as in models/sampling.py. Those discards are tried that are at least as probable as
    ``min_probability``, the most probable first. Of a call both actions are tried if yes is as probable, however sure
    the net is of it: there it can be most wrong. NO_BRANCH stands for an action that is not tried, and for all actions
    of a decision with fewer than two of them, as there is nothing to compare.
    """
    probabilities = torch.softmax(masked_logits(logits, masks), dim=1)
    most, order = probabilities.topk(min(max_branches, probabilities.shape[1]), dim=1)
    is_tried = (most >= min_probability) & (most > 0)
    if probabilities.shape[1] == 2:
        is_tried[:] = probabilities[:, 1:] >= min_probability
    is_tried &= is_tried.sum(dim=1, keepdim=True) >= 2
    choices: I16 = torch.where(is_tried, order, NO_BRANCH).to(torch.int16).numpy()
    return choices
