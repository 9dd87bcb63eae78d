"""The stages of a run, from its recipe, and the run itself.

A game with tables of choices: records -> supervised (five nets) -> evaluation -> self-play -> a game -> report.
A game with lists of candidates: learning by Deep Monte-Carlo -> match -> a game -> report.
The experiment of the Fanfou agents: a stage for each group of agents -> report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from suphx.evaluation.stable_rank import TargetRewardConfig
from suphx.games.registry import find_game, find_learning, load_game
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_pipelines.fanfou import fanfou_stages, fanfou_verdict
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.recipe import FanfouRecipe, MonteCarloRecipe, Recipe
from suphx_pipelines.recipe.recipe_kind import RunRecipe
from suphx_pipelines.report import report, report_decks
from suphx_pipelines.runs.runner import Runner, RunResult
from suphx_pipelines.runs.stage import Stage, StageContext, report_stage
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_pipelines.runs.verdict import Verdict, find_verdict
from suphx_pipelines.stages import deck_match, reward_predictor
from suphx_pipelines.stages.agent_comparison import agent_comparison_stages, agent_match_stages
from suphx_pipelines.stages.evaluation import evaluation_stage
from suphx_pipelines.stages.initial_agent import initial_agent_stage
from suphx_pipelines.stages.monte_carlo import learning_stage
from suphx_pipelines.stages.oracle import oracle_stages
from suphx_pipelines.stages.playouts import playouts_stages
from suphx_pipelines.stages.records import records_stage
from suphx_pipelines.stages.reinforcement import self_play_stage
from suphx_pipelines.stages.riichi_sample_game import sample_game_stages
from suphx_pipelines.stages.supervised import supervised_stages
from suphx_pipelines.viewer.riichi_games import PAGES
from suphx_pipelines.viewer.viewer_page import PAGE_FILE
from suphx_platform.console.console import Console
from suphx_platform.storage.storage import Storage


def pipeline_stages(recipe: RunRecipe) -> list[Stage[Any]]:
    """Return all stages of a recipe in order; ValueError for keys that do not fit each other."""
    if isinstance(recipe, FanfouRecipe):
        return fanfou_stages(recipe)
    if isinstance(recipe, MonteCarloRecipe):
        game = recipe.game
        played = [deck_match.match_stage(game), deck_match.sample_game_stage(game)]
        return [learning_stage(game), *played, report_decks.report_stage(recipe)]
    return _stages_of_tables(recipe)


def _check_options(recipe: Recipe) -> None:
    """Raise ValueError for what the recipe wants and its game does not offer."""
    learning, play = find_learning(recipe.game_name), recipe.reinforcement
    learning.layout(recipe.encoder, 0)
    for key, option, is_wanted in (
        ("playouts", "playouts", recipe.playouts.num_decisions > 0),
        ("reward_predictor", "game rewards", recipe.reward_predictor.is_wanted),
        ("reinforcement.reward", "game rewards", play.is_wanted and play.reward == "global_prediction"),
        ("reinforcement", "hidden", play.is_wanted and play.sees_hidden),
        ("oracle", "hidden", recipe.oracle.max_updates > 0),
        ("agent_comparison", "hidden", bool(recipe.agent_comparison.agents)),
    ):
        if is_wanted and option not in learning.options:
            raise ValueError(f"{key} needs {option!r}, which {find_game(recipe.game_name).title} does not offer")
    if play.is_wanted and play.evaluation_deals and not load_game(recipe.game_name).scoring.has_deals:
        title = find_game(recipe.game_name).title
        raise ValueError(f"reinforcement.evaluation_deals has no meaning for {title}, where a game is one deal: use 0")


def _stages_of_tables(recipe: Recipe) -> list[Stage[Recipe]]:
    _check_options(recipe)
    games = records_stage(recipe)
    plays_itself = recipe.reinforcement.is_wanted and not recipe.agent_comparison.agents
    self_play = [self_play_stage(recipe)] if plays_itself else []
    self_play += [*agent_comparison_stages(recipe), *oracle_stages(recipe)]
    self_play += agent_match_stages(recipe)
    is_needed = any(reward_predictor.STAGE_NAME in stage.needs for stage in self_play)
    predictor = [reward_predictor.reward_predictor_stage()] if is_needed or recipe.reward_predictor.is_wanted else []
    if recipe.reinforcement.start == "random" and (self_play or predictor):
        if recipe.playouts.num_decisions:
            raise ValueError(
                'playouts.num_decisions needs supervised learning, which reinforcement.start = "random" replaces: '
                'set playouts.num_decisions to 0, or reinforcement.start to "supervised"'
            )
        return _with_report(recipe, [*([games] if predictor else []), *predictor, *self_play])
    rest = [evaluation_stage(recipe), *playouts_stages(recipe), *predictor, *self_play]
    if recipe.initial_agent:
        return _with_report(recipe, [*([games] if predictor else []), initial_agent_stage(), *rest])
    return _with_report(recipe, [games, *supervised_stages(recipe), *rest])


def left_out(recipe: RunRecipe) -> list[str]:
    """Return a line for each part that is not run though the recipe may look as if it were, with the key to set."""
    if not isinstance(recipe, Recipe):
        return []
    play, playouts, reward = recipe.reinforcement, recipe.playouts, recipe.reward_predictor
    plays_itself, has_oracle = recipe.has_self_play, recipe.oracle.max_updates > 0
    is_predictor_only = play.start == "random" and reward.is_wanted
    has_given_predictor = play.reward == "global_prediction" and bool(play.global_reward.predictor)
    limits = "reinforcement.max_updates and reinforcement.max_minutes"
    no_oracle = "has no effect without nets that see what is hidden: set oracle.max_updates"
    notes = {
        f"this run has no self-play, as {limits} are 0: set one of them": (
            not plays_itself and play != ReinforcementConfig(game=play.game) and not is_predictor_only
        ),
        "the nets from the playouts play no match, as playouts.final_hanchans is 0": (
            playouts.num_decisions and not plays_itself and not playouts.final_hanchans
        ),
        "reward_predictor.target has no effect on self-play, as the predictor of reinforcement.global_reward.predictor "
        "has its own target": plays_itself and has_given_predictor and reward.target != TargetRewardConfig(),
        f"oracle_decay.steps {no_oracle}": recipe.oracle_decay.steps and not has_oracle,
        f"oracle_distillation.max_updates {no_oracle}": recipe.oracle_distillation.max_updates and not has_oracle,
    }
    return [note for note, is_left_out in notes.items() if is_left_out]


def _draw_report(context: StageContext[Recipe]) -> dict[str, float]:
    """Write the report: ``report.html`` and its pictures."""
    with context.console.activity("drawing the report"):
        return report.run(context)


def _with_report(recipe: Recipe, stages: list[Stage[Recipe]]) -> list[Stage[Recipe]]:
    stages = [*stages, *sample_game_stages(recipe, stages)]
    needs = [stage.name for stage in stages]
    return [*stages, report_stage(recipe, _draw_report, needs, (REPORT_NAME, PAGE_FILE, PAGES, "*.svg"))]


def needed_stages(stages: Sequence[Stage[Any]], last: str) -> list[Stage[Any]]:
    """Return the stage called ``last`` and all that it needs, in order; ValueError if there is no such stage."""
    names = [stage.name for stage in stages]
    if last not in names:
        raise ValueError(f"--stage {last}: this recipe has no such stage: use one of {', '.join(names)}")
    needed = {last}
    for stage in reversed(stages):
        needed.update(stage.needs if stage.name in needed else ())
    return [stage for stage in stages if stage.name in needed]


def run_recipe(
    recipe: RunRecipe,
    *,
    records: Path | None,
    runs: Path,
    console: Console,
    run_id: str | None = None,
    get_ready: Callable[[], None] | None = None,
    max_wait_hours: float = 0.0,
    last_stage: str = "",
    tags: Mapping[str, str] | None = None,
    tensorboard: bool = False,
) -> RunResult:
    """Run all stages that are not finished yet; arguments and errors as for Runner.

    ``last_stage``: run only this stage and those that it needs; ValueError if the recipe has no such stage.
    """
    stages = pipeline_stages(recipe)
    only = [stage.name for stage in needed_stages(stages, last_stage)] if last_stage else []
    for note in left_out(recipe):
        console.say(note)
    if isinstance(recipe, Recipe):
        reads_records = any(stage.reads_records for stage in stages)
        if recipe.needs_records and reads_records and records is None:
            console.warn(
                f"{recipe.name} is meant for game records: without --records DIR it learns from games that the agent "
                f"{recipe.records.player} plays against itself"
            )
        if records is not None and not reads_records:
            console.warn(f"{recipe.name} has no stage that reads game records: --records is ignored")
            records = None

    def verdict(metrics: Mapping[str, Mapping[str, float]]) -> Verdict:
        if isinstance(recipe, MonteCarloRecipe):
            return report_decks.verdict(read_json(runner.folder / deck_match.MATCH / deck_match.MATCH_FILE))
        if isinstance(recipe, FanfouRecipe):
            return fanfou_verdict(runner.folder, recipe)
        return find_verdict(recipe, metrics)

    runner = Runner(
        recipe,
        stages,
        runs=runs,
        records=records,
        console=console,
        storage=Storage(recipe.storage) if recipe.storage.address else None,
        run_id=run_id or "",
        find_verdict=None if last_stage else verdict,
        get_ready=get_ready,
        max_wait_hours=max_wait_hours,
        tags=tags or {},
        only=only,
        tensorboard=tensorboard,
        registered_model="" if isinstance(recipe, FanfouRecipe) else recipe.registered_model,
    )
    return runner.run()
