"""A tournament in a game of two sides: pool -> leaderboard -> decision -> promotion -> sample_game -> report.

As in the tournaments of riichi (tournament.py), everybody is rated by the games of all nights, and the best of the
newest nets becomes the champion if it wins a match on fresh decks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from suphx.games.registry import game_modules
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.tournament_recipe import SideTournamentRecipe
from suphx_pipelines.runs.runner import Runner, RunResult
from suphx_pipelines.runs.stage import Stage
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.runs.stage_plan import CodeChange
from suphx_pipelines.runs.verdict import Verdict
from suphx_pipelines.tournament.candidate_promotion import FILES, PROMOTION_NAME
from suphx_pipelines.tournament.pool.tournament_games import say_if_repeated
from suphx_pipelines.tournament.pool.tournament_history import GAMES_NAME, LEADERBOARD, TABLE_NAME
from suphx_pipelines.tournament.pool.tournament_pool import POOL_NAME
from suphx_pipelines.tournament.sides import (
    side_decision,
    side_game,
    side_leaderboard,
    side_pool,
    side_promotion,
    side_report,
)
from suphx_pipelines.tournament.tournament_report import DECISION_NAME, PICTURES, TRACKED_REPORT
from suphx_pipelines.viewer.viewer_page import PAGE_FILE
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage

POOL, DECISION, PROMOTION, REPORT = "pool", "decision", "promotion", "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTournamentResult:
    """What ``suphx tournament`` answers for a game of two sides."""

    run: RunResult
    game: str

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read: those of a tournament of riichi, with figures by side."""
        folder = self.run.folder
        table = read_json(folder / LEADERBOARD / TABLE_NAME)["agents"]
        promotion = read_json(folder / PROMOTION / PROMOTION_NAME)
        kept = ("rating", "interval", "games", "sides")
        return {
            "game": self.game,
            "agents": {row["name"]: {key: row[key] for key in kept} for row in table},
            "champion": promotion["champion"],
            "promoted": promotion["promoted"],
            "reason": promotion["reason"],
            "report": str(folder / REPORT / REPORT_NAME),
            "run_id": self.run.run_id,
            "tracking_uri": self.run.tracking_uri,
        }


def side_tournament_stages(game_name: str) -> list[Stage[SideTournamentRecipe]]:
    """Return the stages of a game in order."""
    modules = game_modules(game_name)
    return [
        Stage(
            name=POOL,
            run=side_pool.run,
            recipe_keys=("name", "game", "night", "rules", "pool", "registry"),
            reads_newest=lambda recipe: True,
            artifacts=(POOL_NAME,),
            files=side_pool.FILES,
            modules=modules,
        ),
        Stage(
            name=LEADERBOARD,
            run=side_leaderboard.run,
            recipe_keys=("game", "night", "rules", "leaderboard"),
            needs=(POOL,),
            artifacts=(TABLE_NAME, GAMES_NAME),
            files=side_leaderboard.FILES,
            modules=modules,
        ),
        Stage(
            name=DECISION,
            run=side_decision.run,
            recipe_keys=("game", "night", "rules", "decision"),
            needs=(POOL, LEADERBOARD),
            artifacts=(DECISION_NAME,),
            files=side_decision.FILES,
            modules=modules,
        ),
        Stage(
            name=PROMOTION,
            run=side_promotion.run,
            needs=(POOL, DECISION),
            artifacts=(PROMOTION_NAME,),
            files=FILES,
            modules=modules,
        ),
        Stage(
            name=side_game.STAGE_NAME,
            run=side_game.run,
            recipe_keys=("game", "night", "rules"),
            needs=(POOL, LEADERBOARD),
            artifacts=(PAGE_FILE,),
            files=side_game.FILES,
            modules=modules,
            is_summary=True,
        ),
        Stage(
            name=REPORT,
            run=side_report.run,
            recipe_keys=tuple(field.name for field in fields(SideTournamentRecipe)),
            needs=(POOL, LEADERBOARD, DECISION, PROMOTION, side_game.STAGE_NAME),
            artifacts=(TRACKED_REPORT, PAGE_FILE, *PICTURES),
            files=side_report.FILES,
            is_about_run=True,
            is_summary=True,
        ),
    ]


def run_side_tournament(
    recipe: SideTournamentRecipe,
    *,
    runs: Path,
    console: Console,
    on_code_change: CodeChange = "stop",
    max_wait_hours: float = 0.0,
) -> SideTournamentResult:
    """Play the tournament of the recipe's night, or what is left of it; errors as for Runner."""
    runner = Runner(
        recipe,
        side_tournament_stages(recipe.game),
        runs=runs,
        records=None,
        console=console,
        storage=Storage(recipe.storage) if recipe.storage.address else None,
        find_verdict=lambda metrics: _verdict(runner.folder),
        on_code_change=on_code_change,
        max_wait_hours=max_wait_hours,
    )
    result = SideTournamentResult(run=runner.run(), game=recipe.game)
    say_if_repeated(result.run, recipe.night, console)
    if result.run.verdict is not None:
        console.say(result.run.verdict.sentence)
    return result


def _verdict(folder: Path) -> Verdict:
    """Return what the tournament in ``folder`` decided."""
    files = (f"{LEADERBOARD}/{TABLE_NAME}", f"{DECISION}/{DECISION_NAME}", f"{PROMOTION}/{PROMOTION_NAME}")
    table, decision, promotion = (read_json(folder / name) for name in files)
    return side_report.verdict(table, decision, promotion)
