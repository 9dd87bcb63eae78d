"""A sweep: runs of one recipe with different settings, one after another, and one page that compares them.

Each run of a sweep is a run like any other. Runs reuse the results of each other, so what does not depend on the
settings is done once, and the same command continues a sweep that was stopped. In MLflow they are the children of the
sweep. Its folder has ``sweep.json`` and ``report.html``.
"""

from __future__ import annotations

import math
import random
import re
import shlex
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

from suphx.atomic_file import write_atomically
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.recipe_file import AnyRecipe
from suphx_pipelines.report.report_page import page, piece
from suphx_pipelines.runs.provenance import digest_json
from suphx_pipelines.runs.run_commands import command_line
from suphx_pipelines.runs.run_list import SWEEP_FILE
from suphx_pipelines.runs.run_lock import locked
from suphx_pipelines.runs.run_origin import derived_run_id
from suphx_pipelines.runs.run_summary import headlines
from suphx_pipelines.runs.runner import RunResult
from suphx_pipelines.runs.stage_folder import REPORT_NAME
from suphx_platform.console.console import Console
from suphx_platform.console.table_text import count_text
from suphx_platform.tracking.mlflow_client import TrackingError
from suphx_platform.tracking.tracking import TrackingStore

PARENT_TAG = "mlflow.parentRunId"
_DIGITS = 10
_RANGE = re.compile(r"([-+]?[\d_.]+(?:e[-+]?\d+)?)\.\.([-+]?[\d_.]+(?:e[-+]?\d+)?)", re.IGNORECASE)
_LOG_RATIO = 10
"""A range from which numbers are drawn evenly on a logarithmic scale has ends whose ratio is at least this."""
Settings = Mapping[str, str]
"""Key of the recipe -> value, as after ``--set``."""


def choices_of(text: str) -> list[str]:
    """Return the values of ``a,b,c``; a comma in brackets, braces or quotes separates nothing.

    >>> choices_of('["discard", "chow"],["discard"]')
    ['["discard", "chow"]', '["discard"]']
    """
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if sign in "\"'":
            quote = "" if quote == sign else quote or sign
        elif not quote:
            depth += (sign in "[{") - (sign in "]}")
        if sign == "," and not quote and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]


def sweep_settings(overrides: Sequence[tuple[str, str]], num_samples: int = 0, seed: int = 1) -> list[Settings]:
    """Return the settings of each run: all combinations, or at most ``num_samples`` random ones, each once.

    ValueError if no key has several values, and for a range ``low..high`` unless values are drawn.
    """
    choices = {key: choices_of(text) for key, text in overrides}
    has_range = {key: any(map(_RANGE.fullmatch, values)) for key, values in choices.items()}
    if not any(has_range[key] or len(values) > 1 for key, values in choices.items()):
        raise ValueError("a sweep needs a key with several values: --set net.size=tiny,small")
    if num_samples:
        draw = random.Random(seed)
        drawn = [{key: _drawn(draw.choice(choices[key]), draw) for key in choices} for _ in range(num_samples)]
        return [each for number, each in enumerate(drawn) if each not in drawn[:number]]
    for key, is_range in has_range.items():
        if is_range:
            raise ValueError(f"--set {key}={dict(overrides)[key]}: values of a range are drawn: add --samples N")
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def _drawn(value: str, draw: random.Random) -> str:
    """Return a value, or a number from the range ``low..high`` that it is."""
    found = _RANGE.fullmatch(value)
    if found is None:
        return value
    low, high = (float(end) for end in found.groups())
    if not low < high:
        raise ValueError(f"{value} is not a range: write the smaller number first")
    is_log = low > 0 and high / low >= _LOG_RATIO
    number = math.exp(draw.uniform(math.log(low), math.log(high))) if is_log else draw.uniform(low, high)
    is_whole = all(re.fullmatch(r"[-+]?[\d_]+", end) for end in found.groups())
    return str(round(number)) if is_whole else f"{number:.4g}"


def check_runs_differ(recipes: Sequence[AnyRecipe], settings: Sequence[Settings]) -> None:
    """Raise ValueError if two settings are the same run, as they only change how the work is done."""
    known: dict[str, Settings] = {}
    for recipe, each in zip(recipes, settings, strict=True):
        other = known.setdefault(derived_run_id(recipe), each)
        for key in each:
            if each[key] != other[key]:
                raise ValueError(
                    f"--set {key}: {other[key]} and {each[key]} are the same run: use settings that change its results"
                )


