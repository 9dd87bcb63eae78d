"""A recipe: one TOML file that says everything about one run.

The settings of each part stand beside that part; these classes only put them together. The key ``game`` chooses between
them: ``Recipe`` for a game whose decisions are tables of choices, ``MonteCarloRecipe`` for one that lists candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from suphx.evaluation.match_config import HANCHANS, MAX_SIDE_DECKS, MatchConfig, few_games_note
from suphx.evaluation.stable_rank import TargetRewardConfig
from suphx.games.doudizhu.table import Rules
from suphx.games.registry import DEFAULT_GAME, agent_names, candidate_game, decision_numbers
from suphx.models.net_config import NetConfig, RewardPredictorConfig
from suphx.number_range import Interval, PositiveShare, Processes, Range, Steps, Weight, check_ranges
from suphx.selfplay.layout import RoundLayoutConfig
from suphx.training import reinforcement_config
from suphx.training.config import (
    MonteCarloConfig,
    PlayoutConfig,
    RewardLearningConfig,
    SplitConfig,
    StreamConfig,
    SupervisedConfig,
    check_imitates,
    check_opponents,
)
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_pipelines.recipe.recipe_file import AnyRecipe
from suphx_platform.ray.data_parallel import DataParallelConfig
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.model_registry import check_model_name

AgentName = Literal["sl", "sl_weak", "rl_basic", "rl_1", "rl_2", "rl_permuted"]
CONTROL_AGENT: AgentName = "rl_permuted"
"""RL-basic whose rewards are permuted: it cannot become stronger."""
AGENT_TITLES: Mapping[str, str] = {
    "sl": "SL",
    "sl_weak": "SL-weak",
    "rl_basic": "RL-basic",
    "rl_1": "RL-1",
    "rl_2": "RL-2",
    CONTROL_AGENT: "RL-basic with permuted rewards",
}
"""What the paper calls the agents of its Figure 8, and the control run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentComparisonConfig:
    """Comparison of the agents in the paper's Figure 8, all from the same supervised nets and with the same amount of
    self-play."""

    agents: tuple[AgentName, ...] = ()
    """Agents to train and compare, each with the one named before it. Empty = none. rl_permuted is a control run:
    RL-basic with permuted rewards, which cannot become stronger; it is compared with sl, and no other agent with it."""
    hanchans: Annotated[int, HANCHANS] = 1000
    """Games of each agent against three SL-weak, a multiple of 4, all on the same walls."""
    workers: Processes = 2
    """Processes that play these games; the result does not depend on it."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if len(set(self.agents)) < len(self.agents):
            raise ValueError(f"agents is {list(self.agents)}: name each once")
        MatchConfig(hanchans=self.hanchans, workers=self.workers)

    @property
    def comparisons(self) -> dict[AgentName, AgentName]:
        """Return for each agent but the first the one that it is compared with: the last before it.

        The control run is compared with the supervised nets, and nothing with it.
        """
        others = [agent for agent in self.agents if agent != CONTROL_AGENT]
        found: dict[AgentName, AgentName] = {agent: before for before, agent in pairwise(others)}
        if CONTROL_AGENT in self.agents and "sl" in others:
            found[CONTROL_AGENT] = "sl"
        return found


def relation(agent: str, before: str, low: float, high: float, hanchans: int) -> str:
    """Return such as "RL-basic is better than SL": ``low`` and ``high`` bound the difference in placement.

    >>> relation("rl_basic", "sl", -0.05, -0.01, hanchans=1000)
    'RL-basic is better than SL'
    """
    how = "better than" if high < 0 else "worse than" if low > 0 else "not clearly different from"
    if few_games_note(hanchans):
        how = "not yet comparable with"
    return f"{AGENT_TITLES[agent]} is {how} {AGENT_TITLES[before]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleStageConfig:
    """Self-play of nets that see everything (keep probability 1)."""

    max_updates: Steps = 0
    """Updates of self-play at keep probability 1; 0 = no oracle guiding."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleDecayConfig:
    """Hidden tiles disappear step by step; after that the nets continue without them."""

    steps: Steps = 0
    """Number of steps in which the keep probability falls from 1 to 0. The last one, at 0, already learns as
    ``continued_updates`` do. 0 = it stays 1, and the nets of the oracle stage are the last ones."""
    ratio: Annotated[float, Range(0, 1, "left")] = 0.0
    """Each step multiplies the keep probability by this, the last sets it to 0; 0 = equal steps, as in the paper."""
    updates_per_step: Interval = 100
    """Updates at each keep probability, a multiple of reinforcement.weight_sync_interval."""
    continued_updates: Interval = 100
    """Updates after the last step, in addition to those of that step: all of them without oracle planes."""
    learning_rate_share: PositiveShare = 0.1
    """Learning rate from the first update at keep probability 0 on, as a share of the usual one (the paper: a
    tenth)."""
    reject_ratio: Annotated[float, Range(1, 1_000_000, "right")] = 2.0
    """From that update on, decisions with a larger importance ratio give no gradient of the sampled action; they are
    counted (the paper gives no value)."""

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def falling_updates(self) -> int:
        """Updates at keep probabilities between 1 and 0: all steps but the last."""
        return max(0, self.steps - 1) * self.updates_per_step

    @property
    def num_updates(self) -> int:
        """Updates of the whole stage."""
        return self.steps * self.updates_per_step + self.continued_updates


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleDistillationConfig:
    """The paper's second method: nets without hidden tiles stay close to those of the oracle stage while they learn."""

    max_updates: Steps = 0
    """Updates of self-play with the oracle as teacher; 0 = no distillation."""
    weight: Weight = 1.0
    """Weight in the loss of the distance above the bound (suphx/training/policy_gradient.py); 0 = no
    teacher."""
    bound: Weight = 0.05
    """Mean KL(oracle || policy) in nats below which there is no loss."""

    def __post_init__(self) -> None:
        check_ranges(self)


