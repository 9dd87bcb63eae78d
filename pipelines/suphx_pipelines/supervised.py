"""The supervised stages: one net each, learned from the games that the records stage has stored.

Reads the game store in the folder ``store`` of the stage ``records``. Leaves what ``suphx.training.supervised`` writes:
``<head>.safetensors``, ``metrics.json`` and the training state, from which a killed stage goes on.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from suphx.features.head import HEAD_NAMES, head_index
from suphx.models.checkpoint_name import checkpoint_name
from suphx.riichi.store import KyokuStore
from suphx.training.head_data import head_data
from suphx.training.supervised import HeadTraining, Report, train_head
from suphx_pipelines.recipe import Recipe
from suphx_pipelines.records import STORE_FOLDER
from suphx_pipelines.stage import Stage, StageContext
from suphx_platform.data_parallel import checkpoint_place, train_on_workers

RECIPE_KEYS = ("encoder", "net", "split", "stream", "supervised")
RULES_VERSION = "tenhou-1"
PERCENT = 100


def supervised_stages() -> list[Stage[Recipe]]:
    """Return one stage for each head, in the order of the paper's Table 1."""
    return [
        Stage(
            name=f"supervised/{head}",
            run=partial(train, head=head),
            recipe_keys=RECIPE_KEYS,
            needs=("records",),
            artifacts=("metrics.json", checkpoint_name(head), checkpoint_name(head, is_weak=True)),
        )
        for head in HEAD_NAMES
    ]


def train(context: StageContext[Recipe], head: str, num_games: int = 0) -> dict[str, float]:
    """Train the net of ``head``, or go on with it, and return the figures of its test.

    ``num_games``: learn from so many training games only; 0 = all.
    """
    recipe = context.recipe
    store = KyokuStore.open(context.upstream["records"] / STORE_FOLDER)
    data = head_data(store, head_index(head), recipe.encoder, recipe.split, num_games)
    # torch and numpy take 32 bits; every head gets its own seed from the recipe's and the training's.
    config = replace(recipe.supervised, seed=(context.seed + recipe.supervised.seed) % 2**31)
    with context.console.progress("%", PERCENT) as progress:
        percent_done = 0

        def report(state: Report) -> None:
            nonlocal percent_done
            now = int(PERCENT * state.share_done)
            note = (
                f"step {state.step:,}, loss {state.train_loss:.3f}, {state.rows_per_second:,.0f} rows/s, "
                f"waiting {state.waiting_share:.1%}"
            )
            progress.advance(now - percent_done, note)
            percent_done = now
            context.tracker.log_metrics(_curve_points(state), step=state.step)

        job = HeadTraining(
            data=data,
            rules_version=RULES_VERSION,
            net=recipe.net,
            config=config,
            stream=recipe.stream,
            extra={"recipe": recipe.name, "encoder": recipe.encoder},
        )
        if recipe.data_parallel.needs_ray:
            place = checkpoint_place(recipe.storage, context.storage_name, context.folder)
            metrics = train_on_workers(job, context.folder, recipe.data_parallel, place, report=report)
        else:
            metrics = train_head(job, context.folder, report=report, keep=context.keep)
    last = metrics["history"][-1]
    if config.max_minutes and last["seconds"] >= 60 * config.max_minutes:
        told = f"{head}: stopped by the clock (supervised.max_minutes = {config.max_minutes:g})"
        context.console.say(
            f"{told} after {last['step']:,} steps, {last['rows']:,} samples; more time makes a better net"
        )
    figures = {name: metrics["test"][name] for name in ("accuracy", "balanced_accuracy", "recall_yes", "loss", "ece")}
    figures |= {name: metrics[name] for name in ("rows_per_second", "waiting_share")}
    return {name: float(value) for name, value in figures.items() if value is not None}


def _curve_points(state: Report) -> dict[str, float]:
    points = {
        "train_loss": state.train_loss,
        "learning_rate": state.learning_rate,
        "rows_per_second": state.rows_per_second,
        "waiting_share": state.waiting_share,
        "validation_loss": state.validation_loss,
        "validation_accuracy": state.validation_accuracy,
    }
    return {name: value for name, value in points.items() if value is not None}
