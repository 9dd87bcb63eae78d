"""``suphx run RECIPE``: one complete run of a recipe, all its stages; ``suphx recipes``: the shipped ones.

``run`` starts a pipeline: the command line is where everything is put together.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suphx_cli.arguments import DEFAULT_RUNS, LEARNING, add_command, check_output_folder, check_records, resumable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from suphx_cli.arguments import Subparsers
    from suphx_pipelines.recipe.recipe_kind import RunRecipe
    from suphx_pipelines.runs.runner import RunResult
    from suphx_platform.console.console import Console

_RUN = """
run: run a recipe from data to report

Run all stages of a recipe. Finished stages are not repeated: the same command resumes a run that was stopped.

RECIPE
--set
--records DIR    game records to learn from; recipes of doudizhu and the recipe fanfou refuse them (default: games that
                 the agent `records.player` plays)
--runs
--run-id RUN_ID  name of the run (default: derived from its settings); an existing run must have the same settings
--wait-hours
--tensorboard    also write the curves as TensorBoard event files, to RUN/tensorboard; needs the package tensorboard
--dry-run

examples:
  suphx run laptop
  suphx run rl_1 --records DIR
  suphx run doudizhu
  suphx run laptop --set net.size=small --set supervised.max_minutes=10 --run-id small
"""
_SWEEP = """
sweep: run a recipe with several settings and compare the runs

Run a recipe with each combination of settings, one after another, and write one page that compares the runs. Stages
that do not depend on the settings are done once. The same command resumes a sweep that was stopped.

RECIPE
--set KEY=VALUE  as in `suphx run`, with one value or several: net.size=tiny,small; with --samples also a range, such as
                 supervised.learning_rate=1e-4..1e-2
--samples N      draw this number of random combinations instead of running all
--stage STAGE    run only this stage and those that it needs (default: all)
--records DIR    game records to learn from
--runs
--wait-hours

examples:
  suphx sweep laptop --set net.size=tiny,small
  suphx sweep rl_basic --records DIR --set encoder=suphx,mini --set supervised.seed=1,2,3 --stage supervised/discard
  suphx sweep supervised --records DIR --set split.train_games=100,1000,0 --stage supervised/discard
  suphx sweep reinforcement --set reinforcement.learner.entropy.target=0.5,1,1.5
  suphx sweep laptop --set supervised.learning_rate=1e-4..1e-2 --samples 8
"""
_RECIPES = """
recipes: list the shipped recipes

List the shipped recipes: what each does, whether it is meant for game records (--records DIR), and about how long it
takes on two cores.

--schema  print the JSON schema of recipes instead, by which editors complete them

examples:
  suphx recipes
  suphx run laptop
  suphx run paper/rl_1 --records DIR
"""
_MINUTES_PER_HOUR = 60


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``run``, ``sweep`` and ``recipes``."""
    add_command(commands, options, _RUN, execute, needs=LEARNING, run_id={"type": _run_id})
    add_command(
        commands,
        options,
        _SWEEP,
        execute_sweep,
        needs=LEARNING,
        set={"action": "append", "required": True, "dest": "overrides"},
        samples=0,
    )
    add_command(commands, options, _RECIPES, execute_recipes)


def _run_id(text: str) -> str:
    """Return a name that can be a folder and an object of a cluster."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,62}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a run id: use lower-case letters, digits, - and _")
    return text


def execute(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Run the recipe; ValueError for a bad recipe or missing records, ModuleNotFoundError without tensorboard."""
    if args.tensorboard:
        from suphx.extras import need

        need("tensorboard")
    if args.dry_run:
        return _check(args, console)
    try:
        return _execute(args, console)
    except Exception as error:
        from suphx_pipelines.runs.attempt_writer import keep_early

        keep_early(error, args.run_id, args.runs, args.overrides)
        raise


