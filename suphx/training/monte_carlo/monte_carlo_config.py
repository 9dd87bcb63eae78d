"""How nets learn by Deep Monte-Carlo: the settings, apart from the training itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, get_args

from suphx.models.computation import DeviceName, Precision
from suphx.number_range import (
    Interval,
    LearningRate,
    Minutes,
    Positive,
    PositiveShare,
    Range,
    Seconds,
    Share,
    Steps,
    Threads,
    check_ranges,
)

MAX_SEED = 1_000_000  # each seed has numbers of decks of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class MonteCarloConfig:
    """The defaults are for a laptop. DouZero has a batch of 3,200 (256 games in one batch), and trains for days."""

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
    """Share of moves that are played at random."""
    learning_rate: LearningRate = 1e-4
    """Learning rate of RMSprop, as in DouZero. Three times this rate learns faster at first, but a net can collapse."""
    decay_rounds: Steps = 0
    """The learning rate falls linearly over this number of rounds, to ``last_rate_share`` of it, and stays there: with
    the full rate, the nets of long trainings vary with every batch and become hardly stronger. Two idle cores play and
    learn about 110 rounds a minute. 0 = it stays as it is, as in DouZero."""
    last_rate_share: PositiveShare = 0.1
    """See ``decay_rounds``."""
    smoothing: Annotated[float, Range(0, 1, "left")] = 0.99
    """Decay of RMSprop's mean of squared gradients (alpha of RMSprop)."""
    rms_epsilon: PositiveShare = 1e-5
    """Added to the square root of that mean (epsilon of RMSprop)."""
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

    def __post_init__(self) -> None:
        check_ranges(self)
        if self.device not in get_args(DeviceName):
            raise ValueError(f"device is {self.device!r}: use auto, cpu or cuda")
        if self.precision not in get_args(Precision):
            raise ValueError(f"precision is {self.precision!r}: use auto, bf16 or fp32")


def check_opponents(names: Sequence[str], agents: Sequence[str]) -> None:
    """Raise ValueError unless ``names`` are some of the scripted ``agents`` of a game, at least one, each once."""
    unknown = [name for name in names if name not in agents]
    if unknown or not names or len(set(names)) < len(names):
        raise ValueError(f"opponents is {list(names)}: name one or more of {', '.join(agents)}, each once")


def check_imitates(name: str, agents: Sequence[str]) -> None:
    """Raise ValueError unless ``name`` is one of the scripted ``agents`` of a game, or empty."""
    if name and name not in agents:
        raise ValueError(f"imitates is {name!r}: use {' or '.join(agents)}, or nothing")


FREE_KEYS = ("average_rounds", "max_rounds", "max_minutes", "save_seconds", "threads")
"""What may differ when a training resumes: it changes how long and how fast it is, and what is evaluated. Another
number of threads changes the order of sums, and so the last digits of the weights."""
