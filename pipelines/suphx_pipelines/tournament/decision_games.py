"""The candidate's best and worst games in the deciding match, as pages beside the tournament's report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suphx.evaluation.sequential.sequential_match import FRESH_FOLDER
from suphx.evaluation.workers.match_records import RECORDS_FOLDER
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.tournament.pool.tournament_pool import Context, read_pool
from suphx_pipelines.viewer.riichi_games import choose_games, write_pages


def write_decision_games(context: Context, decision: Mapping[str, Any]) -> dict[str, Any]:
    """Write the pages into the stage's folder, and return what ``report_riichi_game.match_links`` shows of them.

    The games are those of the match on new walls if there was one; empty if no match was played. ``decision``: what the
    decision stage has left.
    """
    if decision["test"] is None:
        return {}
    records = context.upstream["decision"] / RECORDS_FOLDER
    games = choose_games(records / FRESH_FOLDER if decision["match"] else records)
    if not games.hanchans:
        return {}
    pool = context.upstream["pool"]
    candidate = next(entrant for entrant in read_pool(pool).entrants if entrant.name == decision["candidate"])
    pages = write_pages(
        games,
        load_agent(str(candidate.nets_in(pool))),
        context.folder,
        name=candidate.name,
        opponent=decision["opponent"],
        title=f"{context.recipe.name}, {context.recipe.night}: a game of the decision",
    )
    return {"opponent": decision["opponent"], "hanchans": games.hanchans, "games": pages}
