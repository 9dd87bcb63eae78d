"""How a policy is held near its teacher: the settings of distillation.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillationConfig:
    """How closely a policy follows its teacher."""

    weight: float = 0.0
    """Weight in the loss of the distance above the bound; 0 = no teacher."""
    bound: float = 0.05
    """Mean KL(teacher || policy) over a batch, in nats, below which there is no loss."""

    def __post_init__(self) -> None:
        for name in ("weight", "bound"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}: use 0 or more")
