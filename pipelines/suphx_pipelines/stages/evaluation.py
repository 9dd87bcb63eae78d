"""The evaluation stage: the nets that were just learned, with the decision flow, against three copies of an opponent.

Leaves ``match.json`` (keys in docs/result_files.md).
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from suphx.evaluation.game_runner import GameRunner, Workers
from suphx.evaluation.kept_results import GAMES_FOLDER, RECORDS_FOLDER, KeptResults
from suphx.evaluation.match import MatchReport, MatchSetup, play_match
from suphx.evaluation.match_config import few_games_note, widened_note
from suphx.evaluation.measures import PLACEMENT, deciding_measure
from suphx.evaluation.statistics import PairedDifference
from suphx.games.registry import agent_names, find_game, find_learning, load_game
from suphx.games.riichi.match_tables import index_records
from suphx.games.scoring import MAX_DEAL_SEED
from suphx.selfplay.agents.checkpoint_folder import find_nets
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.agent_stages import SUPERVISED_FOLDER, initial_folder, initial_name, initial_stages
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.provenance import digest_json
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.runs.verdict import difference_text
from suphx_platform.agents.agent_forms import check_nets, follows_whole_games, is_remote
from suphx_platform.evaluation.match_workers import match_workers
from suphx_platform.tracking.tracking import EVALUATION, TrackedData

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
        agent="" if recipe.initial_agent else SUPERVISED_FOLDER,
        outside_files=opponent_nets,
        check=check_opponent,
    )


def check_opponent(recipe: Recipe) -> None:
    """Raise ValueError if the opponent that the recipe names is neither a scripted agent nor a folder with nets."""
    opponent = recipe.evaluation.opponent
    agents = agent_names(recipe.game_name)
    if opponent in agents:
        return
    if is_remote(opponent) or follows_whole_games(opponent):
        raise ValueError(
            f"evaluation.opponent is {opponent!r}: use {', '.join(agents)} or a folder of nets; suphx "
            "evaluate compares with other agents"
        )
    try:
        check_nets(opponent, recipe.game_name)
    except ValueError as error:
        raise ValueError(f"evaluation.opponent: {error}") from error


def opponent_nets(recipe: Recipe) -> list[Path]:
    """Return the checkpoints of the opponent, none of a scripted agent; ValueError if one is missing."""
    return find_nets(recipe.evaluation.opponent, recipe.game_name)


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Play a match of the nets so far against an opponent on shared walls."""
    config = context.recipe.evaluation
    candidate = str(initial_folder(context.upstream))
    if config.action_selection != "probable":
        candidate += f":{config.action_selection}"
    setup = match_setup(context, candidate)
    start = time.monotonic()
    name = f"the {initial_name(context.recipe)} against {config.opponent}"
    with match_workers(config.workers, on_ray=config.on_ray, say=context.console.say) as workers:
        match = play_hanchans(context, setup, config.hanchans, workers, name)
    write_json(context.folder / "match.json", match_json(match, time.monotonic() - start))
    of_places, points = {}, {}
    if match.decides == PLACEMENT.name:
        of_places = {"average_placement": match.statistics.average_placement}
        points = difference_figures("points_difference", match.points_difference)
    figures = {
        **of_places,
        "win_rate": match.statistics.win_rate,
        "deal_in_rate": match.statistics.deal_in_rate,
        **difference_figures("paired_difference", match.deciding_difference),
        **points,
        "hanchans": match.games,
    }
    return {name: value for name, value in figures.items() if abs(value) < float("inf")}


def match_setup(context: StageContext[Recipe], candidate: str) -> MatchSetup:
    """Return the match of ``candidate`` against the opponent that the recipe names."""
    config, game = context.recipe.evaluation, context.recipe.game_name
    options = {"has_draw_lanes": config.draw_lanes} if "draw lanes" in find_learning(game).options else {}
    return MatchSetup(candidate, config.opponent, seed=context.seed % MAX_DEAL_SEED, game=game, options=options)


def play_hanchans(
    context: StageContext[Recipe], setup: MatchSetup, hanchans: int, workers: Workers, name: str
) -> MatchReport:
    """Play a match of the stage, or continue it; its finished parts and its records stay in the folder.

    ``name``: of the match, in the line that says how it ended.
    """
    game = load_game(context.recipe.game_name)
    has_archive = "archive" in find_learning(game.name).options
    with context.console.progress(game.scoring.games, hanchans, name="match") as progress:
        runner = GameRunner(
            workers=workers,
            kept=KeptResults(context.folder / GAMES_FOLDER),
            records=context.folder / RECORDS_FOLDER if has_archive else None,
            progress=progress.advance,
            note_kept=progress.skip,
        )
        match = play_match(setup, hanchans, runner=runner, tell=partial(progress.advance, 0))
    log_walls(context, setup.game, setup.deals(match.deals), match.games, **setup.options)
    if has_archive:
        index_records(context.folder / RECORDS_FOLDER)
    difference, interval = match.deciding_difference, match.deciding_difference.interval
    measure = deciding_measure(game.scoring)
    shown = difference_text(difference.mean, interval.low, interval.high, match.games, match.unit, measure)
    note = few_games_note(match.games, match.unit) + widened_note(interval.is_widened)
    context.console.say(f"{name}: {shown}{note}")
    return match


def log_walls(context: StageContext[Any], game: str, walls: range, games: int, **options: object) -> None:
    """Name the walls of a match, by the numbers of which they are dealt, as data of the stage; so many ``games``."""
    facts = {"first_wall": walls.start, "walls": len(walls)}
    data = TrackedData(
        name=f"{find_game(game).title} walls",
        digest=digest_json({"game": game, **facts, **options}),
        source=f"suphx:{game}/walls?first={walls.start}&number={len(walls)}",
        profile={**facts, "games": games},
        columns={"wall": "long"},
    )
    context.tracker.log_dataset(data, EVALUATION)


def difference_figures(name: str, difference: PairedDifference) -> dict[str, float]:
    """Return a difference and the bounds of its interval as metrics of a stage."""
    interval = difference.interval
    return {name: difference.mean, f"{name}_low": interval.low, f"{name}_high": interval.high}


def match_json(match: MatchReport, seconds: float) -> dict[str, Any]:
    """Return what the report shows of a match."""
    players = []
    for name, statistics in ((AGENT_NAME, match.statistics), (match.opponent, match.opponent_statistics)):
        players.append({**statistics.to_json(), "name": name})
    values: dict[str, Any] = match.to_json()
    shown = ("candidate", "opponent", "seed", "games", "decides", "paired_difference", "points_difference")
    return {**{name: values[name] for name in shown if name in values}, "seconds": seconds, "players": players}
