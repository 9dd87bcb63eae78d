"""The sample_game stage: games of the nets that the run made last, to look at.

Leaves ``game.html``, the viewer's page of a game with what the nets think of each decision, and such pages of their
best and worst games in their last match, which ``match_games.json`` lists: ``{"opponent", "hanchans", "games": what
riichi_games.py returns}``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from suphx.atomic_file import write_atomically
from suphx.evaluation.kept_results import RECORDS_FOLDER
from suphx.evaluation.match import first_game
from suphx.games.registry import find_learning, load_game
from suphx.selfplay.agents.agent import load_agent
from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.recipe.agent_stages import (
    SUPERVISED_FOLDER,
    has_supervised_nets,
    initial_folder,
    initial_name,
    last_agent,
    supervised_stages_of,
)
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.stages import playouts
from suphx_pipelines.stages.evaluation import AGENT_NAME, check_opponent, match_setup, opponent_nets
from suphx_pipelines.stages.evaluation import STAGE_NAME as EVALUATION
from suphx_pipelines.viewer.riichi_games import game_page, match_pages, shown_opinions
from suphx_pipelines.viewer.viewer_page import PAGE_FILE, viewer_page

STAGE_NAME = "sample_game"
MATCH_GAMES_FILE = "match_games.json"
_VERDICT = ("start", "argmax")
"""Opponent and policy of the match of self-play that gives the verdict."""


def sample_game_stages(recipe: Recipe, stages: Sequence[Stage[Recipe]]) -> list[Stage[Recipe]]:
    """Return the stage for a run of ``recipe`` that has ``stages``; none if no stage makes an agent."""
    agent = last_agent([stage.name for stage in stages])
    if agent is None:
        return []
    matches = tuple(stage.name for stage in stages if stage.name == EVALUATION)
    needs = (*supervised_stages_of(recipe.game_name).values(), *matches) if agent == SUPERVISED_FOLDER else (agent,)
    return [
        Stage(
            name=STAGE_NAME,
            run=run,
            recipe_keys=("evaluation", "name"),
            needs=needs,
            artifacts=(PAGE_FILE,),
            outside_files=opponent_nets,
            check=check_opponent,
            is_summary=True,
        )
    ]


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Play the game against three copies of the opponent, write its files, and pages of games of the last match."""
    config = context.recipe.evaluation
    address = str(_folder(context)) + ("" if config.action_selection == "probable" else f":{config.action_selection}")
    setup = match_setup(context, address)
    with context.console.parts("playing a game to look at") as progress:
        game = first_game(setup, load=partial(load_agent, game=setup.game), progress=progress)
    if "archive" not in find_learning(setup.game).options:
        values = load_game(setup.game).viewer_game([game])
        page = viewer_page(values, title=f"{context.recipe.name}: a game")
        write_atomically(context.folder / PAGE_FILE, [page.encode()])
        return {"deals": len(values["deals"]), "pages": 1}
    one, two, three = (f"{config.opponent} {number}" for number in (1, 2, 3))
    game = replace(game, names=(AGENT_NAME, one, two, three))
    agent = load_agent(address)
    opinions = shown_opinions(agent, game, context.console)
    page = game_page(game, replace(opinions, name=AGENT_NAME), f"{context.recipe.name}: a game")
    write_atomically(context.folder / PAGE_FILE, [page.encode()])
    num_pages = 1
    with context.console.activity("looking for the best and the worst games of the match"):
        if match := _last_match(context):
            records, opponent = match
            title = f"{context.recipe.name}: a game of the match"
            shown = match_pages(records, agent, context.folder, name=AGENT_NAME, opponent=opponent, title=title)
            write_json(context.folder / MATCH_GAMES_FILE, shown)
            num_pages += len(shown["games"])
    return {"deals": len(game.kyokus), "pages": num_pages}


def _last_match(context: StageContext[Recipe]) -> tuple[Path, str] | None:
    """Return the records of the last match of these nets, and whom they played; None if none were kept."""
    if EVALUATION in context.upstream:
        return context.upstream[EVALUATION] / RECORDS_FOLDER, context.recipe.evaluation.opponent
    folder = _folder(context)
    if playouts.STAGE_NAME in context.upstream:
        return folder / RECORDS_FOLDER, initial_name(context.recipe)
    if not (folder / METRICS_FILE).is_file():
        return None
    matches = read_json(folder / METRICS_FILE).get("matches", [])
    kept = [match for match in matches if match.get("records") and (match["opponent"], match["policy"]) == _VERDICT]
    is_from_stages = folder.name == "reinforcement" and context.recipe.reinforcement.start != "random"
    opponent = initial_name(context.recipe) if is_from_stages else "initial nets"
    return (folder / kept[-1]["records"], opponent) if kept else None


def _folder(context: StageContext[Recipe]) -> Path:
    if has_supervised_nets(context.upstream):
        return initial_folder(context.upstream)
    (folder,) = context.upstream.values()
    return folder
