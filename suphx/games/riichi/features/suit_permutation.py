"""Exchange of suits in packed samples: one recorded decision is six, as no rule but one yakuman tells the suits apart.

All layouts keep what belongs to a suit in columns, never in planes of its own: exchanging suits moves columns, and red
fives move with their kinds. All green (ryuuiisou) is the exception: it is a yakuman in one suit only.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from suphx.games.riichi.features.layout.planes import NUM_COLUMNS, set_kinds
from suphx.games.riichi.features.samples import Samples
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64, U8

SUIT_ORDERS = np.array(list(permutations(range(3))), np.int64)
"""int64 (6, 3): where each suit goes; line 0 leaves them where they are."""


def permute_suits(samples: Samples, choices: I64) -> None:
    """Exchange the suits of each sample in place, in the orders ``choices`` (int64 (n,), 0-5: rows of SUIT_ORDERS).

    Raises ValueError for another number of choices, or one that is out of range.
    """
    num_rows = len(samples.labels)
    if choices.shape != (num_rows,) or (num_rows and not 0 <= choices.min() <= choices.max() < len(SUIT_ORDERS)):
        raise ValueError(f"{choices.size} choices for {num_rows} samples: give one of 0 to 5 for each")
    # Whole planes only: what is left of the last byte is always 0.
    num_planes = samples.planes.shape[1] * 8 // NUM_COLUMNS
    _permute(samples.planes, samples.masks, samples.labels, choices, SUIT_ORDERS, num_planes)


@jit
def permuted_kinds(kinds: int, order: I64) -> int:
    """Return the bit set ``kinds`` (34 bits) with suit s moved to ``order[s]``."""
    moved = kinds >> 27 << 27
    for suit in range(3):
        moved |= (kinds >> 9 * suit & 511) << 9 * order[suit]
    return moved


@jit
def _permute(rows: U8, masks: U8, labels: I8, choices: I64, orders: I64, num_planes: int) -> None:
    old = np.zeros(rows.shape[1], np.uint8)
    mask = np.zeros(27, np.uint8)
    for i in range(len(choices)):
        order = orders[choices[i]]
        if choices[i] == 0:
            continue
        old[:] = rows[i]
        rows[i, :] = 0
        for plane in range(num_planes):
            set_kinds(rows[i], plane, permuted_kinds(_kinds(old, plane), order))
        if masks.shape[1] > 0:
            mask[:] = masks[i, :27]
            for kind in range(27):
                masks[i, 9 * order[kind // 9] + kind % 9] = mask[kind]
            if labels[i] < 27:
                labels[i] = 9 * order[labels[i] // 9] + labels[i] % 9


@jit
def _kinds(row: U8, plane: int) -> int:
    """Return the 34 bits of a plane."""
    first = plane * NUM_COLUMNS
    bits = 0
    for i in range(5):
        bits |= int(row[(first >> 3) + i]) << 8 * i
    return bits >> (first & 7) & ((1 << NUM_COLUMNS) - 1)
