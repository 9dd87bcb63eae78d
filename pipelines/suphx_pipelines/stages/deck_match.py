"""The match and sample_game stages of a game of two sides: decks that neither training nor curve has used.

``match`` leaves ``match.json``: ``decks``, ``sides``, and ``opponents`` {name: {``share``, ``points``, and
``wp_<side>`` and ``adp_<side>`` of each side: {mean, interval [2], is_widened}}}. ``sample_game`` leaves ``game.html``,
the viewer's page of a deck with the values that the nets give the best moves.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from suphx.atomic_file import write_atomically
from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.kept_results import GAMES_FOLDER, KeptResults
from suphx.evaluation.match import MatchSetup, play_side_match
from suphx.games.game import Agent, CandidateGame
from suphx.games.registry import candidate_game
from suphx.selfplay.agents.net_agent import NetAgent, load_nets
from suphx.selfplay.agents.opinion import candidate_opinions
from suphx.selfplay.rollouts.rollout import play_deals
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.agent_stages import MONTE_CARLO_STAGE
from suphx_pipelines.recipe.recipe import MonteCarloRecipe
from suphx_pipelines.runs.stage import Stage, StageContext, stage_seed
from suphx_pipelines.stages.evaluation import log_walls
from suphx_pipelines.viewer.viewer_page import PAGE_FILE, viewer_page

MATCH = "match"
MATCH_FILE = "match.json"
_FIRST_DEAL, _SEEDS = 2**30, 2**36
"""Above the deals of the curve, which begin at 0, and below those of self-play, which begin at 2**40."""


def match_stage(game_name: str) -> Stage[MonteCarloRecipe]:
    """Return the stage of a game."""
    return Stage(
        name=MATCH,
        run=_play_match,
        recipe_keys=("match", "learning.precision"),
        needs=(MONTE_CARLO_STAGE,),
        artifacts=(MATCH_FILE,),
        agent=MONTE_CARLO_STAGE,
    )


def _play_match(context: StageContext[MonteCarloRecipe]) -> dict[str, float]:
    """Play all decks against each opponent and return the figures."""
    config = context.recipe.match
    game, player = candidate_game(context.recipe.game), _load_nets(context)
    opponents: dict[str, dict[str, Any]] = {}
    metrics: dict[str, float] = {}
    with context.console.progress("decks", config.decks * len(config.opponents), name=MATCH) as progress:
        for opponent in config.opponents:
            agents = {"nets": player, opponent: game.scripted_agent(opponent)}
            setup = MatchSetup(
                *agents, seed=0, game=game.name, rules=player.rules, first_deal=first_deal(context.recipe)
            )
            runner = GameRunner(
                load=agents.__getitem__,
                kept=KeptResults(context.folder / GAMES_FOLDER / opponent),
                progress=lambda games: progress.advance(games / 2),
                note_kept=lambda games: progress.skip(games / 2),
            )
            report = play_side_match(setup, config.decks, runner=runner, tell=partial(progress.advance, 0))
            shown = ", ".join(f"{report.figures[f'wp_{side}'].mean:.1%} as {side}" for side in game.sides)
            context.console.say(f"against {opponent}: {shown}")
            opponents[opponent] = {name: figure.to_json() for name, figure in report.figures.items()}
            for name, figure in report.figures.items():
                ends = {"": figure.mean, "_low": figure.interval.low, "_high": figure.interval.high}
                metrics |= {f"{opponent}_{name}{end}": value for end, value in ends.items()}
    first = first_deal(context.recipe)
    log_walls(context, game.name, range(first, first + config.decks), 2 * config.decks * len(config.opponents))
    write_json(context.folder / MATCH_FILE, {"decks": config.decks, "sides": game.sides, "opponents": opponents})
    return metrics


def _load_nets(context: StageContext[MonteCarloRecipe]) -> NetAgent:
    recipe = context.recipe
    return load_nets(context.upstream[MONTE_CARLO_STAGE], game=recipe.game, precision=recipe.learning.precision)


def first_deal(recipe: MonteCarloRecipe) -> int:
    """Return the seed of the first deal of the match."""
    return _FIRST_DEAL + stage_seed(recipe.seed, MATCH) % _SEEDS


SAMPLE_GAME = "sample_game"


def sample_game_stage(game_name: str) -> Stage[MonteCarloRecipe]:
    """Return the stage of a game."""
    return Stage(
        name=SAMPLE_GAME,
        run=_play_sample_game,
        recipe_keys=("name", "match", "learning.precision"),
        needs=(MONTE_CARLO_STAGE,),
        artifacts=(PAGE_FILE,),
        is_summary=True,
    )


def _play_sample_game(context: StageContext[MonteCarloRecipe]) -> dict[str, float]:
    """Play the deck and write its page."""
    game, nets, opponent = candidate_game(context.recipe.game), _load_nets(context), context.recipe.match.opponents[-1]
    agents = (("nets", nets), (opponent, game.scripted_agent(opponent)))
    title = f"{context.recipe.name}: the nets against {opponent}"
    page = deck_page(game, nets.rules, agents, seed=first_deal(context.recipe), title=title).encode()
    write_atomically(context.folder / PAGE_FILE, [page])
    return {"bytes": len(page)}


def deck_page(
    game: CandidateGame, rules: Any, agents: tuple[tuple[str, Agent], tuple[str, Agent]], *, seed: int, title: str
) -> str:
    """Return the viewer's page of both games on the deck ``seed``; ``agents``: name and player of each."""
    (name, first), (other, second) = agents
    records = [played.record for played in play_deals(game, rules, first, second, [seed], names=(name, other))]
    opinions = [candidate_opinions(game.recorded_decisions(record), first) for record in records]
    return viewer_page({**game.viewer_game(records, opinions), "agent": name}, title=title)
