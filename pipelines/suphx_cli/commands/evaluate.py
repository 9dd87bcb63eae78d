"""``suphx evaluate``: a match between two agents of any game."""

from __future__ import annotations

import argparse
import math
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from suphx.evaluation.match_config import (
    KEPT_FOLDER,
    MIN_DEALS,
    PHOENIX_POINTS,
    SeatingChoice,
    check_hanchans,
    check_side_deals,
    chosen_seatings,
)
from suphx.games.registry import GAMES, agent_names, find_decisions, find_game, game_of_agents, load_game
from suphx_cli.arguments import UsageError, add_command, check_source_of_runs, checked_options, given_options, resumable
from suphx_platform.agents.agent_forms import AGENT_HELP, check_agent, follows_whole_games
from suphx_platform.console.table_text import label, value_text

if TYPE_CHECKING:
    from suphx.evaluation.deal_match import DealReport
    from suphx.evaluation.game_runner import GameRunner
    from suphx.evaluation.kept_results import KeptResults
    from suphx.evaluation.match import MatchReport, MatchSetup, SideReport
    from suphx.evaluation.measures import SequentialConfig
    from suphx.evaluation.sequential import SequentialOutcome, SequentialReport
    from suphx.evaluation.statistics import Interval
    from suphx_cli.arguments import Subparsers
    from suphx_platform.console.console import Console
    from suphx_platform.console.progress import Progress

    Report: TypeAlias = MatchReport | SideReport | SequentialReport | DealReport

_DEAL_OPTIONS = ("sequential", "points", "seating", "keep_games")
"""Without a meaning for single deals."""
_SEAT_OPTIONS = ("hanchans", "deals", "decides", "points", "seating", "no_draw_lanes", "workers", "ray")
"""Without a meaning in games of two sides."""
_OF_SEQUENTIAL = ("error", "decides")
"""Without a meaning in other matches."""
_DECIDING = (
    "candidate", "opponent", "hanchans", "deals", "sequential", "error", "decides", "points", "seating", "seed",
    "no_draw_lanes",
)  # fmt: skip
"""Options that decide which games are played."""
_DECKS, _SEQUENTIAL_DECKS = 1000, 20_000
_FRESH_HANCHANS, _FRESH_DECKS = 1000, 2000
"""Of the match on new deals after a pass."""
_MOST_DECKS, _MAX_DECK_SEED = 2**20, 2**16
_FIGURES = (
    "placements", "average_placement", "win_rate", "deal_in_rate", "riichi_rate", "call_rate", "average_win",
    "average_deal_in",
)  # fmt: skip


