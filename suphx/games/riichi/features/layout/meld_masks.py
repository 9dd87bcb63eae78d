"""The tiles of a meld as count masks."""

from __future__ import annotations

from suphx.games.riichi.features.layout.planes import CountMasks
from suphx.games.riichi.table.table import CHI_MELD, PON_MELD
from suphx.kernel.jit import jit


@jit
def meld_masks(meld_type: int, kind: int) -> CountMasks:
    """Return the counts of one meld whose lowest kind is ``kind``."""
    if meld_type == CHI_MELD:
        return 7 << kind, 0, 0, 0
    bit = 1 << kind
    return bit, bit, bit, 0 if meld_type == PON_MELD else bit
