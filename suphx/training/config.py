"""The settings of all trainings but those of self-play (learner_config.py). No torch: a recipe is read at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal

from suphx.evaluation.match_config import HANCHANS_OR_NONE
from suphx.games.registry import decision_numbers, find_decisions
from suphx.models.net_config import Compilation, DeviceName, Precision
from suphx.number_range import (
    Checked,
    Interval,
    LearningRate,
    Minutes,
    Positive,
    PositiveShare,
    Range,
    Seconds,
    Seed,
    Share,
    Steps,
    Threads,
    Weight,
    check_ranges,
)
from suphx.selfplay.config import BranchConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisedConfig:
    """How one head is trained, until the first of its limits (epochs, steps, minutes, patience) is reached."""

    batch_size: Annotated[int, Range(2, 65_536)] = 512
    """Samples per optimizer step, over all workers together."""
    learning_rate: LearningRate = 2e-3
    """Peak learning rate of AdamW, after a linear warm-up and before half a cosine."""
    call_batch_size: Annotated[int, Range(0, 65_536)] = 0
    """``batch_size`` of all nets but the game's first one (riichi: the discard net); 0 = the same."""
    call_learning_rate: Annotated[float, Range(0, 1)] = 0.0
    """``learning_rate`` of those nets; 0 = the same."""
    warmup_steps: Steps = 200
    """Maximum steps of linear warm-up, which takes at most a tenth of the training."""
    weight_decay: Weight = 0.01
    """Weight decay of AdamW for matrices and convolutions; biases and normalisation have none."""
    max_grad_norm: Annotated[float, Range(0, 1_000_000)] = 1.0
    """Maximum norm of the gradient; 0 = no limit."""
    suit_permutation: bool = False
    """Permute the suits of each training sample at random, differently in every epoch."""
    average_steps: Steps = 0
    """The nets that are validated and kept have the mean of the weights of about this number of the last steps
    (exponential moving average), which is better while the learning rate is high; 0 = the newest weights."""
    weak_share: PositiveShare = 0.2
    """Share of the training after which the weights are saved a second time, as a weaker agent (the paper's SL-weak):
    ``<head>-weak.safetensors``."""
    max_epochs: Annotated[float, Range(0, 1_000_000)] = 4.0
    """Stop after this many passes over the training kyokus; 0 = no limit."""
    min_steps: Steps = 300
    """A net with few samples takes smaller batches and up to ten times ``max_epochs`` passes to make this many
    steps; 0 = the same settings for all nets."""
    max_steps: Steps = 0
    """Stop after this many steps; 0 = no limit."""
    max_minutes: Minutes = 0.0
    """Stop after this many minutes; 0 = no limit. The result then depends on the machine's speed and cannot be
    reproduced exactly."""
    total_minutes: Minutes = 0.0
    """Stop when the run's five nets together have taken this many minutes; 0 = no limit. A net
    that finishes early leaves its time to the next ones; the discard net comes last. Every net makes ``min_steps``
    steps (or all its passes, if these are fewer), even on a slow machine."""
    validate_every: Interval = 500
    """Maximum steps between validations. The last step is always validated."""
    min_validations: Annotated[int, Range(0, 1_000_000)] = 10
    """Minimum number of validations in a training, evenly spread; 0 = only every ``validate_every`` steps."""
    patience: Annotated[int, Range(0, 1_000_000)] = 10
    """Stop after this many validations in a row without a lower loss; 0 = never."""
    report_every: Interval = 50
    """Steps between progress reports."""
    save_seconds: Seconds = 60.0
    """Maximum time between saved training states; every validation saves one too."""
    threads: Threads = 0
    """Threads of torch; 0 = torch's default."""
    precision: Precision = "auto"
    """fp32; bf16 (autocast, weights stay float32); auto: bf16 where the hardware supports it, which is twice as fast
    there."""
    compilation: Compilation = "auto"
    """Mode of torch.compile: none, default or max-autotune; auto: default on a GPU, none elsewhere. Unless it is none,
    the steps of a single worker on a GPU are also recorded as a CUDA graph."""
    device: DeviceName = "auto"
    """cpu; cuda; auto: cuda if available."""
    seed: Seed = 1
    """Seed of the initial weights and of the order of samples."""

    FREE_KEYS: ClassVar = ("report_every", "save_seconds", "threads", "device", "compilation")
    """What may differ when a training goes on: it does not change the numbers, up to rounding."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if not (self.max_epochs or self.max_steps or self.max_minutes or self.total_minutes):
            names = "max_epochs, max_steps, max_minutes and total_minutes"
            raise ValueError(f"{names} are all 0: set one of them, or training never ends")

    def of_kind(self, number: int) -> SupervisedConfig:
        """Return the settings for the net of a game's kind of decision."""
        if not number:
            return self
        batch, rate = self.call_batch_size or self.batch_size, self.call_learning_rate or self.learning_rate
        return replace(self, batch_size=batch, learning_rate=rate)

    def share_done(self, step: int, epochs: float, seconds: float) -> float:
        """Return how much of the run is done: 1 or more at its end."""
        shares = [0.0]
        if self.max_steps:
            shares.append(step / self.max_steps)
        if self.max_epochs:
            shares.append(epochs / self.max_epochs)
        if self.max_minutes:
            shares.append(seconds / (60 * self.max_minutes))
        if self.total_minutes:
            share = seconds / (60 * self.total_minutes)
            shares.append(min(share, step / self.min_steps) if self.min_steps else share)
        return max(shares)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitConfig:
    """Shares of the games, and the number of samples taken from them."""

    validation_fraction: Annotated[float, Range(0, 1, "neither")] = 0.02
    """Share of the games used for validation; at least one game."""
    test_fraction: Annotated[float, Range(0, 1, "neither")] = 0.05
    """Share of the games used for the test; at least one game."""
    max_validation_samples: Annotated[int, Range(1, 1_000_000)] = 10_000
    """Largest number of validation samples (paper: 10K)."""
    max_test_samples: Annotated[int, Range(1, 1_000_000)] = 50_000
    """Largest number of test samples (paper: 50K)."""
    held_out: str = ""
    """Validate and test only on games whose id begins with this: 20220519 for the games of that day on Tenhou. They are
    divided in the ratio of the two fractions, and all others are for training; empty = the fractions of all games."""
    train_games: Annotated[int, Range(0, 1_000_000_000)] = 0
    """Learn from this number of the training games only; 0 = all. Validation and test stay the same."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.validation_fraction + self.test_fraction >= 1:
            total = self.validation_fraction + self.test_fraction
            raise ValueError(f"validation_fraction and test_fraction add up to {total}: leave games for training")


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamConfig(Checked):
    """How samples are read. Only ``chunk_kyokus`` and ``buffer_bytes`` change the order of samples."""

    chunk_kyokus: Annotated[int, Range(1, 16_384)] = 64
    """Kyokus that a worker encodes at once."""
    buffer_bytes: Annotated[int, Range(2, 2**39)] = 256 * 2**20
    """Memory for packed samples. One half (a window) is shuffled and used while the other half is being encoded. Each
    worker encodes at least one chunk ahead, however small this value is."""
    num_workers: Annotated[int, Range(0, 256)] = 1
    """Worker processes that encode samples; 0 = encode in the training process."""

    FREE_KEYS: ClassVar = ("num_workers",)
    """What may differ when a training goes on: it does not change the numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardLearningConfig(Checked):
    """How the predictor is trained. Training ends at the first of its limits."""

    batch_games: Annotated[int, Range(1, 65_536)] = 64
    """Games per optimizer step; each is seen from its four seats."""
    learning_rate: LearningRate = 2e-3
    """Peak learning rate of AdamW, after a linear warm-up and before half a cosine."""
    warmup_steps: Steps = 50
    """Maximum steps of linear warm-up, which takes at most a tenth of the training."""
    weight_decay: Weight = 0.1
    """Weight decay of AdamW for matrices; biases have none."""
    max_grad_norm: Annotated[float, Range(0, 1_000_000)] = 1.0
    """Maximum norm of the gradient; 0 = no limit."""
    max_epochs: Annotated[int, Range(1, 1_000_000)] = 20
    """Stop after this many passes over the training games."""
    max_minutes: Minutes = 0.0
    """Stop after this many minutes; 0 = no limit. The result then depends on the machine's speed and cannot be
    reproduced exactly."""
    patience: Annotated[int, Range(0, 1_000_000)] = 6
    """Stop after this many epochs in a row without a lower validation loss; 0 = never."""
    save_seconds: Seconds = 60.0
    """The state is saved at the end of an epoch if the last save is this long ago, and at the end of the training."""
    threads: Threads = 0
    """Threads of torch; 0 = torch's default."""
    device: DeviceName = "auto"
    """cpu; cuda; auto: cuda if available."""
    seed: Seed = 1
    """Seed of the initial weights and of the order of games."""

    FREE_KEYS: ClassVar = ("save_seconds", "threads", "device")
    """What may differ when a training goes on: it changes how fast it is, not what it gives, up to rounding."""


