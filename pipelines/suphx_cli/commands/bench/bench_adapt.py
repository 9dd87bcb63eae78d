"""``suphx bench adapt``: the cost of run-time adaptation, and of its parts alone."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx_cli.arguments.parsing import ENCODERS, SIZES, not_negative, positive, seconds, steps
from suphx_cli.commands import adapt
from suphx_platform.agents.agent_forms import check_net_agent

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.console.console import Console


def add_parser(subjects: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add the sub-command to those of ``bench``."""
    parser = subjects.add_parser("adapt", parents=[options], help="measure run-time adaptation, and each part alone")
    parser.add_argument("--agent", default="", metavar="AGENT", help="folder of checkpoints (default: untrained nets)")
    parser.add_argument("--size", choices=SIZES, default="tiny", help="size of untrained nets (default: tiny)")
    parser.add_argument(
        "--encoder", choices=ENCODERS, default="suphx", help="encoder of untrained nets (default: suphx)"
    )
    parser.add_argument(
        "--hands", type=positive, default=4, metavar="N", help="number of hands that are adapted together (default: 4)"
    )
    parser.add_argument(
        "--seconds", type=seconds, default=3.0, metavar="T", help="duration of self-play per round (default: 3)"
    )
    parser.add_argument("--seed", type=not_negative, default=0, metavar="S", help="seed of hands and nets (default: 0)")
    adapt.add_config(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Measure; ValueError for an agent without nets and for settings that are not valid."""
    config = adapt.config_of(args)
    if args.agent:
        check_net_agent(args.agent)
    from suphx_platform.bench.riichi.adapt import AdaptCase, bench_adapt
    from suphx_platform.kernels.kernel_warmup import compile_kernels

    compile_kernels(console)

    case = AdaptCase(
        agent=args.agent,
        encoder=args.encoder,
        size=args.size,
        num_hands=args.hands,
        seconds=args.seconds,
        seed=args.seed,
        config=config,
    )
    with steps(console) as begin:
        return bench_adapt(case, say=begin)