EncoderName = Literal["mini", "suphx", "suphx-plain", "dazhong", "gb237", "gb184", "gb265"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsConfig:
    """Which games the records stage reads or plays."""

    max_games: Annotated[int, Range(0, 1_000_000_000)] = 0
    """Use only the first games, in the order of the files; 0 = all."""
    played_games: Annotated[int, Range(3, 1_000_000)] = 1000
    """Number of games that the run plays to learn from when no records are given."""
    player: str = "ukeire"
    """Agent that plays them at all four seats: a scripted agent of the game (``suphx agents`` lists them), or the
    path of a folder of checkpoints."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardStageConfig:
    """The reward predictor, trained on the whole hanchans of the records."""

    is_wanted: bool = False
    """Train it even if no self-play of this run needs it."""
    target: TargetRewardConfig = field(default_factory=TargetRewardConfig)
    """Quantity that it predicts."""
    net: RewardPredictorConfig = field(default_factory=RewardPredictorConfig)
    """Sizes of the net."""
    learning: RewardLearningConfig = field(default_factory=RewardLearningConfig)
    """How it is trained."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(AnyRecipe):
    """All settings of a run."""

    free_keys: ClassVar[tuple[str, ...]] = (
        *AnyRecipe.free_keys,
        "needs_records",
        "registered_model",
        "data_parallel",
        "evaluation.on_ray",
        "evaluation.workers",
        "agent_comparison.workers",
        *(f"playouts.{key}" for key in PlayoutConfig.FREE_KEYS),
        *(f"reinforcement.{key}" for key in reinforcement_config.FREE_KEYS),
        "reward_predictor.is_wanted",
        *(f"reward_predictor.learning.{key}" for key in RewardLearningConfig.FREE_KEYS),
        *(f"stream.{key}" for key in StreamConfig.FREE_KEYS),
        *(f"supervised.{key}" for key in SupervisedConfig.FREE_KEYS),
    )
    game: Literal["riichi", "dazhong", "mcr"] | None = None
    """The game; recipes without this key are for riichi."""
    needs_records: bool = False
    """Whether the recipe is meant for your own game records (``--records DIR``). Without records it learns from games
    of the agent ``records.player``."""
    encoder: EncoderName = "mini"
    """Planes that the nets see (docs/features.md): mini, suphx (the paper's), or suphx-plain (without look-ahead); in
    Dazhong dazhong, in Chinese Official mahjong gb237, gb184 (without advice), or
    gb265 (with what the moves are worth by the plans of fan_plan)."""
    initial_agent: str = ""
    """Agent whose nets the run begins with instead of supervised learning: a folder of checkpoints
    (runs/RUN/reinforcement), models:/NAME@ALIAS, models:/NAME/VERSION, models:/m-ID or s3://BUCKET/PREFIX/RUN/STAGE,
    perhaps with :weak. They must see the planes of ``encoder``. They are copied into the run at its first start. Empty
    = supervised learning."""
    records: RecordsConfig = field(default_factory=RecordsConfig)
    """Source of the games."""
    net: NetConfig = field(default_factory=NetConfig)
    """The nets, one for each kind of decision."""
    split: SplitConfig = field(default_factory=SplitConfig)
    """Games for training, validation and test."""
    stream: StreamConfig = field(default_factory=StreamConfig)
    """How samples reach the learner."""
    supervised: SupervisedConfig = field(default_factory=SupervisedConfig)
    """How each net learns from records."""
    data_parallel: DataParallelConfig = field(default_factory=DataParallelConfig)
    """Number and placement of the processes that train a net."""
    evaluation: MatchConfig = field(default_factory=MatchConfig)
    """Match of the supervised nets."""
    reward_predictor: RewardStageConfig = field(default_factory=RewardStageConfig)
    """Net that predicts the final reward of a game after each kyoku, for the rewards of self-play."""
    playouts: PlayoutConfig = field(default_factory=PlayoutConfig)
    """What the supervised nets learn from playouts, before self-play."""
    reinforcement: ReinforcementConfig = field(default_factory=ReinforcementConfig)
    """Self-play. It is off unless max_updates or max_minutes is set."""
    oracle: OracleStageConfig = field(default_factory=OracleStageConfig)
    """Self-play of nets that see hidden tiles."""
    oracle_decay: OracleDecayConfig = field(default_factory=OracleDecayConfig)
    """How the nets of the oracle stage learn to play without hidden tiles."""
    oracle_distillation: OracleDistillationConfig = field(default_factory=OracleDistillationConfig)
    """A second way to learn from the nets of the oracle stage."""
    agent_comparison: AgentComparisonConfig = field(default_factory=AgentComparisonConfig)
    """Comparison of the agents in the paper's Figure 8."""
    registered_model: str = ""
    """Registered model of MLflow of which the last nets of a finished run become a version. Empty = they are a model of
    the run only."""
    storage: StorageConfig = field(default_factory=StorageConfig)
    """Bucket or folder where results are kept besides the folder of runs."""

    def __post_init__(self) -> None:
        AnyRecipe.__post_init__(self)
        check_model_name("registered_model", self.registered_model)
        self._check_names()
        object.__setattr__(self, "reinforcement", replace(self.reinforcement, game=self.game_name))
        if not self.initial_agent:
            workers = self.data_parallel.num_workers
            for key in ("batch_size", "call_batch_size"):
                batch = getattr(self.supervised, key)
                if self.reinforcement.start != "random" and batch % workers:
                    every = f"{workers} workers (data_parallel.num_workers)"
                    raise ValueError(f"supervised.{key} is {batch}: use a multiple of the {every}")
            return
        if self.reinforcement.start == "random":
            raise ValueError('initial_agent has no effect with reinforcement.start = "random": leave one of them out')

    def _check_names(self) -> None:
        """Raise ValueError for agents and decisions that the game does not have."""
        agents = agent_names(self.game_name)
        for key, name, is_folder in (
            ("records.player", self.records.player, "/" in self.records.player),
            ("evaluation.opponent", self.evaluation.opponent, "/" in self.evaluation.opponent),
            ("reinforcement.final_opponent", self.reinforcement.final_opponent, not self.reinforcement.final_opponent),
        ):
            if name not in agents and not is_folder:
                other = "nothing" if key.startswith("reinforcement") else "the path of a folder of checkpoints"
                raise ValueError(f"{key} is {name!r}: use {', '.join(agents)}, or {other}")
        for key, is_needed, check in (
            (
                "reinforcement",
                self.reinforcement.is_wanted or self.reinforcement.heads != ReinforcementConfig().heads,
                lambda game: decision_numbers(self.reinforcement.heads, game),
            ),
            (
                "playouts",
                self.playouts.num_decisions or self.playouts.heads != PlayoutConfig().heads,
                self.playouts.head_numbers,
            ),
        ):
            if is_needed:
                try:
                    check(self.game_name)
                except ValueError as error:
                    raise ValueError(f"{key}.{error}") from error

    @property
    def game_name(self) -> str:
        """Name of the game in the registry."""
        return self.game or DEFAULT_GAME

    @property
    def has_self_play(self) -> bool:
        """Tell whether a stage of this recipe plays and learns with simulators, engines and learners."""
        return bool(self.reinforcement.is_wanted or self.oracle.max_updates or self.agent_comparison.agents)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeckMatchConfig:
    """Match of the trained nets at the end, on other decks than those of training and curve; one of many millions of
    games has seen a few of them by chance."""

    decks: Annotated[int, Range(2, MAX_SIDE_DECKS)] = 1000
    """Decks against each opponent; each is played twice, with the sides swapped."""
    opponents: tuple[str, ...] = ("random", "rule")
    """Scripted agents to play against, the strongest last: the verdict of the run is about this one."""

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MonteCarloRecipe(AnyRecipe):
    """All settings of a run by Deep Monte-Carlo."""

    free_keys: ClassVar[tuple[str, ...]] = (
        *AnyRecipe.free_keys,
        "cluster",
        "registered_model",
        "learning.save_seconds",
        "learning.threads",
    )
    game: Literal["doudizhu"] = "doudizhu"
    """The game. Recipes without this key are for riichi."""
    rules: Rules = field(default_factory=Rules)
    """Options of the rules."""
    learning: MonteCarloConfig = field(default_factory=MonteCarloConfig)
    """How the nets play against themselves and learn."""
    cluster: RoundLayoutConfig = field(default_factory=RoundLayoutConfig)
    """Whether one process plays and learns, or several that Ray places."""
    match: DeckMatchConfig = field(default_factory=DeckMatchConfig)
    """Match at the end."""
    registered_model: str = ""
    """Registered model of MLflow of which the last nets of a finished run become a version. Empty = they are a model of
    the run only."""
    storage: StorageConfig = field(default_factory=StorageConfig)
    """Bucket or folder where results are kept besides the folder of runs."""

    def __post_init__(self) -> None:
        AnyRecipe.__post_init__(self)
        check_model_name("registered_model", self.registered_model)
        agents = candidate_game(self.game).agents
        check_opponents(self.learning.opponents, agents)
        check_opponents(self.match.opponents, agents)
        check_imitates(self.learning.imitates, agents)


EXPERIMENT_KEY = "experiment"
"""A recipe with this key is not a training."""
_Hands = Annotated[int, Range(0, 1_000_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FanfouConfig:
    """How many hands with a winner each order of seats plays, of the groups 1, 2 and 3; 0 leaves a part out."""

    hands: tuple[_Hands, _Hands, _Hands] = (1000, 1000, 5000)
    """As in the paper: its simulator's rules, and other walls for each order of seats."""
    common_hands: tuple[_Hands, _Hands, _Hands] = (4000, 10_000, 20_000)
    """The same rules, and the same walls for all orders: smaller differences can be seen."""
    payment_hands: tuple[_Hands, _Hands, _Hands] = (4000, 10_000, 20_000)
    """The rules of the championship, where ready hands are declared and payments count, on the same walls."""
    mc: Literal["fanfou_mc", "fanfou_mc_programs"] = "fanfou_mc"
    """Which candidates fanfou_mc chooses from: those of the paper, or of the authors' programs."""
    threads: Processes = 2
    """Threads that play; the result does not depend on it."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if not any((*self.hands, *self.common_hands, *self.payment_hands)):
            raise ValueError("hands, common_hands and payment_hands are 0: there is nothing to play")

    def parts(self, group: int) -> dict[str, int]:
        """Return the wanted parts of a group with their decided hands for each order of seats."""
        wanted = {"own": self.hands, "common": self.common_hands, "payments": self.payment_hands}
        return {name: hands[group - 1] for name, hands in wanted.items() if hands[group - 1]}


@dataclass(frozen=True, slots=True, kw_only=True)
class FanfouRecipe(AnyRecipe):
    """All settings of the experiment."""

    free_keys: ClassVar[tuple[str, ...]] = (*AnyRecipe.free_keys, "fanfou.threads")
    game: Literal["dazhong"] = "dazhong"
    """The game."""
    experiment: Literal["fanfou"] = "fanfou"
    """What is run in the place of a training."""
    fanfou: FanfouConfig = field(default_factory=FanfouConfig)
    """How many hands are played."""
    storage: StorageConfig = field(default_factory=StorageConfig)
    """Bucket or folder where results are kept besides the folder of runs."""
