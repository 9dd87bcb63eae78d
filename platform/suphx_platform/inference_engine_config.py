"""How an inference engine answers requests: the settings of inference_engine.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from suphx.models.computation import DeviceName, Precision
from suphx.selfplay.choice import Answers

Nets = Literal["policy", "null"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceEngineConfig:
    """How requests are answered."""

    nets: Nets = "policy"
    """policy: the players' nets. null: none; each head samples evenly among the legal answers (to measure the rest)."""
    group_rows: int = 4096
    """Requests are answered together, up to about so many rows."""
    wait_seconds: float = 0.0
    """How long the first request of a group waits for others; 0 = only those that are there already."""
    answers: Answers = "probable"
    """How the nets of two answers that do not learn say yes (selfplay/answer.py)."""
    threads: int = 1
    """Threads of torch; 0 = as they are."""
    precision: Precision = "auto"
    """fp32, bf16, or auto: bf16 where the hardware has it."""
    device: DeviceName = "auto"
    """cpu, cuda, or auto: cuda if there is one."""
    batch_sizes: tuple[int, ...] = ()
    """Rows of a batch, ascending, to which groups are padded; empty: by device (models/inference.py)."""

    def __post_init__(self) -> None:
        if self.group_rows < 1:
            raise ValueError(f"group_rows is {self.group_rows}: use 1 or more")
        if self.threads < 0:
            raise ValueError(f"threads is {self.threads}: use 0 or more")
        if not 0 <= self.wait_seconds <= 10:
            raise ValueError(f"wait_seconds is {self.wait_seconds}: use 0 to 10")
        for name, allowed in (("nets", get_args(Nets)), ("answers", get_args(Answers))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}: use one of {', '.join(allowed)}")
