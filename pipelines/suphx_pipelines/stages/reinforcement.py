"""The reinforcement stage: the nets play against themselves and learn from it (paper, section 3.2; Figure 6).

Leaves what ``suphx_platform.selfplay.policy_trainer`` writes: an agent (``<head>.safetensors``), ``start/``,
``metrics.json`` (keys in docs/result_files.md) and the state from which a killed stage continues.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from suphx.evaluation.match import MatchSetup
from suphx.evaluation.match_config import SEATS, few_games_note, widened_note
from suphx.evaluation.measures import measure_of
from suphx.games.registry import find_learning, load_game
from suphx.games.scoring import MAX_DEAL_SEED
from suphx.models.reward_predictor import REWARD_PREDICTOR_FILE, load_reward_predictor, weights_of
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names, has_nets
from suphx.selfplay.agents.policy_set import PolicySet, load_policy_set, random_policy_set, sharpened
from suphx.training.reinforcement_config import STATE_FILE, ReinforcementConfig
from suphx.training.reward import Prediction
from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.json_file import read_json
from suphx_pipelines.recipe.agent_stages import initial_folder, initial_stages
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import Stage, StageContext, stage_seed
from suphx_pipelines.runs.verdict import difference_text
from suphx_pipelines.stages import playouts, reward_predictor
from suphx_pipelines.stages.evaluation import log_walls
from suphx_pipelines.stages.training import PERCENT, log_checkpoint, training
from suphx_platform.console.console import Console
from suphx_platform.console.table_text import count_text
from suphx_platform.selfplay.run_folder import strength
from suphx_platform.selfplay.self_play_match import match_figures

STAGE_NAME = "reinforcement"
_OPPONENT_NAMES = {"start": "the initial nets", "weak": "the weak supervised nets"}
RECIPE_KEYS = ("encoder", "net", "reinforcement")


Run = Callable[[StageContext[Recipe]], dict[str, float]]
Change = Callable[[Recipe], Recipe]


def self_play_stage(
    recipe: Recipe,
    name: str = STAGE_NAME,
    *,
    change: Change = lambda recipe: recipe,
    run: Run | None = None,
    keys: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
) -> Stage[Recipe]:
    """Return a stage of self-play, which needs nets to begin with unless they are random.

    ``change``: of the recipe's settings, for a stage beside the usual one, from the same weights and on the same walls.
    ``run``: what it does, if that is more than to play and learn. ``keys`` and ``needs``: further ones.
    """
    return Stage(
        name=name,
        run=run or partial(_run, change=change),
        recipe_keys=(*RECIPE_KEYS, *keys),
        needs=(*needed_stages(change(recipe)), *needs),
        artifacts=(METRICS_FILE, f"*/{METRICS_FILE}", *checkpoint_names(game=recipe.game_name)),
        agent="" if change(recipe).reinforcement.oracle.policy else name,
        outside_files=lambda recipe: predictor_files(change(recipe)),
        check=lambda recipe: check_self_play(change(recipe)),
    )


def _run(context: StageContext[Recipe], change: Change) -> dict[str, float]:
    """Let the nets play against themselves and learn from it."""
    context = like_reinforcement(replace(context, recipe=change(context.recipe)))
    return play_and_learn(context, context.recipe.reinforcement, *first_policy_sets(context))


def like_reinforcement(context: StageContext[Recipe]) -> StageContext[Recipe]:
    """Return the context with the seed of the stage ``reinforcement``: the same first weights, the same walls."""
    return replace(context, seed=stage_seed(context.recipe.seed, STAGE_NAME))


def check_self_play(recipe: Recipe) -> None:
    """Raise FileNotFoundError without the reward predictor that the recipe names.

    ValueError if that file is something else or has learned other rules, and without enough GPUs.
    """
    config = recipe.reinforcement
    for path in predictor_files(recipe):
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}: check reinforcement.global_reward.predictor")
        load_reward_predictor(path, rules_version=find_learning(recipe.game_name).rules_version)
    if config.cluster.on_ray and not os.environ.get("RAY_ADDRESS"):
        from suphx_platform.ray.session import check_gpus
        from suphx_platform.ray.topology import local_needs

        check_gpus(local_needs(config.cluster, config.learner.num_learners)["num_gpus"])


def predictor_files(recipe: Recipe) -> list[Path]:
    """Return the file of the reward predictor that the recipe names, if it is read."""
    config = recipe.reinforcement
    own = config.global_reward.predictor
    return [Path(own)] if config.reward == "global_prediction" and own else []


def needed_stages(recipe: Recipe) -> tuple[str, ...]:
    """Return the names of the stages whose nets self-play begins with or is rewarded by."""
    nets = () if recipe.reinforcement.start == "random" else initial_stages(recipe)
    if nets and recipe.playouts.num_decisions:
        nets += (playouts.STAGE_NAME,)
    return (*nets, reward_predictor.STAGE_NAME) if recipe.reinforcement.needs_predictor else nets


def play_and_learn(
    context: StageContext[Recipe],
    config: ReinforcementConfig,
    start: PolicySet,
    weak: PolicySet,
    *,
    teacher: PolicySet | None = None,
    carried: Path | None = None,
    first_update: int = 0,
    opponent: PolicySet | None = None,
) -> dict[str, float]:
    """Let ``start`` play and learn in the context's folder, or continue; return the figures at the end.

    ``teacher``: for ``config.learner.distillation``; ``carried``: folder of earlier self-play whose critics, optimizers
    and entropy control are reused; ``first_update``: updates of the stage before this part of it; ``opponent``: whom
    matches are against if it is not ``start``. Nets that see hidden tiles are not stored among the best.
    """
    # RLlib takes seconds: only when it is needed
    from suphx.training.backend_state import load_learner_state
    from suphx.training.local_backend import SelfPlay
    from suphx_platform.selfplay.policy_trainer import PolicyTrainer, run_backend, run_metrics

    recipe = context.recipe
    if playouts.STAGE_NAME in context.upstream:  # matches are against the nets of before the playouts
        folder = initial_folder(context.upstream)
        opponent = _sharpened(load_policy_set(folder, recipe.encoder, game=recipe.game_name), recipe)
    play = SelfPlay(
        start=start,
        weak=weak,
        encoder=recipe.encoder,
        rules_version=find_learning(recipe.game_name).rules_version,
        seed=context.seed,
        prediction=_prediction(context),
        extra={"recipe": recipe.name},
        teacher=teacher,
        carried=None if carried is None else load_learner_state(carried / STATE_FILE),
        opponent=opponent,
    )
    state, shown, games = context.folder / STATE_FILE, "first games", load_game(config.game).scoring.games
    with training(context, context.folder.name, "setting up", unit="update", state=state) as watch:
        watch.note = ""
        metrics = run_metrics(config, lambda: {**context.storage_figures(), **context.tracker.figures()})

        def report(point: Mapping[str, float]) -> None:  # of self-play, or of a match
            nonlocal shown
            step = first_update + int(point["updates"])
            model = "" if "seconds" in point else models.get(step, "")
            context.tracker.log_metrics({**point, **context.storage_figures()}, step=step, model=model)
            if "seconds" in point:
                shown = progress_note(point, config.heads[0], games)

        def show(time_share: float, note: str) -> None:
            watch.bar.reach(PERCENT * time_share, note or shown)

        def keep(updates: int, then: Callable[[], None] | None) -> None:
            context.keep(first_update + updates, then=then)

        models: dict[int, str] = {}
        hanchans = config.evaluation_hanchans
        setup = MatchSetup("", "", seed=context.seed % MAX_DEAL_SEED, game=config.game)
        log_walls(context, config.game, setup.deals(hanchans // SEATS), hanchans)

        def note_measured(entry: Mapping[str, Any], nets: Path) -> None:
            step = first_update + int(entry["updates"])
            if context.keep_best is not None:
                context.keep_best(step, nets, strength(entry))
            if not entry["is_final"]:  # the nets at the end are a model of the whole stage
                models[step] = log_checkpoint(context, nets, step, recipe.game_name)

        result = PolicyTrainer(
            *(config, play, context.folder),
            new_backend=run_backend(config),
            metrics=metrics,
            report=report,
            keep=keep,
            measured=None if config.oracle.policy else note_measured,
            progress=show,
            watch=watch,
        ).run()
        watch.bar.reach(PERCENT)
    _say_end(result, config, context.console)
    return _end_figures(result)


def finished_figures(folder: Path, max_updates: int) -> dict[str, float] | None:
    """Return the figures of self-play in ``folder`` that has ended after ``max_updates`` updates or more, else None.

    For a part of a stage: ``play_and_learn`` would start all processes again and store the part's end once more.
    """
    path = folder / METRICS_FILE
    if not (path.is_file() and (folder / STATE_FILE).is_file()):
        return None
    result = read_json(path)
    return _end_figures(result) if result["updates"] >= max_updates else None


def _end_figures(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Return the figures of a stage from its metrics.json; ``before_…`` are of a match before the first update."""
    names = ("updates", "version", "hanchans", "decisions", "seconds")
    figures = {name: float(metrics[name]) for name in names}
    for match in metrics["matches"]:
        figures |= match_figures(match)
        if match["updates"] == 0 and match["opponent"] == "start":
            low, high = match["interval"]
            figures |= {"before_difference": match["difference"], "before_hanchans": float(match["hanchans"])}
            figures |= {"before_difference_low": low, "before_difference_high": high}
    return figures


