"""The checks of the options of ``suphx evaluate`` for riichi, which come before heavy imports."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from suphx.evaluation.match_config import MIN_DEALS, PHOENIX_POINTS, check_hanchans
from suphx_cli.arguments import UsageError, check_new_folder, check_source_of_runs, checked_options
from suphx_platform.agents.agent_forms import check_agent, follows_whole_games

if TYPE_CHECKING:
    from suphx.evaluation.sequential.sequential_config import SequentialConfig

_OF_SEQUENTIAL = ("error", "decides")
"""Options without a meaning in other matches."""


def check_options(args: argparse.Namespace) -> None:
    """Raise UsageError for options that are wrong or do not fit, ValueError for the folder and the agents."""
    with checked_options():
        if args.decks is not None:
            raise ValueError("--decks is for games of two sides, such as --game doudizhu: use --hanchans or --deals")
        check_hanchans(args.hanchans)
        _check_sequential(args)
        _check_deals(args)
    check_new_folder(args.keep_games)
    if args.runs.exists():  # the parts of a match that is stopped are kept there
        check_source_of_runs(args.runs)
    for agent in (args.candidate, args.opponent):
        check_agent(agent)
        if args.deals is not None and follows_whole_games(agent):
            raise UsageError(f"{agent!r} must follow whole games and cannot play single deals: use --hanchans")


def sequential_config(args: argparse.Namespace) -> SequentialConfig:
    """Return what decides a sequential match. ValueError for a wrong option."""
    from suphx.evaluation.sequential.sequential_config import SequentialConfig

    given = {name: getattr(args, name) for name in _OF_SEQUENTIAL if getattr(args, name) is not None}
    return SequentialConfig(difference=args.sequential, points=points_of_places(args), seating=args.seating, **given)


def points_of_places(args: argparse.Namespace) -> tuple[int, ...]:
    """Return what first to fourth place are worth."""
    return PHOENIX_POINTS if args.points is None else tuple(args.points)


def _check_sequential(args: argparse.Namespace) -> None:
    """Raise ValueError for settings of a sequential match that are wrong or do not apply."""
    from suphx.evaluation.sequential.sequential_config import check_budget
    from suphx.evaluation.wall_difference import points_measure

    points_measure(points_of_places(args))
    if args.sequential is not None:
        if args.deals is not None:
            raise ValueError("--sequential stops a match of hanchans: use --hanchans instead of --deals")
        sequential_config(args)
        check_budget(args.hanchans)
        return
    for name in _OF_SEQUENTIAL:
        if getattr(args, name) is not None:
            raise ValueError(f"--{name} is for a match that stops once it is decided: add --sequential DIFFERENCE")


def _check_deals(args: argparse.Namespace) -> None:
    """Raise ValueError for a number of deals, other options or agents that cannot be compared deal by deal."""
    if args.deals is None:
        return
    if args.points is not None:
        raise ValueError("--points are for the places of whole games: use --hanchans instead of --deals")
    if args.seating != "1v3":
        raise ValueError(f"--seating {args.seating} is for whole games: use --hanchans instead of --deals")
    if args.keep_games is not None:
        raise ValueError("--keep-games keeps whole games, and --deals plays single deals: use --hanchans")
    if args.deals < MIN_DEALS:
        raise ValueError(f"--deals is {args.deals}: use at least {MIN_DEALS}")
