"""``suphx adapt``: run-time policy adaptation on many initial hands, and whether it helps (paper, section 4.3)."""

from __future__ import annotations

import argparse
import time
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suphx.training.config import AdaptationConfig
from suphx_cli.arguments import UsageError, add_command, check_output_folder, checked_options, positive
from suphx_platform.agents.agent_forms import check_net_agent

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

_DEFAULTS = {each.name: each.default for each in fields(AdaptationConfig)}
_PAGE = f"""
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
--workers
--rollouts N             trajectories per hand, a multiple of 8 (default: {_DEFAULTS["num_rollouts"]})
--temperature X          the rollouts sample from logits divided by this (default: {_DEFAULTS["temperature"]})
--kl-target X            mean KL divergence of the adapted net in nats, which sets the length of the step; 0: steps of
                         Adam (default: {_DEFAULTS["kl_target"]})
--learning-rate X        learning rate of Adam (default: {_DEFAULTS["learning_rate"]})

examples:
  suphx adapt --agent runs/RUN/supervised --hands 20 --tests 64
  suphx adapt --agent runs/RUN/supervised --rollouts 4096 --results adapt-results
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``adapt``."""
    settings: dict[str, Any] = {name: {"type": float} for name in ("temperature", "kl_target", "learning_rate")}
    settings |= {"hands": 200, "tests": 512, "seed": 0, "rollouts": {"type": positive, "dest": "num_rollouts"}}
    settings |= {"reward_predictor": {"type": str, "default": ""}}
    add_command(
        commands,
        options,
        _PAGE,
        execute,
        needs=("torch",),
        agent={"required": True},
        **settings,
    )


def config_of(args: argparse.Namespace) -> AdaptationConfig:
    """Return the settings that were given, and the defaults for the rest; UsageError for those that are not valid."""
    given = {name: getattr(args, name) for name in _DEFAULTS if getattr(args, name, None) is not None}
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
    if args.results is not None:
        check_output_folder(args.results, "--results")
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
    with console.progress("hands", args.hands) as progress:
        report = run_experiment(experiment, results=args.results, skip=progress.skip, progress=progress.advance)
    console.say(report.verdict())
    return {**report.to_json(), "seconds": round(time.perf_counter() - started, 1)}
