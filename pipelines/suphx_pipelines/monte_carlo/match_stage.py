"""The match stage: the trained nets against scripted agents, on deals that neither training nor curve has used.

Leaves ``match.json``: ``decks``, ``sides``, and ``opponents`` {name: {``share``, ``points``, and ``wp_<side>`` and
``adp_<side>`` of each side: {mean, interval [2], is_widened}}} (suphx/evaluation/side_match.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from suphx.evaluation.side_match import SideReport, play_side_match
from suphx.evaluation.workers.match_records import GAMES_FOLDER, KeptResults
from suphx.games.registry import game_modules
from suphx.training.value_nets import load_value_nets
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.agent_stages import MONTE_CARLO_STAGE
from suphx_pipelines.recipe.monte_carlo_recipe import MonteCarloRecipe
from suphx_pipelines.runs.stage import Stage, StageContext, stage_seed

STAGE_NAME = "match"
MATCH_FILE = "match.json"
_FIRST_DEAL, _SEEDS = 2**30, 2**36
"""Above the deals of the curve, which begin at 0, and below those of self-play, which begin at 2**40."""


FILES: Mapping[str, str] = {
    "match.json": (
        "`decks`, `sides`, `opponents` {name: {share, points, wp_landlord, wp_peasant, adp_landlord, adp_peasant: {"
        "mean, interval [2], is_widened}}}"
    ),
    "games/<opponent>/": (
        "finished parts of the matches, so that a killed match continues: `wins` {side: [of each deck]} and `points` "
        "{side: [of each deck]} of the nets"
    ),
}
"""What the stage writes into its folder (docs/result_files.md); JSON is null where it is undefined."""


def match_stage(game_name: str) -> Stage[MonteCarloRecipe]:
    """Return the stage of a game."""
    return Stage(
        name=STAGE_NAME,
        run=run,
        recipe_keys=("match", "learning.precision"),
        needs=(MONTE_CARLO_STAGE,),
        artifacts=(MATCH_FILE,),
        files=FILES,
        modules=game_modules(game_name),
    )


def run(context: StageContext[MonteCarloRecipe]) -> dict[str, float]:
    """Play all decks against each opponent and return the figures."""
    config = context.recipe.match
    trained = load_value_nets(context.upstream[MONTE_CARLO_STAGE])
    game, player = trained.game, trained.player(context.recipe.learning.precision)
    found: dict[str, SideReport] = {}
    with context.console.progress("decks", config.decks * len(config.opponents), name=STAGE_NAME) as progress:
        for opponent in config.opponents:
            report = play_side_match(
                game,
                trained.rules,
                player,
                game.scripted_player(opponent),
                num_deals=config.decks,
                first_seed=first_deal(context.recipe),
                kept=KeptResults(context.folder / GAMES_FOLDER / opponent),
                progress=progress.advance,
                note_kept=progress.skip,
                tell=partial(progress.advance, 0),
            )
            shown = ", ".join(f"{report.figures[f'wp_{side}'].mean:.1%} as {side}" for side in game.sides)
            context.console.say(f"against {opponent}: {shown}")
            found[opponent] = report
    opponents = {
        opponent: {name: figure.to_json() for name, figure in report.figures.items()}
        for opponent, report in found.items()
    }
    write_json(context.folder / MATCH_FILE, {"decks": config.decks, "sides": game.sides, "opponents": opponents})
    return {
        f"{opponent}_{name}{end}": value
        for opponent, report in found.items()
        for name, figure in report.figures.items()
        for end, value in (("", figure.mean), ("_low", figure.interval.low), ("_high", figure.interval.high))
    }


def first_deal(recipe: MonteCarloRecipe) -> int:
    """Return the seed of the first deal of the match."""
    return _FIRST_DEAL + stage_seed(recipe.seed, STAGE_NAME) % _SEEDS