def first_policy_sets(context: StageContext[Recipe]) -> tuple[PolicySet, PolicySet]:
    """Return the nets to begin with, and the weak ones: the same object if there are no weak ones."""
    recipe, game = context.recipe, context.recipe.game_name
    if recipe.reinforcement.start == "random":
        policy_set = random_policy_set(recipe.encoder, recipe.net, context.seed % 2**31, game=game)
        policy_set = _sharpened(policy_set, recipe)
        return policy_set, policy_set
    folder = initial_folder(context.upstream)
    trained = context.upstream.get(playouts.STAGE_NAME, folder)
    start = _sharpened(load_policy_set(trained, recipe.encoder, game=game), recipe)
    if not has_nets(folder, is_weak=True, game=game):
        return start, start
    return start, load_policy_set(folder, recipe.encoder, is_weak=True, game=game)


def _sharpened(policy_set: PolicySet, recipe: Recipe) -> PolicySet:
    config = recipe.reinforcement
    if config.start_temperature == 1:
        return policy_set
    return sharpened(policy_set, config.head_numbers, config.start_temperature)


def _prediction(context: StageContext[Recipe]) -> Prediction | None:
    """Return what rewards are differences of; None: they are round scores."""
    config = context.recipe.reinforcement
    if config.reward == "round_score":
        return None
    own = config.global_reward
    folder = context.upstream[reward_predictor.STAGE_NAME] if config.needs_predictor else None
    path = folder / REWARD_PREDICTOR_FILE if folder else Path(own.predictor)
    predictor, header = load_reward_predictor(path, rules_version=find_learning(config.game).rules_version)
    return Prediction(
        weights=weights_of(predictor), points=header.points, exchange_rate=own.exchange_rate, last_kyoku=own.last_kyoku
    )


