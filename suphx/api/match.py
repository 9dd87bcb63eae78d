"""A match of two agents, as ``suphx evaluate`` plays it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

from suphx.evaluation import match
from suphx.evaluation.match_config import PHOENIX_POINTS, Seating
from suphx.evaluation.match_setup import MatchSetup
from suphx.evaluation.workers.game_runner import GameRunner
from suphx.evaluation.workers.game_task import LoadAgent, default_rules
from suphx.games.riichi import Rules
from suphx.selfplay.agents.agent import load_agent


def play_match(
    candidate: str,
    opponent: str,
    *,
    num_hanchans: int,
    seed: int,
    seating: Seating = "1v3",
    points: tuple[int, ...] = PHOENIX_POINTS,
    workers: int = 1,
    rules: Rules | None = None,
    has_draw_lanes: bool = True,
    progress: Callable[[float], None] = lambda games: None,
    load: LoadAgent = load_agent,
    records: Path | None = None,
) -> match.MatchReport:
    """Play ``num_hanchans`` games (a multiple of 4, at least 8) of ``candidate`` against ``opponent``.

    Both are addresses for ``load``. ``seed`` (0 to 2**20 - 1): of the walls. ``seating``: how many of each are at a
    table. ``points``: those of first to fourth place, for the difference in points. ``workers``: processes. ``rules``:
    those of Tenhou if None. ``has_draw_lanes``: every seat draws from its own positions of the wall
    (docs/evaluation.md). ``progress`` is called with parts of games while they are played. ``records``: folder for the
    games. ValueError for an unknown agent, a wrong number or seating, ChildProcessError if a process dies.

    >>> from suphx import play_match
    >>> report = play_match("ukeire", "tsumogiri", num_hanchans=24, seed=1)
    >>> report.difference.mean < 0  # of the average placement: lower is better
    True
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}: use 1 or more")
    if seating not in get_args(Seating):
        raise ValueError(f"seating is {seating!r}: use one of {', '.join(get_args(Seating))}")
    setup = MatchSetup(candidate, opponent, seed=seed, rules=rules or default_rules(), has_draw_lanes=has_draw_lanes)
    runner = GameRunner(workers=workers, load=load, records=records, progress=progress)
    return match.play_match(setup, num_hanchans, seating=seating, points=points, runner=runner)
