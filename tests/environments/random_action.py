"""Players without a plan, for games of the environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def random_action(random: np.random.Generator, mask: NDArray[Any]) -> int:
    """Return one of the legal actions of a mask (120,)."""
    return int(random.choice(np.flatnonzero(mask)))


def random_actions(random: np.random.Generator, masks: NDArray[Any]) -> NDArray[np.int64]:
    """Return a legal action for each mask, [n, 120]; action 0 for an empty mask."""
    actions: NDArray[np.int64] = (random.random(masks.shape) * masks).argmax(axis=1)
    return actions
