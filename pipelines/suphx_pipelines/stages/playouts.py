"""The playouts stage: the nets learn from what each of several actions leads to (docs/playouts.md).

Leaves what ``suphx.training.playouts`` writes: an agent (``<head>.safetensors``), ``metrics.json`` and
the state from which a killed stage resumes. At the end this agent plays a match against the supervised nets, unless the
recipe leaves that to self-play, which begins with these nets.
"""

from __future__ import annotations

from collections.abc import Mapping

from suphx.evaluation.match import MatchSetup
from suphx.games.scoring import MAX_DEAL_SEED
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx.selfplay.agents.policy_set import load_policy_set
from suphx.training.playouts import PlayoutJob, PlayoutTrainer
from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.recipe.agent_stages import initial_folder, initial_name, initial_stages
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.runs.verdict import digits_that_tell
from suphx_pipelines.stages.evaluation import difference_figures, play_hanchans
from suphx_pipelines.stages.training import training

STAGE_NAME = "playouts"
_SEEDS = 2**20


def playouts_stages(recipe: Recipe) -> list[Stage[Recipe]]:
    """Return the stage, or none if it is left out."""
    if not recipe.playouts.num_decisions:
        return []
    stage = Stage(
        name=STAGE_NAME,
        run=run,
        recipe_keys=("encoder", "net", "playouts"),
        needs=initial_stages(recipe),
        artifacts=(METRICS_FILE, *checkpoint_names(game=recipe.game_name)),
        agent=STAGE_NAME,
    )
    return [stage]


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Learn from playouts: several actions of one decision, played on the same hidden tiles."""
    recipe = context.recipe
    folder = initial_folder(context.upstream)
    job = PlayoutJob(
        config=recipe.playouts,
        start=load_policy_set(folder, recipe.encoder, game=recipe.game_name),
        encoder=recipe.encoder,
        game=recipe.game_name,
        seed=context.seed % _SEEDS,
        extra={"recipe": recipe.name, "encoder": recipe.encoder},
    )
    with training(context, STAGE_NAME, "first games", unit="decision") as watch:

        def report(point: Mapping[str, float]) -> None:
            context.tracker.log_metrics(point, step=int(point["decisions"]))
            watch.note = _note(point)

        metrics = PlayoutTrainer(job, context.folder, report=report, keep=context.keep, watch=watch).run()
    last: dict[str, float] = {}
    for point in metrics["history"]:  # the last figures of each net: few decisions at the end may have none
        last |= point
    context.console.say(f"{STAGE_NAME}: {_note(last)}")
    figures = {name: metrics[name] for name in ("decisions", "rounds", "seconds")}
    figures |= {name: value for name, value in last.items() if name.endswith(("_gain", "_gain_error", "_kl_to_start"))}
    if hanchans := recipe.playouts.final_hanchans:
        setup = MatchSetup(str(context.folder), str(folder), seed=context.seed % MAX_DEAL_SEED)
        name = f"{STAGE_NAME}: the nets against the {initial_name(recipe)}"
        match = play_hanchans(context, setup, hanchans, recipe.evaluation.workers, name)
        figures |= {**difference_figures("start_difference", match.difference), "start_hanchans": match.games}
    return {name: float(value) for name, value in figures.items()}


def _note(point: Mapping[str, float]) -> str:
    gains = []
    for head in (name.removesuffix("_gain") for name in point if name.endswith("_gain")):
        gain, error = point[f"{head}_gain"], 1.96 * point[f"{head}_gain_error"]
        digits = digits_that_tell((gain - error, gain + error), 0 if error >= 10 else 2)
        gains.append(f"{head} {gain:+.{digits}f} ± {error:.{digits}f}")
    if not gains:
        return f"{point['decisions']:,.0f} decisions; too few deals to measure a gain"
    return (
        f"{point['decisions']:,.0f} decisions; points per decision against the start (± 95 % interval): "
        f"{', '.join(gains)}"
    )