_PAGE = f"""
evaluate: play a match between two agents and report who is stronger

Play a match of one candidate against three copies of another agent, the opponent. Every wall is played four times, with
the candidate at each seat once, so that the luck of the draw counts less. The average placement decides; in games that
pay points, such as mcr, the points per game decide. In a game of two sides, such as doudizhu, every deck is played
twice, with the sides swapped. The same command continues a match that was stopped. {AGENT_HELP}
`suphx agents` also lists the scripted agents of other games. For doudizhu: random, rule, a folder of nets such as
runs/RUN/learning, an address s3://… or models:/…, or an external program as program:COMMAND LINE (docs/doudizhu.md).

--candidate AGENT       the agent to measure; it plays at one seat
--opponent AGENT        the agent to compare with; it plays at the three other seats
--game                  the game (default: that of the nets in a folder or in a model with the name of a game, or of a
                        scripted agent that one game has, else riichi)
| --hanchans N          number of games, a multiple of 4 and at least 8 (default: 1000); with --sequential the most
                        games. Of mcr with --seating 2v2, those that fill walls of six games are played
| --deals N             compare about N single deals (at least 20) instead of whole games: each is played with the
                        candidate and with the opponent in each seat. The result is in points per kyoku and shows a
                        small difference much earlier. Not for adapt: and mjai: agents; games of one deal, such as
                        dazhong, refuse it
| --decks N             number of decks of a game of two sides, at least 2; each is played twice (default: {_DECKS});
                        with --sequential the most decks (default: {_SEQUENTIAL_DECKS:,})
--sequential DIFFERENCE  stop as soon as it is decided whether the candidate is better by DIFFERENCE (such as 0.05 in
                        average placement), or after --hanchans games. After a pass, 1,000 games on new walls measure
                        how much better it is. In a game of two sides: in the share of games won (such as 0.02), after
                        --decks decks, and {_FRESH_DECKS:,} new decks after a pass
--error P               with --sequential: share of wrong decisions of each kind, at most (default: 0.01)
--decides               with --sequential: unit of DIFFERENCE, average placement or points per game; both are reported
                        (default: placement; of mcr points)
--points P              points for first to fourth place (default: 90 45 0 -135, Tenhou's phoenix room at 7 dan); games
                        that pay points, such as mcr, refuse this option
--seating               number of candidates and of opponents at a table (default: 1v3). all: a match of --hanchans
                        games in each of the three; with --sequential 1v3 decides, and after a pass each is played on
                        new walls
--seed S                seed of the walls or decks (default: 0; doudizhu: at most 65,536)
--no-draw-lanes         draw tiles in the order of the wall, as in ordinary games. By default each seat draws from its
                        own positions of the wall, so that fewer games are needed; games without these positions, such
                        as dazhong, refuse this option
--keep-games FOLDER     write records of all games to this folder, which must be new or empty or of the same match
                        before it was stopped, for suphx view (and, of riichi, suphx records); not with --deals, and in
                        DouDizhu not with --sequential
--workers
--ray                   play on a Ray cluster: that of RAY_ADDRESS, otherwise a new one on this machine. Each of the
                        --workers takes one of its CPUs. Not in a game of two sides
--runs

examples:
  suphx evaluate --candidate ukeire --opponent tsumogiri --hanchans 200
  suphx evaluate --candidate runs/RUN/supervised --opponent ukeire
  suphx evaluate --candidate models:/suphx@champion --opponent runs/RUN/supervised:weak
  suphx evaluate --candidate runs/RUN/reinforcement --opponent runs/RUN/reinforcement/start --deals 10000
  suphx evaluate --candidate runs/NEW/supervised --opponent runs/OLD/supervised --sequential 0.05 --hanchans 20000
  suphx evaluate --candidate ukeire --opponent tsumogiri --hanchans 8 --keep-games games
  suphx evaluate --candidate runs/RUN/supervised --opponent ukeire --hanchans 20000 --ray --workers 64
  suphx evaluate --game doudizhu --candidate runs/RUN/learning --opponent rule --decks 1000
  suphx evaluate --candidate runs/NEW/learning --opponent models:/doudizhu@champion --sequential 0.02
  suphx evaluate --game doudizhu --candidate rule --opponent random --decks 10 --keep-games games
  suphx evaluate --game doudizhu --candidate 'program:python bot.py' --opponent rule --decks 100
"""


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``evaluate``."""
    add_command(
        commands,
        options,
        _PAGE,
        execute,
        candidate={"required": True},
        opponent={"required": True},
        game={"choices": GAMES},
        hanchans=1000,
        sequential={"type": float},
        error={"type": float},
        decides={"choices": ("placement", "points")},
        points={"type": int, "nargs": 4},
        seating={"choices": get_args(SeatingChoice), "default": "1v3"},
        seed=0,
    )


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the match; ValueError for an unknown agent, UsageError for options that do not fit."""
    name = game_of_agents(args.game, (args.candidate, args.opponent))
    has_sides = find_game(name).has_sides
    with checked_options():
        test = _checked_test(args, name, has_sides=has_sides)
    kept_games = args.keep_games
    if kept_games is not None and kept_games.exists() and not (kept_games / KEPT_FOLDER).is_dir():
        is_empty = kept_games.is_dir() and not any(kept_games.iterdir())
        if not is_empty:
            raise ValueError(f"--keep-games is {kept_games}, which is not an empty folder: name a new one")
    if not has_sides:
        if args.runs.exists():  # the parts of a match that is stopped are kept there
            check_source_of_runs(args.runs)
        for agent in (args.candidate, args.opponent) if find_decisions(name) else ():
            if agent not in agent_names(name):
                check_agent(agent, name)
    with console.activity("importing"):
        from suphx.evaluation.game_runner import Forfeits, GameRunner
        from suphx.evaluation.match import MatchReport, MatchSetup, SideReport
        from suphx_pipelines.kept_match import kept_match, match_of, saved_text
        from suphx_platform.agents.agent_loading import match_agents
        from suphx_platform.agents.agent_source import AgentSource
        from suphx_platform.evaluation.match_workers import match_workers
        from suphx_platform.kernels.kernel_warmup import compile_kernels
        from suphx_platform.tracking.mlflow_store import MlflowStore
    game = load_game(name)
    if args.no_draw_lanes and "has_draw_lanes" not in game.scoring.table_options:
        raise UsageError(f"--no-draw-lanes has no meaning for {name}: omit it")
    if args.points is not None and game.scoring.decides == "points":
        raise UsageError(f"--points has no meaning for {name}, which pays points: omit it")
    if args.deals is not None and not game.scoring.has_deals:
        raise UsageError(f"--deals has no meaning for {name}, where a game is one deal: use --hanchans")
    games_per_unit = game.scoring.num_games() if has_sides else 1
    saved: list[KeptResults] = []
    with ExitStack() as stack:
        stack.enter_context(resumable(console, lambda error: saved_text(saved)))
        space = Path(stack.enter_context(TemporaryDirectory(prefix="suphx-agents-")))
        agents = match_agents(name, (args.candidate, args.opponent), space, AgentSource(MlflowStore(args.runs)))
        deciding = {option: getattr(args, option) for option in _DECIDING} | {"game": name, "decks": args.decks}
        match = match_of({**deciding, "rules": agents.rules_values}, agents.files)
        kept = kept_match(match, args.runs, kept_games, console.say)
        saved.append(stack.enter_context(kept))
        workers = 1 if has_sides else args.workers
        workers = stack.enter_context(match_workers(workers, on_ray=args.ray, say=console.say))
        if game.kernel_groups:
            compile_kernels(console, *game.kernel_groups)
        started = time.perf_counter()
        bar = stack.enter_context(console.progress("decks" if has_sides else game.scoring.games, _length(args, name)))
        setup = MatchSetup(
            *agents.addresses,
            seed=args.seed,
            game=name,
            rules=agents.rules,
            options={"has_draw_lanes": False} if args.no_draw_lanes else {},
            deals_per_task=agents.deals_per_task,
            typed_names=(args.candidate, args.opponent),
        )
        runner = GameRunner(
            workers=workers,
            load=agents.load,
            kept=saved[0],
            records=kept_games,
            progress=lambda games: bar.advance(games / games_per_unit),
            note_kept=lambda games: bar.skip(games / games_per_unit),
        )
        report = _play(args, setup, runner, bar, test)
        seconds = round(time.perf_counter() - started, 1)
        if kept_games is not None:
            game.join_records(kept_games)
    console.say(report.verdict())
    counts_as = "lost" if has_sides else "last place"
    matches = report.matches if isinstance(report, MatchReport) else (report,)
    forfeits = Forfeits(each for match in matches for each in match.forfeits)
    for sentence in forfeits.sentences(("the candidate", "the opponent"), counts_as):
        console.warn(sentence)
    if kept_games is not None:
        console.say(f"Records of the games are in {kept_games}: suphx view {kept_games} shows the first.")
    head: dict[str, Any] = {}
    if has_sides:
        head = {"game": name, "candidate": args.candidate, "opponent": args.opponent, "seed": args.seed}
    if isinstance(report, SideReport):
        head |= {"outcome": report.outcome}
    if console.is_json:
        return {**head, **report.to_json(), "seconds": seconds}
    values = _shown(report)
    figures = {key: values.pop(key) for key in ("figures",) if key in values}  # a table, below the single values
    return {**head, **values, "seconds": seconds, **figures}


