"""What decides the games of a match: of whole hanchans, of single deals, or one that stops when it is decided."""

from __future__ import annotations

from dataclasses import dataclass, field

from suphx.evaluation.workers.game_task import GamePlan, Play, Summarise, default_rules
from suphx.evaluation.workers.play_plan import wall_seeds
from suphx.games.riichi import Rules
from suphx.selfplay.rollouts.rollout import play_stream

CANDIDATE, OPPONENT = 0, 1
"""The numbers of the agents."""
CANDIDATE_NAME, OPPONENT_NAME = "candidate", "opponent"
"""In records: an agent goes by its part, since both may be the same."""


@dataclass(frozen=True, slots=True)
class MatchSetup:
    """Who plays against whom, by which rules and on which walls."""

    candidate: str
    opponent: str
    """Both are addresses for ``GameRunner.load``."""
    seed: int = field(kw_only=True)
    """Of the walls: 0 to 2**20 - 1."""
    rules: Rules = field(kw_only=True, default_factory=default_rules)
    has_draw_lanes: bool = field(kw_only=True, default=True)
    """Whether every seat draws from its own positions of the wall (docs/evaluation.md)."""
    keeps_each_wall: bool = field(kw_only=True, default=False)
    """Whether each wall is a task of its own, which is kept when its games end: for agents with games of minutes."""

    def walls(self, number: int) -> range:
        """Return the seeds of the first ``number`` walls. ValueError if ``seed`` is out of range."""
        return wall_seeds(self.seed, number)

    def plan(self, summarise: Summarise, play: Play = play_stream) -> GamePlan:
        """Return how both agents play games of the match; ``play`` plays them."""
        return GamePlan(
            addresses=(self.candidate, self.opponent),
            names=(CANDIDATE_NAME, OPPONENT_NAME),
            summarise=summarise,
            rules=self.rules,
            has_draw_lanes=self.has_draw_lanes,
            play=play,
        )
