"""The experiment of the paper's section 4.3: over hundreds of initial hands, does adapting to the hand pay?

Hands are independent of each other: each process tries its share of them, a few side by side.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from suphx.evaluation.match_config import widened_note
from suphx.evaluation.statistics import Interval, mean_interval, proportion_interval, reaching
from suphx.json_text import parse_json
from suphx.kernel.record import I64, Records
from suphx.kernel.source_closure import PROJECT_ROOT, closure_digest
from suphx.models.device import torch_threads
from suphx.models.policy import CriticNet
from suphx.models.reward_predictor import load_reward_predictor, weights_of
from suphx.selfplay.agents.agent import NetAgent
from suphx.selfplay.agents.checkpoint_folder import find_nets
from suphx.selfplay.rollouts.deal_play import MAX_SEED, draw_starts
from suphx.training import adapter
from suphx.training.adaptation import check_trained_blocks, train_rollout_critic
from suphx.training.adapter import Adapter, TrialResults, try_hands
from suphx.training.config import AdaptationConfig, GlobalRewardConfig
from suphx.training.reward import DealReward, PredictedChange, Prediction, points_won
from suphx.worker_interrupt import become_worker, starting_workers, worker_deaths
from suphx_platform.agents.agent_loading import load_net_agent

_logger = logging.getLogger(__name__)


class KeptResults:
    """Consumes: results of hands. Produces: lines of a file. Waits for: the disk."""

    def __init__(self, path: Path, experiment: Mapping[str, object], code: str) -> None:
        """Read the results that ``path`` has, or begin a new file; a last line that was cut off by a kill is dropped.

        ``code``: digest of what plays the hands; a warning says if the file has hands of other code. ValueError if the
        file is damaged or of another ``experiment`` (JSON values).
        """
        self._path = path
        self._parts: list[TrialResults] = []
        head = json.dumps({"experiment": experiment, _CODE: code})
        text = path.read_text("utf-8", errors="replace") if path.is_file() else ""  # no text is no first line of ours
        *lines, rest = text.split("\n")
        if lines or not head.startswith(rest):
            self._check([*lines, rest], parse_json(head))
        for number, line in enumerate(lines[1:], start=2):
            self._parts.append(self._parsed(line, number))
        if not self._parts:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(head + "\n", "utf-8")
        elif rest:
            os.truncate(path, path.read_bytes().rfind(b"\n") + 1)

    @property
    def num_hands(self) -> int:
        """Hands of which there are results."""
        return sum(len(part.base_points) for part in self._parts)

    @property
    def results(self) -> TrialResults:
        """Those of all hands, at least one."""
        return TrialResults.join(self._parts)

    def add(self, part: TrialResults) -> None:
        """Write the results of the next hands; they are in the file when this returns."""
        columns = {name: column.tolist() for name, column in asdict(part).items()}
        line = json.dumps({_FIRST_HAND: self.num_hands, **columns})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._parts.append(part)

    def _check(self, lines: Sequence[str], head: Mapping[str, object]) -> None:
        """Raise ValueError if the first of the ``lines`` is none of ours, or if there are hands of something else."""
        try:
            found = parse_json(lines[0])
        except ValueError:
            found = None
        if not isinstance(found, dict) or "experiment" not in found:
            raise ValueError(f"{self._path} is not a file of `suphx adapt --results`: use another name")
        if len(lines) <= 2:  # no hands yet
            return
        if found["experiment"] != head["experiment"]:
            differs = _differences(found["experiment"], head["experiment"])
            raise ValueError(f"{self._path} has results of another experiment ({differs}): use another file")
        if found.get(_CODE) != head[_CODE]:
            text = "%s has hands that were played by other code: if it plays differently now, use another file"
            _logger.warning(text, self._path)

    def _parsed(self, line: str, number: int) -> TrialResults:
        try:
            values = parse_json(line)
            first = values.pop(_FIRST_HAND)
            columns = {name: np.array(column, np.float64) for name, column in values.items()}
            part = TrialResults(**columns)
            if len({column.shape for column in columns.values()}) != 1 or part.base_points.ndim != 1:
                raise ValueError("its columns differ in length")
            if first != self.num_hands:
                raise ValueError(f"it has hand {first} instead of hand {self.num_hands}, as of two commands at once")
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise ValueError(
                f"{self._path}, line {number}, is damaged ({error}): delete this line and those after it"
            ) from error
        return part


_FIRST_HAND, _CODE = "first_hand", "code"


def _differences(found: object, wanted: object, name: str = "") -> str:
    """Return which settings differ, as text."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        names = sorted(found.keys() | wanted.keys())
        parts = [_differences(found.get(key), wanted.get(key), f"{name}.{key}" if name else key) for key in names]
        return ", ".join(part for part in parts if part)
    return "" if found == wanted else f"{name}: {found} instead of {wanted}"


