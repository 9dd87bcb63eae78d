"""Games of a night of riichi to look at: one of the strongest nets, and the candidate's best and worst ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from suphx.evaluation.kept_results import RECORDS_FOLDER
from suphx.evaluation.rating import RatedGame
from suphx.evaluation.sequential import FRESH_FOLDER
from suphx.evaluation.tournament import Player, replay_game
from suphx.games.riichi.match_tables import index_records, remove_after
from suphx.games.riichi.records.viewer_game import viewer_game
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.json_file import read_json
from suphx_pipelines.tournament.entrants import POOL, Entrant, read_pool
from suphx_pipelines.tournament.history import LEADERBOARD, TABLE_NAME
from suphx_pipelines.tournament.kind import DECISION, Context, Decision
from suphx_pipelines.viewer.riichi_games import choose_games, shown_opinions, write_pages
from suphx_pipelines.viewer.viewer_page import viewer_page
from suphx_platform.agents.agent_forms import is_program
from suphx_platform.agents.agent_loading import load_any_agent


def tidy_records(records: Path, num_walls: int) -> None:
    """Remove the records of games that had begun before the decision, and index the others."""
    remove_after(records, num_walls)
    for folder in (records, records / FRESH_FOLDER):
        index_records(folder)


def sample_page(
    context: Context, games: Sequence[RatedGame], entrants: Mapping[str, Entrant], options: Mapping[str, Any]
) -> tuple[str, int] | None:
    """Play a game of the strongest nets again and return its page and its deals; None if no nets have played."""
    pool = context.upstream[POOL]
    rows = read_json(context.upstream[LEADERBOARD] / TABLE_NAME)["agents"]
    found = strongest_game(games, entrants, {row["digest"]: float(row["rating"]) for row in rows})
    if found is None:
        return None
    game, strongest = found
    with context.console.parts("playing a game to look at") as progress:
        log = replay_game(
            [Player(entrant.digest, entrant.address_in(pool), entrant.name) for entrant in entrants.values()],
            game,
            options=options,
            load=load_any_agent,
            progress=progress,
        )
    opinions = shown_opinions(load_agent(strongest.net_agent_in(pool)), log, context.console)
    values = viewer_game(log, replace(opinions, name=strongest.name))
    title = f"{context.recipe.name}, {context.recipe.night}: a game"
    return viewer_page(values, title=title, seat=game.seats.index(strongest.digest)), len(log.kyokus)


def strongest_game(
    games: Sequence[RatedGame], entrants: Mapping[str, Entrant], ratings: Mapping[str, float]
) -> tuple[RatedGame, Entrant] | None:
    """Return the first game with the strongest net and the strongest others, and that net; None if no net has played.

    Games with outside programs are passed over: they would have to be started again. ``entrants`` and ``ratings`` by
    digest.
    """
    best: tuple[RatedGame, Entrant] | None = None
    highest = (float("-inf"), float("-inf"))
    for game in games:
        seated = [entrants[digest] for digest in game.seats]
        nets = [entrant for entrant in seated if entrant.has_nets]
        if not nets or any(is_program(entrant.address) for entrant in seated):
            continue
        strongest = max(nets, key=lambda entrant: ratings[entrant.digest])
        strength = ratings[strongest.digest], sum(ratings[digest] for digest in game.seats)
        if strength > highest:
            best, highest = (game, strongest), strength
    return best


def decision_pages(context: Context, decision: Decision) -> Mapping[str, Any]:
    """Write the pages into the stage's folder, and return what ``report_riichi_game.match_links`` shows of them.

    The games are those of the match on new walls if there was one; empty if no match was played.
    """
    if decision["test"] is None:
        return {}
    records = context.upstream[DECISION] / RECORDS_FOLDER
    games = choose_games(records / FRESH_FOLDER if decision["match"] else records)
    if not games.hanchans:
        return {}
    pool = context.upstream[POOL]
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