def run_sweep(
    recipe_name: str,
    settings: Sequence[Settings],
    run: Callable[[int, Mapping[str, str]], RunResult],
    *,
    runs: Path,
    console: Console,
) -> dict[str, Any]:
    """Run all settings in order, and compare the runs on a page; raises what a run raises.

    ``run``: runs the recipe with the settings of this index, and with tags of the run in MLflow. Returns ``sweep_id``,
    ``report``, and of each of the ``runs`` its ``run_id``, the ``settings`` that differ, ``metrics`` {stage: {figure:
    value}} and ``verdict``.
    """
    sweep_id = f"{recipe_name}-sweep-{digest_json([dict(each) for each in settings])[:_DIGITS]}"
    folder, store = runs / sweep_id, TrackingStore(runs)
    folder.mkdir(parents=True, exist_ok=True)
    swept = [key for key in settings[0] if len({each[key] for each in settings}) > 1]
    entries: list[dict[str, Any]] = []
    with (
        locked(folder),
        store.closed(),
        store.start(sweep_id, key=sweep_id, tags={"suphx.recipe": recipe_name}) as tracker,
    ):
        tags = {}
        with suppress(TrackingError):  # it is unavailable: the runs have no parent
            tags = {PARENT_TAG: tracker.run_id}
        for index, each in enumerate(settings):
            differing = {key: each[key] for key in swept}
            console.say(f"sweep {sweep_id}: run {index + 1} of {len(settings)}: {_settings_text(differing)}")
            result = run(index, tags)
            metrics = {name: headlines(name, stage.metrics) for name, stage in result.stages.items()}
            entries.append(
                {
                    "run_id": result.run_id,
                    "settings": differing,
                    "metrics": {name: figures for name, figures in metrics.items() if figures},
                    "verdict": result.verdict.sentence if result.verdict else None,
                }
            )
            write_json(folder / SWEEP_FILE, {"runs": entries})
            write_atomically(folder / REPORT_NAME, [sweep_page(sweep_id, entries).encode()])
        tracker.log_artifact(folder / REPORT_NAME)
        tracker.describe(f"{count_text(len(entries), 'run')}, compared in `{REPORT_NAME}` under *Artifacts*.")
    return {"sweep_id": sweep_id, "runs": entries, "report": str(folder / REPORT_NAME)}


def compared(entries: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows of a table of runs: settings, and the figures that are not the same in all runs.

    Runs that differ in a seed alone are one row: mean ± standard deviation of their figures.
    """
    keys = [key for key in entries[0]["settings"] if not key.endswith("seed")]
    groups: dict[tuple[str, ...], list[dict[str, float]]] = defaultdict(list)
    for entry in entries:
        groups[tuple(entry["settings"][key] for key in keys)].append(_flat(entry))
    figures = [each for members in groups.values() for each in members]
    names = dict.fromkeys(name for each in figures for name in each)
    shown = [name for name in names if len({each.get(name) for each in figures}) > 1]
    rows = []
    for values, members in groups.items():
        measured = ([each[name] for each in members if name in each] for name in shown)
        rows.append([*values, str(len(members)), *map(_mean_text, measured)])
    return [*keys, "runs", *shown], rows


def _flat(entry: Mapping[str, Any]) -> dict[str, float]:
    return {f"{stage} {name}": value for stage, known in entry["metrics"].items() for name, value in known.items()}


def _mean_text(values: Sequence[float]) -> str:
    if not values:
        return "–"
    spread = f" ± {statistics.stdev(values):.2g}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.4g}{spread}"


def _settings_text(settings: Settings) -> str:
    return ", ".join(f"{key}={value}" for key, value in settings.items())


def sweep_page(sweep_id: str, entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the page that compares the runs."""
    columns, rows = compared(entries)
    about = "Figures that are not the same in all runs; mean ± standard deviation of runs that differ in the seed."
    verdicts = [[_settings_text(each["settings"]), each["run_id"], each["verdict"] or "–"] for each in entries]
    sections = [
        ("Comparison", piece("table", columns, rows, about)),
        ("Runs", piece("table", ["settings", "run", "verdict"], verdicts, "", True)),
    ]
    head = piece("facts", {"command": shlex.join(command_line()), "runs": str(len(entries))})
    return page(f"Sweep {sweep_id}", "", head, sections)
