"""Exchanging the suits of samples whose choices belong to tiles: one recorded decision is six samples."""

from __future__ import annotations

import numpy as np

from suphx.experience.observation import Samples
from suphx.games.mahjong.planes import SUIT_ORDERS, permute_suits
from suphx.kernel.record import I64

KINDS = (9, 7)
"""A choice for each kind of tile, as ``exchanged_choices`` takes it."""


def exchanged_choices(*groups: tuple[int, int]) -> I64:
    """Return where each choice goes if the suits are exchanged, int64 [6, choices], by row of SUIT_ORDERS.

    ``groups``: choices one after another, so many of each suit, suit by suit, and then so many that stay.
    """
    parts: list[I64] = [np.zeros((len(SUIT_ORDERS), 0), np.int64)]
    first = 0
    for per_suit, others in groups:
        suited = SUIT_ORDERS[:, :, np.newaxis] * per_suit + np.arange(per_suit)
        parts.append(first + suited.reshape(len(SUIT_ORDERS), -1))
        first += 3 * per_suit
        parts.append(np.tile(first + np.arange(others), (len(SUIT_ORDERS), 1)))
        first += others
    return np.concatenate(parts, axis=1)


def exchange_suits(samples: Samples, orders: I64, choices: I64) -> None:
    """Exchange the suits of each sample in place, in the ``orders`` int64 (n,), rows of SUIT_ORDERS.

    ``choices``: where choices go (``exchanged_choices``), those of the masks; of yes and no [6, 0]. ValueError for
    another number of orders, or one that is out of range.
    """
    permute_suits(samples.planes, orders)
    if samples.masks.shape[1]:
        places = choices[orders]
        np.put_along_axis(samples.masks, places, samples.masks.copy(), axis=1)
        samples.labels[:] = np.take_along_axis(places, samples.labels.astype(np.int64)[:, np.newaxis], axis=1)[:, 0]
