"""``suphx adapt``: run-time policy adaptation on many initial hands, and whether it helps (paper, section 4.3)."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suphx.training.config import AdaptationConfig
from suphx_cli.arguments import UsageError, add_command, check_output_folder, checked_options, positive
from suphx_platform.agents.agent_forms import check_net_agent

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.agents.adaptation_experiment import AdaptationExperiment, AdaptationReport
    from suphx_platform.console.console import Console
    from suphx_platform.tracking.tracking import Tracker


_PAGE = """
adapt: adapt an agent to initial hands and measure whether that helps

Run-time policy adaptation (pMCPA, section 3.4 of the paper): adapt a copy of the discard net to each of many initial
hands, then compare it with the original net in test deals of the same hand.

--agent AGENT            folder of checkpoints, also with :weak
--hands N                initial hands (default: 200)
--tests N                test deals per hand (default: 512)
--seed S                 seed of hands and deals (default: 0)
--reward-predictor FILE  checkpoint of a reward predictor, whose prediction is the reward (default: points won)
--results FOLDER         keep the results of finished hands in this folder. The same command continues after a stop, and
                         with more --hands
--runs DIR               also log the result to the MLflow store of this folder
--workers

examples:
  suphx adapt --agent runs/RUN/supervised --hands 20 --tests 64
  suphx adapt --agent runs/RUN/supervised --rollouts 4096 --runs runs
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``adapt``."""
    agent, predictor = {"required": True}, {"type": str, "default": ""}
    numbers = {"hands": 200, "tests": 512, "seed": 0}
    parser = add_command(commands, options, _PAGE, execute, agent=agent, reward_predictor=predictor, **numbers)
    add_config(parser)


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add the settings of ``AdaptationConfig``, which has the defaults."""
    defaults = {each.name: each.default for each in fields(AdaptationConfig)}
    group = parser.add_argument_group("adaptation", argument_default=argparse.SUPPRESS)

    def add(option: str, field: str, text: str, **options: Any) -> None:
        group.add_argument(option, dest=field, help=f"{text} (default: {defaults[field]})", **options)

    add("--rollouts", "num_rollouts", "trajectories per hand, a multiple of 8", type=positive, metavar="K")
    add("--temperature", "temperature", "the rollouts sample from logits divided by this", type=float, metavar="X")
    add(
        "--kl-target",
        "kl_target",
        "mean KL divergence of the adapted net in nats, which sets the length of the step; 0: steps of Adam",
        type=float,
        metavar="X",
    )
    add("--learning-rate", "learning_rate", "learning rate of Adam", type=float, metavar="X")


def config_of(args: argparse.Namespace) -> AdaptationConfig:
    """Return the settings that were given, and the defaults for the rest; UsageError for those that are not valid."""
    given = {field.name: getattr(args, field.name) for field in fields(AdaptationConfig) if hasattr(args, field.name)}
    with checked_options():
        config = AdaptationConfig(**given)
    if config.kl_target and "learning_rate" in given:
        raise UsageError("--learning-rate has no effect with --kl-target: leave one of the two out")
    return config


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Run the experiment; ValueError for an agent without nets."""
    config = config_of(args)
    check_net_agent(args.agent)
    if args.reward_predictor and not Path(args.reward_predictor).is_file():
        raise ValueError(
            f"--reward-predictor {args.reward_predictor}: no such file: name a reward_predictor.safetensors"
        )
    if args.runs:
        check_output_folder(args.runs, "--runs")
    with console.activity("importing"):
        from suphx_platform.agents.adaptation_experiment import AdaptationExperiment, run_experiment
        from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console)
    experiment = AdaptationExperiment(
        agent=args.agent,
        num_hands=args.hands,
        num_tests=args.tests,
        seed=args.seed,
        reward_predictor=args.reward_predictor,
        workers=args.workers,
        config=config,
    )
    started = time.perf_counter()
    with _tracked(experiment, args.runs) if args.runs else nullcontext() as tracker:
        with console.progress("hands", args.hands) as progress:
            report = run_experiment(experiment, results=args.results, skip=progress.skip, progress=progress.advance)
        console.say(report.verdict())
        values = {**report.to_json(), "seconds": round(time.perf_counter() - started, 1)}
        if tracker is not None:
            _track(report, tracker)
            values["run_id"] = _run_id(tracker)
    return values


@contextmanager
def _tracked(experiment: AdaptationExperiment, runs: Path) -> Iterator[Tracker]:
    """Yield the MLflow run of the experiment; the same command continues it."""
    from suphx_platform.agents.adaptation_experiment import experiment_key
    from suphx_platform.tracking.tracking import TrackingStore

    store, key = TrackingStore(runs), experiment_key(experiment)
    params = {**asdict(experiment), **asdict(experiment.config)}
    del params["workers"]  # another command may use more of them
    with closing(store), store.start("adapt", key=key, params=params) as tracker:
        yield tracker
    with suppress(OSError):  # something waits for MLflow, or somebody has put files there
        (store.folder / key).rmdir()


def _run_id(tracker: Tracker) -> str | None:
    """Return MLflow's id of the run; None if MLflow does not answer now."""
    from suphx_platform.tracking.mlflow_client import TrackingError

    with suppress(TrackingError):  # said by close
        return tracker.run_id
    return None


def _track(report: AdaptationReport, tracker: Tracker) -> None:
    """Write the figures to MLflow."""
    tracker.set_tags({"suphx.workers": str(report.experiment.workers)})
    tracker.log_metrics(
        {
            "win_rate_adapted_over_base": report.win_rate,
            "interval_low": report.win_interval.low,
            "interval_high": report.win_interval.high,
            "points_difference": report.points,
            "seconds_per_hand": float((report.results.rollout_seconds + report.results.update_seconds).mean()),
        }
    )
