"""``suphx view``: recorded games as a page in the browser, with an agent's choices beside those of the players."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from suphx.file_tree import files_below
from suphx.games.registry import candidate_game, find_game, game_of_records, has_candidates, load_game
from suphx.printable_text import printable
from suphx_cli.arguments import (
    UsageError,
    add_command,
    check_output_file,
    check_output_folder,
    check_records,
    check_source_of_runs,
    given_options,
    local_agent,
    positive,
    show_page,
)
from suphx_platform.agents.agent_forms import AGENT_HELP, check_agent, follows_whole_games

if TYPE_CHECKING:
    from suphx.evaluation.decision_cost import CostJudge
    from suphx.games.game import Agent, CandidateGame, Game
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console

MAX_GAMES = 20
"""On one page: with an agent's values it has about 1 MB then."""
_PAGES = (".html", ".htm")
_MIN_SAMPLES = 2


COST = """\
--cost SAMPLES           estimate what each difference cost: deal the hidden tiles again at random SAMPLES times (such
                         as 64) and let the agent play on to the end of the deal, after the played move and after its
                         own. It takes much longer
--reward-predictor FILE  with --cost: the checkpoint of a reward predictor, for costs in points for places; default:
                         reward_predictor/reward_predictor.safetensors of the agent's run if it has one, otherwise costs
                         are in points of the deal"""
