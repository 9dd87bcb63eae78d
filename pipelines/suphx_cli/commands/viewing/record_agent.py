"""The agent that is asked about records."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_cli.arguments.parsing import UsageError, check_source_of_runs, positive
from suphx_platform.agents.agent_forms import check_agent, follows_whole_games

if TYPE_CHECKING:
    from suphx.evaluation.decision_cost import CostJudge
    from suphx.selfplay.agents.agent import Agent
    from suphx_platform.console.console import Console

_MIN_SAMPLES = 2


def check_record(record: Path) -> None:
    """Raise ValueError for a missing record."""
    if not record.exists():
        raise ValueError(f"{record} does not exist: give a record file or a folder of records")


def check_record_agent(record: Path, address: str | None, runs: Path) -> None:
    """Raise ValueError for a missing record or folder of runs, or an agent that cannot be asked about one."""
    check_record(record)
    check_source_of_runs(runs)
    if address is None:
        return
    check_agent(address)
    if follows_whole_games(address):
        raise ValueError(
            f"{address!r} must follow whole games and cannot be asked about a record: name a scripted agent or nets"
        )


def loaded_agent(address: str, runs: Path, console: Console) -> Agent:
    """Return the agent, wherever its nets are; ValueError for an unknown one."""
    from tempfile import TemporaryDirectory

    from suphx.selfplay.agents.agent import load_agent
    from suphx_platform.agents.agent_source import AgentSource
    from suphx_platform.tracking.mlflow_store import MlflowStore

    with console.activity("loading the agent"), TemporaryDirectory(prefix="suphx-agent-") as space:
        return load_agent(AgentSource(MlflowStore(runs)).fetch(address, Path(space) / "agent"))


def add_cost(parser: argparse.ArgumentParser) -> None:
    """Add how the costs of differences are estimated."""
    parser.add_argument(
        "--cost",
        type=positive,
        metavar="SAMPLES",
        help="estimate what each difference cost: deal the hidden tiles again at random SAMPLES times (such as 64) "
        "and let the agent play on to the end of the deal, after the played move and after its own. It takes much "
        "longer",
    )
    parser.add_argument(
        "--reward-predictor",
        type=Path,
        metavar="FILE",
        help="with --cost: the checkpoint of a reward predictor, for costs in points for places; default: "
        "reward_predictor/reward_predictor.safetensors of the agent's run if it has one, otherwise costs are in points "
        "of the deal",
    )


def check_cost(args: argparse.Namespace) -> None:
    """Raise UsageError for settings of costs that are wrong or do not apply, ValueError for a missing file."""
    if args.reward_predictor is not None and args.cost is None:
        raise UsageError(
            "--reward-predictor values the ends of deals for --cost: add --cost SAMPLES, such as --cost 64"
        )
    if args.cost is not None and args.cost < _MIN_SAMPLES:
        raise UsageError(f"--cost is {args.cost}: use {_MIN_SAMPLES} samples or more, such as 64")
    if args.cost is not None and args.agent is None:
        raise UsageError("--cost compares the moves with those of an agent: add --agent AGENT")
    if args.reward_predictor is not None and not args.reward_predictor.is_file():
        raise ValueError(f"--reward-predictor is {args.reward_predictor}, which is no file")


def cost_judge(args: argparse.Namespace, agent: Agent) -> CostJudge | None:
    """Return what estimates costs; None without --cost. ValueError for a damaged reward predictor."""
    if args.cost is None:
        return None
    from suphx.evaluation.decision_cost import CostJudge
    from suphx.models.checkpoints.checkpoint import REWARD_PREDICTOR_FILE, load_reward_predictor

    nets = Path(args.agent.partition(":")[0])
    beside_nets = nets.resolve().parent / "reward_predictor" / REWARD_PREDICTOR_FILE
    has_one = nets.is_dir() and beside_nets.is_file()
    path = args.reward_predictor or (beside_nets if has_one else None)
    predictor = None if path is None else load_reward_predictor(path)[0]
    return CostJudge(agent, samples=args.cost, predictor=predictor)
