"""``suphx review``: where an agent would decide differently from the players of records."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING

from suphx.games.registry import agent_names
from suphx.selfplay.agents.checkpoint_folder import split_address
from suphx_cli.arguments import UsageError, add_runs, check_output_folder, examples, positive
from suphx_cli.commands.view import (
    add_cost,
    check_cost,
    check_record_agent,
    cost_judge,
    loaded_agent,
)
from suphx_platform.agents.agent_forms import AGENT_HELP

if TYPE_CHECKING:
    from suphx.evaluation.review import ReviewedDecision, ReviewedGame
    from suphx.games.game import Agent
    from suphx.games.riichi.records.game_log import GameLog
    from suphx.games.riichi.records.quarantine import Quarantine
    from suphx_cli.arguments import Subparsers
    from suphx_pipelines.review import TrainingGames
    from suphx_platform.console.console import Console


@dataclass(frozen=True, slots=True)
class HeldOut:
    """How many of the reviewed games the agent has not learned from, as far as that is known."""

    games: int
    run: str | None
    """The run whose records are known; None for a scripted agent, which has learned from no game."""
    held_out: int | None
    """None if it is not known."""
    from_test: int = 0
    """Those of ``held_out`` that the run kept for its test. It has never had the others."""

    @property
    def is_clean(self) -> bool:
        """Whether all games are known to be held out."""
        return self.held_out == self.games

    def sentence(self) -> str:
        """Return what the report says of it."""
        if self.held_out is None:
            return (
                "It is not known whether the nets have learned from these games. If they have, the agreement is higher "
                "than on new games."
            )
        if self.run is None:
            return "The agent has learned from no records."
        text = f"{self.held_out:,} of {self.games:,} games are held out: the run {self.run} has not learned from them"
        text += f" ({self.from_test:,} of them are its test games)."
        return text if self.is_clean else f"{text} On the others the agreement is higher than on new games."

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        return {"run": self.run, "games": self.held_out, "test_games": self.from_test}


def add_held_out(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--held-out",
        action="store_true",
        help="take only games that the run of the nets has not learned from: its test games, and games that were not "
        "among its records. A game is recognised by its id",
    )
    parser.add_argument(
        "--trained-in",
        metavar="RUN",
        help="the run that trained the nets, an id or a folder (default: the run whose folder has them)",
    )


def training_games(args: argparse.Namespace) -> tuple[str | None, TrainingGames | None]:
    """Return the run of the agent, and which games it learned from; (None, None) if that is not known.

    ValueError if ``--held-out`` or ``--trained-in`` asks for what is not known.
    """
    from suphx_pipelines.review import TrainingGames, games_of_run, run_of_nets
    from suphx_pipelines.runs.run_list import find_run

    location, _ = split_address(args.agent)
    if location in agent_names():
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


def count_held_out(logs: Sequence[GameLog], run: str | None, games: TrainingGames | None) -> HeldOut:
    """Return how many of the games are held out."""
    if games is None:
        return HeldOut(len(logs), None, None)
    held_out = [log.id for log in logs if games.is_held_out(log.id)]
    return HeldOut(len(logs), run, len(held_out), sum(each in games.test for each in held_out))


_NUM_PAGES = 10
"""Games with a page of their own."""
_NUM_DIFFERENCES = 50
_HOW_TO_HOLD_OUT = ("To review other games, add --held-out.", "Name the run that trained the nets: --trained-in RUN.")
"""If it is known which games are held out, and if it is not."""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``review``."""
    parser = commands.add_parser(
        "review",
        parents=[options],
        help="compare the decisions of recorded games with those of an agent",
        description="Ask an agent at each decision of recorded games, and write where it differs from what was played. "
        "FOLDER gets review.html, review.json with the probabilities of all legal moves, and the viewer's pages of the "
        f"first {_NUM_PAGES} games. {AGENT_HELP} Not adapt: and mjai:, which must follow whole games.",
        epilog=examples(
            "suphx review game.mjlog --agent runs/RUN/supervised --player Anna",
            "suphx review records --agent runs/RUN/supervised --held-out --games 200 --out review-of-records",
            "suphx review game.mjlog --agent runs/RUN/supervised --player Anna --cost 64",
        ),
    )
    parser.add_argument("record", type=Path, metavar="RECORD", help="a record file, an archive or a folder of records")
    parser.add_argument("--agent", required=True, metavar="AGENT", help="the agent to ask; not mjai: or adapt:")
    parser.add_argument(
        "--player", metavar="NAME", help="review one player only: a name, or a seat from 1 to 4 (default: all)"
    )
    parser.add_argument("--games", type=positive, default=20, metavar="N", help="number of games at most (default: 20)")
    parser.add_argument(
        "--out", type=Path, default=Path("review"), metavar="FOLDER", help="folder to write (default: review)"
    )
    add_held_out(parser)
    add_cost(parser)
    add_runs(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Write the review; ValueError for a missing record, an unknown agent or player, or if no record can be reviewed.

    Also for a folder that cannot be written, before the agent is loaded and asked.
    """
    check_record_agent(args.record, args.agent, args.runs)
    check_cost(args)
    check_output_folder(args.out)
    from suphx_cli.commands.riichi_records import check_games, quarantine_sentence

    check_games([args.record])
    with console.activity("importing"):
        from suphx.evaluation.review import agreement_table, cost_summary, review_game
        from suphx.games.riichi.archive.archive import iter_records
        from suphx.games.riichi.records.quarantine import Quarantine
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
    if (warning := quarantine_sentence(quarantine)) is not None:
        console.warn(warning)
    seated = [(log, _seats(log, args.player)) for log in logs]
    if not seated:
        who = "" if args.player is None else f" of {args.player!r}"
        which = f" that {run or args.agent} has not learned from" if args.held_out else ""
        raise ValueError(f"{args.record} has no game{who}{which}: see suphx records verify")
    held_out = count_held_out([log for log, _ in seated], run, learned)
    if not held_out.is_clean:
        console.warn(f"{held_out.sentence()} {_HOW_TO_HOLD_OUT[held_out.held_out is None]}")
    judge = cost_judge(args, agent)
    reviewed: list[ReviewedGame] = []
    used: set[str] = set()
    with console.progress("games", len(seated)) as progress:
        for log, seats in seated:
            own = replace(log, id=_own_id(log.id, used))
            reviewed.append(review_game(own, agent, seats, judge, progress.advance))
    decisions = [decision for game in reviewed for decision in game.decisions]
    unit = None if judge is None else judge.unit
    _write(args, reviewed, [seats for _, seats in seated], decisions, unit, held_out)
    table = agreement_table(decisions)
    set_aside = quarantine.to_json() if console.is_json else {}  # the warning says it to a person
    return {
        "games": len(reviewed),
        "decisions": len(decisions),
        "held_out": held_out.to_json(),
        "agreement": table[0]["agreement"] if table else None,
        "groups": table,
        "cost": None if unit is None else cost_summary(decisions, unit, args.cost),
        "page": str(args.out / "review.html"),
        **set_aside,
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


def _own_id(game: str, used: set[str]) -> str:
    """Return the id, with a number behind it if another game has it (files of the same name in different folders)."""
    numbered = (f"{game} [{number}]" for number in count(2))
    own = next(each for each in chain((game,), numbered) if each not in used)
    used.add(own)
    return own


def _write(
    args: argparse.Namespace,
    games: list[ReviewedGame],
    seats: list[tuple[int, ...]],
    decisions: list[ReviewedDecision],
    cost_unit: str | None,
    held_out: HeldOut,
) -> None:
    """Write the pages and the JSON."""
    from suphx.atomic_file import many_files, write_atomically
    from suphx.evaluation.review import agreement_table, cost_summary, dearest_differences, largest_differences
    from suphx_pipelines.json_file import write_json
    from suphx_pipelines.review import review_page
    from suphx_pipelines.viewer.viewer_page import viewer_page

    files = {}
    pages: dict[str, str] = {}
    for number, (game, own) in enumerate(zip(games[:_NUM_PAGES], seats, strict=False), 1):
        title = str(game.values["id"])
        name = re.sub(r"[^\w.-]+", "-", title)
        pages[title] = f"{number}-{name}.html"
        files[pages[title]] = viewer_page({**game.values, "agent": args.agent}, title=title, seat=own[0] if own else 0)
    cost = None if cost_unit is None else cost_summary(decisions, cost_unit, args.cost)
    values = {"agent": args.agent, "held_out": held_out.to_json(), "groups": agreement_table(decisions), "cost": cost}
    rows = [asdict(one) | {"cost": one.cost and one.cost.to_json()} for one in decisions]
    choose = largest_differences if cost is None else dearest_differences
    shown = choose(decisions, _NUM_DIFFERENCES)
    files["review.html"] = review_page(args.agent, decisions, shown, pages, cost, note=held_out.sentence())
    args.out.mkdir(parents=True, exist_ok=True)
    with many_files(args.out) as written:
        write_json(args.out / "review.json", values | {"decisions": rows})
        written.append(args.out / "review.json")
        for name, page in files.items():
            write_atomically(args.out / name, [page.encode()])
            written.append(args.out / name)
