"""The experiment of the paper's section 4.3: over hundreds of initial hands, does adapting to the hand pay?

Hands are independent of each other: each process tries its share of them, a few side by side.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np

from suphx.evaluation.kept_results import KeptResults, with_kept
from suphx.evaluation.match_config import widened_note
from suphx.evaluation.statistics import Interval, mean_interval, proportion_interval, reaching
from suphx.evaluation.worker_pool import ProcessPool, Progress, Work
from suphx.experience.columns import joined
from suphx.kernel.record import I64, Records
from suphx.kernel.source_closure import PROJECT_ROOT, closure_digest
from suphx.models.device import torch_threads
from suphx.models.reward_predictor import load_reward_predictor, weights_of
from suphx.selfplay.agents.checkpoint_folder import find_nets
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.selfplay.rollouts.deal_play import MAX_SEED, draw_starts
from suphx.training import adaptation
from suphx.training.adaptation import Adapter, TrialResults, try_hands
from suphx.training.config import AdaptationConfig, GlobalRewardConfig
from suphx.training.reward import DealReward, PredictedChange, Prediction, points_won
from suphx_platform.agents.agent_loading import load_net_agent

_Task = tuple[Records, I64, I64]
"""A few hands: the starts of their deals, the seats that hold them, and their seeds."""
_KEY_DIGITS = 16
_HANDS_AT_A_TIME = 2
_EXCHANGE_RATE = GlobalRewardConfig().exchange_rate
"""Rewards of one unit of the reward predictor; the report is in its units."""
_DRAWN_AT_A_TIME = 200
"""Hands come from games of their own for so many, so that the first ones are the same however many are wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptationExperiment:
    """What is tried."""

    agent: str
    """Address of an agent of nets (selfplay/agents/net_agent.py): the offline policy, at all seats."""
    num_hands: int = 200
    num_tests: int = 512
    """Test deals of each hand; both sides play all of them."""
    seed: int = 0
    """Of hands, rollouts and test deals."""
    reward_predictor: str = ""
    """Path of a reward predictor whose change is the reward (training/reward.py); empty: points won."""
    workers: int = 1
    """Processes; no figure but the time depends on it."""
    config: AdaptationConfig = field(default_factory=AdaptationConfig)

    def __post_init__(self) -> None:
        for name in ("num_hands", "num_tests", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: use 1 or more")
        if not 0 <= self.seed < 1 << 62:
            raise ValueError(f"seed is {self.seed}: use 0 to 2**62 - 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptationReport:
    """What came out; intervals are bootstrapped over hands, 95 %."""

    experiment: AdaptationExperiment
    results: TrialResults
    win_rate: float
    """Share of the hands with which the adapted net won more points in the test deals; equal ones count half."""
    win_interval: Interval
    points: float
    """Points of a test deal that adapting brought, mean over hands."""
    points_interval: Interval

    @property
    def unit(self) -> str:
        """What rewards are: points of a deal, or what the reward predictor makes of one."""
        return "predicted reward a deal" if self.experiment.reward_predictor else "points a deal"

    @property
    def test_error(self) -> float:
        """Standard error of the difference of a hand, from its finite number of test deals (root mean square)."""
        return float(np.sqrt(np.square(self.results.difference_errors).mean()))

    @property
    def hand_spread(self) -> float:
        """Standard deviation over hands of what adapting truly brings: without the part of the test deals."""
        differences = self.results.adapted_points - self.results.base_points
        return float(np.sqrt(max(0.0, differences.var() - self.test_error**2)))

    def verdict(self) -> str:
        """Return one sentence that claims no more than the interval allows."""
        low, high = self.win_interval.low, self.win_interval.high
        claim = "better" if low > 0.5 else "worse" if high < 0.5 else "no different, as far as one can tell"
        digits = 2 if self.experiment.reward_predictor else 0
        return (
            f"adapted is {claim}: ahead with {self.win_rate:.1%} of {len(self.results.base_points)} hands "
            f"(95 % interval {low:.1%} to {high:.1%}), {self.points:+.{digits}f} {self.unit} "
            f"(95 % interval {self.points_interval.low:+.{digits}f} to {self.points_interval.high:+.{digits}f})"
            f"{widened_note(self.win_interval.is_widened, 'hands')}"
        )

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        r = self.results
        rollout_seconds, update_seconds = float(r.rollout_seconds.mean()), float(r.update_seconds.mean())
        return {
            "agent": self.experiment.agent,
            "hands": len(r.base_points),
            "rollouts": self.experiment.config.num_rollouts,
            "tests": self.experiment.num_tests,
            "seed": self.experiment.seed,
            "win_rate_adapted_over_base": self.win_rate,
            "interval": [self.win_interval.low, self.win_interval.high],
            "is_widened": self.win_interval.is_widened,
            "points_difference": {
                "mean": self.points,
                "interval": [self.points_interval.low, self.points_interval.high],
                "is_widened": self.points_interval.is_widened,
                "hand_spread": self.hand_spread,
                "test_error": self.test_error,
                "unit": self.unit,
            },
            "base": {"points": float(r.base_points.mean()), "win_rate": float(r.base_win_rates.mean())},
            "adapted": {"points": float(r.adapted_points.mean()), "win_rate": float(r.adapted_win_rates.mean())},
            "changed_share": float(r.changed_shares.mean()),
            "seconds_per_hand": rollout_seconds + update_seconds,
            "rollout_seconds_per_hand": rollout_seconds,
            "update_seconds_per_hand": update_seconds,
            "config": asdict(self.experiment.config),
        }


def run_experiment(
    experiment: AdaptationExperiment,
    *,
    results: Path | None = None,
    skip: Callable[[int], None] = lambda count: None,
    progress: Callable[[int, str], None] = lambda count, note: None,
) -> AdaptationReport:
    """Try all hands; ``progress`` is told how many more are done, and how it looks so far.

    ``results``: folder where the results of finished hands are kept; those that it has of the same settings, nets and
    code are not tried again, and ``skip`` is told their number. ValueError for an agent that is none of nets.
    """
    agent = load_net_agent(experiment.agent)
    kept = None if results is None else KeptResults(results / results_key(experiment))
    starts, seats, seeds = draw_hands(agent, experiment.num_hands, experiment.seed)
    firsts = range(0, experiment.num_hands, _HANDS_AT_A_TIME)
    slices = [slice(first, min(first + _HANDS_AT_A_TIME, experiment.num_hands)) for first in firsts]
    parts: dict[int, TrialResults] = {}

    def try_missing(missing: list[int]) -> Generator[tuple[int, dict[str, object]], None, None]:
        tasks = [(starts[part], seats[part], seeds[part]) for part in (slices[index] for index in missing)]
        for position, part in _try_all(experiment, agent, tasks):
            parts[missing[position]] = part
            wins, points = _outcomes(_in_units(experiment, joined(list(parts.values()))))
            gain = f"{points.mean():+.2f}" if experiment.reward_predictor else f"{points.mean():+.0f} points"
            progress(len(part.base_points), f"{wins.mean():.1%} ahead, {gain}")
            yield position, {name: column.tolist() for name, column in asdict(part).items()}

    keys = [f"hands-{part.start + 1}-{part.stop}" for part in slices]
    found = with_kept(kept, keys, try_missing, lambda index: skip(slices[index].stop - slices[index].start))
    for index, columns in found:
        parts[index] = TrialResults(**{name: np.array(column, np.float64) for name, column in columns.items()})
    return make_report(experiment, joined([parts[index] for index in range(len(slices))]))


def results_key(experiment: AdaptationExperiment) -> str:
    """Return the name of all on which the result of a hand depends: not how many hands there are, and who tries them.

    ValueError for an agent without nets.
    """
    values = {name: value for name, value in asdict(experiment).items() if name not in ("num_hands", "workers")}
    files = find_nets(experiment.agent, "riichi")
    files += [Path(experiment.reward_predictor)] if experiment.reward_predictor else []
    values["sha256"] = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    values["code"] = closure_digest(Path(adaptation.__file__).resolve(), [PROJECT_ROOT])  # plays hands and adapts nets
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:_KEY_DIGITS]


def make_report(experiment: AdaptationExperiment, results: TrialResults) -> AdaptationReport:
    """Return the figures of ``results``, whose points are rewards.

    If fewer than six hands differ, both intervals contain "no difference": so few can differ by chance.
    """
    results = _in_units(experiment, results)
    wins, points = _outcomes(results)
    return AdaptationReport(
        experiment=experiment,
        results=results,
        win_rate=float(wins.mean()),
        win_interval=reaching(0.5, proportion_interval(wins), wins),
        points=float(points.mean()),
        points_interval=reaching(0.0, mean_interval(points), points),
    )


def draw_hands(agent: NetAgent, count: int, seed: int) -> tuple[Records, I64, I64]:
    """Return ``count`` starts of deals in games of ``agent``, whose hand it is in each, and a seed for all else."""
    draws = [np.random.default_rng([seed, first]) for first in range(0, count, _DRAWN_AT_A_TIME)]
    with torch_threads(1):
        starts = [draw_starts(agent, _DRAWN_AT_A_TIME, seed=int(draw.integers(MAX_SEED))) for draw in draws]
    order = [draw.permutation(_DRAWN_AT_A_TIME) for draw in draws]
    seats = [draw.integers(4, size=_DRAWN_AT_A_TIME) for draw in draws]
    seeds = [draw.integers(MAX_SEED, size=_DRAWN_AT_A_TIME) for draw in draws]
    mixed = np.concatenate([part[own] for part, own in zip(starts, order, strict=True)])
    return mixed[:count], np.concatenate(seats)[:count], np.concatenate(seeds)[:count]


def _in_units(experiment: AdaptationExperiment, results: TrialResults) -> TrialResults:
    """Return the results in points, or in units of the reward predictor, for rewards."""
    if not experiment.reward_predictor:
        return results
    names = ("base_points", "adapted_points", "difference_errors")
    return replace(results, **{name: getattr(results, name) / _EXCHANGE_RATE for name in names})


def _outcomes(results: TrialResults) -> tuple[np.ndarray, np.ndarray]:
    """Return for each hand 1, 0.5 or 0 for ahead, equal or behind, and the difference in points of a deal."""
    points = results.adapted_points - results.base_points
    return (1 + np.sign(points)) / 2, points


def _try_all(
    experiment: AdaptationExperiment, agent: NetAgent, tasks: Sequence[_Task]
) -> Iterator[tuple[int, TrialResults]]:
    """Yield the number of each task and its results, whatever ends first."""
    if experiment.workers == 1 or len(tasks) <= 1:
        yield from start_hands(experiment, agent)(iter(enumerate(tasks)), lambda amount: None)
        return
    with closing(ProcessPool(experiment.workers)) as pool:
        yield from pool.run(tasks, start_hands, (experiment,), describe=lambda task: f"{len(task[0])} hands")


def start_hands(experiment: AdaptationExperiment, loaded: NetAgent | None = None) -> Work:
    """Return what tries hands in a worker, with the agent of the experiment, which may be ``loaded`` already."""
    agent = loaded or load_net_agent(experiment.agent)

    def work(tasks: Iterator[tuple[int, _Task]], progress: Progress) -> Iterator[tuple[int, TrialResults]]:
        with torch_threads(1):
            adapter = Adapter(agent, experiment.config, reward=_reward(experiment))
            for index, task in tasks:
                yield index, try_hands(adapter, *task, num_tests=experiment.num_tests)

    return work


def _reward(experiment: AdaptationExperiment) -> DealReward:
    if not experiment.reward_predictor:
        return points_won
    predictor, header = load_reward_predictor(Path(experiment.reward_predictor))
    prediction = Prediction(
        weights=weights_of(predictor), points=header.points, exchange_rate=_EXCHANGE_RATE, last_kyoku="paid"
    )
    return PredictedChange(prediction)
