"""``suphx view`` for a game of two sides: the games of a file of records on one page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from suphx.games.candidate_game import candidate_game
from suphx.games.registry import find_game
from suphx.printable_text import printable
from suphx_cli.arguments.parsing import UsageError

if TYPE_CHECKING:
    from suphx.games.candidate_game import CandidateGame
    from suphx_platform.console.console import Console

MAX_GAMES = 20
"""On one page: with an agent's values it has about 1 MB then."""


def side_page(args: argparse.Namespace, console: Console, game_name: str) -> tuple[str, dict[str, Any], int]:
    """Return the title of the page, its games and the seat at the bottom; ValueError for what cannot be shown."""
    title = find_game(game_name).title
    for name in ("cost", "reward_predictor"):
        if getattr(args, name) is not None:
            raise UsageError(f"--{name.replace('_', '-')} has no meaning for {title}: leave it out")
    with console.activity("finding the games"):
        game = candidate_game(game_name)
        first, records = _found(game, args.record, args.game, console)
    seat = _seat(game, records, args.player)
    opinions = None if args.agent is None else _opinions(args, game, first, records, console)
    try:
        values = game.viewer_game(records, opinions, first=first)
    except ValueError as error:
        raise ValueError(f"{args.record}: {error}") from error
    last = f" to {first + len(records) - 1}" if len(records) > 1 else ""
    path = args.record.resolve()  # a folder may be `.`
    return f"{path.name if path.is_dir() else path.stem}, {first}{last}", {**values, "agent": args.agent}, seat


def _found(game: CandidateGame, path: Path, wanted: str, console: Console) -> tuple[int, list[Any]]:
    """Return the number of the first game and the games: the wanted one, or the first ones of the file."""
    records = game.read_records(path)
    if not wanted:
        found = list(islice(records, MAX_GAMES + 1))
        if len(found) > MAX_GAMES:
            console.say(f"{path} has more than {MAX_GAMES} games: the page has the first ones; --game N shows another")
        if found:
            return 1, found[:MAX_GAMES]
    count = 0
    for count, record in enumerate(records, 1):
        if wanted == str(count):
            return count, [record]
    if not count:
        raise ValueError(f"{path} has no game: it is empty")
    raise ValueError(f"{path} has no game {wanted!r}: give a number from 1 to {count:,}")


def _seat(game: CandidateGame, records: Sequence[Any], player: str | None) -> int:
    """Return the seat of a player in the first game; ValueError for an unknown one."""
    if player is None:
        return 0
    players = tuple(records[0].players or ())
    for names in (players, game.seat_names, tuple(str(seat + 1) for seat in range(len(game.seat_names)))):
        if player in names:
            return names.index(player)
    known = ", ".join(map(printable, dict.fromkeys((*players, *game.seat_names))))
    raise ValueError(f"--player is {player!r}: use one of {known}, or a seat from 1 to {len(game.seat_names)}")


def _opinions(
    args: argparse.Namespace, game: CandidateGame, first: int, records: Sequence[Any], console: Console
) -> list[Any]:
    """Return what the agent would do in each game; the first one has the number ``first``.

    ValueError for an unknown agent, one that knows other moves, and a game that cannot be replayed.
    """
    with console.activity("loading the agent"), TemporaryDirectory(prefix="suphx-agent-") as space:
        from suphx.selfplay.agents.side_opinion import player_opinions
        from suphx_platform.agents.agent_source import AgentSource
        from suphx_platform.agents.side_agent import have_same_moves, load_side_agent
        from suphx_platform.tracking.mlflow_store import MlflowStore

        agent = load_side_agent(args.agent, game, Path(space) / "agent", AgentSource(MlflowStore(args.runs)))
    if agent.rules is not None and not have_same_moves(game, agent.rules, *(record.rules for record in records)):
        raise ValueError(f"{args.agent} learned rules with other moves than those of {args.record}")
    opinions = []
    with console.progress("games", len(records), name="asking the agent") as progress:
        for number, record in enumerate(records, first):
            try:
                decisions = game.recorded_decisions(record)
            except ValueError as error:
                raise ValueError(f"{args.record}: game {number}: {error}") from error
            opinions.append(player_opinions(decisions, agent.player))
            progress.advance(1)
    return opinions
