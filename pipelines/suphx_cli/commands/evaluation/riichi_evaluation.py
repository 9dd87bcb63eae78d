"""``suphx evaluate`` for riichi: one agent against three copies of another, on shared walls."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from suphx_cli.arguments import resumable
from suphx_cli.commands.evaluation.riichi_options import check_options
from suphx_platform.agents.agent_forms import agent_files, follows_whole_games

if TYPE_CHECKING:
    from suphx.evaluation.workers.match_records import KeptResults
    from suphx_platform.agents.agent_source import AgentSource
    from suphx_platform.console.console import Console


_DECIDING = (
    "candidate", "opponent", "hanchans", "deals", "sequential", "error", "decides", "points", "seating", "seed",
    "no_draw_lanes",
)  # fmt: skip
"""Options that decide which games are played."""
_CODE = ("suphx/evaluation/sequential/sequential_match.py", "suphx/evaluation/deal_match.py")
"""Plays matches, with what it imports."""


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the match; ValueError for options that do not fit, and for an unknown agent."""
    check_options(args)
    with console.activity("importing"):
        from suphx.evaluation.match_setup import MatchSetup
        from suphx.evaluation.workers.game_runner import GameRunner
        from suphx.evaluation.workers.match_records import number_tables
        from suphx_cli.commands.evaluation import riichi_match
        from suphx_pipelines.kept_match import kept_match, saved_text
        from suphx_platform.agents.agent_loading import load_any_agent
        from suphx_platform.agents.agent_source import AgentSource
        from suphx_platform.evaluation.match_workers import match_workers
        from suphx_platform.kernels.kernel_warmup import compile_kernels
        from suphx_platform.tracking.mlflow_store import MlflowStore

    source = AgentSource(MlflowStore(args.runs))
    saved: list[KeptResults] = []
    with (
        resumable(console, lambda error: saved_text(saved)),
        _fetched(args, source) as agents,
        kept_match(_match(args, agents), args.runs, args.keep_games, console.say) as kept,
        match_workers(args.workers, on_ray=args.ray, say=console.say) as workers,
    ):
        compile_kernels(console, "engine", "encoder", "scripted games", "net games")
        saved.append(kept)
        started = time.perf_counter()
        with console.progress("hanchans", riichi_match.num_games(args)) as bar:
            setup = MatchSetup(
                *agents,
                seed=args.seed,
                has_draw_lanes=not args.no_draw_lanes,
                keeps_each_wall=any(map(follows_whole_games, agents)),
            )
            runner = GameRunner(
                workers=workers,
                load=load_any_agent,
                kept=kept,
                records=args.keep_games,
                progress=bar.advance,
                note_kept=bar.skip,
            )
            report = riichi_match.play(args, setup, runner, bar)
        seconds = round(time.perf_counter() - started, 1)
        if args.keep_games is not None:
            number_tables(args.keep_games)
    report = report.renamed(args.candidate, args.opponent)
    console.say(report.verdict())
    for sentence in report.forfeits.sentences(("the candidate", "the opponent")):
        console.warn(sentence)
    if args.keep_games is not None:
        console.say(f"Records of the games are in {args.keep_games}: suphx view {args.keep_games} shows the first.")
    if console.is_json:
        return {**report.to_json(), "seconds": seconds}
    return riichi_match.shown(report, seconds)


def _match(args: argparse.Namespace, agents: tuple[str, str]) -> dict[str, Any]:
    """Return all that decides the games of the match; ``agents``: addresses here."""
    from suphx_pipelines.kept_match import match_of
    from suphx_pipelines.tournament.pool.riichi_code import MODULES

    options = {name: getattr(args, name) for name in _DECIDING}
    return match_of(options, [agent_files(agent) for agent in agents], (*MODULES, *_CODE))


@contextmanager
def _fetched(args: argparse.Namespace, source: AgentSource) -> Iterator[tuple[str, str]]:
    """Yield the addresses of candidate and opponent, copied here if they are elsewhere."""
    with TemporaryDirectory(prefix="suphx-agents-") as space:
        yield (
            source.fetch(args.candidate, Path(space) / "candidate"),
            source.fetch(args.opponent, Path(space) / "opponent"),
        )
