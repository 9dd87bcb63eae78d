"""The stage that learns the reward predictor from the games of the records stage (paper, section 3.2; Figure 7).

Leaves ``reward_predictor.safetensors``, the state from which a killed stage resumes, and ``metrics.json``: ``{"points":
[4], "net", "num_weights", "games": {"train", "validation", "test", "left_out"}, "history": [{"step", "seconds",
"train_loss", "validation_loss"}], "test": {predictor: {"loss", "difference", "interval": [2], "is_widened", "margin"}},
"calibration": [[predicted, paid, number]], "sums": {"mean", "mean_absolute"}, "examples": [...]}``. Losses are those of
equation 4 in squared points; differences are the net's loss minus a naive predictor's, on the same games.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from suphx.evaluation.statistics import paired_difference
from suphx.games.registry import find_learning
from suphx.models.policy import num_weights
from suphx.models.reward_predictor import REWARD_PREDICTOR_FILE, RewardPredictor
from suphx.training import reward_learning
from suphx.training.head_data import KyokuSplit, open_store, split_by_game
from suphx.training.reward_learning import GameHistories, RewardLearning, RewardTrainer
from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.stages.records import STORE_FOLDER
from suphx_pipelines.stages.training import training

STAGE_NAME = "reward_predictor"
NUM_EXAMPLES = 3


def reward_predictor_stage() -> Stage[Recipe]:
    """Return the stage."""
    return Stage(
        name=STAGE_NAME,
        run=run,
        recipe_keys=("reward_predictor", "split.validation_fraction", "split.test_fraction"),
        needs=("records",),
        artifacts=(METRICS_FILE, REWARD_PREDICTOR_FILE),
    )


def run(context: StageContext[Recipe]) -> dict[str, float]:
    """Train the net that predicts the reward of a game from its kyokus so far."""
    recipe = context.recipe
    store = open_store(context.upstream["records"] / STORE_FOLDER, recipe.game_name)
    histories = reward_learning.game_histories(store)
    games = split_by_game(histories.game_ids, np.arange(len(histories)), recipe.split)
    config = recipe.reward_predictor
    learning = RewardLearning(
        histories=histories,
        train=games.train,
        validation=games.validation,
        points=config.target.by_place(),
        net=config.net,
        config=replace(config.learning, seed=(context.seed + config.learning.seed) % 2**31),
        digest=f"{store.digest}, {recipe.split.validation_fraction}, {recipe.split.test_fraction}",
        rules_version=find_learning(context.recipe.game_name).rules_version,
        extra={"recipe": recipe.name},
    )
    with training(context, STAGE_NAME, "first epoch") as watch:

        def report(epoch: Mapping[str, Any]) -> None:
            losses = {name: epoch[name] for name in ("train_loss", "validation_loss")}
            watch.note = f"step {epoch['step']:,}, loss {epoch['validation_loss']:,.0f}"
            watch.progress(epoch["share_done"])
            context.tracker.log_metrics(losses, step=epoch["step"])

        trainer = RewardTrainer(learning, context.folder, report=report, keep=context.keep, watch=watch)
        predictor, state = trainer.run()
    metrics = {
        "points": list(learning.points),
        "net": asdict(learning.net),
        "num_weights": num_weights(predictor),
        "games": {name: len(getattr(games, name)) for name in ("train", "validation", "test")}
        | {"left_out": histories.num_left_out},
        "history": state.history,
        **_test(predictor, histories, games),
    }
    write_json(context.folder / METRICS_FILE, metrics)
    margins = {name: figures["margin"] for name, figures in metrics["test"].items() if "margin" in figures}
    shown = ", ".join(
        f"{abs(margin):.1%} {'below' if margin >= 0 else 'above'} {_NAMES[name]}" for name, margin in margins.items()
    )
    context.console.say(f"reward predictor: test loss {metrics['test']['net']['loss']:,.0f}, {shown}")
    return {"loss": metrics["test"]["net"]["loss"], **{f"margin_to_{name}": value for name, value in margins.items()}}


_NAMES = {"mean": "the mean", "place_now": "the place now", "place_and_kyoku": "place and kyoku"}


def _test(predictor: RewardPredictor, histories: GameHistories, games: KyokuSplit) -> dict[str, Any]:
    lengths, rewards = histories.lengths[games.test], reward_learning.paid(histories, games.test, predictor.points)
    predictions = reward_learning.compared_predictions(predictor, histories, games.train, games.test)
    losses = {name: reward_learning.game_losses(values, rewards, lengths) for name, values in predictions.items()}
    test: dict[str, Any] = {name: {"loss": float(values.mean())} for name, values in losses.items()}
    for name in _NAMES:
        if test[name]["loss"] > 0:
            test[name]["margin"] = 1 - test["net"]["loss"] / test[name]["loss"]
        if len(games.test) > 1:
            difference = paired_difference(losses["net"], losses[name])
            test[name]["difference"] = difference.mean
            test[name]["interval"] = [difference.interval.low, difference.interval.high]
            test[name]["is_widened"] = difference.interval.is_widened
    return {
        "test": test,
        "calibration": reward_learning.calibration(predictions["net"], rewards),
        "sums": reward_learning.sum_gap(predictions["net"], predictor.points),
        "examples": reward_learning.example_games(predictor, histories, games.test[:NUM_EXAMPLES]),
    }
