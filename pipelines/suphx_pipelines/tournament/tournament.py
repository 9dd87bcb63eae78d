"""A tournament: pool -> round robin -> decision -> promotion -> report.

The round robin ranks everybody and picks the candidate: the newest checkpoint with the best rating. The decision is a
match of that one alone, on walls that nobody has played, so that picking the best of many cannot make it look better.
The promotion makes it the champion if it has won, and at most one a night (model_registry.py).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from suphx.evaluation.rating import rate_agents
from suphx.evaluation.stable_rank import stable_rank
from suphx.evaluation.statistics import stable_rank_interval
from suphx.evaluation.tournament import (
    SEATS,
    LineupResult,
    all_lineups,
    head_to_head,
    placements_of,
    play_lineups,
)
from suphx_pipelines.engine.json_file import read_json, write_json
from suphx_pipelines.engine.stage import Stage
from suphx_pipelines.engine.stage_plan import CodeChange
from suphx_pipelines.recipe.tournament_recipe import TournamentRecipe
from suphx_pipelines.runs.runner import Runner, RunResult
from suphx_pipelines.summary.verdict import Verdict
from suphx_pipelines.tournament import tournament_decision, tournament_pool, tournament_promotion, tournament_report
from suphx_pipelines.tournament.tournament_games import games_of, wall_seed
from suphx_pipelines.tournament.tournament_pool import Context, Pool, read_pool
from suphx_platform.agents.agent_loading import load_any_agent
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage

_LONGEST_METRIC = 200  # MLflow takes 250
POOL, ROUND_ROBIN, DECISION, PROMOTION, REPORT = "pool", "round_robin", "decision", "promotion", "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentResult:
    """What ``suphx tournament`` answers."""

    run: RunResult

    def to_json(self) -> dict[str, object]:
        """Return the keys that scripts read."""
        folder = self.run.folder
        table = read_json(folder / ROUND_ROBIN / tournament_report.TABLE_NAME)["agents"]
        promotion = read_json(folder / PROMOTION / tournament_report.PROMOTION_NAME)
        kept = ("rating", "interval", "hanchans", "average_placement")
        return {
            "agents": {row["name"]: {key: row[key] for key in kept} for row in table},
            "champion": promotion["champion"],
            "promoted": promotion["promoted"],
            "reason": promotion["reason"],
            "report": str(folder / REPORT / tournament_report.REPORT_NAME),
            "run_id": self.run.run_id,
            "tracking_uri": self.run.tracking_uri,
        }


def tournament_stages() -> list[Stage[TournamentRecipe]]:
    """Return the stages in order."""
    everything = tuple(field.name for field in fields(TournamentRecipe))
    table, decision, promotion = (
        tournament_report.TABLE_NAME,
        tournament_report.DECISION_NAME,
        tournament_report.PROMOTION_NAME,
    )
    pictures = (tournament_report.REPORT_NAME, *tournament_report.LEADERBOARD_NAMES)
    return [
        Stage(
            name=POOL,
            run=tournament_pool.run,
            recipe_keys=("night", "pool", "registry", "decision.baseline"),
            artifacts=(tournament_pool.POOL_NAME,),
        ),
        Stage(
            name=ROUND_ROBIN,
            run=play_round_robin,
            recipe_keys=("night", "round_robin", "draw_lanes"),
            needs=(POOL,),
            artifacts=(table,),
        ),
        Stage(
            name=DECISION,
            run=tournament_decision.run,
            recipe_keys=("night", "decision", "draw_lanes"),
            needs=(POOL, ROUND_ROBIN),
            artifacts=(decision,),
        ),
        Stage(name=PROMOTION, run=tournament_promotion.run, needs=(POOL, DECISION), artifacts=(promotion,)),
        Stage(
            name=REPORT,
            run=tournament_report.run,
            recipe_keys=everything,
            needs=(POOL, ROUND_ROBIN, DECISION, PROMOTION),
            artifacts=pictures,
            is_summary=True,
        ),
    ]


def run_tournament(
    recipe: TournamentRecipe, *, runs: Path, console: Console, on_code_change: CodeChange = "stop"
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
    )
    result = TournamentResult(run=runner.run())
    console.say(str(result.to_json()["reason"]))
    return result


def _verdict(folder: Path) -> Verdict:
    """Return what the tournament in ``folder`` decided."""
    decision = read_json(folder / DECISION / tournament_report.DECISION_NAME)
    promotion = read_json(folder / PROMOTION / tournament_report.PROMOTION_NAME)
    return tournament_report.verdict(decision, promotion)


def play_round_robin(context: Context) -> dict[str, float]:
    """Play all lineups, go on where a killed one stopped, and leave ``table.json``."""
    recipe, folder = context.recipe, context.upstream[POOL]
    pool = read_pool(folder)
    lineups = all_lineups(len(pool.entrants))
    num_games = len(lineups) * recipe.round_robin.walls * SEATS
    with games_of(context, num_games) as (kept, progress):
        results = play_lineups(
            [entrant.address_in(folder) for entrant in pool.entrants],
            lineups,
            num_walls=recipe.round_robin.walls,
            seed=wall_seed(context),
            names=[entrant.name for entrant in pool.entrants],
            workers=recipe.workers,
            has_draw_lanes=recipe.draw_lanes,
            load=load_any_agent,
            progress=progress,
            kept=kept,
        )
    rows = _table(pool, results)
    write_json(context.folder / tournament_report.TABLE_NAME, {"agents": rows, "walls": recipe.round_robin.walls})
    ratings = zip(_metric_names([row["name"] for row in rows]), (row["rating"] for row in rows), strict=True)
    return {"hanchans": num_games} | dict(ratings)


def _table(pool: Pool, results: list[LineupResult]) -> list[dict[str, Any]]:
    """Return a row for each agent, the strongest first; the keys stand in docs/architecture.md."""
    rows = []
    for place, (entrant, rating) in enumerate(
        zip(pool.entrants, rate_agents(results, len(pool.entrants)), strict=True)
    ):
        places = placements_of(results, place)
        counts = [int(np.count_nonzero(places == rank)) for rank in range(1, SEATS + 1)]
        rank = stable_rank(counts)
        row: dict[str, Any] = {
            "name": entrant.name,
            "is_candidate": entrant.is_candidate,
            "is_champion": place == pool.champion,
            "rating": rating.rating,
            "interval": [rating.interval.low, rating.interval.high],
            "hanchans": len(places),
            "placements": counts,
            "average_placement": float(places.mean()),
            "stable_rank": rank if np.isfinite(rank) else None,
            "stable_rank_interval": _rank_interval(counts),
            "against_champion": None,
        }
        if pool.champion is not None and place != pool.champion:
            difference = head_to_head(results, place, pool.champion)
            interval = [difference.interval.low, difference.interval.high]
            row["against_champion"] = {"difference": difference.mean, "interval": interval}
        rows.append(row)
    return sorted(rows, key=lambda row: -row["rating"])


def _rank_interval(counts: list[int]) -> list[float] | None:
    """Return the interval of the stable rank; None where it is infinite."""
    interval = stable_rank_interval(counts)
    ends = [interval.low, interval.high]
    return ends if np.isfinite(ends).all() else None


def _metric_names(names: list[str]) -> list[str]:
    """Return names of metrics that MLflow accepts: paths without empty parts and dots, short, none twice."""
    clean = [re.sub(r"[^\w. /-]", "_", name).split("/") for name in names]
    paths = ["/".join(part for part in parts if part.strip("."))[-_LONGEST_METRIC:].strip("/") for parts in clean]
    return [f"rating/{path if paths.count(path) == 1 else f'{path}_{place}'}" for place, path in enumerate(paths)]
