"""How the probabilities of a net are corrected: one temperature, and for yes and no the border between them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Fitted on validation samples (training/supervised/calibration.py), stored in the checkpoint, applied in play."""

    temperature: float = 1.0
    """Logits are divided by it: above 1 the net was too sure of itself."""
    yes_threshold: float = 0.5
    """Of the corrected probability: the answers above it are as often yes as the recorded ones. 0.5 for other heads."""

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature is {self.temperature}: use a positive number")
        if not 0 < self.yes_threshold < 1:
            raise ValueError(f"yes_threshold is {self.yes_threshold}: use a probability between 0 and 1")
