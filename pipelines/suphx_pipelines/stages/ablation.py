"""The ablation of planes: equal nets from equal data that see the planes of different encoders, and who is better.

Stages ``ablation/<head>/<encoder>/<n>`` train one net each, with the settings of the supervised stages but a fixed
number of steps, all from the same games. The last stage, ``ablation/summary``, lets them answer the same test samples
and leaves ``ablation.json``. Differences are to the encoder that is named first.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suphx.evaluation.statistics import paired_difference
from suphx.games.registry import decision_names
from suphx.models.checkpoint import load_checkpoint
from suphx.models.device import find_device, torch_threads, uses_bf16
from suphx.models.net_config import Precision, checkpoint_name
from suphx.training.head_data import HeadData, head_data, open_store
from suphx.training.optimizer import predict
from suphx.training.trainer import METRICS_FILE
from suphx_pipelines.json_file import read_json, write_json
from suphx_pipelines.recipe.recipe import EncoderName, Recipe
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.stages.records import STORE_FOLDER
from suphx_pipelines.stages.supervised import train

SUMMARY_STAGE = "ablation/summary"
ABLATION_FILE = "ablation.json"

_TRAINING_KEYS = ("ablation.max_steps", "net", "split", "stream", "supervised")


def ablation_stages(recipe: Recipe) -> list[Stage[Recipe]]:
    """Return a stage for each net and the one that compares them; none if the recipe wants no ablation."""
    config = recipe.ablation
    if not config.encoders:
        return []
    nets: list[Stage[Recipe]] = [
        Stage(
            name=_stage_name(head, encoder, number),
            run=partial(_train, head=head, encoder=encoder),
            recipe_keys=_TRAINING_KEYS,
            needs=("records",),
            artifacts=(METRICS_FILE,),
        )
        for head in config.heads
        for number in range(config.seeds)
        for encoder in config.encoders
    ]
    summary: Stage[Recipe] = Stage(
        name=SUMMARY_STAGE,
        run=summarise,
        recipe_keys=("ablation", "split"),
        needs=("records", *(stage.name for stage in nets)),
        artifacts=(ABLATION_FILE,),
    )
    return [*nets, summary]


def summarise(context: StageContext[Recipe]) -> dict[str, float]:
    """Test all nets on the same samples and compare their accuracy."""
    config = context.recipe.ablation
    results, differences = {}, {}
    with torch_threads(context.recipe.supervised.threads):
        for head in config.heads:
            results[head] = _compare(context, head)
            for entry in results[head]["encoders"][1:]:
                differences[f"{head}_{entry['encoder']}_difference"] = float(entry["difference"])
    write_json(context.folder / ABLATION_FILE, results)
    return differences


def _train(context: StageContext[Recipe], head: str, encoder: EncoderName) -> dict[str, float]:
    """Train the net of ``head`` with the planes of ``encoder``."""
    config = context.recipe.ablation
    fixed = replace(
        context.recipe.supervised, max_steps=config.max_steps, max_epochs=0, max_minutes=0, total_minutes=0, patience=0
    )
    recipe = replace(context.recipe, encoder=encoder, supervised=fixed)
    return train(replace(context, recipe=recipe), head)


def _stage_name(head: str, encoder: str, number: int) -> str:
    return f"ablation/{head}/{encoder}/{number}"


def _compare(context: StageContext[Recipe], head: str) -> dict[str, Any]:
    config, game = context.recipe.ablation, context.recipe.game_name
    store = open_store(context.upstream["records"] / STORE_FOLDER, game)
    entries: list[dict[str, Any]] = []
    first_hits = None
    for encoder in config.encoders:
        data = head_data(store, decision_names(game).index(head), encoder, context.recipe.split, game=game)
        folders = [context.upstream[_stage_name(head, encoder, number)] for number in range(config.seeds)]
        hits, games = _hits(data, folders, context.recipe.supervised.precision)
        first_hits = hits if first_hits is None else first_hits
        difference = paired_difference(hits.mean(0), first_hits.mean(0), games)
        entries.append(
            {
                "encoder": encoder,
                "planes": data.layout.num_planes,
                "trained_samples": read_json(folders[0] / METRICS_FILE)["history"][-1]["samples"],
                "accuracies": hits.mean(1).tolist(),
                "differences": (hits - first_hits).mean(1).tolist(),
                "difference": difference.mean,
                "interval": [difference.interval.low, difference.interval.high],
                "is_widened": difference.interval.is_widened,
                "is_significant": difference.is_significant,
            }
        )
    return {"samples": len(games), "games": len(np.unique(games)), "encoders": entries}


def _hits(data: HeadData, folders: list[Path], precision: Precision) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return [k, n], 1 where the net of each of k folders is right, and [n], the games of the n test samples."""
    kind = data.kind
    nets = [load_checkpoint(folder / checkpoint_name(kind.name), kind, data.layout)[0] for folder in folders]
    bf16 = uses_bf16(precision, find_device("cpu"))
    test_games = data.game_of_kyoku[data.split.test]
    hits: list[NDArray[np.float64]] = []
    games: list[int] = []
    for game in np.random.default_rng(0).permutation(np.unique(test_games)):  # for all encoders the same
        if len(games) >= data.max_test_samples:
            break
        samples = data.encode(data.split.test[test_games == game])
        if len(samples):
            answers = np.stack([predict(net, samples, bf16).argmax(1) for net in nets])
            hits.append((answers == samples.labels).astype(np.float64))
            games += [game] * len(samples)
    if len(set(games)) < 2:
        raise ValueError(
            f"the test samples of {kind.name} are of one game: raise max_test_samples or give more records"
        )
    return np.concatenate(hits, axis=1), np.array(games, np.int64)
