"""The sample_game stage of a tournament: one game of the night's strongest nets, to watch.

Leaves ``game.html``, the viewer's page with what the strongest net thinks of each decision; nothing if no agent with
nets has played.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from suphx.atomic_file import write_atomically
from suphx.evaluation.rating.rated_games import RatedGame
from suphx.evaluation.rating.tournament import Player, replay_game
from suphx.games.riichi import viewer_game
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.json_file import read_json
from suphx_pipelines.tournament.pool.riichi_code import riichi_code
from suphx_pipelines.tournament.pool.tournament_history import GAMES_NAME, TABLE_NAME, read_games
from suphx_pipelines.tournament.pool.tournament_pool import Context, Entrant, read_pool
from suphx_pipelines.viewer.riichi_games import shown_opinions
from suphx_pipelines.viewer.viewer_page import PAGE_FILE, viewer_page
from suphx_platform.agents.agent_forms import is_program
from suphx_platform.agents.agent_loading import load_any_agent

STAGE_NAME = "sample_game"


FILES: Mapping[str, str] = {
    "game.html": "one game of the night's strongest net in the viewer; missing if no agent with nets has played",
}
"""What the stage writes into its folder (docs/result_files.md); JSON is null where it is undefined."""


def run(context: Context) -> dict[str, float]:
    """Play the game again and write its page."""
    pool_folder, night = context.upstream["pool"], context.upstream["leaderboard"]
    entrants = {entrant.digest: entrant for entrant in read_pool(pool_folder).entrants}
    ratings = {row["digest"]: float(row["rating"]) for row in read_json(night / TABLE_NAME)["agents"]}
    found = strongest_game(read_games(night / GAMES_NAME, riichi_code()), entrants, ratings)
    if found is None:
        return {"deals": 0}
    game, strongest = found
    with context.console.parts("playing a game to look at") as progress:
        log = replay_game(
            [Player(entrant.digest, entrant.address_in(pool_folder), entrant.name) for entrant in entrants.values()],
            game,
            has_draw_lanes=context.recipe.draw_lanes,
            load=load_any_agent,
            progress=progress,
        )
    opinions = shown_opinions(load_agent(strongest.net_agent_in(pool_folder)), log, context.console)
    values = viewer_game(log, replace(opinions, name=strongest.name))
    title = f"{context.recipe.name}, {context.recipe.night}: a game"
    page = viewer_page(values, title=title, seat=game.seats.index(strongest.digest))
    write_atomically(context.folder / PAGE_FILE, [page.encode()])
    return {"deals": len(log.kyokus)}


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
