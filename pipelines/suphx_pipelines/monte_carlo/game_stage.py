"""The sample_game stage: a deck that the trained nets play against the last opponent, to watch.

Leaves ``game.html``, the viewer's page with the values that the nets give the best moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.games.candidate_game import CandidateGame, KeptGames, Player
from suphx.games.registry import game_modules
from suphx.selfplay.agents.side_opinion import player_opinions
from suphx.training.value_nets import load_value_nets
from suphx_pipelines.monte_carlo.match_stage import first_deal
from suphx_pipelines.recipe.agent_stages import MONTE_CARLO_STAGE
from suphx_pipelines.recipe.monte_carlo_recipe import MonteCarloRecipe
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.viewer.viewer_page import PAGE_FILE, viewer_page

STAGE_NAME = "sample_game"
FILES: Mapping[str, str] = {
    PAGE_FILE: "the first deck of the match against the last of `match.opponents`, both games, in the viewer",
}
"""What the stage writes into its folder (docs/result_files.md)."""


def game_stage(game_name: str) -> Stage[MonteCarloRecipe]:
    """Return the stage of a game."""
    return Stage(
        name=STAGE_NAME,
        run=run,
        recipe_keys=("name", "match", "learning.precision"),
        needs=(MONTE_CARLO_STAGE,),
        artifacts=(PAGE_FILE,),
        files=FILES,
        modules=game_modules(game_name),
        is_summary=True,
    )


def run(context: StageContext[MonteCarloRecipe]) -> dict[str, float]:
    """Play the deck and write its page."""
    trained, opponent = load_value_nets(context.upstream[MONTE_CARLO_STAGE]), context.recipe.match.opponents[-1]
    agents = (
        ("nets", trained.player(context.recipe.learning.precision)),
        (opponent, trained.game.scripted_player(opponent)),
    )
    title = f"{context.recipe.name}: the nets against {opponent}"
    page = deck_page(trained.game, trained.rules, agents, seed=first_deal(context.recipe), title=title).encode()
    write_atomically(context.folder / PAGE_FILE, [page])
    return {"bytes": len(page)}


def deck_page(
    game: CandidateGame, rules: Any, agents: tuple[tuple[str, Player], tuple[str, Player]], *, seed: int, title: str
) -> str:
    """Return the viewer's page of both games on the deck ``seed``; ``agents``: name and player of each."""
    (name, first), (other, second) = agents
    lines: list[str] = []
    game.play_match(1, rules, first, second, first_seed=seed, kept=KeptGames((name, other), lines.append))
    records = [game.read_record(line) for line in lines]
    opinions = [player_opinions(game.recorded_decisions(record), first) for record in records]
    return viewer_page({**game.viewer_game(records, opinions), "agent": name}, title=title)
