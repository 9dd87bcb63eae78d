"""By which rules and code the games of riichi are played."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache

from suphx.evaluation.match_config import SEATS
from suphx.games.riichi.rules import tenhou
from suphx_pipelines.runs.provenance import digest_json
from suphx_pipelines.tournament.pool.game_code import GameCode

MODULES = ("suphx/selfplay/rollouts/rollout.py", "suphx_platform/agents/agent_loading.py")


@cache
def riichi_code() -> GameCode:
    """Return what games of riichi are played by."""
    return GameCode(rules=digest_json(asdict(tenhou())), num_seats=SEATS, modules=MODULES)
