"""A run by Deep Monte-Carlo: learning -> match -> sample_game -> report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from suphx.games.candidate_game import candidate_game
from suphx_pipelines.json_file import read_json
from suphx_pipelines.monte_carlo import game_stage, match_stage, report_stage
from suphx_pipelines.monte_carlo.learning_stage import learning_stage
from suphx_pipelines.recipe.agent_stages import MONTE_CARLO_STAGE
from suphx_pipelines.recipe.monte_carlo_recipe import MonteCarloRecipe
from suphx_pipelines.runs.runner import Runner, RunResult
from suphx_pipelines.runs.stage import Stage
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.runs.stage_plan import CodeChange
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class MonteCarloResult:
    """What ``suphx run`` answers for a game that is learned by Deep Monte-Carlo."""

    run: RunResult
    report: Path
    agent: Path
    """Folder of the nets."""
    opponent: str
    """The strongest opponent of the match at the end."""
    play_note: str
    """What a person who wants to play against these nets with ``suphx play`` should know."""

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read: those of a run, and what ``match.json`` says of each opponent."""
        match = read_json(self.run.folder / match_stage.STAGE_NAME / match_stage.MATCH_FILE)
        page = str(self.report)
        return {**self.run.to_json(), "match": match, "report": page, "tracking_uri": self.run.tracking_uri}


def monte_carlo_stages(game_name: str) -> list[Stage[MonteCarloRecipe]]:
    """Return the stages of a game in order."""
    learned = [learning_stage(game_name), match_stage.match_stage(game_name)]
    return [*learned, game_stage.game_stage(game_name), report_stage.report_stage()]


def run_monte_carlo(
    recipe: MonteCarloRecipe,
    *,
    runs: Path,
    console: Console,
    run_id: str | None = None,
    on_code_change: CodeChange = "stop",
    max_wait_hours: float = 0.0,
) -> MonteCarloResult:
    """Run all stages that are not finished yet; arguments and errors as for Runner."""
    runner = Runner(
        recipe,
        monte_carlo_stages(recipe.game),
        runs=runs,
        records=None,
        console=console,
        storage=Storage(recipe.storage) if recipe.storage.address else None,
        run_id=run_id,
        can_be_named=True,
        find_verdict=lambda metrics: report_stage.verdict(
            read_json(runner.folder / match_stage.STAGE_NAME / match_stage.MATCH_FILE)
        ),
        on_code_change=on_code_change,
        max_wait_hours=max_wait_hours,
    )
    result = runner.run()
    return MonteCarloResult(
        run=result,
        report=result.folder / report_stage.STAGE_NAME / REPORT_NAME,
        agent=result.folder / MONTE_CARLO_STAGE,
        opponent=recipe.match.opponents[-1],
        play_note=f"in the terminal, --seat 1 to {len(candidate_game(recipe.game).seat_names)}: your seat",
    )
