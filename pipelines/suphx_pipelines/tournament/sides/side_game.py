"""The sample_game stage of a tournament in a game of two sides: a deck of the night's strongest nets, to watch.

Leaves ``game.html``, the viewer's page with the values that these nets give the best moves; nothing without nets.
"""

from __future__ import annotations

from collections.abc import Mapping

from suphx.atomic_file import write_atomically
from suphx.games.candidate_game import candidate_game
from suphx_pipelines.json_file import read_json
from suphx_pipelines.stages.deck_match import deck_page
from suphx_pipelines.tournament.pool.tournament_history import GAMES_NAME, LEADERBOARD, TABLE_NAME
from suphx_pipelines.tournament.pool.tournament_pool import read_pool
from suphx_pipelines.tournament.sides.side_pool import SideContext
from suphx_pipelines.viewer.viewer_page import PAGE_FILE
from suphx_platform.agents.side_agent import load_side_player

STAGE_NAME = "sample_game"
FILES: Mapping[str, str] = {
    PAGE_FILE: (
        "the night's strongest nets against the strongest other agent on the first deck of the night, both games, in "
        "the viewer; missing if no nets have played"
    ),
}
"""What the stage writes into its folder (docs/result_files.md)."""


def run(context: SideContext) -> dict[str, float]:
    """Play the deck and write its page."""
    recipe, pool = context.recipe, context.upstream["pool"]
    entrants = {entrant.digest: entrant for entrant in read_pool(pool).entrants}
    night = context.upstream[LEADERBOARD]
    games = read_json(night / GAMES_NAME)["games"]
    ranked = [entrants[row["digest"]] for row in read_json(night / TABLE_NAME)["agents"]]
    strongest = next((entrant for entrant in ranked if entrant.has_nets), None)
    if strongest is None:
        return {"games": 0}
    other = next(entrant for entrant in ranked if entrant is not strongest)
    agents = tuple((each.name, load_side_player(recipe.game, each.address_in(pool))) for each in (strongest, other))
    title = f"{recipe.name}, {recipe.night}: {strongest.name} against {other.name}"
    game = candidate_game(recipe.game)
    page = deck_page(game, recipe.rules, (agents[0], agents[1]), seed=min(wall for wall, _, _ in games), title=title)
    write_atomically(context.folder / PAGE_FILE, [page.encode()])
    return {"games": 2}
