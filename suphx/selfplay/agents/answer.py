"""From the logits of a yes-or-no net to a score that the decision flow compares with one half (paper, Figure 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suphx.models.calibration import Calibration
from suphx.selfplay.agents.choice import Answers

Floats = NDArray[np.float32]


def yes_scores(logits: Floats, uniforms: Floats, calibration: Calibration, answers: Answers) -> Floats:
    """Return float32 [n]: above 0.5 where the answer is yes, and the higher the surer the net is.

    ``logits`` [n, 2]; ``uniforms`` [n] in 0 … 1: where in its distribution a sampled answer lies (no comes first).
    """
    yes = _sigmoid((logits[:, 1] - logits[:, 0]) / calibration.temperature)
    if answers == "sampled":
        return np.where(uniforms >= 1 - yes, 0.5 + yes / 2, 0).astype(np.float32)
    border = calibration.yes_threshold if answers == "matched" else 0.5
    below, above = 0.5 * yes / border, 0.5 + 0.5 * (yes - border) / (1 - border)
    return np.where(yes <= border, below, above).astype(np.float32)


def _sigmoid(values: Floats) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-values.astype(np.float64)))
