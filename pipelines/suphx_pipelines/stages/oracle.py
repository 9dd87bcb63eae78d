"""Oracle guiding (paper, section 3.3): self-play that sees everything, then less and less, then nothing hidden.

Stage ``oracle`` is the reinforcement stage once more, from the same nets, with the oracle planes as further inputs.
Stage ``oracle_decay`` continues from there in two parts: in ``decay/`` the keep probability falls, with an agent in
``keep-…/`` at the end of each step; as soon as it is 0, nets without oracle planes learn on, more slowly, without the
decisions whose importance ratio is large. Its folder has the last nets, which play fairly. Critics (which see
everything), optimizers and entropy control are carried from part to part. Stage ``oracle_distillation`` is the
reinforcement stage with the nets of ``oracle`` as teachers.
"""

from __future__ import annotations

from dataclasses import replace

from suphx.selfplay.agents.policy_set import load_policy_set, seeing_nothing_hidden
from suphx.training.learner_config import DistillationConfig, LearnerConfig, OracleConfig
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_pipelines.recipe.recipe import OracleDecayConfig, OracleDistillationConfig, Recipe
from suphx_pipelines.runs.stage import Stage, StageContext, stage_seed
from suphx_pipelines.stages import reinforcement

ORACLE, DECAY, DISTILLATION = "oracle", "oracle_decay", "oracle_distillation"
DECAY_PART = "decay"
"""Folder in that of the stage ``oracle_decay``: while the keep probability falls."""


def oracle_stages(recipe: Recipe) -> list[Stage[Recipe]]:
    """Return the stages that the recipe asks for, perhaps none."""
    if not recipe.oracle.max_updates:
        return []
    _check_settings(recipe)
    stage = reinforcement.self_play_stage
    stages = [stage(recipe, ORACLE, change=seeing_everything, keys=(ORACLE,))]
    if recipe.oracle_decay.steps:
        stages.append(stage(recipe, DECAY, run=_see_less, keys=(ORACLE, DECAY), needs=(ORACLE,)))
    if recipe.oracle_distillation.max_updates:
        stages.append(stage(recipe, DISTILLATION, run=_stay_near, keys=(ORACLE, DISTILLATION), needs=(ORACLE,)))
    return stages


def _check_settings(recipe: Recipe) -> None:
    """Raise ValueError for settings that only a late stage would refuse, or that it would not follow."""
    interval, updates = recipe.reinforcement.weight_sync_interval, recipe.oracle_decay.updates_per_step
    if recipe.oracle_decay.steps and updates % interval:
        raise ValueError(
            f"oracle_decay.updates_per_step is {updates}: use a multiple of reinforcement.weight_sync_interval "
            f"({interval}), so that the keep probability changes with a version"
        )
    if recipe.oracle_distillation.max_updates and recipe.reinforcement.learner.algorithm == "monte_carlo":
        raise ValueError(
            "oracle_distillation stays near probabilities of a teacher, but nets of reinforcement.learner.algorithm "
            "'monte_carlo' have values: set oracle_distillation.max_updates to 0, or use 'policy_gradient'"
        )


def seeing_everything(recipe: Recipe) -> Recipe:
    """Return the recipe with the settings of self-play that sees everything."""
    config = recipe.reinforcement
    learner, oracle = _with_critic_that_sees_all(config.learner), OracleConfig(policy=True)
    config = replace(config, max_updates=recipe.oracle.max_updates, max_minutes=0.0, learner=learner, oracle=oracle)
    return replace(recipe, reinforcement=config)


def decaying(config: ReinforcementConfig, decay: OracleDecayConfig) -> ReinforcementConfig:
    """Return the settings of self-play that sees less and less, until it would see nothing."""
    oracle = OracleConfig(policy=True, steps=decay.steps, ratio=decay.ratio, updates_per_step=decay.updates_per_step)
    learner = _with_critic_that_sees_all(config.learner)
    return replace(config, max_updates=decay.falling_updates, max_minutes=0.0, learner=learner, oracle=oracle)


def continued(config: ReinforcementConfig, decay: OracleDecayConfig, earlier_updates: int) -> ReinforcementConfig:
    """Return the settings of self-play after that, when ``earlier_updates`` of the stage are made."""
    learner = replace(
        _with_critic_that_sees_all(config.learner),
        learning_rate=config.learner.learning_rate * decay.learning_rate_share,
        gradient=replace(config.learner.gradient, reject_ratio=decay.reject_ratio),
    )
    updates = decay.num_updates - earlier_updates
    return replace(config, max_updates=updates, max_minutes=0.0, learner=learner, oracle=OracleConfig())


def _with_critic_that_sees_all(config: LearnerConfig) -> LearnerConfig:  # in all stages: critics are carried over
    return replace(config, oracle_critic=config.gradient.use_critic)


def distilling(config: ReinforcementConfig, distillation: OracleDistillationConfig) -> ReinforcementConfig:
    """Return the settings of self-play that stays near a teacher."""
    settings = DistillationConfig(weight=distillation.weight, bound=distillation.bound)
    learner = replace(config.learner, distillation=settings)
    return replace(config, max_updates=distillation.max_updates, max_minutes=0.0, learner=learner)


def _see_less(context: StageContext[Recipe]) -> dict[str, float]:
    """Let nets that see hidden tiles play and learn while they see fewer and fewer of them, and at last none."""
    recipe, before = context.recipe, context.upstream[ORACLE]
    first, weak = reinforcement.first_policy_sets(reinforcement.like_reinforcement(context))
    has_weak = weak is not first
    figures: dict[str, float] = {}
    config = decaying(recipe.reinforcement, recipe.oracle_decay)
    if config.max_updates:
        folder = context.folder / DECAY_PART
        part = replace(context, folder=folder, seed=stage_seed(recipe.seed, f"{DECAY}/{DECAY_PART}"))
        ended = reinforcement.finished_figures(folder, config.max_updates)
        if ended is None:
            start = load_policy_set(before, recipe.encoder, game=recipe.game_name)
            ended = reinforcement.play_and_learn(
                part, config, start, weak if has_weak else start, carried=before, opponent=first
            )
        figures = ended
        before = folder
    updates = int(figures.get("updates", 0))
    start = seeing_nothing_hidden(load_policy_set(before, recipe.encoder, game=recipe.game_name))
    last = reinforcement.play_and_learn(
        context,
        continued(recipe.reinforcement, recipe.oracle_decay, updates),
        start,
        weak if has_weak else start,
        carried=before,
        first_update=updates,
        opponent=first,
    )
    return {f"{DECAY_PART}_{name}": value for name, value in figures.items()} | last


def _stay_near(context: StageContext[Recipe]) -> dict[str, float]:
    """Let the nets play and learn near a teacher that sees hidden tiles."""
    context = reinforcement.like_reinforcement(context)
    recipe = context.recipe
    teacher = load_policy_set(context.upstream[ORACLE], recipe.encoder, game=recipe.game_name)
    config = distilling(recipe.reinforcement, recipe.oracle_distillation)
    return reinforcement.play_and_learn(context, config, *reinforcement.first_policy_sets(context), teacher=teacher)
