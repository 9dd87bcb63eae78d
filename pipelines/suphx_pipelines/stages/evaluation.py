"""The evaluation stage: the nets that were just learned, with the decision flow, against three copies of an opponent.

Leaves ``match.json`` (keys in docs/result_files.md).
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.kept_results import GAMES_FOLDER, RECORDS_FOLDER, KeptResults
from suphx.evaluation.match import MatchReport, MatchSetup, play_match
from suphx.evaluation.match_config import few_games_note, widened_note
from suphx.games.registry import agent_names
from suphx.games.riichi.match_tables import index_records
from suphx.games.scoring import MAX_DEAL_SEED
from suphx.selfplay.agents.checkpoint_folder import find_nets
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.agent_stages import initial_folder, initial_name, initial_stages
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.runs.verdict import difference_text
from suphx_platform.agents.agent_forms import check_nets, follows_whole_games, is_remote
from suphx_platform.evaluation.match_workers import match_workers

STAGE_NAME = "evaluation"
AGENT_NAME = "our agent"
"""What the run's nets are called in its reports."""


def evaluation_stage(recipe: Recipe) -> Stage[Recipe]:
    """Return the stage."""
    return Stage(
        name=STAGE_NAME,
        run=run,
        recipe_keys=("evaluation",),
        needs=initial_stages(recipe),
        artifacts=("match.json",),
        outside_files=opponent_nets,
        check=check_opponent,
    )


def check_opponent(recipe: Recipe) -> None:
    """Raise ValueError if the opponent that the recipe names is neither a scripted agent nor a folder with nets."""
    opponent = recipe.evaluation.opponent
    if opponent in agent_names():
        return
    if is_remote(opponent) or follows_whole_games(opponent):
        raise ValueError(
            f"evaluation.opponent is {opponent!r}: use {', '.join(agent_names())} or a folder of nets; suphx "
            "evaluate compares with other agents"
        )
    try:
        check_nets(opponent)
    except ValueError as error:
        raise ValueError(f"evaluation.opponent: {error}") from error


def opponent_nets(recipe: Recipe) -> list[Path]:
    """Return the checkpoints of the opponent, none of a scripted agent; ValueError if one is missing."""
    return find_nets(recipe.evaluation.opponent)


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Play the match and return its figures."""
    config = context.recipe.evaluation
    candidate = str(initial_folder(context.upstream))
    if config.action_selection != "probable":
        candidate += f":{config.action_selection}"
    options = {"has_draw_lanes": config.draw_lanes}
    setup = MatchSetup(candidate, config.opponent, seed=context.seed % MAX_DEAL_SEED, options=options)
    start = time.monotonic()
    kept = KeptResults(context.folder / GAMES_FOLDER)
    if len(kept):
        context.console.say(f"match: continuing, {len(kept)} finished parts of it are kept")
    with (
        match_workers(config.workers, on_ray=config.on_ray, say=context.console.say) as workers,
        context.console.progress("hanchans", config.hanchans, name="match") as progress,
    ):
        runner = GameRunner(
            workers=workers,
            kept=kept,
            records=context.folder / RECORDS_FOLDER,
            progress=progress.advance,
            note_kept=progress.skip,
        )
        match = play_match(setup, config.hanchans, runner=runner, tell=partial(progress.advance, 0))
    index_records(context.folder / RECORDS_FOLDER)
    seconds = time.monotonic() - start
    write_json(context.folder / "match.json", match_json(match, seconds))
    difference = match.difference
    shown = difference_text(difference.mean, difference.interval.low, difference.interval.high, match.hanchans)
    name, widened = initial_name(context.recipe), widened_note(difference.interval.is_widened)
    context.console.say(f"the {name} against {config.opponent}: {shown}{few_games_note(match.hanchans)}{widened}")
    figures = {
        "average_placement": match.statistics.average_placement,
        "win_rate": match.statistics.win_rate,
        "deal_in_rate": match.statistics.deal_in_rate,
        "paired_difference": match.difference.mean,
        "paired_difference_low": match.difference.interval.low,
        "paired_difference_high": match.difference.interval.high,
        "points_difference": match.points_difference.mean,
        "points_difference_low": match.points_difference.interval.low,
        "points_difference_high": match.points_difference.interval.high,
        "hanchans": match.hanchans,
    }
    return {name: value for name, value in figures.items() if abs(value) < float("inf")}


def match_json(match: MatchReport, seconds: float) -> dict[str, Any]:
    """Return what the report shows of a match."""
    players = []
    for name, statistics in ((AGENT_NAME, match.statistics), (match.opponent, match.opponent_statistics)):
        figures = statistics.to_json()
        players.append({**figures, "name": name, "hanchans": figures["games"]})
    values: dict[str, Any] = match.to_json()
    return {
        **{
            name: values[name]
            for name in ("candidate", "opponent", "seed", "hanchans", "paired_difference", "points_difference")
        },
        "seconds": seconds,
        "players": players,
    }
