"""Games of a night of riichi to look at: one of the strongest nets, and the candidate's best and worst ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from suphx.evaluation.kept_results import RECORDS_FOLDER
from suphx.evaluation.sequential import FRESH_FOLDER
from suphx.games.game import Agent
from suphx.games.registry import DEFAULT_GAME, load_game
from suphx.games.riichi.match_tables import index_records, remove_after
from suphx.games.riichi.records.viewer_game import viewer_game
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.rollouts.rollout import play_games
from suphx_pipelines.runs.stage import StageContext
from suphx_pipelines.tournament.entrants import POOL, read_pool
from suphx_pipelines.tournament.match_texts import DECISION, Decision
from suphx_pipelines.viewer.riichi_games import match_pages, shown_opinions
from suphx_pipelines.viewer.viewer_page import viewer_page
from suphx_platform.console.console import Console


def tidy_records(records: Path, num_walls: int) -> None:
    """Remove the records of games that had begun before the decision, and index the others."""
    remove_after(records, num_walls)
    for folder in (records, records / FRESH_FOLDER):
        index_records(folder)


def sample_page(
    agents: Sequence[tuple[str, Agent]],
    net_agent: Agent,
    wall: int,
    *,
    options: Mapping[str, Any],
    title: str,
    console: Console,
) -> tuple[str, int]:
    """Play a game of four agents, each with its name, and return its page and its deals.

    ``net_agent``: what thinks of the moves, the nets of the first one.
    """
    riichi = load_game(DEFAULT_GAME)
    with console.parts("playing a game to look at") as progress:
        (log,) = play_games(
            [agent for _, agent in agents],
            np.arange(len(agents))[np.newaxis],
            (wall,),
            riichi.new_rules({}),
            options={**riichi.scoring.table_options, **options},
            names=[name for name, _ in agents],
            progress=progress,
        )
    opinions = replace(shown_opinions(net_agent, log, console), name=agents[0][0])
    return viewer_page(viewer_game(log, opinions), title=title), len(log.kyokus)


def decision_pages(context: StageContext[Any], decision: Decision) -> Mapping[str, Any]:
    """Write pages of games of the deciding match into the stage's folder, and return what the report shows of them.

    The games are those of the match on new walls if there was one; empty if no match was played.
    """
    if decision["test"] is None:
        return {}
    records, pool = context.upstream[DECISION] / RECORDS_FOLDER, context.upstream[POOL]
    candidate = next(entrant for entrant in read_pool(pool).entrants if entrant.name == decision["candidate"])
    return match_pages(
        records / FRESH_FOLDER if decision["match"] else records,
        load_agent(str(candidate.nets_in(pool))),
        context.folder,
        name=candidate.name,
        opponent=decision["opponent"],
        title=f"{context.recipe.name}, {context.recipe.night}: a game of the decision",
    )
