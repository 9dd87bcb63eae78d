"""The sizes of the reward predictor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardPredictorConfig:
    """Sizes of the net."""

    gru_units: int = 64
    """Units of each of the two GRU layers."""
    hidden_units: int = 64
    """Units between the two fully connected layers."""

    def __post_init__(self) -> None:
        for name in ("gru_units", "hidden_units"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use at least 1")
