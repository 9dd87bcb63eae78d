"""``suphx evaluate`` for riichi: one agent against three copies of another, on shared walls."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from suphx_cli.commands.evaluation.riichi_options import check_options

if TYPE_CHECKING:
    from suphx_platform.agents.agent_source import AgentSource
    from suphx_platform.console.console import Console


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the match; ValueError for options that do not fit, and for an unknown agent."""
    check_options(args)
    with console.activity("importing"):
        from suphx.evaluation.match_setup import MatchSetup
        from suphx.evaluation.workers.game_runner import GameRunner
        from suphx.evaluation.workers.match_records import number_tables
        from suphx_cli.commands.evaluation import riichi_match
        from suphx_platform.agents.agent_loading import load_any_agent
        from suphx_platform.agents.agent_source import AgentSource
        from suphx_platform.evaluation.match_workers import match_workers
        from suphx_platform.kernels.kernel_warmup import compile_kernels
        from suphx_platform.tracking.mlflow_store import MlflowStore

    compile_kernels(console, "engine", "encoder", "scripted games", "net games")
    source = AgentSource(MlflowStore(args.runs))
    try:
        with match_workers(args.workers, on_ray=args.ray, say=console.say) as workers:
            started = time.perf_counter()
            with _fetched(args, source) as agents, console.progress("hanchans", riichi_match.num_games(args)) as bar:
                setup = MatchSetup(*agents, seed=args.seed, has_draw_lanes=not args.no_draw_lanes)
                runner = GameRunner(workers=workers, load=load_any_agent, records=args.keep_games, progress=bar.advance)
                report = riichi_match.play(args, setup, runner, tell=partial(riichi_match.note_look, args, bar))
            seconds = round(time.perf_counter() - started, 1)
    except KeyboardInterrupt:
        first = f"remove {args.keep_games}, and " if args.keep_games is not None and args.keep_games.exists() else ""
        console.error(f"The match is not saved: {first}the same command plays it from the beginning.")
        raise
    report = report.renamed(args.candidate, args.opponent)
    console.say(report.verdict())
    for sentence in report.forfeits.sentences(("the candidate", "the opponent")):
        console.warn(sentence)
    if args.keep_games is not None:
        number_tables(args.keep_games)
        console.say(f"Records of the games are in {args.keep_games}: suphx view {args.keep_games} shows the first.")
    if console.is_json:
        return {**report.to_json(), "seconds": seconds}
    return riichi_match.shown(report, seconds)


@contextmanager
def _fetched(args: argparse.Namespace, source: AgentSource) -> Iterator[tuple[str, str]]:
    """Yield the addresses of candidate and opponent, copied here if they are elsewhere."""
    with TemporaryDirectory(prefix="suphx-agents-") as space:
        yield (
            source.fetch(args.candidate, Path(space) / "candidate"),
            source.fetch(args.opponent, Path(space) / "opponent"),
        )
