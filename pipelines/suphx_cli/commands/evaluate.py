"""``suphx evaluate``: one agent against three copies of another, on shared walls."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, get_args

from suphx.evaluation.match_config import (
    MIN_DEALS,
    PHOENIX_POINTS,
    MeasureName,
    SeatingChoice,
    check_hanchans,
    chosen_seatings,
)
from suphx.games.registry import GAMES
from suphx_cli.arguments.parsing import add_runs, add_workers, examples, not_negative, positive
from suphx_cli.commands.monte_carlo import side_evaluation
from suphx_cli.commands.monte_carlo.side_evaluation import DECKS
from suphx_platform.agents.agent_forms import AGENT_FORMS, check_agent, is_program, split_wrapper
from suphx_platform.console.table_text import label, value_text

if TYPE_CHECKING:
    from suphx.evaluation.match import MatchReport
    from suphx.evaluation.sequential.sequential_config import SequentialConfig
    from suphx.evaluation.statistics import Interval
    from suphx.evaluation.workers.game_task import Workers
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_platform.agents.agent_source import AgentSource
    from suphx_platform.console.console import Console

_FRESH_HANCHANS = 1000
"""Of the match on new walls after a pass."""
_RIICHI_OPTIONS = (
    *("hanchans", "deals", "sequential", "error", "decides", "points", "seating"),
    *("no_draw_lanes", "keep_games", "workers", "ray"),
)
_FIGURES = (
    "placements",
    "average_placement",
    "stable_rank",
    "win_rate",
    "deal_in_rate",
    "riichi_rate",
    "call_rate",
    "average_win",
    "average_deal_in",
)


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``evaluate``."""
    parser = commands.add_parser(
        "evaluate",
        parents=[options],
        help="play a match between two agents and report who is stronger",
        description="Play a match of one candidate against three copies of a baseline. Every wall is played four "
        "times, with the candidate at each seat once, so that the luck of the draw counts less. In a game of two "
        f"sides, such as doudizhu, every deck is played twice, with the sides swapped. AGENT: {AGENT_FORMS}; for "
        "doudizhu: random, rule, a folder of nets such as runs/RUN/learning, or its s3:// address.",
        epilog=examples(
            "suphx evaluate --candidate ukeire --baseline tsumogiri --hanchans 200",
            "suphx evaluate --candidate runs/RUN/supervised --baseline ukeire",
            "suphx evaluate --candidate models:/suphx@champion --baseline runs/RUN/supervised:weak",
            "suphx evaluate --candidate runs/RUN/reinforcement --baseline runs/RUN/reinforcement/start --deals 10000",
            "suphx evaluate --candidate runs/NEW/supervised --baseline runs/OLD/supervised --sequential 0.05 "
            "--hanchans 20000",
            "suphx evaluate --candidate ukeire --baseline tsumogiri --hanchans 8 --keep-games games",
            "suphx evaluate --candidate runs/RUN/supervised --baseline ukeire --hanchans 20000 --ray --workers 64",
            "suphx evaluate --game doudizhu --candidate runs/RUN/learning --baseline rule --decks 1000",
        ),
    )
    parser.add_argument(
        "--candidate", required=True, metavar="AGENT", help="the agent to measure; it plays at one seat"
    )
    parser.add_argument(
        "--baseline",
        required=True,
        metavar="AGENT",
        help="the agent to compare with; it plays at the three other seats",
    )
    parser.add_argument(
        "--game", choices=GAMES, help="the game (default: that of the nets in a folder; riichi if no agent is a folder)"
    )
    _add_length(parser)
    _add_sequential(parser)
    _add_games(parser)
    add_workers(parser)
    parser.add_argument(
        "--ray",
        action="store_true",
        help="play on a Ray cluster: that of RAY_ADDRESS, otherwise a new one on this machine. Each of the --workers "
        "takes one of its CPUs",
    )
    add_runs(parser)
    defaults = {name: parser.get_default(name) for name in _RIICHI_OPTIONS}
    parser.set_defaults(execute=execute, riichi_options=defaults)


