"""``suphx review``: where an agent would decide differently from the players of records."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING

from suphx.games.registry import agent_names
from suphx.selfplay.agents.checkpoint_folder import split_address
from suphx_cli.arguments import UsageError, add_command, check_output_folder, positive
from suphx_cli.commands.view import COST, check_cost, check_record_agent, cost_judge, loaded_agent
from suphx_platform.agents.agent_forms import AGENT_HELP

if TYPE_CHECKING:
    from suphx.evaluation.review import ReviewedGame
    from suphx.games.game import Agent
    from suphx.games.riichi.records.game_log import GameLog
    from suphx.games.riichi.records.quarantine import Quarantine
    from suphx_cli.arguments import Subparsers
    from suphx_pipelines.review import TrainingGames
    from suphx_platform.console.console import Console


def held_out_games(
    logs: Sequence[GameLog], run: str | None, games: TrainingGames | None
) -> tuple[dict[str, object], str, str]:
    """Return how many of the games the agent has not learned from: for scripts, in a sentence, and a hint if not all.

    ``run``: the run whose ``games`` are known; None for a scripted agent, which has learned from no game.
    """
    if games is None:
        note = (
            "It is not known whether the nets have learned from these games. If they have, the agreement is higher "
            "than on new games."
        )
        hint = "Name the run that trained the nets: --trained-in RUN."
        return {"run": None, "games": None, "test_games": 0}, note, hint
    ids = [log.id for log in logs if games.is_held_out(log.id)]
    from_test, hint = sum(each in games.test for each in ids), ""
    note = "The agent has learned from no records."
    if run is not None:
        note = f"{len(ids):,} of {len(logs):,} games are held out: the run {run} has not learned from them"
        note += f" ({from_test:,} of them are its test games)."
    if len(ids) < len(logs):
        note += " On the others the agreement is higher than on new games."
        hint = "To review other games, add --held-out."
    return {"run": run, "games": len(ids), "test_games": from_test}, note, hint


def training_games(args: argparse.Namespace) -> tuple[str | None, TrainingGames | None]:
    """Return the run of the agent, and which games it learned from; (None, None) if that is not known.

    ValueError if ``--held-out`` or ``--trained-in`` asks for what is not known.
    """
    from suphx_pipelines.review import TrainingGames, games_of_run, run_of_nets
    from suphx_pipelines.runs.run_list import find_run

    location, _ = split_address(args.agent)
    if location in agent_names("riichi"):
        if args.trained_in is not None:
            raise UsageError(f"--trained-in has no meaning for {location}, which learns from no games: leave it out")
        return None, TrainingGames()
    if args.trained_in is not None:
        run: Path | None = find_run(args.runs, args.trained_in).folder
    else:
        run = run_of_nets(Path(location)) if Path(location).is_dir() else None
    if run is not None:
        try:
            return run.name, games_of_run(run)
        except ValueError as error:
            if args.held_out or args.trained_in is not None:
                raise ValueError(f"the games that {run} learned from are not known: {error}") from error
    elif args.held_out:
        raise ValueError(
            f"--held-out: {args.agent} is not in the folder of a run, so its training games are not known: name the "
            "run with --trained-in RUN"
        )
    return None, None


_NUM_PAGES = 10
"""Games with a page of their own."""
_NUM_DIFFERENCES = 50


_PAGE = f"""
review: compare the decisions of recorded games with those of an agent