def _check(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Return which recipe would be run; ValueError if it, its records or files that it names cannot be used."""
    from suphx.usable_cores import MachineError
    from suphx_pipelines.recipe.recipe_kind import check_memory, load_run_recipe

    recipe = load_run_recipe(args.recipe, args.overrides)
    _check_given_records(args.records, recipe)
    with console.activity("importing"):
        from suphx_pipelines.pipeline import left_out, pipeline_stages
    stages = pipeline_stages(recipe)
    for note in left_out(recipe):
        console.say(note)
    for check in (check_memory, *(stage.check for stage in stages if stage.check is not None)):
        try:
            check(recipe)
        except MachineError as error:  # the run may be for another machine, as in the chart's check of a recipe
            console.warn(str(error))
    return {"dry_run": "valid", "recipe": recipe.name, "stages": [stage.name for stage in stages]}


def _check_given_records(records: Path | None, recipe: RunRecipe) -> None:
    """Raise ValueError for records that a recipe has no use for, or of which none can be read."""
    from suphx_pipelines.recipe.recipe import Recipe

    if records is None:
        return
    if not isinstance(recipe, Recipe):
        raise ValueError(f"--records has no meaning for the recipe {recipe.name}: omit it")
    from suphx.games.registry import find_learning, load_game
    from suphx_cli.commands.records import check_games

    check_records(records)
    game = load_game(recipe.game_name)
    if "archive" in find_learning(game.name).options and game.record_tools is not None:
        check_games([records], game.record_tools)
    elif next(iter(game.read_records(records)), None) is None:
        raise ValueError(f"{records} has no records of {game.title}: check --records")


def _execute(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    from suphx_pipelines.recipe.recipe_kind import load_run_recipe

    recipe = load_run_recipe(args.recipe, args.overrides)
    result = _run(recipe, args, console, run_id=args.run_id, tensorboard=args.tensorboard)
    return show(result, args.runs, console)


def _run(recipe: RunRecipe, args: argparse.Namespace, console: Console, **more: Any) -> RunResult:
    """Check what the recipe needs and run it, while its kernels are compiled; ``more``: as for ``run_recipe``."""
    from suphx.games.registry import load_game
    from suphx_pipelines.recipe.recipe import Recipe
    from suphx_pipelines.recipe.recipe_kind import check_memory
    from suphx_platform.kernels.kernel_warmup import RunKernels

    check_memory(recipe)
    check_output_folder(args.runs, "--runs")
    _check_given_records(args.records, recipe)
    kernels = None
    if isinstance(recipe, Recipe) and load_game(recipe.game_name).kernel_groups:
        kernels = RunKernels(
            console,
            recipe.game_name,
            plays_itself=recipe.has_self_play,
            has_records=args.records is not None,
        )

    def saved(error: KeyboardInterrupt) -> str:
        from suphx_pipelines.runs.stage import Interrupted

        if isinstance(error, Interrupted):
            return f"Saved at {error}."
        if kernels is not None and not kernels.is_ready:
            return "Stopped before the first stage; the kernels compiled so far are kept."
        return "Finished stages, and finished games of a match, are saved."

    with resumable(console, saved), kernels or nullcontext():
        with console.activity("importing"):  # kernels are compiled at the same time
            from suphx_pipelines.pipeline import run_recipe
        return run_recipe(
            recipe,
            records=args.records,
            runs=args.runs,
            console=console,
            get_ready=None if kernels is None else kernels.wait,
            max_wait_hours=args.wait_hours,
            **more,
        )


def execute_sweep(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Run the recipe with all settings; ValueError for a bad recipe, key or stage, before the first run begins."""
    from suphx_pipelines.recipe.recipe_kind import load_run_recipe

    with console.activity("importing"):
        from suphx_pipelines.pipeline import needed_stages, pipeline_stages
        from suphx_pipelines.sweep import check_runs_differ, run_sweep, sweep_settings

    settings = sweep_settings(args.overrides, args.samples)
    recipes = [load_run_recipe(args.recipe, list(each.items())) for each in settings]
    for recipe in recipes:
        stages = pipeline_stages(recipe)
        if args.stage:
            needed_stages(stages, args.stage)
    check_runs_differ(recipes, settings)

    def run(number: int, tags: Mapping[str, str]) -> RunResult:
        return _run(recipes[number], args, console, last_stage=args.stage or "", tags=tags)

    result = run_sweep(recipes[0].name, settings, run, runs=args.runs, console=console)
    if console.is_json:
        return result
    console.line(f"Report: {result['report']}")
    return None


def show(result: RunResult, runs: Path, console: Console) -> dict[str, object] | None:
    """Print what a person wants to know last; return the JSON object if that is wanted instead."""
    from suphx_platform.console.table_text import count_text, result_lines

    values = result.to_json()
    for line in result_lines(values):
        console.detail(line)
    if console.is_json:
        return values
    warnings = result.warnings  # those of a long run may have left the screen
    lines = [f"{count_text(len(warnings), 'warning')}:", *(f"  {each}" for each in warnings)] if warnings else []
    lines += [result.verdict.sentence] if result.verdict is not None else []
    lines += report_lines(result)
    for line in lines if console.verbosity == "quiet" else [*lines, *next_commands(result, runs)]:
        console.line(line)
    return None


def report_lines(result: RunResult) -> list[str]:
    """Return where the report is, and in a cluster all else that is outside of its pods."""
    from suphx_pipelines.runs.run_commands import place_lines, rayjob

    if not rayjob():
        return [f"Report: {result.report}"]
    return place_lines(result.run_id, storage=result.storage, page=result.page)


def next_commands(result: RunResult, runs: Path) -> list[str]:
    """Return the commands that one wants after a run."""
    from suphx_pipelines.runs.run_commands import agent_commands, program_name, rayjob

    lines = []
    if not rayjob() or result.page:
        place = [] if runs == DEFAULT_RUNS or rayjob() else ["--runs", str(runs)]
        server = f" (with MLFLOW_TRACKING_URI={result.tracking_uri}, or the address that your machine has for it)"
        metrics = shlex.join([program_name(), "ui", result.run_id, *place])
        lines.append(f"All metrics and curves: {metrics}{server if rayjob() else ''}")
    commands = agent_commands(result.folder, result.storage)
    return [*lines, *(f"{what}: {shlex.join(command)}" for what, command in commands.items())]


def execute_recipes(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Print a table, or the schema; scripts get the list."""
    if args.schema:
        from suphx_pipelines.recipe.recipe_schema import recipe_schema

        schema = recipe_schema()
        if console.is_json:
            return schema
        console.line(json.dumps(schema, indent=2))
        return None
    from suphx_pipelines.recipe.recipe_kind import shipped_summaries

    summaries = shipped_summaries()
    if console.is_json:
        return {"recipes": [summary._asdict() for summary in summaries]}
    from suphx_platform.console.table_text import wrapped_table

    rows = [
        (each.name, "yes" if each.needs_records else "no", duration(each.minutes), each.about) for each in summaries
    ]
    for line in wrapped_table(("recipe", "for records", "time", "what it does"), rows):
        console.line(line)
    return None


def duration(minutes: int) -> str:
    """Return "5 min", "3 h", or "not measured" for 0."""
    if not minutes:
        return "not measured"
    return f"{minutes} min" if minutes < 2 * _MINUTES_PER_HOUR else f"{round(minutes / _MINUTES_PER_HOUR, 1):g} h"
