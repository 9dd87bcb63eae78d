"""A tournament: pool -> leaderboard -> decision -> promotion -> sample_game -> report.

The leaderboard rates everybody by the games of all nights and picks the candidate: the newest checkpoint with the best
rating. The decision is a match of that one alone, on deals of no leaderboard, so that picking the best of many
cannot make it look better. The promotion makes it the champion if it has won, and at most one a night
(model_registry.py). What differs between games: kind.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe
from suphx_pipelines.runs.runner import Runner, RunResult
from suphx_pipelines.runs.stage import Stage
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.runs.verdict import Verdict
from suphx_pipelines.tournament import report, stages
from suphx_pipelines.tournament.history import GAMES_NAME, LEADERBOARD, TABLE_NAME
from suphx_pipelines.tournament.kind import POOL, POOL_NAME, Context, Pool, kind_of
from suphx_pipelines.tournament.match_texts import DECISION, DECISION_NAME
from suphx_pipelines.tournament.report import GAME, PROMOTION, PROMOTION_NAME
from suphx_pipelines.viewer.riichi_games import PAGES
from suphx_pipelines.viewer.viewer_page import PAGE_FILE
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage

REPORT = "report"
Run = Callable[[Context], dict[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentResult:
    """What ``suphx tournament`` answers."""

    run: RunResult
    recipe: TournamentRecipe

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        folder, kind = self.run.folder, kind_of(self.recipe)
        table = read_json(folder / LEADERBOARD / TABLE_NAME)["agents"]
        promoted = read_json(folder / PROMOTION / PROMOTION_NAME)
        return {
            **({"game": self.recipe.game} if self.recipe.game else {}),
            "agents": {row["name"]: {key: row[key] for key in kind.result_keys} for row in table},
            **{key: promoted[key] for key in ("champion", "promoted", "reason")},
            "report": str(folder / REPORT / REPORT_NAME),
            "run_id": self.run.run_id,
            "tracking_uri": self.run.tracking_uri,
        }


def tournament_stages(recipe: TournamentRecipe) -> list[Stage[Any]]:
    """Return the stages in order."""

    def stage(name: str, run: Run, needs: tuple[str, ...], artifacts: tuple[str, ...], **more: Any) -> Stage[Any]:
        return Stage(name=name, run=run, needs=needs, artifacts=artifacts, **more)

    how = ("night", "game", "rules", "draw_lanes")
    settled = ("night", "name", "game", "rules", "pool", "registry", "decision.opponent")
    return [
        stage(POOL, stages.settle_pool, (), (POOL_NAME,), recipe_keys=settled, reads_newest=lambda recipe: True),
        stage(LEADERBOARD, stages.play_leaderboard, (POOL,), (TABLE_NAME, GAMES_NAME), recipe_keys=(LEADERBOARD, *how)),
        stage(DECISION, stages.decide, (POOL, LEADERBOARD), (DECISION_NAME,), recipe_keys=(DECISION, *how)),
        stage(PROMOTION, stages.promote, (POOL, DECISION), (PROMOTION_NAME,)),
        stage(GAME, _play_sample_game, (POOL, LEADERBOARD), (PAGE_FILE,), recipe_keys=how, is_summary=True),
        Stage(
            name=REPORT,
            run=report.run,
            recipe_keys=tuple(field.name for field in fields(recipe)),
            needs=(POOL, LEADERBOARD, DECISION, PROMOTION, GAME),
            artifacts=(report.TRACKED_REPORT, PAGE_FILE, PAGES, *report.PICTURES),
            is_summary=True,
        ),
    ]


def _play_sample_game(context: Context) -> dict[str, float]:
    """Leave ``game.html``, what the strongest nets think of a game of theirs; nothing if no nets have played."""
    found = kind_of(context.recipe).sample_page(context, Pool.read(context.upstream[POOL]))
    if found is None:
        return {"deals": 0}
    page, num_deals = found
    write_atomically(context.folder / PAGE_FILE, [page.encode()])
    return {"deals": num_deals}


def run_tournament(
    recipe: TournamentRecipe,
    *,
    runs: Path,
    console: Console,
    max_wait_hours: float = 0.0,
) -> TournamentResult:
    """Play the tournament of the recipe's night, or what is left of it; errors as for Runner."""
    kind = kind_of(recipe)

    def verdict(metrics: Mapping[str, Mapping[str, float]]) -> Verdict:
        names = (f"{LEADERBOARD}/{TABLE_NAME}", f"{DECISION}/{DECISION_NAME}", f"{PROMOTION}/{PROMOTION_NAME}")
        table, decided, promoted = (read_json(runner.folder / name) for name in names)
        return kind.texts.verdict(table, decided, promoted)

    runner = Runner(
        recipe,
        tournament_stages(recipe),
        runs=runs,
        records=None,
        console=console,
        storage=Storage(recipe.storage) if recipe.storage.address else None,
        find_verdict=verdict,
        max_wait_hours=max_wait_hours,
    )
    result = TournamentResult(run=runner.run(), recipe=recipe)
    if result.run.was_finished:
        console.say(
            f"The night {recipe.night} of {result.run.run_id} has been played before: its result follows, and nothing "
            "was played now. To play again, name another night: --set night=NAME"
        )
    if result.run.verdict is not None:
        console.say(result.run.verdict.sentence)
    return result