def _say_end(metrics: Mapping[str, Any], config: ReinforcementConfig, console: Console) -> None:
    """Print the results of the matches after the last update."""
    games = load_game(config.game).scoring.games
    if metrics["hanchans"] == 0:
        console.say(
            f"no {games.removesuffix('s')} was finished: all {config.simulator.num_tables} tables are still playing "
            "their first one (reinforcement.max_updates is small)"
        )
    for match in metrics["matches"]:
        if match["updates"] == metrics["updates"] and match["is_final"]:
            low, high = match["interval"]
            opponent = _OPPONENT_NAMES.get(match["opponent"], match["opponent"])
            opponent += ", both sampled" if match["policy"] == "sampled" else ""
            console.say(
                f"after {count_text(match['updates'], 'update')} against {opponent}: "
                + difference_text(match["difference"], low, high, match["hanchans"], games, measure_of(match))
                + few_games_note(match["hanchans"], games)
                + widened_note(match["is_widened"])
            )


def progress_note(point: Mapping[str, float], head: str, games: str = "hanchans") -> str:
    """Return what the progress line shows of a point of the curves, for the learning ``head``."""
    learned = ""
    if f"{head}_entropy" in point:
        target = point.get(f"{head}_entropy_target")
        of_target = f" (target {target:.2f})" if target else ""
        learned = f"entropy {point[f'{head}_entropy']:.2f}{of_target}, alpha {point[f'{head}_alpha']:.4f}, "
        if f"{head}_kl_to_start" in point:
            learned += f"KL to start {point[f'{head}_kl_to_start']:.3f}, "
        if f"{head}_explained_variance" in point:
            learned += f"critic explains {point[f'{head}_explained_variance']:.0%}, "
    return (
        f"update {point['updates']:,.0f}, {point['hanchans']:,.0f} {games}, {learned}"
        f"{point['hanchans_per_second']:.1f} {games}/s, staleness {point['staleness']:.1f}, "
        f"simulator waits {point['simulator_waiting_share']:.0%}, "
        f"learning {point['learning_share']:.0%}"
    )
