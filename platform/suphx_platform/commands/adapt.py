"""``suphx adapt``: run-time policy adaptation on many initial hands, and whether it pays (paper, section 4.3)."""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_platform.commands.parsing import add_workers, not_negative, positive

if TYPE_CHECKING:
    from suphx.training.adaptation import AdaptationConfig
    from suphx_platform.adaptation_experiment import AdaptationExperiment, AdaptationReport
    from suphx_platform.commands.parsing import Subparsers
    from suphx_platform.console import Console
    from suphx_platform.tracking import Tracker

BASELINES = ("deal", "mean", "none")


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``adapt``."""
    parser = commands.add_parser("adapt", parents=[options], help="adapt to initial hands and say whether that pays")
    parser.add_argument("--agent", required=True, metavar="AGENT", help="a folder of checkpoints, perhaps with :weak")
    parser.add_argument("--hands", type=positive, default=200, metavar="N", help="initial hands (default: 200)")
    parser.add_argument("--tests", type=positive, default=512, metavar="N", help="test deals of a hand (default: 512)")
    parser.add_argument("--seed", type=not_negative, default=0, metavar="S", help="of hands and deals (default: 0)")
    parser.add_argument(
        "--reward-predictor", default="", metavar="FILE", help="what counts is its prediction (default: points won)"
    )
    parser.add_argument("--runs", type=Path, metavar="DIR", help="write a run to the MLflow store of this folder")
    add_config(parser)
    add_workers(parser)
    parser.set_defaults(execute=execute)


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add what ``AdaptationConfig`` has; the defaults stand there."""
    group = parser.add_argument_group("adaptation (suphx/training/adaptation.py)", argument_default=argparse.SUPPRESS)
    group.add_argument("--rollouts", type=positive, dest="num_rollouts", metavar="K", help="trajectories of a hand")
    group.add_argument("--rollouts-per-deal", type=positive, metavar="N", help="of them share a deal")
    group.add_argument("--baseline", choices=BASELINES, help="what is taken off a reward")
    group.add_argument("--learning-rate", type=float, metavar="X", help="of Adam")
    group.add_argument("--epochs", type=positive, dest="num_epochs", metavar="N", help="over the trajectories")
    group.add_argument("--batch-rollouts", type=positive, metavar="N", help="trajectories of a gradient step")
    group.add_argument("--max-ratio", type=float, metavar="X", help="limit of importance ratios; 0: none")
    group.add_argument("--trained-blocks", type=int, metavar="N", help="last blocks that are adapted; -1: all")


def config_of(args: argparse.Namespace) -> AdaptationConfig:
    """Return what was given, and the defaults for the rest; ValueError for what makes no sense."""
    from dataclasses import fields

    from suphx.training.adaptation import AdaptationConfig

    given = {field.name: getattr(args, field.name) for field in fields(AdaptationConfig) if hasattr(args, field.name)}
    return AdaptationConfig(**given)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Run the experiment; ValueError for an agent without nets."""
    from suphx_platform.adaptation_experiment import AdaptationExperiment, run_experiment

    experiment = AdaptationExperiment(
        agent=args.agent,
        num_hands=args.hands,
        num_tests=args.tests,
        seed=args.seed,
        reward_predictor=args.reward_predictor,
        workers=args.workers,
        config=config_of(args),
    )
    started = time.perf_counter()
    with ExitStack() as stack:
        tracker = _tracked(experiment, args.runs, stack) if args.runs else None
        with console.progress("hands", args.hands) as progress:
            report = run_experiment(experiment, progress=progress.advance)
        console.say(report.verdict())
        values = {**report.to_json(), "seconds": round(time.perf_counter() - started, 1)}
        if tracker is not None:
            _track(report, tracker)
            values["run_id"] = tracker.run_id
    return values


def _tracked(experiment: AdaptationExperiment, runs: Path, stack: ExitStack) -> Tracker:
    """Return the run of MLflow that the experiment shall stand in, which ends when the stack does."""
    from suphx_platform.tracking import TrackingStore

    store = TrackingStore(runs)
    params = {**asdict(experiment), **asdict(experiment.config)}
    tracker = store.start("adapt", key=f"adapt-{time.time_ns()}", params=params)
    stack.callback(store.close)
    return stack.enter_context(tracker)


def _track(report: AdaptationReport, tracker: Tracker) -> None:
    """Write figures and every hand to MLflow."""
    import json
    import tempfile

    tracker.log_metrics(
        {
            "win_rate_adapted_over_base": report.win_rate,
            "interval_low": report.win_interval.low,
            "interval_high": report.win_interval.high,
            "points_difference": report.points,
            "seconds_per_hand": float((report.results.rollout_seconds + report.results.update_seconds).mean()),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hands.json"
        path.write_text(json.dumps({name: column.tolist() for name, column in asdict(report.results).items()}))
        tracker.log_artifact(path)
