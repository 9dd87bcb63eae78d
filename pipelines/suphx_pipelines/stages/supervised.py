"""The supervised stages: one net each, learned from the games that the records stage has stored.

Reads the game store in the folder ``store`` of the stage ``records``. Leaves what ``suphx.training.supervised`` writes:
``<head>.safetensors``, ``metrics.json`` and the training state, from which a killed stage continues.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from suphx.games.registry import decision_names, find_decisions, find_learning
from suphx.models.net_config import checkpoint_name
from suphx.training.config import SupervisedConfig
from suphx.training.head_data import head_data, open_store
from suphx.training.supervised import HeadTrainer, HeadTraining, steps_so_far
from suphx.training.trainer import METRICS_FILE, Report
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.recipe.agent_stages import supervised_stages_of
from suphx_pipelines.recipe.recipe import Recipe
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.stages.records import STORE_FOLDER
from suphx_pipelines.stages.training import training
from suphx_platform.console.table_text import count_text, duration_text
from suphx_platform.ray.data_parallel import CheckpointLocation, checkpoint_location, train_on_workers
from suphx_platform.storage.storage_config import StorageConfig

FEW_SAMPLES, FEW_STEPS = 500, 100
LEAST_TEST_SAMPLES = 200
"""Fewer say little about a net."""
LEAST_GAIN = 0.05
"""Share of the loss without learning that a net must have gained."""
LARGEST_CALIBRATION_ERROR = 0.10


def training_warnings(head: str, metrics: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the training of ``head`` (metrics.json), in sentences; empty if it has learned."""
    test, steps, samples = metrics["test"], metrics["history"][-1]["step"], metrics["train_samples"]
    loss, prior = test["loss"], test["prior_loss"]
    error = (metrics["calibrated"] or test)["ece"]
    warnings = []
    if samples < FEW_SAMPLES:
        warnings.append(f"has only about {samples:,} training samples: add records (--records DIR)")
    if steps < FEW_STEPS:
        warnings.append(
            f"has made only {steps:,} training steps: allow more time (supervised.max_minutes, "
            "supervised.total_minutes) or more steps (supervised.max_steps, supervised.max_epochs)"
        )
    elif test["samples"] < LEAST_TEST_SAMPLES:
        warnings.append(f"was tested on only {test['samples']:,} samples, too few for a reliable result: add records")
    else:
        if loss > max((1 - LEAST_GAIN) * prior, LEAST_GAIN):
            warnings.append(
                f"has not learned: its test loss is {loss:.3f}, and {prior:.3f} without any learning; train longer or "
                "add records"
            )
        if error > LARGEST_CALIBRATION_ERROR:
            warnings.append(
                f"gives probabilities that are wrong by {error:.0%} on average: train longer or add records"
            )
    return [f"the {head} net {warning}" for warning in warnings]


def training_end(config: SupervisedConfig, metrics: Mapping[str, Any]) -> str:
    """Return which limit of ``config`` ended a training that left ``metrics`` (metrics.json)."""
    steps, seconds, epochs = metrics["history"][-1]["step"], metrics["seconds"], metrics["max_epochs"]
    num_worse = sum(entry["step"] > metrics["best_step"] for entry in metrics["history"])
    if config.max_steps and steps >= config.max_steps:
        return f"stopped by max_steps ({config.max_steps:,})"
    if epochs and metrics["epochs"] >= epochs:
        more = f" instead of {config.max_epochs:g}, for min_steps" if epochs > config.max_epochs else ""
        return f"stopped by max_epochs: {epochs:g} passes over the training games{more}"
    if config.max_minutes and seconds >= 60 * config.max_minutes:
        return f"stopped by max_minutes ({duration_text(60 * config.max_minutes)})"
    if config.total_minutes and seconds >= 60 * config.total_minutes and steps >= config.min_steps:
        share = f"its share of total_minutes ({duration_text(60 * config.total_minutes)})"
        if steps == config.min_steps:
            return f"stopped after min_steps ({steps:,}), which took longer than {share}"
        return f"stopped by {share}"
    if config.patience and num_worse >= config.patience:
        return f"stopped by patience: no lower validation loss in {count_text(num_worse, 'validation')}"
    return "stopped before its limits"


RECIPE_KEYS = ("encoder", "net", "split", "stream", "supervised")
_LEAST_MINUTES = 0.05
_WORKERS_MARK, _ADDRESS = "workers.json", "storage_address"
_PROGRESS = ("step", "samples", "share_done", "seconds")
"""Of a point of the curve: its place, no figures."""
_TEST_FIGURES = ("accuracy", "majority_accuracy", "balanced_accuracy", "recall_yes", "loss", "ece")


def training_shares(game: str) -> dict[str, float]:
    """Return the share of each net in the time that is left, in the order of training.

    Rare decisions first: their nets are finished early, and leave their time to the others.
    """
    kinds = sorted(find_decisions(game), key=lambda kind: (kind.training_share, kind.name))
    return {kind.name: kind.training_share for kind in kinds}


def supervised_stages(recipe: Recipe) -> list[Stage[Recipe]]:
    """Return one stage for each head; with a limit of their time together, each needs to know what was taken before."""
    shares_time = recipe.supervised.total_minutes > 0
    stages: list[Stage[Recipe]] = []
    names = supervised_stages_of(recipe.game_name)
    for head in training_shares(recipe.game_name):
        before = tuple(stage.name for stage in stages) if shares_time else ()
        stages.append(
            Stage(
                name=names[head],
                run=partial(train, head=head),
                recipe_keys=RECIPE_KEYS,
                needs=("records", *before),
                artifacts=(METRICS_FILE, checkpoint_name(head), checkpoint_name(head, is_weak=True)),
            )
        )
    return stages


