"""``suphx run RECIPE``: one complete run of a recipe, all its stages.

It starts a pipeline: the command line is where everything is put together.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from suphx_cli.arguments.parsing import (
    add_code_change,
    add_dry_run,
    add_recipe,
    add_runs,
    add_wait,
    check_records,
    check_runs,
    examples,
    resumable,
    run_id,
)
from suphx_cli.commands.monte_carlo import monte_carlo_run

if TYPE_CHECKING:
    from suphx_cli.arguments.parsing import Subparsers
    from suphx_pipelines.monte_carlo.monte_carlo_pipeline import MonteCarloResult
    from suphx_pipelines.pipeline import PipelineResult
    from suphx_pipelines.recipe.recipe import Recipe
    from suphx_platform.console.console import Console
    from suphx_platform.kernels.kernel_warmup import RunKernels


def add_parser(commands: Subparsers, options: argparse.ArgumentParser) -> None:
    """Add ``run``."""
    parser = commands.add_parser(
        "run",
        parents=[options],
        help="run a recipe from data to report",
        description="Run all stages of a recipe. Finished stages are not repeated: the same command resumes a "
        "run that was stopped.",
        epilog=examples(
            "suphx run laptop",
            "suphx run rl_1 --records DIR",
            "suphx run doudizhu",
            "suphx run laptop --set net.size=small --set supervised.max_minutes=10 --run-id small",
        ),
    )
    add_recipe(parser)
    parser.add_argument(
        "--records",
        type=Path,
        metavar="DIR",
        help="riichi: game records to learn from (default: games that the agent `records.player` plays)",
    )
    add_runs(parser)
    parser.add_argument(
        "--run-id",
        type=run_id,
        metavar="RUN_ID",
        help="name of the run (default: derived from its settings); an existing run must have the same settings",
    )
    add_code_change(parser)
    add_wait(parser)
    add_dry_run(parser)
    parser.set_defaults(execute=execute)


def execute(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    """Run the recipe; ValueError for a bad recipe or missing records."""
    if args.dry_run:
        return _check(args, console)
    try:
        return _execute(args, console)
    except Exception as error:
        from suphx_pipelines.runs.attempt_writer import keep_early

        keep_early(error, args.run_id, args.runs, args.overrides)
        raise


def _check(args: argparse.Namespace, console: Console) -> dict[str, object]:
    """Return which recipe would be run; ValueError if it, or its records, cannot be."""
    from suphx_cli.arguments.riichi_quarantine import check_games
    from suphx_pipelines.recipe.recipe import Recipe
    from suphx_pipelines.recipe.recipe_kind import check_memory, load_run_recipe

    recipe = load_run_recipe(args.recipe, args.overrides)
    try:
        check_memory(recipe)
    except ValueError as error:  # the run may be for another machine, as in the chart's check of a recipe
        console.warn(str(error))
    if not isinstance(recipe, Recipe):
        monte_carlo_run.check_records(args.records, recipe)
        return {"dry_run": "valid", "recipe": recipe.name}
    if args.records is not None:
        check_records(args.records)
        check_games([args.records])
    with console.activity("importing"):
        from suphx_pipelines.pipeline import pipeline_stages
    stages = [stage.name for stage in pipeline_stages(recipe)]
    return {"dry_run": "valid", "recipe": recipe.name, "stages": stages}


def _execute(args: argparse.Namespace, console: Console) -> dict[str, object] | None:
    from suphx_cli.arguments.riichi_quarantine import check_games
    from suphx_pipelines.recipe.recipe import load_recipe
    from suphx_pipelines.recipe.recipe_file import read_table
    from suphx_pipelines.recipe.recipe_kind import check_memory, is_of_another_game, load_run_recipe

    check_memory(load_run_recipe(args.recipe, args.overrides))
    if is_of_another_game(read_table(args.recipe)):
        return show(monte_carlo_run.run(args, console), args.runs, console)
    recipe = load_recipe(args.recipe, args.overrides)
    check_runs(args.runs)
    if args.records is not None:
        check_records(args.records)
        check_games([args.records])
    from suphx_platform.kernels.kernel_warmup import RunKernels

    plays_itself = bool(recipe.reinforcement.is_wanted or recipe.oracle.max_updates or recipe.agent_comparison.agents)
    kernels = RunKernels(console, plays_itself=plays_itself, has_records=args.records is not None)
    with resumable(console, lambda error: _saved(error, kernels)), kernels:
        result = _run(args, recipe, console, kernels)
    return show(result, args.runs, console)


def _run(args: argparse.Namespace, recipe: Recipe, console: Console, kernels: RunKernels) -> PipelineResult:
    with console.activity("importing"):  # kernels are compiled at the same time
        from suphx_pipelines.pipeline import run_recipe
    return run_recipe(
        recipe,
        records=args.records,
        runs=args.runs,
        console=console,
        run_id=args.run_id,
        get_ready=kernels.wait,
        on_code_change=args.on_code_change,
        max_wait_hours=args.wait_hours,
    )


def _saved(error: KeyboardInterrupt, kernels: RunKernels) -> str:
    """Return what is saved of a run that was stopped."""
    from suphx_pipelines.runs.stage import Interrupted

    if isinstance(error, Interrupted):
        return f"Saved at {error}."
    if not kernels.is_ready:
        return "Stopped before the first stage; the kernels compiled so far are kept."
    return "Finished stages, and finished games of a match, are saved."


def show(result: PipelineResult | MonteCarloResult, runs: Path, console: Console) -> dict[str, object] | None:
    """Print what a person wants to know last; return the JSON object if that is wanted instead."""
    from suphx_platform.console.table_text import result_lines

    values = result.to_json()
    for line in result_lines(values):
        console.detail(line)
    if console.is_json:
        return values
    _show_warnings(result, console)
    if result.run.verdict is not None:
        console.line(result.run.verdict.sentence)
    for line in report_lines(result):
        console.line(line)
    if console.verbosity != "quiet":
        for line in next_commands(result, runs):
            console.line(line)
    return None


def report_lines(result: PipelineResult | MonteCarloResult) -> list[str]:
    """Return where the report is, and in a cluster all else that is outside of its pods."""
    from suphx_pipelines.runs.run_summary import place_lines, rayjob

    run = result.run
    return place_lines(run.run_id, storage=run.storage, page=run.page) if rayjob() else [f"Report: {result.report}"]


def _show_warnings(result: PipelineResult | MonteCarloResult, console: Console) -> None:
    """Repeat the warnings of a long run, which may have left the screen."""
    count = len(result.run.warnings)
    if count:
        console.line(f"{count} {'warning' if count == 1 else 'warnings'}:")
        for warning in result.run.warnings:
            console.line(f"  {warning}")


def next_commands(result: PipelineResult | MonteCarloResult, runs: Path) -> list[str]:
    """Return the commands that one wants after a run."""
    from suphx_pipelines.runs.run_summary import nets_address, program_name, rayjob

    suphx, run = program_name(), result.run
    place = [] if runs == Path("runs") or rayjob() else ["--runs", str(runs)]
    is_shown = not rayjob() or run.page
    metrics = shlex.join([suphx, "ui", run.run_id, *place])
    server = f" (with MLFLOW_TRACKING_URI={run.tracking_uri}, or the address that your machine has for it)"
    lines = [f"All metrics and curves: {metrics}{server if rayjob() else ''}"] if is_shown else []
    agent = "" if result.agent is None else nets_address(result.agent, run.folder, run.storage)
    if agent:
        play = shlex.join([suphx, "play", "--agent", agent])
        lines.append(f"Play against it ({result.play_note}): {play}")
        match = [suphx, "evaluate", "--candidate", agent, "--opponent", result.opponent]
        lines.append(f"Another match: {shlex.join(match)}")
    return lines
