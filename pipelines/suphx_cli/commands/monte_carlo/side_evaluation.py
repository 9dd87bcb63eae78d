"""``suphx evaluate`` for a game of two sides: a match on shared deals, each played with the sides swapped."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from suphx.evaluation.match_config import check_side_deals, few_decks_note, widened_note
from suphx.games.candidate_game import candidate_game
from suphx.games.registry import game_modules
from suphx_cli.arguments import check_new_folder, checked_options, resumable
from suphx_cli.commands.monte_carlo import side_sequential
from suphx_cli.commands.monte_carlo.side_sequential import AGENTS, LOST, SEQUENTIAL_DECKS, figures_table

if TYPE_CHECKING:
    from suphx.evaluation.side_match import SideReport
    from suphx.evaluation.workers.match_records import KeptResults
    from suphx.games.candidate_game import CandidateGame
    from suphx_platform.agents.side_agent import SideAgent
    from suphx_platform.console.console import Console

DECKS = 1000
RECORDS_FILE = "games.jsonl"
"""With --keep-games."""
_CODE = ("suphx/evaluation/sequential/side_sequential_match.py", "suphx_platform/agents/side_program.py")
"""Plays matches and makes agents, with what it imports."""
_FIRST_DEAL, _DEALS_A_SEED = 2**33, 2**20
"""No training and no curve uses these deals."""
_MAX_SEED = 2**16
"""The decks of tournaments begin at 2**37."""


def execute(args: argparse.Namespace, console: Console, game_name: str) -> dict[str, object]:
    """Play the match; ValueError for an unknown agent, UsageError for options that are wrong or of other games."""
    is_sequential = args.sequential is not None
    num_deals = args.decks or (SEQUENTIAL_DECKS if is_sequential else DECKS)
    with checked_options():
        _check_options(args, game_name, num_deals)
    check_new_folder(args.keep_games)
    with console.activity("importing"):
        from suphx.evaluation.side_match import DECKS_PER_BLOCK, SIDE_AGENTS, play_side_match, write_records
        from suphx_pipelines.kept_match import kept_match, saved_text
        from suphx_platform.agents.agent_source import AgentSource
        from suphx_platform.agents.side_agent import common_rules
        from suphx_platform.agents.side_program import PROGRAM_DECKS, is_side_program, load_match_agent
        from suphx_platform.tracking.mlflow_store import MlflowStore
    game = candidate_game(game_name)
    started = time.perf_counter()
    source = AgentSource(MlflowStore(args.runs))
    saved: list[KeptResults] = []
    with ExitStack() as stack:
        stack.enter_context(resumable(console, lambda error: saved_text(saved)))
        space = stack.enter_context(TemporaryDirectory(prefix="suphx-agents-"))
        candidate, opponent = (
            load_match_agent(address, game, Path(space) / role, source)
            for role, address in (("candidate", args.candidate), ("opponent", args.opponent))
        )
        rules = common_rules(game, candidate, opponent)
        first_seed = _FIRST_DEAL + _DEALS_A_SEED * args.seed
        head = {"game": game_name, "candidate": args.candidate, "opponent": args.opponent}
        match = _match(args, game, num_deals, (candidate, opponent), rules)
        kept = stack.enter_context(kept_match(match, args.runs, args.keep_games, console.say))
        saved.append(kept)
        has_programs = is_side_program(args.candidate) or is_side_program(args.opponent)
        decks_per_block = PROGRAM_DECKS if has_programs else DECKS_PER_BLOCK
        if is_sequential:
            players = candidate.player, opponent.player
            sequential = side_sequential.SequentialMatch(game, rules, *players, first_seed, kept, decks_per_block)
            rows = sequential.play(args, console, num_deals)
            return {**head, "seed": args.seed, **rows, "seconds": round(time.perf_counter() - started, 1)}
        with console.progress("decks", num_deals) as progress:
            report = play_side_match(
                game,
                rules,
                candidate.player,
                opponent.player,
                num_deals=num_deals,
                first_seed=first_seed,
                decks_per_block=decks_per_block,
                kept=kept,
                record_names=None if args.keep_games is None else SIDE_AGENTS,
                progress=progress.advance,
                note_kept=progress.skip,
                tell=partial(progress.advance, 0),
            )
        if args.keep_games is not None:
            write_records(args.keep_games / RECORDS_FILE, kept, num_deals, decks_per_block)
    console.say(_verdict(report))
    for sentence in report.forfeits.sentences(AGENTS, LOST):
        console.warn(sentence)
    if args.keep_games is not None:
        console.say(f"Records of the games are in {args.keep_games}: suphx view {args.keep_games} shows the first.")
    head |= {"decks": num_deals, "seed": args.seed, "outcome": report.outcome}
    seconds = round(time.perf_counter() - started, 1)
    if console.is_json:
        return {**head, **report.to_json(), "seconds": seconds}
    return {**head, "seconds": seconds, "figures": figures_table(report, game)}


def _match(
    args: argparse.Namespace, game: CandidateGame, num_deals: int, agents: Sequence[SideAgent], rules: Any
) -> dict[str, Any]:
    """Return all that decides the games of the match."""
    from suphx_pipelines.kept_match import match_of

    options = {name: getattr(args, name) for name in ("candidate", "opponent", "sequential", "error", "seed")}
    modules = [f"{module.replace('.', '/')}.py" for module in game_modules(game.name)]
    options |= {"game": game.name, "decks": num_deals, "rules": game.rules_values(rules)}
    return match_of(options, [agent.files for agent in agents], [*modules, *_CODE])


def _check_options(args: argparse.Namespace, game_name: str, num_deals: int) -> None:
    """Raise ValueError for options that are wrong, do not fit, or belong to other games."""
    for name, default in args.riichi_options.items():
        if getattr(args, name) != default:
            raise ValueError(f"--{name.replace('_', '-')} has no meaning for {game_name}: leave it out")
    check_side_deals(num_deals)
    if num_deals > _DEALS_A_SEED:
        raise ValueError(f"--decks is {num_deals:,}: use at most {_DEALS_A_SEED:,}")
    if args.seed > _MAX_SEED:
        raise ValueError(f"--seed is {args.seed:,}: use 0 to {_MAX_SEED:,}")
    if args.sequential is not None:
        if args.keep_games is not None:
            raise ValueError("--keep-games keeps matches of a fixed length: leave out --sequential")
        side_sequential.check_options(args, num_deals)
    elif args.error is not None:
        raise ValueError("--error is for a match that stops once it is decided: add --sequential DIFFERENCE")


def _verdict(report: SideReport) -> str:
    share = report.figures["share"]
    words = {
        "better": "The candidate is stronger: it wins",
        "worse": "The candidate is weaker: it wins",
        "undecided": "Neither agent is clearly stronger: the candidate wins",
    }
    low, high = share.interval.low, share.interval.high
    return (
        f"{words[report.outcome]} {share.mean:.1%} of the games on both sides together "
        f"(95 % interval {low:.1%} to {high:.1%}{few_decks_note(report.deals)}"
        f"{widened_note(share.interval.is_widened, 'decks')})."
    )
