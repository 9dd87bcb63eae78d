"""``suphx evaluate`` for a game of two sides: a match on shared deals, each played with the sides swapped."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from suphx.evaluation.match_config import few_decks_note, widened_note
from suphx.games.candidate_game import candidate_game
from suphx_cli.arguments.parsing import check_new_folder, checked_options
from suphx_cli.commands.monte_carlo import side_sequential
from suphx_cli.commands.monte_carlo.side_sequential import SEQUENTIAL_DECKS, figures_table

if TYPE_CHECKING:
    from suphx.evaluation.side_match import SideReport
    from suphx.games.candidate_game import KeptGames
    from suphx_platform.console.console import Console

DECKS = 1000
RECORDS_FILE = "games.jsonl"
"""With --keep-games."""
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
        from suphx.evaluation.side_match import play_side_match
        from suphx_platform.agents.agent_source import AgentSource
        from suphx_platform.agents.side_agent import common_rules, load_side_agent
        from suphx_platform.tracking.mlflow_store import MlflowStore
    game = candidate_game(game_name)
    started = time.perf_counter()
    source = AgentSource(MlflowStore(args.runs))
    with TemporaryDirectory(prefix="suphx-agents-") as space:
        candidate, opponent = (
            load_side_agent(address, game, Path(space) / role, source)
            for role, address in (("candidate", args.candidate), ("opponent", args.opponent))
        )
    rules = common_rules(game, candidate, opponent)
    first_seed = _FIRST_DEAL + _DEALS_A_SEED * args.seed
    head = {"game": game_name, "candidate": args.candidate, "opponent": args.opponent}
    if is_sequential:
        match = side_sequential.SequentialMatch(game, rules, candidate.player, opponent.player, first_seed)
        rows = match.play(args, console, num_deals)
        return {**head, "seed": args.seed, **rows, "seconds": round(time.perf_counter() - started, 1)}
    with _kept_games(args.keep_games) as kept, console.progress("decks", num_deals) as progress:
        report = play_side_match(
            game,
            rules,
            candidate.player,
            opponent.player,
            num_deals=num_deals,
            first_seed=first_seed,
            progress=progress.advance,
            kept=kept,
        )
    console.say(_verdict(report))
    if args.keep_games is not None:
        console.say(f"Records of the games are in {args.keep_games}: suphx view {args.keep_games} shows the first.")
    head |= {"decks": num_deals, "seed": args.seed, "outcome": report.outcome}
    seconds = round(time.perf_counter() - started, 1)
    if console.is_json:
        return {**head, **report.to_json(), "seconds": seconds}
    return {**head, "seconds": seconds, "figures": figures_table(report, game)}


def _check_options(args: argparse.Namespace, game_name: str, num_deals: int) -> None:
    """Raise ValueError for options that are wrong, do not fit, or belong to other games."""
    for name, default in args.riichi_options.items():
        if getattr(args, name) != default:
            raise ValueError(f"--{name.replace('_', '-')} has no meaning for {game_name}: leave it out")
    from suphx.evaluation.side_match import check_deals

    check_deals(num_deals)
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


@contextmanager
def _kept_games(folder: Path | None) -> Iterator[KeptGames | None]:
    """Yield what writes the games of the match into a file in ``folder``; None without a folder."""
    if folder is None:
        yield None
        return
    from suphx.games.candidate_game import KeptGames

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RECORDS_FILE
    try:
        with path.open("w", encoding="utf-8") as file:
            yield KeptGames(("candidate", "opponent"), lambda line: print(line, file=file))
    except BaseException:  # records of half a match look like those of a whole one
        path.unlink(missing_ok=True)
        raise


def _verdict(report: SideReport) -> str:
    share = report.figures["share"]
    words = {
        "better": "The candidate is stronger",
        "worse": "The candidate is weaker",
        "undecided": "Neither agent is clearly stronger",
    }
    low, high = share.interval.low, share.interval.high
    return (
        f"{words[report.outcome]}: it wins {share.mean:.1%} of the games on both sides together "
        f"(95 % interval {low:.1%} to {high:.1%}{few_decks_note(report.deals)}"
        f"{widened_note(share.interval.is_widened, 'decks')})."
    )
