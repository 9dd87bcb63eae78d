"""The leaderboard stage of a tournament: tonight's games, and the ratings from the games of all nights.

Leaves ``games.json`` (tournament_history.py), ``table.json`` (leaderboard_table.py) and ``live.html`` (live_page.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from suphx.evaluation.rating.tournament import SEATS, Player, TournamentSetup, play_tournament
from suphx_pipelines.json_file import write_json
from suphx_pipelines.tournament.leaderboard_table import Leaderboard
from suphx_pipelines.tournament.live_page import LiveLeaderboard
from suphx_pipelines.tournament.pool.riichi_code import riichi_code
from suphx_pipelines.tournament.pool.tournament_games import stage_runner, wall_seed
from suphx_pipelines.tournament.pool.tournament_history import GAMES_NAME, TABLE_NAME, games_json, read_history
from suphx_pipelines.tournament.pool.tournament_pool import HISTORY_NAME, Context, read_pool

_LONGEST_METRIC = 200  # MLflow takes 250


FILES: Mapping[str, str] = {
    "games/wall-<n>-agents-<digest>.json": (
        "`places` [rotations][seats]; `rows` {agent: sum of `game_row` over the rotations}; `forfeits` [[agent, "
        "reason, rotation, seat]] if a program could not play a game to the end: its place is then the last"
    ),
    "games.json": (
        "tonight's games: `rules` and `engine` (digests), `night`, `draw_lanes`, `agents` [{digest, name}], "
        "`games` [[seed of the wall, agent at each seat, place of each seat]]"
    ),
    "table.json": (
        "`walls` (tonight), `earlier_hanchans`, `anchor`, `is_anchored` (it has played), `agents` [{name, "
        "is_candidate, is_champion, rating, "
        "interval [2] or null (fewer than two walls), hanchans, placements [4 counts], average_placement, "
        "against_champion {difference, interval [2], is_widened} or null (fewer than six walls), "
        "forfeits (tonight), and one of the reasons, digest, "
        "style {win_rate, deal_in_rate, riichi_rate, call_rate, average_win_turn} (tonight)}], "
        "strongest first; `pairings` [row][column]: in how many common games of all nights the agent of the row "
        "came before that of the column; `nights` [{run, night, ratings {digest: [rating, low, high]}}], as "
        "published each night; null: no interval"
    ),
    "live.html": "the leaderboard while games come in; it reloads itself until the last game",
    "mlflow/live.html": "the same page without links to other files, which MLflow gets",
}
"""What the stage writes into its folder (docs/result_files.md); JSON is null where it is undefined."""


def run(context: Context) -> dict[str, float]:
    """Play tonight's games, go on where a killed stage stopped, and rate the agents by the games of all nights."""
    recipe, folder = context.recipe, context.upstream["pool"]
    pool = read_pool(folder)
    num_games = recipe.leaderboard.hanchans
    if num_games < SEATS * len(pool.entrants):
        least = SEATS * len(pool.entrants)
        raise ValueError(f"leaderboard.hanchans is {num_games} for {len(pool.entrants)} agents: use at least {least}")
    board = Leaderboard(
        pool=pool,
        earlier=read_history(folder / HISTORY_NAME, riichi_code()),
        anchor=recipe.leaderboard.anchor,
        night=recipe.night,
        run_id=context.folder.parent.name,
    )
    live = LiveLeaderboard(context, board, num_games)
    setup = TournamentSetup(
        players=[Player(entrant.digest, entrant.address_in(folder), entrant.name) for entrant in pool.entrants],
        anchor=board.anchor_digest,
        seed=wall_seed(context, board.earlier.games),
        earlier=board.earlier.games,
        has_draw_lanes=recipe.draw_lanes,
    )
    with stage_runner(context, num_games) as runner:
        games = play_tournament(setup, num_games, runner=runner, note_wall=live.note_wall)
    names = {entrant.digest: entrant.name for entrant in pool.entrants}
    for sentence in board.forfeits.sentences(list(names.values())):
        context.warn(sentence)
    facts = {"night": recipe.night, "draw_lanes": recipe.draw_lanes}
    write_json(context.folder / GAMES_NAME, facts | games_json(games, names, riichi_code()))
    table = board.table()
    write_json(context.folder / TABLE_NAME, table)
    live.write_last(table)
    rows = table["agents"]
    ratings = zip(metric_names([row["name"] for row in rows]), (row["rating"] for row in rows), strict=True)
    return {"hanchans": num_games, "earlier_hanchans": table["earlier_hanchans"]} | dict(ratings)


def metric_names(names: list[str]) -> list[str]:
    """Return names of metrics that MLflow accepts: paths without empty parts and dots, short, none twice."""
    clean = [re.sub(r"[^\w. /-]", "_", name).split("/") for name in names]
    paths = ["/".join(part for part in parts if part.strip("."))[-_LONGEST_METRIC:].strip("/") for parts in clean]
    return [f"rating/{path if paths.count(path) == 1 else f'{path}_{index}'}" for index, path in enumerate(paths)]