def _add_length(parser: argparse.ArgumentParser) -> None:
    """Add how much is played."""
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--hanchans",
        type=positive,
        default=1000,
        metavar="N",
        help="number of games, a multiple of 4 and at least 8 (default: 1000); with --sequential the most games",
    )
    length.add_argument(
        "--deals",
        type=positive,
        metavar="N",
        help="compare about N single deals (at least 20) instead of whole games: each is played with the candidate and "
        "with the baseline in each seat. The result is in points per kyoku and shows a small difference much earlier. "
        "Not for adapt: and mjai: agents",
    )
    length.add_argument(
        "--decks",
        type=positive,
        metavar="N",
        help=f"number of decks of a game of two sides, at least 2; each is played twice (default: {DECKS})",
    )


def _add_games(parser: argparse.ArgumentParser) -> None:
    """Add how games are dealt, and where they are kept."""
    parser.add_argument("--seed", type=not_negative, default=0, metavar="S", help="seed of the walls (default: 0)")
    parser.add_argument(
        "--no-draw-lanes",
        action="store_true",
        help="draw tiles in the order of the wall, as in ordinary games. By default each seat draws from its own "
        "positions of the wall, so that fewer games are needed",
    )
    parser.add_argument(
        "--keep-games",
        type=Path,
        metavar="FOLDER",
        help="write records of all games to this folder, which must be new or empty, for suphx view and suphx records; "
        "not with --deals",
    )


def _add_sequential(parser: argparse.ArgumentParser) -> None:
    """Add what decides when a match ends, and what counts in it."""
    parser.add_argument(
        "--sequential",
        type=float,
        metavar="DIFFERENCE",
        help="stop as soon as it is decided whether the candidate is better by DIFFERENCE (such as 0.05 places), or "
        "after --hanchans games. After a pass, 1,000 games on new walls measure how much better it is",
    )
    parser.add_argument(
        "--error",
        type=float,
        default=0.01,
        metavar="P",
        help="with --sequential: share of wrong decisions of each kind, at most (default: 0.01)",
    )
    parser.add_argument(
        "--decides",
        choices=get_args(MeasureName),
        default="placement",
        help="with --sequential: what DIFFERENCE is in, places or points per hanchan; both are reported",
    )
    parser.add_argument(
        "--points",
        type=int,
        nargs=4,
        default=PHOENIX_POINTS,
        metavar="P",
        help="points for first to fourth place (default: 90 45 0 -135, Tenhou's phoenix room at 7 dan)",
    )
    parser.add_argument(
        "--seating",
        choices=get_args(SeatingChoice),
        default="1v3",
        help="candidates against baselines at a table (default: 1v3). all: a match of --hanchans games in each of the "
        "three; with --sequential 1v3 decides, and after a pass each is played on new walls",
    )


