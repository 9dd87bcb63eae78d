"""How an inference engine evaluates requests: the settings of inference_engine.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from suphx.models.computation import DeviceName, Precision, check_batch_sizes
from suphx.selfplay.agents.choice import ActionSelection

Nets = Literal["policy", "null"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceEngineConfig:
    """How the inference engine computes policy outputs."""

    nets: Nets = "policy"
    """policy: the nets of the policy sets. null: no nets; each head samples uniformly among the legal actions, to
    measure everything else."""
    max_batch_size: int = 4096
    """Approximate maximum number of observations in one batch."""
    wait_seconds: float = 0.0
    """How long the first request of a batch waits for others; 0 = do not wait."""
    action_selection: ActionSelection = "probable"
    """How two-output nets that do not learn decide between yes and no (selfplay/agents/agent.py)."""
    threads: int = 1
    """Threads of torch; 0 = torch's default."""
    precision: Precision = "auto"
    """fp32; bf16; auto: bf16 where the hardware supports it."""
    device: DeviceName = "auto"
    """cpu; cuda; auto: cuda if available."""
    batch_sizes: tuple[int, ...] = ()
    """Sizes, ascending, to which batches are padded; empty: chosen by device (models/inference.py)."""

    def __post_init__(self) -> None:
        if self.max_batch_size < 1:
            raise ValueError(f"max_batch_size is {self.max_batch_size}: use 1 or more")
        if self.threads < 0:
            raise ValueError(f"threads is {self.threads}: use 0 or more")
        if not 0 <= self.wait_seconds <= 10:
            raise ValueError(f"wait_seconds is {self.wait_seconds}: use 0 to 10")
        check_batch_sizes(self.batch_sizes)
        for name, allowed in (("nets", get_args(Nets)), ("action_selection", get_args(ActionSelection))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}: use one of {', '.join(allowed)}")
