"""``suphx reference``: RLlib's stock PPO on the simulator, to compare with our own learner."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx.games.registry import agent_names
from suphx_cli.arguments import ENCODERS, examples, parallel, positive, seed

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``reference``."""
    parser = commands.add_parser(
        "reference",
        parents=[options],
        help="train RLlib's stock PPO on the simulator, to compare with our learner",
        epilog=examples("suphx reference --iterations 50 --opponent ukeire"),
    )
    parser.add_argument(
        "--iterations", type=positive, default=20, metavar="N", help="rounds of sampling and learning (default: 20)"
    )
    parser.add_argument(
        "--decisions", type=positive, default=4096, metavar="N", help="decisions per iteration (default: 4096)"
    )
    parser.add_argument(
        "--opponent",
        choices=(*agent_names(), "self"),
        default="random",
        help="agent at the other seats; self: PPO plays all four (default: random)",
    )
    parser.add_argument("--encoder", choices=ENCODERS, default="mini", help="encoder of the planes (default: mini)")
    parser.add_argument("--env-runners", type=parallel, default=1, metavar="N", help="processes that play (default: 1)")
    parser.add_argument("--seed", type=seed, default=1, metavar="S", help="seed of walls and weights (default: 1)")
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Train and return the last figures; ValueError for a setting that is not valid."""
    from suphx_platform.kernels.kernel_warmup import compile_kernels
    from suphx_platform.reference.rllib_ppo import Iteration, ReferenceConfig, train_reference

    config = ReferenceConfig(
        iterations=args.iterations,
        decisions=args.decisions,
        minibatch=min(256, args.decisions),
        opponent="" if args.opponent == "self" else args.opponent,
        encoder=args.encoder,
        env_runners=args.env_runners,
        seed=args.seed,
    )
    compile_kernels(console, "engine", "encoder", "scripted games", "self-play")

    def report(state: Iteration) -> None:
        mean_return = "none yet" if state.mean_return is None else f"{state.mean_return:+.3f}"
        console.say(
            f"iteration {state.index}: {state.decisions:,} decisions, {state.hanchans} hanchans, "
            f"return {mean_return}, entropy {state.entropy:.3f}, {state.seconds:.0f} s"
        )

    with console.progress("iterations", args.iterations) as progress:

        def show(state: Iteration) -> None:
            report(state)
            progress.advance()

        last = train_reference(config, show)
    return {
        "iterations": last.index,
        "decisions": last.decisions,
        "hanchans": last.hanchans,
        "mean_return": last.mean_return,
        "entropy": last.entropy,
        "seconds": round(last.seconds, 1),
    }
