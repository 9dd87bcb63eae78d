"""The sample_game stage: one game of the nets that the run made last, to look at.

Leaves ``game.json``, which the report draws, and ``game.html``, the viewer's page with what the nets think of each
decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from suphx.atomic_file import write_atomically
from suphx.evaluation.match import first_game
from suphx.evaluation.workers.game_workers import MAX_WALL_SEED
from suphx.games.riichi import HEAD_NAMES, sample_game, viewer_game
from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.engine.json_file import write_json
from suphx_pipelines.engine.stage import Stage, StageContext
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.stages.evaluation import AGENT_NAME
from suphx_pipelines.viewer.asked_opinions import asked_opinions
from suphx_pipelines.viewer.viewer_page import viewer_page

STAGE_NAME = "sample_game"
GAME_FILE = "game.json"
PAGE_FILE = "game.html"
_AGENT_STAGES = ("oracle_decay", "oracle_distillation", "reinforcement", "playouts")
"""Stages that leave an agent, the strongest first; supervised nets are in the folders of their stages."""


def last_agent(stages: Sequence[str]) -> str | None:
    """Return the folder, relative to the run's, of the nets that these stages make last; None if they make none."""
    made = [name for name in _AGENT_STAGES if name in stages]
    if made:
        return made[0]
    return "supervised" if f"supervised/{HEAD_NAMES[0]}" in stages else None


def sample_game_stages(stages: Sequence[Stage[Recipe]]) -> list[Stage[Recipe]]:
    """Return the stage for a run that has ``stages``; none if no stage makes an agent."""
    agent = last_agent([stage.name for stage in stages])
    if agent is None:
        return []
    needs = tuple(f"supervised/{head}" for head in HEAD_NAMES) if agent == "supervised" else (agent,)
    return [
        Stage(
            name=STAGE_NAME,
            run=run,
            recipe_keys=("evaluation",),
            needs=needs,
            artifacts=(PAGE_FILE,),
            is_summary=True,
        )
    ]


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Play the game against three copies of the baseline, and write its files."""
    config = context.recipe.evaluation
    address = str(_folder(context)) + ("" if config.answers == "probable" else f":{config.answers}")
    with context.console.parts("playing a game to look at") as progress:
        game = first_game(
            address,
            config.baseline,
            seed=context.seed % MAX_WALL_SEED,
            has_draw_lanes=config.draw_lanes,
            progress=progress,
        )
    one, two, three = (f"{config.baseline} {number}" for number in (1, 2, 3))
    game = replace(game, names=(AGENT_NAME, one, two, three))
    write_json(context.folder / GAME_FILE, sample_game(game, game.names))
    opinions = asked_opinions(load_agent(address), game, context.console)
    page = viewer_page(viewer_game(game, replace(opinions, name=AGENT_NAME)), title=f"{context.recipe.name}: a game")
    write_atomically(context.folder / PAGE_FILE, [page.encode()])
    return {"deals": len(game.kyokus)}


def _folder(context: StageContext[Recipe]) -> Path:
    discard = f"supervised/{HEAD_NAMES[0]}"
    if discard in context.upstream:
        return context.upstream[discard].parent
    (folder,) = context.upstream.values()
    return folder