RewardName = Literal["round_score", "global_prediction"]

LastKyoku = Literal["predicted", "paid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalRewardConfig(Checked):
    """How differences of predictions become rewards."""

    exchange_rate: Positive = 200.0
    """Game points per point of the predicted reward, so that rewards are about as large as round scores and the other
    settings still fit. 200 fits the placement points of a high dan (75, 30, 0, -150)."""
    last_kyoku: LastKyoku = "predicted"
    """Value after the last kyoku. predicted: the prediction, as after any other kyoku (the paper). paid: the actual
    reward of the placement."""
    predictor: str = ""
    """Path of a ``reward_predictor.safetensors``, which predicts the reward that it was trained for, whatever
    ``reward_predictor.target`` is; empty: the one that this run trains (stage reward_predictor)."""


MAX_COLLECTORS = 16
"""So many have seeds of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayoutConfig:
    """Self-play of the supervised nets in which several actions of uncertain decisions are played out."""

    num_decisions: Steps = 0
    """Number of decisions that are played out; the nets learn from each once. 0 = skip this stage."""
    heads: tuple[str, ...] = ("discard", "chow", "pong")
    """Heads that learn; the other nets stay unchanged. Possible in riichi: discard, riichi, chow and pong; in other
    games: all nets."""
    branches: BranchConfig = field(default_factory=BranchConfig)
    """Which decisions are played out."""
    num_collectors: Annotated[int, Range(1, MAX_COLLECTORS)] = 2
    """Number of threads that play games, each with its own group of games."""
    round_decisions: Annotated[int, Range(1, 1_000_000)] = 8192
    """Decisions per round. While the nets learn from one round, the games of the next round are played with the nets
    that existed before this learning."""
    batch_size: Annotated[int, Range(1, 65_536)] = 256
    """Approximate number of decisions of a head in one step of its optimizer."""
    learning_rate: LearningRate = 1e-3
    """Learning rate of AdamW after the warm-up. It falls linearly over the stage to ``last_rate_share`` of it."""
    last_rate_share: PositiveShare = 0.05
    """Learning rate at the end, as a share of ``learning_rate``."""
    warmup_steps: Steps = 20
    """Steps of a head in which its learning rate rises linearly; 0 = no warm-up."""
    max_grad_norm: Positive = 1.0
    """Maximum norm of the gradient of each net."""
    reward_unit: Positive = 3000.0
    """Points that count as 1 in the loss."""
    kl_coeff: Weight = 0.03
    """Weight in the loss of KL(initial net || policy), the mean over a batch in nats. It keeps the nets close
    to the supervised ones in rare kinds of decisions."""
    permute_points: bool = False
    """Exchange the points among the actions of each decision at random: a control run, in which no net can become
    stronger. A gain that is claimed must be larger than that of this run."""
    final_hanchans: Annotated[int, HANCHANS_OR_NONE] = 2000
    """Games of the match between the final and the supervised nets, a multiple of 4; 0 = no match. If self-play
    follows, its first match measures the same nets."""
    device: DeviceName = "auto"
    """cpu; cuda; auto: cuda if available. The games are played on the CPU."""
    threads: Threads = 1
    """Threads of torch for the nets that learn; 0 = as many as torch uses by default. Each collector has one."""
    report_every: Interval = 4
    """Rounds between two points of the curves."""
    save_seconds: Seconds = 60.0
    """Seconds between saved states; the state is also saved at the end."""

    FREE_KEYS: ClassVar = ("device", "threads", "report_every", "save_seconds")
    """What may differ when the stage goes on: it does not change the numbers, up to rounding."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.final_hanchans and (self.final_hanchans < 8 or self.final_hanchans % 4):
            raise ValueError(f"final_hanchans is {self.final_hanchans}: use 0, or a multiple of 4, at least 8")

    def head_numbers(self, game: str) -> tuple[int, ...]:
        """Return the heads that learn, as numbers, ascending; ValueError for those that cannot in a game."""
        numbers, kinds = decision_numbers(self.heads, game), find_decisions(game)
        known = [kind.name for kind in kinds if kind.can_be_played_out]
        for number in numbers:
            if not kinds[number].can_be_played_out:
                raise ValueError(
                    f"heads is {list(self.heads)}: the actions of {kinds[number].name} cannot be played out; "
                    f"use {', '.join(known)}"
                )
        if numbers == (0,) and not self.branches.discard_share:
            raise ValueError(f"branches.discard_share is 0, but only {kinds[0].name} learns: use a larger share")
        return numbers


Algorithm = Literal["policy_gradient", "monte_carlo"]

MAX_SEED = 1_000_000  # each seed has numbers of decks of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class MonteCarloConfig:
    """Learning from rounds of whole games. The defaults are for a laptop. DouZero has a batch of 3,200 (256 games in
    one batch), and trains for days."""

    algorithm: Algorithm = "monte_carlo"
    """monte_carlo: a net values moves by the returns of the games in which they were played, and plays the best one
    (Deep Monte-Carlo). policy_gradient: the values are logits from which the moves are drawn; those become more
    probable whose games brought more than the average (equations 1 and 2 of the paper, without a critic)."""
    games: Annotated[int, Range(1, 65_536)] = 64
    """Games per round. The newest nets play them, then learn from each game once."""
    batches: Annotated[int, Range(1, 65_536)] = 4
    """Optimizer steps of each net per round, which share its samples; a game gives a net about 13 samples."""
    device: DeviceName = "auto"
    """Where the nets learn, and play if one process does both: cpu, cuda, or auto: cuda if there is a GPU. The
    simulators of a run over Ray play on the CPU."""
    precision: Precision = "auto"
    """fp32; bf16 (autocast, weights stay float32); auto: bf16 where the device supports it, which is faster there
    (docs/doudizhu.md)."""
    imitates: str = ""
    """A scripted agent whose moves the nets learn, from games that it plays against itself (supervised learning: is
    this candidate its move, yes or no); empty = learn the returns of self-play."""
    epsilon: Share = 0.01
    """Share of moves that are played at random; of monte_carlo."""
    entropy: Weight = 0.01
    """Weight in the loss of the entropy of the moves, nats; of policy_gradient."""
    learning_rate: LearningRate = 1e-4
    """Learning rate of RMSprop, as in DouZero. Three times this rate learns faster at first, but a net can collapse."""
    decay_rounds: Steps = 0
    """The learning rate falls linearly over this number of rounds, to ``last_rate_share`` of it, and stays there: with
    the full rate, the nets of long trainings vary with every batch and become hardly stronger. Two idle cores play and
    learn about 110 rounds a minute. 0 = it stays as it is, as in DouZero."""
    last_rate_share: PositiveShare = 0.1
    """See ``decay_rounds``."""
    max_grad_norm: Positive = 40.0
    """Maximum norm of the gradient of a net."""
    average_rounds: Steps = 100
    """The nets that are evaluated, and the result, have the mean of the weights of about this number of the last rounds
    (exponential moving average); 0 = the newest weights. Self-play always has the newest ones, so this does not change
    what is learned."""
    max_rounds: Interval = 100_000
    """Stop after this many rounds."""
    max_minutes: Minutes = 30.0
    """Stop after this many minutes of training and evaluation; 0 = no limit. The result then depends on the machine's
    speed and cannot be reproduced exactly."""
    evaluate_rounds: Interval = 25
    """Rounds between two evaluations against ``opponents``; the last one is at the end."""
    evaluate_decks: Annotated[int, Range(1, 131_072)] = 200
    """Decks of an evaluation; each is played twice with sides swapped, and always the same decks."""
    opponents: tuple[str, ...] = ("random",)
    """Scripted agents to play against."""
    save_seconds: Seconds = 60.0
    """The state is saved after a round if the last save is this long ago, and at the end."""
    threads: Threads = 0
    """Threads of torch in each process; 0 = torch's default; over Ray that is the CPUs reserved for the process."""
    seed: Annotated[int, Range(0, MAX_SEED)] = 1
    """Seed of the initial weights, the decks and the random moves."""

    FREE_KEYS: ClassVar = ("average_rounds", "max_rounds", "max_minutes", "save_seconds", "threads")
    """What may differ when a training resumes: it changes how long and how fast it is, and what is evaluated. Another
number of threads changes the order of sums, and so the last digits of the weights."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.imitates and self.algorithm != "monte_carlo":
            raise ValueError(f"imitates is {self.imitates!r}, which is supervised learning: leave algorithm out")


def check_opponents(names: Sequence[str], agents: Sequence[str]) -> None:
    """Raise ValueError unless ``names`` are some of the scripted ``agents`` of a game, at least one, each once."""
    unknown = [name for name in names if name not in agents]
    if unknown or not names or len(set(names)) < len(names):
        raise ValueError(f"opponents is {list(names)}: name one or more of {', '.join(agents)}, each once")


def check_imitates(name: str, agents: Sequence[str]) -> None:
    """Raise ValueError unless ``name`` is one of the scripted ``agents`` of a game, or empty."""
    if name and name not in agents:
        raise ValueError(f"imitates is {name!r}: use {' or '.join(agents)}, or nothing")


ROLLOUTS_PER_DEAL = 8
"""Rollouts with the same hidden tiles, which differ in our seat's discards only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptationConfig:
    """Rollouts and gradient steps of one hand."""

    num_rollouts: Annotated[int, Range(1, 1_000_000)] = 1024
    """K of the paper (which has 100,000): trajectories that are played for a hand, a multiple of ROLLOUTS_PER_DEAL."""
    temperature: Annotated[float, Range(0, 100, "right")] = 1.0
    """The rollouts sample our discards from the logits divided by this. Below 1 they are closer to what is played."""
    kl_target: Weight = 0.0
    """Mean KL(net before || adapted net) in nats over the decisions of the rollouts: one step along the gradient of all
    trajectories, as long as this allows; Adam is then not used. 0 = a step of Adam for every 256 trajectories."""
    learning_rate: LearningRate = 1e-4
    """Of Adam."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.num_rollouts % ROLLOUTS_PER_DEAL:
            raise ValueError(f"num_rollouts is {self.num_rollouts}: use a multiple of {ROLLOUTS_PER_DEAL}")
