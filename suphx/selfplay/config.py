"""The settings of the parts of self-play. They import no torch: a recipe is read without it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from suphx.experience.observation import OpponentConfig
from suphx.models.net_config import ActionSelection, DeviceName, Precision
from suphx.number_range import Checked, Range, Share, Steps, Threads, check_ranges

Nets = Literal["policy", "null"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceEngineConfig(Checked):
    """How the inference engine computes policy outputs."""

    nets: Nets = "policy"
    """policy: the nets of the policy sets. null: no nets; each head samples uniformly among the legal actions, to
    measure everything else."""
    max_batch_size: Annotated[int, Range(1, 262_144)] = 4096
    """Approximate maximum number of observations in one batch."""
    wait_seconds: Annotated[float, Range(0, 10)] = 0.0
    """How long the first request of a batch waits for others; 0 = do not wait."""
    action_selection: ActionSelection = "probable"
    """How two-output nets that do not learn decide between yes and no (selfplay/agents/net_agent.py)."""
    epsilon: Share = 0.0
    """How the nets that learn act. 0: they sample from their probabilities. Above: they take the action with the
    highest output, and in this share of decisions any legal one, each equally often (needed for ``learner.algorithm =
    "monte_carlo"``)."""
    threads: Threads = 1
    """Threads of torch; 0 = torch's default."""
    precision: Precision = "auto"
    """fp32; bf16; auto: bf16 where the hardware supports it."""
    device: DeviceName = "auto"
    """cpu; cuda; auto: cuda if available."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayBufferConfig(Checked):
    """Size of the buffer, and the age of its decisions."""

    batch_size: Annotated[int, Range(1, 262_144)] = 1024
    """Decisions of a head per update; a batch is a few larger, so that it has whole trajectories. A head that decides
    rarely learns from fewer, but at least an eighth, before they become too stale."""
    capacity_bytes: Annotated[int, Range(2**20, 2**39)] = 256 * 2**20
    """Memory for waiting decisions (about 1 kB each with the paper's planes)."""
    max_staleness: Steps = 20
    """Decisions are dropped when their policy is more than this many versions old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorConfig:
    """How many games a simulator plays at once, and against whom."""

    num_tables: Annotated[int, Range(2, 65_536)] = 256
    """Hanchans played at once; an even number."""
    opponents: OpponentConfig = field(default_factory=OpponentConfig)
    """Policies at the other three seats."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.num_tables % 2:
            raise ValueError(f"num_tables is {self.num_tables}: use an even number")


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchConfig(Checked):
    """Which decisions of self-play are played out; the strongest scripted agent of the game plays on at all seats after
    an action."""

    num_tables: Annotated[int, Range(1, 65_536)] = 512
    """Games that are played at once."""
    max_branches: Annotated[int, Range(2, 34)] = 3
    """Maximum number of actions that are tried for a decision: the most probable ones."""
    min_probability: Annotated[float, Range(0, 0.5, "left")] = 0.04
    """An action that is less probable is not tried. A decision with fewer than two actions left is not played out."""
    discard_share: Share = 0.3
    """Share of the uncertain discards (of the game's first net) that are played out. They are many, and each of them
    matters less than a call."""
    has_draw_lanes: bool = True
    """Riichi: every seat draws from its own positions of the wall, so that a call does not change what the others draw.
    No effect in other games."""
    num_walls: Annotated[int, Range(1, 1024)] = 4
    """Number of orders of the undrawn tiles in which every action is tried: the order of the game, and random ones."""
    temperature: Annotated[float, Range(0, 100, "right")] = 0.5
    """Temperature at which the games sample their actions. Below 1 they choose the most probable actions more often, as
    in matches, so that positions are similar to those of matches."""