def execute(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Play the match; ValueError for an unknown agent."""
    side_game = side_evaluation.find_side_game(args)
    if side_game is not None:
        return side_evaluation.execute(args, console, side_game)
    if args.decks is not None:
        raise ValueError("--decks is for games of two sides, such as --game doudizhu: use --hanchans or --deals")
    check_hanchans(args.hanchans)
    _check_sequential(args)
    _check_folder(args)
    for agent in (args.candidate, args.baseline):
        check_agent(agent)
        if args.deals is not None:
            _check_deals(args.deals, agent)
    with console.activity("importing"):
        from suphx.evaluation.match import SeatingsReport
        from suphx.evaluation.sequential.sequential_match import SequentialReport
        from suphx_platform.agents.agent_source import AgentSource
        from suphx_platform.evaluation.match_workers import match_workers
        from suphx_platform.kernels.kernel_warmup import compile_kernels
        from suphx_platform.tracking.tracking import TrackingStore

    compile_kernels(console, "engine", "encoder", "scripted games", "net games")
    play = _play_deals if args.deals is not None else _play_hanchans if args.sequential is None else _play_sequential
    try:
        with match_workers(args.workers, on_ray=args.ray, say=console.say) as workers:
            report, shown = play(args, AgentSource(TrackingStore(args.runs)), workers, console)
    except KeyboardInterrupt:
        console.error("The match is not saved: the same command plays it from the beginning.")
        raise
    console.say(report.verdict())
    if isinstance(report, SeatingsReport | SequentialReport):
        for sentence in report.forfeits.sentences(("the candidate", "the baseline")):
            console.warn(sentence)
    if args.keep_games is not None:
        console.say(f"Records of the games are in {args.keep_games}: suphx view {args.keep_games} shows the first.")
    return {**report.to_json(), "seconds": shown["seconds"]} if console.is_json else shown


def _check_sequential(args: argparse.Namespace) -> None:
    """Raise ValueError for settings of a sequential match that are wrong or do not apply."""
    from suphx.evaluation.sequential.sequential_config import check_budget
    from suphx.evaluation.wall_difference import points_measure

    points_measure(tuple(args.points))
    if args.deals is not None and args.seating != "1v3":
        raise ValueError(f"--seating {args.seating} is for whole games: use --hanchans instead of --deals")
    if args.sequential is not None:
        if args.deals is not None:
            raise ValueError("--sequential stops a match of hanchans: use --hanchans instead of --deals")
        _sequential_config(args)
        check_budget(args.hanchans)


def _check_folder(args: argparse.Namespace) -> None:
    """Raise ValueError if the games cannot be kept in the folder."""
    folder = args.keep_games
    if folder is None:
        return
    if args.deals is not None:
        raise ValueError("--keep-games keeps whole games, and --deals plays single deals: use --hanchans")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"--keep-games is {folder}, which is not an empty folder: name a new one")


def _sequential_config(args: argparse.Namespace) -> SequentialConfig:
    from suphx.evaluation.sequential.sequential_config import SequentialConfig

    return SequentialConfig(
        difference=args.sequential,
        error=args.error,
        decides=args.decides,
        points=tuple(args.points),
        seating=args.seating,
    )


def _check_deals(num_deals: int, agent: str) -> None:
    """Raise ValueError for a number of deals, or an agent, that cannot be compared deal by deal."""
    if num_deals < MIN_DEALS:
        raise ValueError(f"--deals is {num_deals}: use at least {MIN_DEALS}")
    if is_program(agent) or split_wrapper(agent)[0]:
        raise ValueError(f"{agent!r} must follow whole games and cannot play single deals: use --hanchans")


class _Report(Protocol):
    """What came of either way to compare agents."""

    def verdict(self) -> str: ...

    def to_json(self) -> dict[str, object]: ...


_Outcome: TypeAlias = tuple[_Report, dict[str, object]]


def _play_hanchans(args: argparse.Namespace, source: AgentSource, workers: Workers, console: Console) -> _Outcome:
    """Return the report of a match and what people see of it."""
    from suphx.evaluation.match import play_seatings

    started = time.perf_counter()
    total = len(chosen_seatings(args.seating)) * args.hanchans
    with _agents(args, source) as agents, console.progress("hanchans", total) as progress:
        report = play_seatings(
            *agents,
            args.seating,
            num_hanchans=args.hanchans,
            points=tuple(args.points),
            progress=progress.advance,
            records=args.keep_games,
            **_options(args, workers),
        )
    report = report.renamed(args.candidate, args.baseline)
    first, *others = report.matches
    return report, _shown(first, _since(started)) | _other_seatings(others)


def _play_sequential(args: argparse.Namespace, source: AgentSource, workers: Workers, console: Console) -> _Outcome:
    """Return the report of a match that stopped when it was decided, and what people see of it."""
    from suphx.evaluation.sequential.sequential_match import play_sequential_match

    started = time.perf_counter()
    with _agents(args, source) as agents, console.progress("hanchans", args.hanchans) as progress:
        report = play_sequential_match(
            *agents,
            _sequential_config(args),
            max_hanchans=args.hanchans,
            fresh_hanchans=_FRESH_HANCHANS,
            progress=progress.advance,
            tell=lambda outcome: progress.advance(0, outcome.note()),
            records=args.keep_games,
            **_options(args, workers),
        )
    names = (args.candidate, args.baseline)
    fresh = report.fresh and report.fresh.renamed(*names)
    others = tuple(match.renamed(*names) for match in report.other_seatings)
    report = replace(report, candidate=args.candidate, baseline=args.baseline, fresh=fresh, other_seatings=others)
    outcome = report.outcome
    shown: dict[str, object] = {
        "verdict": outcome.decision,
        "hanchans": outcome.hanchans,
        "log_likelihood_ratio": round(outcome.log_likelihood_ratio, 2),
        "ends_at": [-round(outcome.bound, 2), round(outcome.bound, 2)],
        "expected_hanchans": math.ceil(outcome.expected_hanchans),
        "always_valid_placement_interval": list(_ends(outcome.intervals["placement"])),
        "always_valid_points_interval": list(_ends(outcome.intervals["points"])),
    }
    if fresh is not None:
        shown["fresh_match"] = "the figures below are those of new walls"
        shown |= _shown(fresh, 0.0) | _other_seatings(others)
    return report, shown | {"seconds": _since(started)}


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def _play_deals(args: argparse.Namespace, source: AgentSource, workers: Workers, console: Console) -> _Outcome:
    """Return the report of paired deals and what people see of it."""
    from suphx.evaluation.deal_match import hanchans_of, play_deal_match

    started = time.perf_counter()
    with _agents(args, source) as agents, console.progress("hanchans", hanchans_of(args.deals)) as progress:
        report = play_deal_match(*agents, num_deals=args.deals, progress=progress.advance, **_options(args, workers))
    report = replace(report, candidate=args.candidate, baseline=args.baseline)
    interval = report.difference.interval
    return report, {
        "deals": report.deals,
        "hanchans": report.hanchans,
        "seed": report.seed,
        "changed_share": report.changed_share,
        "points_per_kyoku_difference": report.difference.mean,
        "interval": [interval.low, interval.high],
        "seconds": _since(started),
    }


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 1)


@contextmanager
def _agents(args: argparse.Namespace, source: AgentSource) -> Iterator[tuple[str, str]]:
    """Yield the addresses of candidate and baseline, copied here if they are elsewhere."""
    with TemporaryDirectory(prefix="suphx-agents-") as space:
        yield (
            source.fetch(args.candidate, Path(space) / "candidate"),
            source.fetch(args.baseline, Path(space) / "baseline"),
        )


def _options(args: argparse.Namespace, workers: Workers) -> dict[str, Any]:
    from suphx_platform.agents.agent_loading import load_any_agent

    return {
        "seed": args.seed,
        "workers": workers,
        "has_draw_lanes": not args.no_draw_lanes,
        "load": load_any_agent,
    }


def _other_seatings(matches: Sequence[MatchReport]) -> dict[str, object]:
    """Return what people see of the matches in the other seatings, if there are any."""
    rows = [
        {
            "seating": match.seating,
            "average_placement_difference": match.difference.mean,
            "interval": list(_ends(match.difference.interval)),
            "points_difference": match.points_difference.mean,
            "points_interval": list(_ends(match.points_difference.interval)),
        }
        for match in matches
    ]
    return {"other_seatings": rows} if rows else {}


def _shown(report: MatchReport, seconds: float) -> dict[str, object]:
    """Return what people see of a match: the figures of both sides as the columns of one table."""
    candidate, baseline = report.statistics.to_json(), report.baseline_statistics.to_json()
    intervals = candidate["intervals"]
    assert isinstance(intervals, dict)
    difference = report.difference
    return {
        "hanchans": report.hanchans,
        "walls": report.walls,
        "seed": report.seed,
        "average_placement_difference": difference.mean,
        "interval": [difference.interval.low, difference.interval.high],
        "points_difference": report.points_difference.mean,
        "points_interval": list(_ends(report.points_difference.interval)),
        "seconds": seconds,
        "figures": [
            {
                "": label(key),
                "candidate": value_text(key, candidate[key]),
                "95 % interval": value_text(f"{key}_interval", intervals.get(key) or candidate.get(f"{key}_interval")),
                "baseline": value_text(key, baseline[key]),
            }
            for key in _FIGURES
        ],
    }
