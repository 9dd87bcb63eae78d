"""What controlling the entropy is good for: self-play with alpha fixed, beside that in which it follows its target.

Stages ``entropy_study/<alpha>`` are the reinforcement stage once more, from the same weights and on the same walls,
with another alpha that never moves. The paper (section 3.2) names what is to be seen: too small and the policy
collapses, too large and it stays close to random.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from suphx.games.registry import DEFAULT_GAME, game_modules
from suphx.training.learner_config import EntropyConfig
from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import Stage, StageContext, stage_seed
from suphx_pipelines.stages import reinforcement

STAGE_PREFIX = "entropy_study/"


def entropy_study_stages(recipe: Recipe) -> list[Stage[Recipe]]:
    """Return a stage for each fixed alpha; none if there is no self-play."""
    if not recipe.reinforcement.is_wanted:
        return []
    if recipe.entropy_study.alphas and recipe.agent_comparison.agents:
        raise ValueError(
            "entropy_study.alphas compares with the stage reinforcement, which a recipe with agent_comparison.agents "
            "does not have: remove one of the two"
        )
    return [
        Stage(
            name=f"{STAGE_PREFIX}{alpha:g}",
            run=partial(_run, alpha=alpha),
            modules=game_modules(DEFAULT_GAME),
            recipe_keys=(*reinforcement.RECIPE_KEYS, "entropy_study.max_updates"),
            needs=reinforcement.needed_stages(recipe),
            artifacts=(METRICS_FILE,),
            files=reinforcement.FILES,
            outside_files=reinforcement.predictor_files,
            check=reinforcement.check_self_play,
        )
        for alpha in recipe.entropy_study.alphas
    ]


def fixed_alpha(config: EntropyConfig, alpha: float) -> EntropyConfig:
    """Return the settings with an ``alpha`` that stays what it is."""
    return replace(config, alpha=alpha, max_alpha=max(alpha, config.max_alpha), rate=0.0, gain=0.0)


def _run(context: StageContext[Recipe], alpha: float) -> dict[str, float]:
    config = context.recipe.reinforcement
    learner = replace(config.learner, entropy=fixed_alpha(config.learner.entropy, alpha))
    max_updates = context.recipe.entropy_study.max_updates or config.max_updates
    recipe = replace(context.recipe, reinforcement=replace(config, learner=learner, max_updates=max_updates))
    seed = stage_seed(recipe.seed, reinforcement.STAGE_NAME)
    return reinforcement.run(replace(context, recipe=recipe, seed=seed))