"""How the costs of differences are estimated."""
_PAGE = f"""
view: show a game record in the browser

Write one HTML page that shows a game step by step, and open it in the browser. The page needs no network. With --agent
it also shows what the agent would do at each decision. {AGENT_HELP} Not adapt: and mjai:, which must follow whole
games. Records of doudizhu are recognized by their content; AGENT is then random, rule, a folder of nets such as
runs/RUN/learning, or an address s3://… or models:/….

RECORD         a record file, an archive or a folder of records
--id ID        id of the game in RECORD, or its number from 1 on (default: the first; of doudizhu, the first 20)
--agent AGENT  agent whose choices are compared with those of the players; not mjai: or adapt:; of riichi and doudizhu
--player NAME  player at the bottom of the table: a name, or a seat from 1 on (default: the first dealer; of doudizhu,
               the landlord)
--out FILE     the page to write (default: the game's id and .html)
--no-browser   write the page and do not open it
{COST}
--runs

examples:
  suphx view game.mjlog
  suphx view records/games.tsv.xz --id 12 --agent runs/RUN/supervised
  suphx view game.mjai --player Anna --out anna.html --no-browser
  suphx view games/games.jsonl --id 3 --agent runs/RUN/learning
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``view``."""
    add_command(commands, options, _PAGE, execute, id="", cost={"type": positive})


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Write the page; ValueError for a missing record, an unknown agent or player, or a record against the rules.

    Also for a place where the page cannot be written, before the agent is loaded and asked.
    """
    check_records(args.record, "RECORD")
    if args.out is None:
        check_output_folder(Path())
    else:
        beside = files_below(args.record) if args.record.is_dir() else [args.record]
        check_output_file(args.out, [file for file in beside if file.suffix.lower() not in _PAGES])
    game = game_of_records(args.record)
    from suphx.atomic_file import write_atomically
    from suphx_pipelines.viewer.viewer_page import VIEWS, viewer_page

    if game in VIEWS and VIEWS[game].has_ids:
        title, values, seat = _game_with_id(args, console)
    else:
        title, values, seat = _numbered_games(args, console, game)
    name = re.sub(r"[^\w.-]+", "-", title).lstrip("-.") or "game"  # neither an option nor hidden
    path: Path = args.out or Path(f"{name}.html")
    with console.activity("writing the page"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, [viewer_page(values, title=title, seat=seat).encode()])
    if not args.no_browser:
        show_page(path.resolve().as_uri(), console)
    decisions = None if args.agent is None else values["num_decisions"]
    agreement = 1 - values["num_differences"] / decisions if decisions else None
    shown = {"decisions": decisions, "agreement": agreement}
    return {"game": printable(title), "deals": len(values["deals"]), **shown, "page": str(path)}


def _game_with_id(args: argparse.Namespace, console: Console) -> tuple[str, dict[str, Any], int]:
    """Return the title of the page, the game that has an id in its record, and the seat at the bottom."""
    check_record_agent(args.record, args.agent, args.runs)
    check_cost(args)
    with console.activity("importing"):
        from suphx.games.riichi.archive.archive import find_record
        from suphx.games.riichi.records.viewer_game import viewer_game
        from suphx_platform.kernels.kernel_warmup import compile_kernels

    with console.activity("finding the game"):
        game = find_record(args.record, args.id)
    seat = _seat(args.player, game.names, ())
    agent = None if args.agent is None else loaded_agent(args.agent, args.runs, console)
    compile_kernels(console, "engine", "replay", *(("encoder", "scripted games", "net games") if args.agent else ()))
    if agent is None:
        return game.id, viewer_game(game), seat
    from suphx.evaluation.review import review_game

    judge = cost_judge(args, agent)
    name = "asking the agent" if judge is None else "estimating what differences cost"
    with console.parts(name) as progress:
        reviewed = review_game(game, agent, judge=judge, progress=progress)
    return game.id, {**reviewed.values, "agent": args.agent}, seat


def _numbered_games(args: argparse.Namespace, console: Console, game_name: str) -> tuple[str, dict[str, Any], int]:
    """Return the title of the page, the first games or the wanted one, and the seat at the bottom."""
    title = find_game(game_name).title
    for option in given_options(args, ("cost", "reward_predictor", *(() if has_candidates(game_name) else ("agent",)))):
        raise UsageError(f"{option} has no meaning for {title}: omit it")
    with console.activity("finding the games"):
        game: Game = load_game(game_name)
        first, records = _found(game, args.record, args.id, console)
    shown = records[0]
    players = shown.get("players") if isinstance(shown, dict) else getattr(shown, "players", None)
    seat = _seat(args.player, tuple(players or ()), game.seat_names)
    opinions = None
    if args.agent is not None:
        opinions = _opinions(args, candidate_game(game_name), first, records, console)
    try:
        values = game.viewer_game(records, opinions, first=first)
    except ValueError as error:
        raise ValueError(f"{args.record}: {error}") from error
    last = f" to {first + len(records) - 1}" if len(records) > 1 else ""
    path = args.record.resolve()  # a folder may be `.`
    return f"{path.name if path.is_dir() else path.stem}, {first}{last}", {**values, "agent": args.agent}, seat


def _found(game: Game, path: Path, wanted: str, console: Console) -> tuple[int, list[Any]]:
    """Return the number of the first game and the games: the wanted one, or the first ones of the file."""
    records = game.read_records(path)
    if not wanted:
        found = list(islice(records, MAX_GAMES + 1))
        if len(found) > MAX_GAMES:
            console.say(f"{path} has more than {MAX_GAMES} games: the page has the first ones; --id N shows another")
        if found:
            return 1, found[:MAX_GAMES]
    count = 0
    for count, record in enumerate(records, 1):
        if wanted == str(count):
            return count, [record]
    if not count:
        raise ValueError(f"{path} has no game: it is empty")
    raise ValueError(f"{path} has no game {wanted!r}: give a number from 1 to {count:,}")


def _seat(player: str | None, players: Sequence[str], seat_names: Sequence[str]) -> int:
    """Return the seat of a player, by name, by the name of the seat or by its number; ValueError for an unknown one."""
    if player is None:
        return 0
    num_seats = len(seat_names) or len(players)
    for names in (players, seat_names, [str(seat + 1) for seat in range(num_seats)]):
        if player in names:
            return names.index(player)
    known = ", ".join(map(printable, dict.fromkeys((*players, *seat_names))))
    raise ValueError(f"--player is {player!r}: use one of {known}, or a seat from 1 to {num_seats}")


def _opinions(
    args: argparse.Namespace, game: CandidateGame, first: int, records: Sequence[Any], console: Console
) -> list[Any]:
    """Return what the agent would do in each game; the first one has the number ``first``.

    ValueError for an unknown agent, one that knows other moves, and a game that cannot be replayed.
    """
    with console.activity("loading the agent"), TemporaryDirectory(prefix="suphx-agent-") as space:
        from suphx.selfplay.agents.opinion import candidate_opinions
        from suphx_platform.agents.agent_loading import have_same_moves, load_side_agent
        from suphx_platform.agents.agent_source import AgentSource
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
            opinions.append(candidate_opinions(decisions, agent.player))
            progress.advance(1)
    return opinions


def check_record_agent(record: Path, address: str | None, runs: Path) -> None:
    """Raise ValueError for a missing record or folder of runs, or an agent that cannot be asked about one."""
    check_records(record, "RECORD")
    check_source_of_runs(runs)
    if address is None:
        return
    check_agent(address, "riichi")
    if follows_whole_games(address):
        raise ValueError(
            f"{address!r} must follow whole games and cannot be asked about a record: name a scripted agent or nets"
        )


def loaded_agent(address: str, runs: Path, console: Console) -> Agent:
    """Return the agent, wherever its nets are; ValueError for an unknown one."""
    from suphx.selfplay.agents.agent import load_agent

    with console.activity("loading the agent"), local_agent(address, runs, "riichi") as place:
        return load_agent(place)


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
        raise ValueError(f"--reward-predictor is {args.reward_predictor}, which is not a file")


def cost_judge(args: argparse.Namespace, agent: Agent) -> CostJudge | None:
    """Return what estimates costs; None without --cost. ValueError for a damaged reward predictor."""
    if args.cost is None:
        return None
    from suphx.evaluation.decision_cost import CostJudge
    from suphx.models.reward_predictor import REWARD_PREDICTOR_FILE, load_reward_predictor

    nets = Path(args.agent.partition(":")[0])
    beside_nets = nets.resolve().parent / "reward_predictor" / REWARD_PREDICTOR_FILE
    has_one = nets.is_dir() and beside_nets.is_file()
    path = args.reward_predictor or (beside_nets if has_one else None)
    predictor = None if path is None else load_reward_predictor(path)[0]
    return CostJudge(agent, samples=args.cost, predictor=predictor)
