"""The playouts stage: the nets learn from what each of several actions leads to (docs/playouts.md).

Leaves what ``suphx.training.playouts`` writes: an agent (``<head>.safetensors``), ``metrics.json`` and
the state from which a killed stage goes on. At the end this agent plays a match against the supervised nets, unless the
recipe leaves that to self-play, which begins with these nets.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.kept_results import GAMES_FOLDER, RECORDS_FOLDER, KeptResults
from suphx.evaluation.match import MatchSetup, play_match
from suphx.evaluation.match_config import few_games_note, widened_note
from suphx.games.registry import decision_names
from suphx.games.riichi.match_tables import index_records
from suphx.games.scoring import MAX_DEAL_SEED
from suphx.selfplay.agents.checkpoint_folder import checkpoint_names
from suphx.selfplay.agents.policy_set import load_policy_set
from suphx.training.playouts import PlayoutJob, PlayoutTrainer
from suphx.training.trainer import METRICS_FILE, StoppedError
from suphx_pipelines.recipe.agent_stages import initial_folder, initial_name, initial_stages
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import PERCENT, Interrupted, Stage, StageContext, StageWatch
from suphx_pipelines.runs.verdict import difference_text
from suphx_pipelines.stages.supervised import RULES_VERSION

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
        artifacts=(METRICS_FILE, *checkpoint_names()),
    )
    return [stage]


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Play out and learn, or continue, and return the figures at the end."""
    recipe = context.recipe
    folder = initial_folder(context.upstream)
    job = PlayoutJob(
        config=recipe.playouts,
        start=load_policy_set(folder, recipe.encoder),
        encoder=recipe.encoder,
        rules_version=RULES_VERSION,
        seed=context.seed % _SEEDS,
        extra={"recipe": recipe.name, "encoder": recipe.encoder},
    )
    with context.console.progress("%", PERCENT, name=STAGE_NAME, note="first games") as progress:
        watch = StageWatch(context.console, progress, STAGE_NAME, note="first games", unit="decision")

        def report(point: Mapping[str, float]) -> None:
            context.tracker.log_metrics(point, step=int(point["decisions"]))
            watch.note = _note(point)

        try:
            metrics = PlayoutTrainer(job, context.folder, report=report, keep=context.keep, watch=watch).run()
        except StoppedError as stopped:
            raise Interrupted(f"decision {stopped.step:,} of {STAGE_NAME}") from stopped
    last: dict[str, float] = {}
    for point in metrics["history"]:  # the last figures of each net: few decisions at the end may have none
        last |= point
    context.console.say(f"{STAGE_NAME}: {_note(last)}")
    figures = {name: metrics[name] for name in ("decisions", "rounds", "seconds")}
    figures |= {name: value for name, value in last.items() if name.endswith(("_gain", "_gain_error", "_kl_to_start"))}
    if recipe.playouts.final_hanchans:
        figures |= _match(context, str(folder))
    return {name: float(value) for name, value in figures.items()}


def _match(context: StageContext[Recipe], start: str) -> dict[str, float]:
    """Play the final match against the agent in the folder ``start``; return its figures."""
    hanchans = context.recipe.playouts.final_hanchans
    setup = MatchSetup(str(context.folder), start, seed=context.seed % MAX_DEAL_SEED)
    with context.console.progress("hanchans", hanchans, name="match") as progress:
        runner = GameRunner(
            workers=context.recipe.evaluation.workers,
            kept=KeptResults(context.folder / GAMES_FOLDER),
            records=context.folder / RECORDS_FOLDER,
            progress=progress.advance,
            note_kept=progress.skip,
        )
        match = play_match(setup, hanchans, runner=runner, tell=partial(progress.advance, 0))
    index_records(context.folder / RECORDS_FOLDER)
    difference = match.difference
    shown = difference_text(difference.mean, difference.interval.low, difference.interval.high, match.hanchans)
    name = initial_name(context.recipe)
    notes = few_games_note(match.hanchans) + widened_note(match.difference.interval.is_widened)
    context.console.say(f"{STAGE_NAME}: the nets against the {name}: {shown}{notes}")
    return {
        "start_difference": match.difference.mean,
        "start_difference_low": match.difference.interval.low,
        "start_difference_high": match.difference.interval.high,
        "start_hanchans": match.hanchans,
    }


def _note(point: Mapping[str, float]) -> str:
    """Return what the progress line shows of a point of the curves."""
    gains = [
        f"{head} {point[f'{head}_gain']:+.0f} ± {1.96 * point[f'{head}_gain_error']:.0f}"
        for head in decision_names()
        if f"{head}_gain" in point
    ]
    if not gains:
        return f"{point['decisions']:,.0f} decisions; too few deals to measure a gain"
    return (
        f"{point['decisions']:,.0f} decisions; points per decision against the start (± 95 % interval): "
        f"{', '.join(gains)}"
    )