Ask an agent at each decision of recorded games, and write where it differs from what was played. FOLDER gets
review.html, review.json with the probabilities of all legal moves, and the viewer's pages of the first {_NUM_PAGES}
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
    from suphx.games.riichi.archive.record_tools import RiichiRecordTools
    from suphx_cli.commands.records import check_games

    check_games([args.record], RiichiRecordTools())
    with console.activity("importing"):
        from suphx.atomic_file import many_files, write_atomically
        from suphx.evaluation.review import (
            agreement_table,
            cost_summary,
            costliest_differences,
            largest_differences,
            review_game,
        )
        from suphx.games.riichi.archive.archive import iter_records
        from suphx.games.riichi.records.quarantine import Quarantine
        from suphx_pipelines.json_file import write_json
        from suphx_pipelines.review import review_page
        from suphx_pipelines.viewer.viewer_page import viewer_page
        from suphx_platform.console.table_text import count_text
        from suphx_platform.kernels.kernel_warmup import compile_kernels

    run, learned = training_games(args)
    agent: Agent = loaded_agent(args.agent, args.runs, console)
    compile_kernels(console, "engine", "replay", "encoder", "scripted games", "net games")
    quarantine = Quarantine()
    records = iter_records([args.record], quarantine=quarantine)
    if args.held_out and learned is not None:
        records = (log for log in records if learned.is_held_out(log.id))
    if args.player is not None:
        records = (log for log in records if _seats(log, args.player))
    logs = list(islice(_allowed(records, quarantine), args.games))
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
    reviewed: list[ReviewedGame] = []
    used: set[str] = set()
    files: dict[str, str] = {}
    pages: dict[str, str] = {}
    with console.progress("games", len(logs)) as progress:
        for number, log in enumerate(logs, 1):
            # files of the same name in different folders have the same id: the others get a number behind it
            numbered = chain((log.id,), (f"{log.id} [{again}]" for again in count(2)))
            title = next(each for each in numbered if each not in used)
            used.add(title)
            seats = _seats(log, args.player)
            game = review_game(replace(log, id=title), agent, seats, judge, progress.advance)
            reviewed.append(game)
            if number <= _NUM_PAGES:
                name = re.sub(r"[^\w.-]+", "-", title)
                pages[title] = f"{number}-{name}.html"
                values = {**game.values, "agent": args.agent}
                files[pages[title]] = viewer_page(values, title=title, seat=seats[0] if seats else 0)
    decisions = [decision for game in reviewed for decision in game.decisions]
    table = agreement_table(decisions)
    cost = None if judge is None else cost_summary(decisions, judge.unit, args.cost)
    choose = largest_differences if cost is None else costliest_differences
    shown = choose(decisions, _NUM_DIFFERENCES)
    files["review.html"] = review_page(args.agent, decisions, shown, pages, cost, note=note)
    rows = [asdict(one) | {"cost": one.cost and one.cost.to_json()} for one in decisions]
    head = {"agent": args.agent, "held_out": held_out, "groups": table, "cost": cost}
    args.out.mkdir(parents=True, exist_ok=True)
    with many_files(args.out) as written:
        write_json(args.out / "review.json", head | {"decisions": rows})
        written.append(args.out / "review.json")
        for name, page in files.items():
            write_atomically(args.out / name, [page.encode()])
            written.append(args.out / name)
    return {
        "games": len(reviewed),
        "decisions": len(decisions),
        "held_out": held_out,
        "agreement": table[0]["agreement"] if table else None,
        "groups": table,
        "cost": cost,
        "page": str(args.out / "review.html"),
        **(quarantine.to_json() if console.is_json else {}),  # the warning says it to a person
    }


def _allowed(records: Iterable[GameLog], quarantine: Quarantine) -> Iterator[GameLog]:
    """Yield the games whose moves the rules allow, and set the others aside: before the agent is asked for hours."""
    from suphx.games.riichi.records.decisions import recorded_decisions
    from suphx.games.riichi.records.quarantine import ILLEGAL_RECORD

    for log in records:
        try:
            recorded_decisions(log)
        except ValueError as error:
            quarantine.add(*log.place(""), str(error), kind=ILLEGAL_RECORD)
        else:
            yield log


def _seats(log: GameLog, player: str | None) -> tuple[int, ...]:
    """Return the seats of the player, of whom a match of agents may have several; none if they are not in this game."""
    named = tuple(seat for seat, name in enumerate(log.names) if name == player)
    return named or ((int(player) - 1,) if player in ("1", "2", "3", "4") else ())
