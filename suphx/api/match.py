"""A match of two agents, as ``suphx evaluate`` plays it."""

from __future__ import annotations

from suphx.evaluation import match
from suphx.evaluation.match_setup import MatchSetup
from suphx.evaluation.workers.game_runner import GameRunner
from suphx.evaluation.workers.game_task import LoadAgent, default_rules
from suphx.games.riichi import Rules
from suphx.selfplay.agents.agent import load_agent


def play_match(
    candidate: str,
    baseline: str,
    *,
    num_hanchans: int,
    seed: int,
    rules: Rules | None = None,
    workers: int = 1,
    load: LoadAgent = load_agent,
) -> match.MatchReport:
    """Play ``num_hanchans`` games (a multiple of 4, at least 8) of ``candidate`` against three of ``baseline``.

    Both are addresses for ``load``; ``workers`` is a number of processes. Walls follow from ``seed`` (0 to 2**20 - 1).
    ``rules``: those of Tenhou if None. Other settings are in suphx.evaluation: ``MatchSetup``, ``GameRunner`` and what
    takes both, ``play_match`` of match.py. ValueError for an unknown agent or a wrong number, ChildProcessError if a
    process dies.

    >>> from suphx import play_match
    >>> report = play_match("ukeire", "tsumogiri", num_hanchans=24, seed=1)
    >>> report.difference.mean < 0  # of the average placement: lower is better
    True
    """
    setup = MatchSetup(candidate, baseline, seed=seed, rules=rules or default_rules())
    return match.play_match(setup, num_hanchans, runner=GameRunner(workers=workers, load=load))
