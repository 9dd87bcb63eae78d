"""A tournament: pool -> leaderboard -> decision -> promotion -> sample_game -> report.

The leaderboard rates everybody by the games of all nights and picks the candidate: the newest checkpoint with the best
rating. The decision is a match of that one alone, on walls of no leaderboard, so that picking the best of many
cannot make it look better. The promotion makes it the champion if it has won, and at most one a night
(model_registry.py).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe
from suphx_pipelines.runs.runner import Runner, RunResult
from suphx_pipelines.runs.stage import Stage
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.runs.stage_plan import CodeChange
from suphx_pipelines.runs.verdict import Verdict
from suphx_pipelines.tournament import (
    candidate_promotion,
    leaderboard,
    riichi_night_game,
    tournament_decision,
    tournament_promotion,
    tournament_report,
)
from suphx_pipelines.tournament.pool import tournament_pool
from suphx_pipelines.tournament.pool.tournament_games import say_if_repeated
from suphx_pipelines.tournament.pool.tournament_history import GAMES_NAME, LEADERBOARD, TABLE_NAME
from suphx_pipelines.viewer.riichi_games import PAGES
from suphx_pipelines.viewer.viewer_page import PAGE_FILE
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage

POOL, DECISION, PROMOTION, REPORT = "pool", "decision", "promotion", "report"
GAME = riichi_night_game.STAGE_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentResult:
    """What ``suphx tournament`` answers."""

    run: RunResult

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        folder = self.run.folder
        table = read_json(folder / LEADERBOARD / TABLE_NAME)["agents"]
        promotion = read_json(folder / PROMOTION / candidate_promotion.PROMOTION_NAME)
        kept = ("rating", "interval", "hanchans", "average_placement")
        return {
            "agents": {row["name"]: {key: row[key] for key in kept} for row in table},
            "champion": promotion["champion"],
            "promoted": promotion["promoted"],
            "reason": promotion["reason"],
            "report": str(folder / REPORT / REPORT_NAME),
            "run_id": self.run.run_id,
            "tracking_uri": self.run.tracking_uri,
        }


def tournament_stages() -> list[Stage[TournamentRecipe]]:
    """Return the stages in order."""
    everything = tuple(field.name for field in fields(TournamentRecipe))
    decision, promotion = tournament_report.DECISION_NAME, candidate_promotion.PROMOTION_NAME
    pictures = (tournament_report.TRACKED_REPORT, PAGE_FILE, PAGES, *tournament_report.PICTURES)
    return [
        Stage(
            name=POOL,
            run=tournament_pool.run,
            recipe_keys=("name", "night", "pool", "registry", "decision.opponent"),
            reads_newest=lambda recipe: True,
            artifacts=(tournament_pool.POOL_NAME,),
            files=tournament_pool.FILES,
        ),
        Stage(
            name=LEADERBOARD,
            run=leaderboard.run,
            recipe_keys=("night", "leaderboard", "draw_lanes"),
            needs=(POOL,),
            artifacts=(TABLE_NAME, GAMES_NAME),
            files=leaderboard.FILES,
        ),
        Stage(
            name=DECISION,
            run=tournament_decision.run,
            recipe_keys=("night", "decision", "draw_lanes"),
            needs=(POOL, LEADERBOARD),
            artifacts=(decision,),
            files=tournament_decision.FILES,
        ),
        Stage(
            name=PROMOTION,
            run=tournament_promotion.run,
            needs=(POOL, DECISION),
            artifacts=(promotion,),
            files=candidate_promotion.FILES,
        ),
        Stage(
            name=GAME,
            run=riichi_night_game.run,
            recipe_keys=("night", "draw_lanes"),
            needs=(POOL, LEADERBOARD),
            artifacts=(PAGE_FILE,),
            files=riichi_night_game.FILES,
            is_summary=True,
        ),
        Stage(
            name=REPORT,
            run=tournament_report.run,
            recipe_keys=everything,
            needs=(POOL, LEADERBOARD, DECISION, PROMOTION, GAME),
            artifacts=pictures,
            files=tournament_report.FILES,
            is_about_run=True,
            is_summary=True,
        ),
    ]


def run_tournament(
    recipe: TournamentRecipe,
    *,
    runs: Path,
    console: Console,
    on_code_change: CodeChange = "stop",
    max_wait_hours: float = 0.0,
) -> TournamentResult:
    """Play the tournament of the recipe's night, or what is left of it; errors as for Runner."""
    storage = Storage(recipe.storage) if recipe.storage.address else None
    runner = Runner(
        recipe,
        tournament_stages(),
        runs=runs,
        records=None,
        console=console,
        storage=storage,
        find_verdict=lambda metrics: _verdict(runner.folder),
        on_code_change=on_code_change,
        max_wait_hours=max_wait_hours,
    )
    result = TournamentResult(run=runner.run())
    say_if_repeated(result.run, recipe.night, console)
    console.say(str(result.to_json()["reason"]))
    return result


def _verdict(folder: Path) -> Verdict:
    """Return what the tournament in ``folder`` decided."""
    decision = read_json(folder / DECISION / tournament_report.DECISION_NAME)
    promotion = read_json(folder / PROMOTION / candidate_promotion.PROMOTION_NAME)
    return tournament_report.verdict(decision, promotion)
