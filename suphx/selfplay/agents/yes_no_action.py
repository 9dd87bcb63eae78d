"""From the logits of a yes-or-no net to its action and how sure it is (paper, Figure 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.kernel.record import I16
from suphx.models.calibration import Calibration
from suphx.selfplay.agents.choice import ActionSelection

Floats = NDArray[np.float32]


def yes_no_actions(
    logits: Floats, uniforms: Floats, calibration: Calibration, selection: ActionSelection
) -> tuple[I16, Floats]:  # fmt: skip
    """Return the actions int16 [n], 1 = yes and 0 = no, and their scores float32 [n].

    ``logits`` [n, 2]; ``uniforms`` [n] in 0 … 1: where in its distribution a sampled action lies (no comes first). The
    score of a yes is higher the surer the net is: its probability of yes, but with ``matched``, where it is 0.5 at the
    threshold.
    """
    yes = _sigmoid((logits[:, 1] - logits[:, 0]) / calibration.temperature)
    if selection == "sampled":
        is_yes = uniforms >= 1 - yes
        scores = np.where(is_yes, yes, 0)
    else:
        border = calibration.yes_threshold if selection == "matched" else 0.5
        below, above = 0.5 * yes / border, 0.5 + 0.5 * (yes - border) / (1 - border)
        is_yes, scores = yes > border, np.where(yes <= border, below, above)
    return is_yes.astype(np.int16), scores.astype(np.float32)


def _sigmoid(values: Floats) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-values.astype(np.float64)))
