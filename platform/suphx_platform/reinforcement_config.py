"""The settings of self-play reinforcement learning: those of the parts, and of the loop around them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal, get_args

from suphx.features.head import check_heads, head_index
from suphx.training.oracle_guiding import OracleConfig
from suphx.training.reward_config import GlobalRewardConfig, RewardName
from suphx_platform.cluster_config import ClusterConfig
from suphx_platform.inference_engine_config import InferenceEngineConfig
from suphx_platform.learner_config import LearnerConfig
from suphx_platform.parameter_server import ParameterServerConfig
from suphx_platform.replay_buffer_config import ReplayBufferConfig
from suphx_platform.simulator_config import SimulatorConfig

Start = Literal["supervised", "random"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinforcementConfig:
    """One run of self-play. It ends at whichever of its two limits comes first."""

    start: Start = "supervised"
    """The nets that it begins with: those of the supervised stages, or random weights (no records are needed then):
    discards at random, no calls, riichi whenever it is possible."""
    heads: tuple[str, ...] = ("discard",)
    """Nets that learn; the others stay as they are. The paper trains the discard net only."""
    reward: RewardName = "round_score"
    """What a kyoku is worth to a seat: the points that it won or lost, or by how much it changed what the predictor
    expects of the whole game (the paper's RL-1)."""
    global_reward: GlobalRewardConfig = field(default_factory=GlobalRewardConfig)
    """How ``global_prediction`` becomes points."""
    max_updates: int = 0
    """End after this many updates; 0 = no limit of this kind. Without either limit there is no self-play at all."""
    max_minutes: float = 0.0
    """End after this much time, or after max_updates if that is sooner; 0 = no limit of this kind. Such a run depends
    on the machine's speed: no two are quite alike."""
    publish_every: int = 4
    """Updates between two policy versions."""
    steps: int = 16
    """Decisions that every table makes before the buffer is looked at again."""
    evaluate_every: int = 0
    """Updates between two matches against the nets that it began with and the weak ones; 0 = only at the end."""
    evaluation_hanchans: int = 400
    """Games of each of these matches (``evaluate_every``), a multiple of 4."""
    evaluation_workers: int = 1
    """Processes that play these matches."""
    report_every: int = 10
    """Updates between two points of the curves."""
    save_seconds: float = 120.0
    """The state is saved this long after the last time, and at the end."""
    simulator: SimulatorConfig = field(default_factory=SimulatorConfig)
    """Who plays how many games side by side."""
    engine: InferenceEngineConfig = field(default_factory=InferenceEngineConfig)
    """How the nets answer."""
    buffer: ReplayBufferConfig = field(default_factory=ReplayBufferConfig)
    """How many decisions wait to be learned from, and how long."""
    server: ParameterServerConfig = field(default_factory=ParameterServerConfig)
    """Which versions of the nets are kept."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """How the nets learn."""
    oracle: OracleConfig = field(default_factory=OracleConfig)
    """What the nets that learn see of what is hidden."""
    cluster: ClusterConfig = field(default_factory=ClusterConfig)
    """Who runs where, in one process or over Ray."""

    def __post_init__(self) -> None:
        if self.start not in get_args(Start):
            raise ValueError(f"start is {self.start!r}: use one of {', '.join(get_args(Start))}")
        check_heads(self.heads)
        if self.reward not in get_args(RewardName):
            raise ValueError(f"reward is {self.reward!r}: use one of {', '.join(get_args(RewardName))}")
        least = {"publish_every": 1, "steps": 1, "report_every": 1, "evaluation_workers": 1}
        for name in (*least, "max_updates", "max_minutes", "evaluate_every", "save_seconds"):
            if getattr(self, name) < least.get(name, 0):
                raise ValueError(f"{name} is {getattr(self, name)}: use at least {least.get(name, 0)}")
        if self.evaluation_hanchans < 8 or self.evaluation_hanchans % 4:
            raise ValueError(f"evaluation_hanchans is {self.evaluation_hanchans}: use a multiple of 4, at least 8")

        if self.oracle.steps and self.oracle.updates_per_step % self.publish_every:
            raise ValueError(
                f"oracle.updates_per_step is {self.oracle.updates_per_step}: use a multiple of publish_every "
                f"({self.publish_every}), so that gamma changes with a version"
            )

    @property
    def sees_hidden(self) -> bool:
        """Tell whether decisions are kept with what is hidden from their seats."""
        return self.oracle.policy or self.learner.oracle_critic or self.learner.distillation.weight > 0

    @property
    def is_wanted(self) -> bool:
        """Tell whether there is anything to do."""
        return self.max_updates > 0 or self.max_minutes > 0

    @property
    def needs_predictor(self) -> bool:
        """Tell whether a reward predictor is wanted that the run must learn itself."""
        return self.reward == "global_prediction" and not self.global_reward.predictor

    @property
    def head_numbers(self) -> tuple[int, ...]:
        """The heads that learn, as numbers, ascending."""
        return tuple(sorted(head_index(head) for head in self.heads))

    def share_done(self, updates: int, seconds: float) -> float:
        """Return how much of the run is done: 1 or more at its end."""
        shares = [updates / self.max_updates] if self.max_updates else []
        if self.max_minutes:
            shares.append(seconds / (60 * self.max_minutes))
        return max(shares)


_CLUSTER_KEYS = tuple(f"cluster.{field.name}" for field in fields(ClusterConfig))
FREE_KEYS = ("evaluation_workers", "report_every", "save_seconds", "learner.num_learners", "learner.threads",
             "learner.device", "engine.threads", "engine.device", "engine.group_rows", "engine.wait_seconds",
             *_CLUSTER_KEYS)  # fmt: skip
"""What may differ when a run goes on: how it is carried out. In one process, or in lockstep with one actor of each, it
changes nothing in the numbers, up to rounding."""