_Task = tuple[Records, I64, I64]
"""A few hands: the starts of their deals, the seats that hold them, and their seeds."""
_KEY_DIGITS = 16
_HANDS_AT_A_TIME = 2
_EXCHANGE_RATE = GlobalRewardConfig().exchange_rate
"""Rewards of one unit of the reward predictor; the report is in its units."""
_REMEDY = "use fewer --workers (with --results FILE, finished hands are kept), or fewer --rollouts (with another FILE)"
_DRAWN_AT_A_TIME = 200
"""Hands come from games of their own for so many, so that the first ones are the same however many are wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptationExperiment:
    """What is tried."""

    agent: str
    """Address of an agent of nets (selfplay/agents/agent.py): the offline policy, at all seats."""
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
            f"({low:.1%} to {high:.1%}), {self.points:+.{digits}f} {self.unit} "
            f"({self.points_interval.low:+.{digits}f} to {self.points_interval.high:+.{digits}f})"
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
    file: Path | None = None,
    resume: Callable[[int], None] = lambda count: None,
    progress: Callable[[int, str], None] = lambda count, note: None,
) -> AdaptationReport:
    """Try all hands; ``progress`` is told how many more are done, and how it looks so far.

    ``file``: where the results of finished hands are kept. Those that it has are not tried
    again; ``resume`` is told their number. ValueError for an agent that is none of nets, or does not exist, and for a
    file of another experiment.
    """
    agent = load_net_agent(experiment.agent)
    check_trained_blocks(agent.discard_net, experiment.config.trained_blocks)
    kept = KeptResults(file, _identity(experiment), _code()) if file else None
    parts = [kept.results.first(experiment.num_hands)] if kept and kept.num_hands else []
    done = sum(len(part.base_points) for part in parts)
    resume(done)
    starts, seats, seeds = draw_hands(agent, experiment.num_hands, experiment.seed)
    tasks = _tasks(starts[done:], seats[done:], seeds[done:])
    critic = _critic(experiment, agent, lambda share: progress(0, f"critic: {share:.0%}")) if tasks else None
    for part in _try_all(experiment, agent, critic, tasks):
        parts.append(part)
        if kept:
            kept.add(part)
        wins, points = _outcomes(_in_units(experiment, TrialResults.join(parts)))
        gain = f"{points.mean():+.2f}" if experiment.reward_predictor else f"{points.mean():+.0f} points"
        progress(len(part.base_points), f"{wins.mean():.1%} ahead, {gain}")
    return make_report(experiment, TrialResults.join(parts))


def _identity(experiment: AdaptationExperiment) -> dict[str, object]:
    """Return all on which the result of a hand depends: not how many hands there are, and who tries them."""
    values = {name: value for name, value in asdict(experiment).items() if name not in ("num_hands", "workers")}
    files = find_nets(experiment.agent)
    files += [Path(experiment.reward_predictor)] if experiment.reward_predictor else []
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return values | {"sha256": digests}


def _code() -> str:
    """Return a digest of the sources that play hands and adapt nets."""
    return closure_digest(Path(adapter.__file__).resolve(), [PROJECT_ROOT])[:_KEY_DIGITS]


def experiment_key(experiment: AdaptationExperiment) -> str:
    """Return a name that is the same for the same settings and nets, whoever tries the hands: ``adapt-1f2e…``.

    ValueError for an agent without nets.
    """
    values = _identity(experiment) | {"num_hands": experiment.num_hands}
    return f"adapt-{hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:_KEY_DIGITS]}"


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


def _tasks(starts: Records, seats: I64, seeds: I64) -> list[_Task]:
    """Return a few hands for each task."""
    firsts = range(0, len(starts), _HANDS_AT_A_TIME)
    parts = [slice(first, first + _HANDS_AT_A_TIME) for first in firsts]
    return [(starts[part], seats[part], seeds[part]) for part in parts]


def _try_all(
    experiment: AdaptationExperiment, agent: NetAgent, critic: CriticNet | None, tasks: Sequence[_Task]
) -> Iterator[TrialResults]:
    """Yield the results of each task, in order."""
    if experiment.workers == 1 or len(tasks) <= 1:
        with torch_threads(1):
            adapter = _adapter(experiment, agent, critic)
            for task in tasks:
                yield try_hands(adapter, *task, num_tests=experiment.num_tests)
        return
    num_workers = min(experiment.workers, len(tasks))
    with (
        ProcessPoolExecutor(
            num_workers, get_context("spawn"), initializer=_start_worker, initargs=(experiment, critic)
        ) as pool,
        worker_deaths(_REMEDY),
    ):
        with starting_workers():
            results = pool.map(_try_in_worker, tasks)
        yield from results


def _critic(experiment: AdaptationExperiment, agent: NetAgent, progress: Callable[[float], None]) -> CriticNet | None:
    """Return the critic of the experiment, which has learned, if its baseline is one."""
    if experiment.config.baseline != "critic":
        return None
    with torch_threads(1):
        return train_rollout_critic(
            agent, experiment.config, seed=experiment.seed % MAX_SEED, reward=_reward(experiment), progress=progress
        )


def _adapter(experiment: AdaptationExperiment, agent: NetAgent, critic: CriticNet | None) -> Adapter:
    return Adapter(agent, experiment.config, reward=_reward(experiment), critic=critic)


def _reward(experiment: AdaptationExperiment) -> DealReward:
    if not experiment.reward_predictor:
        return points_won
    predictor, header = load_reward_predictor(Path(experiment.reward_predictor))
    prediction = Prediction(
        weights=weights_of(predictor),
        points=header.points,
        exchange_rate=_EXCHANGE_RATE,
        last_kyoku="paid",
    )
    return PredictedChange(prediction)


_of_worker: list[tuple[Adapter, int]] = []


def _start_worker(experiment: AdaptationExperiment, critic: CriticNet | None) -> None:
    become_worker()
    import torch

    torch.set_num_threads(1)
    _of_worker[:] = [(_adapter(experiment, load_net_agent(experiment.agent), critic), experiment.num_tests)]


def _try_in_worker(task: _Task) -> TrialResults:
    adapter, num_tests = _of_worker[0]
    return try_hands(adapter, *task, num_tests=num_tests)
