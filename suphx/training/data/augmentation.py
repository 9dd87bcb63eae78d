"""What is done to training samples, and only to these, so that fewer games teach more."""

from __future__ import annotations

import numpy as np

from suphx.games.riichi import SUIT_ORDERS, Samples, permute_suits


def exchange_suits(samples: Samples, random: np.random.Generator) -> None:
    """Give every sample one of the six orders of the suits at random, in place."""
    permute_suits(samples, random.integers(len(SUIT_ORDERS), size=len(samples.labels)))
