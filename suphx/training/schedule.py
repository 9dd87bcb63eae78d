"""The learning rate over a run: a linear warm-up, then half a cosine."""

from __future__ import annotations

import math


def learning_rate_factor(step: int, progress: float, warmup_steps: int, final_factor: float) -> float:
    """Return what the peak learning rate is multiplied by.

    ``step``: steps done before this one; ``progress``: share of the run done, 0 to 1 (beyond counts as 1);
    ``warmup_steps``: length of the linear warm-up; ``final_factor``: the factor at the end of the run.
    """
    warmup = min(1.0, (step + 1) / warmup_steps) if warmup_steps > 0 else 1.0
    cosine = 0.5 + 0.5 * math.cos(math.pi * min(1.0, max(0.0, progress)))
    return warmup * (final_factor + (1.0 - final_factor) * cosine)