def _length(args: argparse.Namespace, name: str) -> int:
    """Return how many games or decks are played, or at most."""
    if find_game(name).has_sides:
        return int(args.decks or (_DECKS if args.sequential is None else _SEQUENTIAL_DECKS))
    if args.deals is not None:
        from suphx.evaluation.deal_match import hanchans_of

        return hanchans_of(args.deals)
    seatings = chosen_seatings(args.seating)[: None if args.sequential is None else 1]
    per_wall = [load_game(name).scoring.num_games(seating) for seating in seatings]
    return sum(args.hanchans // number * number for number in per_wall)


def _checked_test(args: argparse.Namespace, name: str, *, has_sides: bool) -> SequentialConfig | None:
    """Return what a sequential match decides, None of another; ValueError for options that are wrong or do not fit."""
    from suphx.evaluation.measures import SequentialConfig, check_deals, points_measure

    if has_sides:
        for option in given_options(args, _SEAT_OPTIONS):
            raise ValueError(f"{option} has no meaning for {name}: omit it")
        number = _length(args, name)
        check_side_deals(number)
        if number > _MOST_DECKS:
            raise ValueError(f"--decks is {number:,}: use at most {_MOST_DECKS:,}")
        if args.seed > _MAX_DECK_SEED:
            raise ValueError(f"--seed is {args.seed:,}: use 0 to {_MAX_DECK_SEED:,}")
    elif args.decks is not None:
        raise ValueError("--decks is for games of two sides, such as --game doudizhu: use --hanchans or --deals")
    else:
        check_hanchans(args.hanchans)
        points_measure(_points(args))
    if args.deals is not None:
        for option in given_options(args, _DEAL_OPTIONS):
            raise ValueError(f"{option} is for whole games, and --deals plays single deals: use --hanchans")
        if args.deals < MIN_DEALS:
            raise ValueError(f"--deals is {args.deals}: use at least {MIN_DEALS}")
        for agent in (args.candidate, args.opponent):
            if follows_whole_games(agent):
                raise ValueError(f"{agent!r} must follow whole games and cannot play single deals: use --hanchans")
    given = {option: getattr(args, option) for option in _OF_SEQUENTIAL if getattr(args, option) is not None}
    if args.sequential is None:
        for option in given:
            raise ValueError(f"--{option} is for a match that stops once it is decided: add --sequential DIFFERENCE")
        return None
    if args.sequential <= 0:
        raise ValueError(f"--sequential is {args.sequential:g}: use a difference above 0")
    if not has_sides:
        chosen = {"decides": find_game(name).decides, **given}
        test = SequentialConfig(difference=args.sequential, points=_points(args), seating=args.seating, **chosen)
        per_wall = load_game(name).scoring.num_games(chosen_seatings(args.seating)[0])
        check_deals(args.hanchans // per_wall, _FRESH_HANCHANS // per_wall, "wall")
        return test
    if args.keep_games is not None:
        raise ValueError("--keep-games keeps matches of a fixed length: leave out --sequential")
    check_deals(number, _FRESH_DECKS, "deck")
    return SequentialConfig(difference=args.sequential, decides="share", **given)


def _points(args: argparse.Namespace) -> tuple[int, ...]:
    """Return what first to fourth place are worth."""
    return PHOENIX_POINTS if args.points is None else tuple(args.points)


def _play(
    args: argparse.Namespace, setup: MatchSetup, runner: GameRunner, bar: Progress, test: SequentialConfig | None
) -> Report:
    """Play games, single deals, or games until they decide."""
    from suphx.evaluation.deal_match import play_deal_match
    from suphx.evaluation.match import play_match, play_side_match
    from suphx.evaluation.sequential import play_sequential_match

    has_sides = find_game(setup.game).has_sides
    scoring = load_game(setup.game).scoring
    number, tell = _length(args, setup.game), partial(bar.advance, 0)
    if args.deals is not None:
        return play_deal_match(setup, args.deals, runner=runner)
    if test is not None:
        seatings = chosen_seatings(args.seating)
        per_deal = 1 if has_sides else scoring.num_games(seatings[0])
        fresh = (_FRESH_DECKS if has_sides else _FRESH_HANCHANS) // per_deal
        fresh_games = fresh if has_sides else fresh * sum(map(scoring.num_games, seatings))

        def note_look(outcome: SequentialOutcome) -> None:
            """Show a look; after a pass there are games on new deals instead of what is left."""
            bar.advance(0, outcome.note(scoring, test.deciding_seating))
            if outcome.decision == "better":
                bar.expect(fresh_games)

        deals = {"max_deals": number // per_deal, "fresh_deals": fresh}
        return play_sequential_match(setup, test, **deals, runner=runner, tell=note_look)
    if has_sides:
        return play_side_match(setup, number, runner=runner, tell=tell)
    return play_match(setup, args.hanchans, seating=args.seating, points=_points(args), runner=runner, tell=tell)


# What people see


def _shown(report: Report) -> dict[str, Any]:
    from suphx.evaluation.deal_match import DealReport
    from suphx.evaluation.match import SideReport
    from suphx.evaluation.sequential import SequentialReport

    if isinstance(report, DealReport):
        return {
            "deals": report.deals,
            "hanchans": report.hanchans,
            "seed": report.seed,
            "changed_share": report.changed_share,
            "points_per_kyoku_difference": report.difference.mean,
            "interval": report.difference.interval.ends,
            **_widened(interval=report.difference.interval),
        }
    if isinstance(report, SideReport):
        return {"decks": report.deals, "figures": _side_figures(report)}
    if not isinstance(report, SequentialReport):
        return _shown_match(report)
    outcome, values = report.outcome, report.to_json()
    rows: dict[str, object] = {
        "verdict": outcome.decision,
        report.scoring.games: values["games"],
        "log_likelihood_ratio": round(outcome.log_likelihood_ratio, 2),
        "ends_at": [-round(outcome.bound, 2), round(outcome.bound, 2)],
        f"expected_{report.scoring.games}": math.ceil(values["expected_games"]),
        **{f"always_valid_{name}_interval": interval.ends for name, interval in outcome.intervals.items()},
    }
    if report.fresh is None:
        return rows
    if isinstance(report.fresh, SideReport):
        return rows | {"new_decks": report.fresh.deals, "figures": _side_figures(report.fresh)}
    rows["fresh_match"] = "the figures below are those of new walls"
    return rows | _shown_match(report.fresh)


def _widened(**intervals: Interval) -> dict[str, object]:
    """Return the line that says which intervals were extended to "no difference", if there are any."""
    names = [name for name, interval in intervals.items() if interval.is_widened]
    return {"widened_to_include_0": [label(name) for name in names]} if names else {}


def _shown_match(report: MatchReport) -> dict[str, object]:
    """Return what people see of a match: the figures of both sides as the columns of one table; and other seatings."""
    candidate, opponent = report.statistics.to_json(), report.opponent_statistics.to_json()
    intervals = candidate["intervals"]
    assert isinstance(intervals, dict)
    has_points = report.decides == "points"
    figures = [name for name in _FIGURES if not has_points or "placement" not in name]

    def differences(match: MatchReport) -> dict[str, object]:
        places, points = match.difference, match.points_difference
        if match.decides == "points":
            return {
                "points_per_game_difference": points.mean,
                "interval": points.interval.ends,
                **_widened(interval=points.interval),
            }
        return {
            "average_placement_difference": places.mean,
            "interval": places.interval.ends,
            "points_difference": points.mean,
            "points_interval": points.interval.ends,
            **_widened(interval=places.interval, points_interval=points.interval),
        }

    rows = {
        report.unit: report.games,
        "walls": report.deals,
        "seed": report.seed,
        **differences(report),
        "figures": [
            {
                "": label(key),
                "candidate": value_text(key, candidate[key]),
                "95 % interval": value_text(f"{key}_interval", intervals.get(key) or candidate.get(f"{key}_interval")),
                "opponent": value_text(key, opponent[key]),
            }
            for key in sorted((*figures, *report.statistics.own), key=lambda name: has_points and name in figures)
            if (candidate[key], opponent[key]) != (None, None)  # a game counts what it has
        ],
    }
    other_rows = [{"seating": match.seating, **differences(match)} for match in report.other_seatings]
    return rows | ({"other_seatings": other_rows} if other_rows else {})


def _side_figures(report: SideReport) -> list[dict[str, str]]:
    """Return what people see: WP (share of games won) and ADP (points per game), a line for each side."""
    sides = [name.removeprefix("wp_") for name in report.figures if name.startswith("wp_")]
    rows = []
    for name, names in (*((side, (f"wp_{side}", f"adp_{side}")) for side in sides), ("both", ("share", "points"))):
        wins, points = (report.figures[each] for each in names)
        rows.append(
            {
                "candidate as": name,
                "WP": f"{wins.mean:.1%}",
                "WP, 95 % interval": f"{wins.interval.low:.1%} to {wins.interval.high:.1%}",
                "ADP": f"{points.mean:+.3f}",
                "ADP, 95 % interval": f"{points.interval.low:+.3f} to {points.interval.high:+.3f}",
            }
        )
    return rows
