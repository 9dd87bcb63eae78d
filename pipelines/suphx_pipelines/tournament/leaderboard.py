"""The leaderboard stage of a tournament: tonight's games, and the ratings from the games of all nights.

Leaves ``games.json`` (tournament_history.py) and ``table.json`` (keys in docs/architecture.md).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.rating import rate_agents
from suphx.evaluation.stable_rank import stable_rank
from suphx.evaluation.statistics import stable_rank_interval
from suphx.evaluation.tournament import SEATS, Player, head_to_head, placements_of, play_tournament
from suphx.evaluation.workers.forfeits import Forfeits
from suphx_pipelines.engine.json_file import write_json
from suphx_pipelines.tournament import tournament_report
from suphx_pipelines.tournament.tournament_games import games_of, wall_seed
from suphx_pipelines.tournament.tournament_history import GAMES_NAME, games_json, read_games
from suphx_pipelines.tournament.tournament_pool import HISTORY_NAME, Context, Entrant, Pool, read_pool
from suphx_platform.agents.agent_loading import load_any_agent

_LONGEST_METRIC = 200  # MLflow takes 250


def run(context: Context) -> dict[str, float]:
    """Play tonight's games, go on where a killed stage stopped, and rate the agents by the games of all nights."""
    recipe, folder = context.recipe, context.upstream["pool"]
    pool = read_pool(folder)
    num_games = recipe.leaderboard.hanchans
    if num_games < SEATS * len(pool.entrants):
        least = SEATS * len(pool.entrants)
        raise ValueError(f"leaderboard.hanchans is {num_games} for {len(pool.entrants)} agents: use at least {least}")
    forfeits, numbers = Forfeits(), {entrant.digest: number for number, entrant in enumerate(pool.entrants)}
    before, anchor = read_games(folder / HISTORY_NAME), _anchor(pool, recipe.leaderboard.anchor)
    with games_of(context, num_games) as (kept, progress):
        games = play_tournament(
            [Player(entrant.digest, entrant.address_in(folder), entrant.name) for entrant in pool.entrants],
            num_hanchans=num_games,
            seed=wall_seed(context),
            anchor=anchor,
            before=before,
            workers=recipe.workers,
            has_draw_lanes=recipe.draw_lanes,
            load=load_any_agent,
            progress=progress,
            kept=kept,
            note_forfeit=lambda digest, reason: forfeits.note(numbers[digest], reason),
        )
    for sentence in forfeits.sentences([entrant.name for entrant in pool.entrants]):
        context.warn(sentence)
    names = {entrant.digest: entrant.name for entrant in pool.entrants}
    facts = {"night": recipe.night, "draw_lanes": recipe.draw_lanes}
    write_json(context.folder / GAMES_NAME, facts | games_json(games, names))
    rows = _table(pool, [*before, *games], anchor)
    lost = forfeits.to_json([entrant.name for entrant in pool.entrants])
    rows = [{**row, **lost.get(row["name"], {"forfeits": 0})} for row in rows]
    walls = len({game.wall for game in games})
    table = {"agents": rows, "walls": walls, "earlier_hanchans": len(before), "anchor": recipe.leaderboard.anchor}
    write_json(context.folder / tournament_report.TABLE_NAME, table)
    ratings = zip(_metric_names([row["name"] for row in rows]), (row["rating"] for row in rows), strict=True)
    return {"hanchans": num_games, "earlier_hanchans": len(before)} | dict(ratings)


def _anchor(pool: Pool, name: str) -> str:
    """Return the digest of the agent whose rating is fixed: ``name`` itself where it does not play tonight."""
    return next((entrant.digest for entrant in pool.entrants if entrant.name == name), name)


def _table(pool: Pool, games: list[RatedGame], anchor: str) -> list[dict[str, Any]]:
    """Return a row for each agent, the strongest first; the keys stand in docs/architecture.md."""
    ratings = rate_agents(games, anchor=anchor)
    champion = None if pool.champion is None else pool.entrants[pool.champion]
    rows = []
    for entrant in pool.entrants:
        rating = ratings[entrant.digest]
        places = placements_of(games, entrant.digest)
        counts = [int(np.count_nonzero(places == rank)) for rank in range(1, SEATS + 1)]
        rank = stable_rank(counts)
        rows.append(
            {
                "name": entrant.name,
                "is_candidate": entrant.is_candidate,
                "is_champion": entrant is champion,
                "rating": rating.rating,
                "interval": [rating.interval.low, rating.interval.high],
                "hanchans": rating.hanchans,
                "placements": counts,
                "average_placement": float(places.mean()),
                "stable_rank": rank if np.isfinite(rank) else None,
                "stable_rank_interval": _rank_interval(counts),
                "against_champion": _against(games, entrant, champion),
            }
        )
    return sorted(rows, key=lambda row: -row["rating"])


def _against(games: list[RatedGame], entrant: Entrant, champion: Entrant | None) -> dict[str, Any] | None:
    """Return the difference to the champion in their common games; None with fewer than two common walls."""
    if champion is None or entrant is champion:
        return None
    pair = {entrant.digest, champion.digest}
    if len({game.wall for game in games if pair <= set(game.seats)}) < 2:
        return None
    difference = head_to_head(games, entrant.digest, champion.digest)
    return {"difference": difference.mean, "interval": [difference.interval.low, difference.interval.high]}


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
