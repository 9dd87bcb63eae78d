"""``suphx review``: where an agent would decide differently from the players of records."""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from suphx.games.registry import agent_names
from suphx.selfplay.agents.checkpoint_folder import split_address
from suphx_cli.arguments import UsageError, add_command, check_output_folder, positive
from suphx_cli.commands.view import COST, check_cost, check_record_agent, cost_judge, loaded_agent
from suphx_platform.agents.agent_forms import AGENT_HELP

if TYPE_CHECKING:
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

_PAGE = f"""
review: compare the decisions of recorded games with those of an agent

Ask an agent at each decision of recorded games, and write where it differs from what was played. FOLDER gets
review.html, review.json with the probabilities of all legal moves, and the viewer's pages of the first 10
games. {AGENT_HELP} Not adapt: and mjai:, which must follow whole games.

RECORD            a record file, an archive or a folder of records
--agent AGENT     the agent to ask; not mjai: or adapt:
--player NAME     review one player only: a name, or a seat from 1 to 4 (default: all)
--games N         number of games at most (default: 20)
--out FOLDER      folder to write (default: review)
--held-out        take only games that the run of the nets has not learned from: its test games, and games that were not
                  among its records. A game is recognised by its id
--trained-in RUN  the run that trained the nets, an id or a folder (default: the run whose folder has them)
{COST}
--runs

examples:
  suphx review game.mjlog --agent runs/RUN/supervised --player Anna
  suphx review records --agent runs/RUN/supervised --held-out --games 200 --out review-of-records
  suphx review game.mjlog --agent runs/RUN/supervised --player Anna --cost 64
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``review``."""
    defaults = {"games": 20, "out": Path("review")}
    add_command(commands, options, _PAGE, execute, agent={"required": True}, cost={"type": positive}, **defaults)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Write the review; ValueError for a missing record, an unknown agent or player, or if no record can be reviewed.

    Also for a folder that cannot be written, before the agent is loaded and asked.
    """
    check_record_agent(args.record, args.agent, args.runs)
    check_cost(args)
    check_output_folder(args.out)
    if args.trained_in is not None and split_address(args.agent)[0] in agent_names("riichi"):
        raise UsageError(f"--trained-in has no meaning for {args.agent}, which learns from no games: omit it")
    from suphx.games.riichi.archive.record_writer import RiichiRecordTools
    from suphx_cli.commands.records import check_games

    check_games([args.record], RiichiRecordTools())
    with console.activity("importing"):
        from suphx.games.riichi.archive.archive import iter_records
        from suphx.games.riichi.records.quarantine import Quarantine
        from suphx_pipelines.review import (
            allowed_games,
            games_of_agent,
            held_out_games,
            review_games,
            seats_of,
            write_review,
        )
        from suphx_platform.console.table_text import count_text
        from suphx_platform.kernels.kernel_warmup import compile_kernels

    run, learned = games_of_agent(args.agent, args.trained_in, runs=args.runs, only_held_out=args.held_out)
    agent = loaded_agent(args.agent, args.runs, console)
    compile_kernels(console, "engine", "replay", "encoder", "scripted games", "net games")
    quarantine = Quarantine()
    records = iter_records([args.record], quarantine=quarantine)
    if args.held_out and learned is not None:
        records = (log for log in records if learned.is_held_out(log.id))
    if args.player is not None:
        records = (log for log in records if seats_of(log, args.player))
    logs = list(islice(allowed_games(records, quarantine), args.games))
    if quarantine.count:
        aside = count_text(quarantine.count, "record was", "records were")
        console.warn(f"{aside} set aside; the first: {quarantine.entries[0]}")
    if not logs:
        who = "" if args.player is None else f" of {args.player!r}"
        which = f" that {run or args.agent} has not learned from" if args.held_out else ""
        raise ValueError(f"{args.record} has no game{who}{which}: see suphx records verify")
    held_out, note, hint = held_out_games(logs, run, learned)
    if hint:
        console.warn(f"{note} {hint}")
    judge = cost_judge(args, agent)
    with console.progress("games", len(logs)) as progress:
        games = review_games(logs, agent, args.player, judge, progress.advance)
    found = {"player": args.player, "held_out": held_out, "note": note, "judge": judge, "samples": args.cost}
    result = write_review(args.out, args.agent, games, **found)
    return {**result, **(quarantine.to_json() if console.is_json else {})}  # the warning says it to a person