def train(context: StageContext[Recipe], head: str) -> dict[str, float]:
    """Train the net of ``head`` on the decisions of the games."""
    seed = (context.seed + context.recipe.supervised.seed) % 2**31  # torch and numpy take 32 bits
    settings = context.recipe.supervised.of_kind(decision_names(context.recipe.game_name).index(head))
    config = replace(settings, seed=seed, total_minutes=_minutes(context, head))
    with training(context, head, "encoding the first samples") as watch:

        def report(point: Mapping[str, Any]) -> None:
            watch.note = (
                f"step {point['step']:,}, loss {point['train_loss']:.3f}, "
                f"{point['samples_per_second']:,.0f} samples/s, waiting {point['waiting_share']:.0%}"
            )
            watch.progress(point["share_done"])  # workers of Ray Train have no watch
            figures = {name: value for name, value in point.items() if name not in _PROGRESS}
            context.tracker.log_metrics(figures, step=point["step"])

        job = _job(context, head, config)
        if context.recipe.data_parallel.needs_ray:
            metrics = _train_on_workers(context, job, report)
        else:
            _check_for_workers(context, head)
            metrics = HeadTrainer(job, context.folder, report=report, keep=context.keep, watch=watch).run()
    last, test, accuracy = metrics["history"][-1], metrics["test"], "no test samples"
    if test["accuracy"] is not None:
        majority = f"always the most frequent answer: {test['majority_accuracy']:.1%}"
        accuracy = f"test accuracy {test['accuracy']:.1%} ({majority})"
    end = training_end(config, metrics)
    context.console.say(f"{head}: {accuracy} after {last['step']:,} steps with {last['samples']:,} samples; {end}")
    for warning in training_warnings(head, metrics):
        context.warn(warning)
    figures = {name: test[name] for name in _TEST_FIGURES}
    figures |= {name: metrics[name] for name in ("samples_per_second", "waiting_share", "train_samples")}
    figures["steps"] = last["step"]
    return {name: float(value) for name, value in figures.items() if value is not None}


def _minutes(context: StageContext[Recipe], head: str) -> float:
    """Return this net's share of what the nets before it have left of ``total_minutes``; 0 = no limit."""
    config = context.recipe.supervised
    if not config.total_minutes:
        return 0.0
    shares, names = training_shares(context.recipe.game_name), supervised_stages_of(context.recipe.game_name)
    order = list(shares)
    folders = [context.upstream[names[other]] for other in order[: order.index(head)]]
    taken = sum(float(read_json(folder / METRICS_FILE)["seconds"]) for folder in folders) / 60
    share = shares[head] / sum(shares[other] for other in order[order.index(head) :])
    return max(_LEAST_MINUTES, round((config.total_minutes - taken) * share, 4))


def _job(context: StageContext[Recipe], head: str, config: SupervisedConfig) -> HeadTraining:
    recipe, game = context.recipe, context.recipe.game_name
    store = open_store(context.upstream["records"] / STORE_FOLDER, game)
    return HeadTraining(
        data=head_data(store, decision_names(game).index(head), recipe.encoder, recipe.split, game=game),
        rules_version=find_learning(game).rules_version,
        net=recipe.net,
        config=config,
        stream=recipe.stream,
        extra={"recipe": recipe.name, "encoder": recipe.encoder},
    )


def _train_on_workers(context: StageContext[Recipe], job: HeadTraining, report: Report) -> dict[str, Any]:
    """Train on the workers of the recipe. While they learn, a mark says where their checkpoints are: the newest."""
    recipe, mark = context.recipe, context.folder / _WORKERS_MARK
    location = _location(context)
    write_json(mark, {"num_workers": recipe.data_parallel.num_workers, _ADDRESS: _address(recipe.storage)})
    # tells another machine, which finds the workers' checkpoints, what they were begun with
    context.keep(steps_so_far(context.folder))
    metrics = train_on_workers(job, context.folder, recipe.data_parallel, location, report=report)
    mark.unlink()
    return metrics


def _location(context: StageContext[Recipe]) -> CheckpointLocation:
    """Return where the workers' checkpoints are; ValueError if they are where another ``storage.address`` was."""
    mark, storage = context.folder / _WORKERS_MARK, context.recipe.storage
    before, now = read_json(mark).get(_ADDRESS) if mark.is_file() else None, _address(storage)
    if isinstance(before, str) and before != now and not (context.folder / METRICS_FILE).is_file():
        raise ValueError(
            f"the {context.folder.name} net would begin again: its workers have begun with storage.address {before!r}, "
            f"and it is {now!r} now. Use the earlier address, or delete {mark} to begin again"
        )
    return checkpoint_location(storage, context.storage_name, context.folder)


def _address(storage: StorageConfig) -> str:
    """Return the address of the storage, from whatever folder the command is started."""
    return str(Path(storage.address).resolve()) if storage.is_folder else storage.address


def _check_for_workers(context: StageContext[Recipe], name: str) -> None:
    """Raise ValueError if workers have checkpoints of the net, which are not read here."""
    mark = context.folder / _WORKERS_MARK
    if not mark.exists() or (context.folder / METRICS_FILE).exists():
        return
    if _location(context).has_checkpoints():
        raise ValueError(
            f"the {name} net was trained by workers of Ray Train, and only they read their checkpoints: add --set "
            "data_parallel.on_ray=true to continue with one worker"
        )
    mark.unlink()  # they never began
