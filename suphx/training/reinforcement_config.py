"""The settings of self-play reinforcement learning: those of the parts, and of the loop around them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Annotated, Literal

from suphx.evaluation.match_config import HANCHANS, HANCHANS_OR_NONE, MIN_DEALS
from suphx.games.registry import DEFAULT_GAME, decision_numbers
from suphx.number_range import Interval, Minutes, Processes, Range, Seconds, Steps, check_ranges
from suphx.selfplay.config import InferenceEngineConfig, ReplayBufferConfig, SimulatorConfig
from suphx.selfplay.layout import RayLayoutConfig
from suphx.training.config import GlobalRewardConfig, RewardName
from suphx.training.learner_config import LearnerConfig, OracleConfig

Start = Literal["supervised", "random"]

STATE_FILE = "reinforcement_state.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReinforcementConfig:
    """One run of self-play. It ends at the first of its two limits."""

    start: Start = "supervised"
    """Nets at the start: those of the supervised stages, or random weights. Random weights need no records: they
    discard at random, rarely call, and mostly declare riichi when they can."""
    start_temperature: Annotated[float, Range(0, 100, "right")] = 1.0
    """The logits of the initial nets that learn are divided by this. Below 1 (such as 0.6) they explore less, and the
    policy that samples in training is closer to the one that takes the most probable action in matches."""
    heads: tuple[str, ...] = ("discard",)
    """Heads that learn; the other nets stay unchanged. The paper trains the discard net only."""
    reward: RewardName = "round_score"
    """Reward of a seat for a kyoku. round_score: the points that it won or lost. global_prediction: by how much the
    kyoku changed the predicted reward of the whole game (the paper's RL-1)."""
    global_reward: GlobalRewardConfig = field(default_factory=GlobalRewardConfig)
    """Settings of ``global_prediction``."""
    max_updates: Steps = 0
    """Stop after this many updates; 0 = no limit. Without max_updates and max_minutes there is no self-play."""
    max_minutes: Minutes = 0.0
    """Stop after this many minutes; 0 = no limit. The result then depends on the machine's speed and cannot be
    reproduced exactly."""
    weight_sync_interval: Interval = 4
    """Updates between two policy versions."""
    rollout_fragment_length: Annotated[int, Range(1, 16_384)] = 16
    """Decisions per table that a simulator plays before it returns control to the driver."""
    overlap: bool = True
    """In one process: learn from a batch while the games of the next batch are played, by nets that are one update
    older. false: one after the other. Either way, equal seeds give equal numbers."""
    evaluate_every: Steps = 0
    """Updates between two matches against the initial and the weak nets; 0 = only at the end. Over Ray, a match that
    is due while the one before is still played is left out, unless ``cluster.pace`` is lockstep."""
    evaluation_hanchans: Annotated[int, HANCHANS] = 400
    """Games of each of these matches, a multiple of 4. All of them are played on the same walls."""
    evaluation_weak: bool = True
    """Play as many games against the weak supervised nets, if the run has some."""
    evaluation_deals: Annotated[int, Range(0, 10_000_000)] = 0
    """Deals that are played twice, by the newest and by the initial nets, with each of these matches: the difference in
    points per kyoku shows a gain earlier than placements do. 0 = none; otherwise use 20 or more."""
    final_hanchans: Annotated[int, HANCHANS_OR_NONE] = 0
    """Games against the initial nets at the end, a multiple of 4, with the most probable actions and again with sampled
    ones (``final_sampled``); 0 = as many as evaluation_hanchans."""
    final_sampled: bool = True
    """Play the match against the initial nets at the end a second time, with sampled actions on both sides."""
    final_opponent: str = ""
    """Scripted agent of the game (``suphx agents`` lists them) that the nets also play against at the end, in as
    many games and with the most probable actions. Empty = none."""
    evaluation_workers: Processes = 1
    """Processes that play these matches."""
    report_every: Interval = 10
    """Updates between two points of the curves."""
    save_seconds: Seconds = 120.0
    """Seconds between saved states; the state is also saved at the end."""
    simulator: SimulatorConfig = field(default_factory=SimulatorConfig)
    """Number of games that are played at once, and the opponents."""
    engine: InferenceEngineConfig = field(default_factory=InferenceEngineConfig)
    """How the nets compute policy outputs."""
    buffer: ReplayBufferConfig = field(default_factory=ReplayBufferConfig)
    """How many decisions wait for the learner, and for how long."""
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    """How the nets learn."""
    oracle: OracleConfig = field(default_factory=OracleConfig)
    """Hidden tiles that the nets see while they learn."""
    cluster: RayLayoutConfig = field(default_factory=RayLayoutConfig)
    """Processes and their placement: one process, or several over Ray."""
    game: str = field(default=DEFAULT_GAME, compare=False, metadata={"set_by": "use the key game of the recipe"})

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.evaluation_hanchans % 4:
            raise ValueError(f"evaluation_hanchans is {self.evaluation_hanchans}: use a multiple of 4, at least 8")
        if self.final_hanchans and (self.final_hanchans < 8 or self.final_hanchans % 4):
            raise ValueError(f"final_hanchans is {self.final_hanchans}: use 0, or a multiple of 4, at least 8")
        if self.evaluation_deals and self.evaluation_deals < MIN_DEALS:
            raise ValueError(f"evaluation_deals is {self.evaluation_deals}: use 0, or at least {MIN_DEALS}")
        if self.overlap and not self.cluster.on_ray and not self.buffer.max_staleness:
            raise ValueError(
                "buffer.max_staleness is 0 with overlap, whose batches are one version old: use at least 1, or set "
                "overlap to false"
            )
        if (self.learner.algorithm == "monte_carlo") != (self.engine.epsilon > 0):
            raise ValueError(
                f"engine.epsilon is {self.engine.epsilon} with learner.algorithm {self.learner.algorithm!r}: use more "
                "than 0, such as 0.05, with monte_carlo, and 0 with policy_gradient, which samples"
            )
        if self.learner.num_learners > 1 and not self.cluster.on_ray:
            raise ValueError(
                f"learner.num_learners is {self.learner.num_learners}: several learners are processes of Ray, so set "
                "cluster.on_ray to true, or use 1"
            )
        if self.oracle.steps and self.oracle.updates_per_step % self.weight_sync_interval:
            raise ValueError(
                f"oracle.updates_per_step is {self.oracle.updates_per_step}: use a multiple of weight_sync_interval "
                f"({self.weight_sync_interval}), so that the keep probability changes with a version"
            )

    @property
    def sees_hidden(self) -> bool:
        """Tell whether decisions are kept with what is hidden from their seats."""
        has_oracle_critic = self.learner.oracle_critic and self.learner.has_critic
        return self.oracle.policy or has_oracle_critic or self.learner.distillation.weight > 0

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
        return decision_numbers(self.heads, self.game)

    def share_done(self, updates: int, seconds: float) -> float:
        """Return how much of the run is done: 1 or more at its end."""
        shares = [updates / self.max_updates] if self.max_updates else []
        if self.max_minutes:
            shares.append(seconds / (60 * self.max_minutes))
        return max(shares)


_CLUSTER_KEYS = tuple(f"cluster.{field.name}" for field in fields(RayLayoutConfig))
FREE_KEYS = ("evaluation_workers", "report_every", "save_seconds", "learner.num_learners", "learner.threads",
             "learner.device", "engine.threads", "engine.device", "engine.max_batch_size", "engine.wait_seconds",
             *_CLUSTER_KEYS)  # fmt: skip
"""What may differ when a run continues: how it is carried out. In one process, or in lockstep with one actor of each,
it does not change the numbers, up to rounding. Lockstep gives the numbers of one process without ``overlap``."""
