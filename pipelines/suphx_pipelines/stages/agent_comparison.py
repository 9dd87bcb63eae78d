"""The agents of the paper's Figure 8: what self-play, global rewards and oracle guiding bring, one after another.

Stages ``agent_comparison/<agent>`` let each agent learn by self-play, all from the same supervised nets, on the same
walls and with the settings of [reinforcement]: RL-basic is paid round scores, RL-1 differences of the reward
predictor; the control run is RL-basic with permuted rewards. RL-2 is what the stage ``oracle_decay`` of the run
leaves, paid as RL-1. The last stage, ``agent_comparison/match``, has every agent play against three SL-weak on the
same walls and leaves ``agent_comparison.json``. ``AgentComparisonConfig.comparisons`` says which agent is
compared with which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from suphx.evaluation.game_runner import GameRunner
from suphx.evaluation.kept_results import GAMES_FOLDER, KeptResults
from suphx.evaluation.match import MatchReport, MatchSetup, play_match
from suphx.evaluation.match_config import widened_note
from suphx.evaluation.statistics import Interval, paired_difference
from suphx.games.scoring import MAX_DEAL_SEED
from suphx.selfplay.agents.checkpoint_folder import weak_address
from suphx.training.config import RewardName
from suphx_pipelines.json_file import write_json
from suphx_pipelines.recipe.agent_stages import initial_folder, initial_stages
from suphx_pipelines.recipe.recipe import CONTROL_AGENT, AgentComparisonConfig, AgentName, Recipe
from suphx_pipelines.runs.stage import Stage, StageContext
from suphx_pipelines.stages import oracle, reinforcement
from suphx_pipelines.stages.evaluation import log_walls

STAGE_PREFIX = "agent_comparison/"
MATCH_STAGE = f"{STAGE_PREFIX}match"
AGENT_COMPARISON_FILE = "agent_comparison.json"

_SUPERVISED: tuple[AgentName, ...] = ("sl", "sl_weak")
_REWARDS: dict[AgentName, RewardName] = {
    "rl_basic": "round_score",
    "rl_1": "global_prediction",
    CONTROL_AGENT: "round_score",
}
_RATES = ("win_rate", "deal_in_rate")
"""Those of the paper's Table 5."""


def agent_comparison_stages(recipe: Recipe) -> list[Stage[Recipe]]:
    """Return the stages of self-play that the agents of the recipe need, in their order; RL-2's are the oracle's."""
    if not recipe.agent_comparison.agents:
        return []
    _check_settings(recipe)
    return [
        reinforcement.self_play_stage(recipe, _stage_name(agent), change=partial(with_agent, agent=agent))
        for agent in recipe.agent_comparison.agents
        if agent in _REWARDS
    ]


def agent_match_stages(recipe: Recipe) -> list[Stage[Recipe]]:
    """Return the stage with the match of all agents; none if the recipe names no agents."""
    agents = recipe.agent_comparison.agents
    if not agents:
        return []
    match: Stage[Recipe] = Stage(
        name=MATCH_STAGE,
        run=run_match,
        recipe_keys=("agent_comparison",),
        needs=(*initial_stages(recipe), *(_stage_name(agent) for agent in agents if agent not in _SUPERVISED)),
        artifacts=(AGENT_COMPARISON_FILE,),
    )
    return [match]


def run_match(context: StageContext[Recipe]) -> dict[str, float]:
    """Let all agents play on the same walls, and compare them."""
    config = context.recipe.agent_comparison
    supervised = str(initial_folder(context.upstream))
    weak = weak_address(Path(supervised), context.recipe.game_name)
    if weak == supervised:
        context.warn("the initial agent has no nets of an early step: its own nets play as sl_weak and as opponents")
    reports: list[MatchReport] = []
    with context.console.progress("hanchans", config.hanchans * len(config.agents)) as progress:
        for agent in config.agents:
            address = {"sl": supervised, "sl_weak": weak}.get(agent) or str(context.upstream[_stage_name(agent)])
            setup = MatchSetup(address, weak, seed=context.seed % MAX_DEAL_SEED)
            kept = KeptResults(context.folder / GAMES_FOLDER / agent)
            runner = GameRunner(workers=config.workers, kept=kept, progress=progress.advance, note_kept=progress.skip)
            reports.append(play_match(setup, config.hanchans, runner=runner, tell=partial(progress.advance, 0)))
    log_walls(context, setup.game, setup.deals(reports[0].deals), sum(report.games for report in reports))
    entries = table(config, reports)
    write_json(context.folder / AGENT_COMPARISON_FILE, {"hanchans": config.hanchans, "agents": entries})
    figures = {}
    for entry in entries:
        low, high = entry["interval"]
        text = f"{entry['agent']}: average placement {entry['average_placement']:.3f} ({low:.3f} to {high:.3f})"
        figures[f"{entry['agent']}_average_placement"] = float(entry["average_placement"])
        if entry["compared_with"]:
            low, high = entry["difference_interval"]
            figures[f"{entry['agent']}_difference"] = float(entry["difference"])
            figures |= {f"{entry['agent']}_difference_low": low, f"{entry['agent']}_difference_high": high}
            text += f"; against {entry['compared_with']} {entry['difference']:+.3f} ({low:+.3f} to {high:+.3f})"
        context.console.say(text + widened_note(entry["difference_is_widened"]))
    return figures


def table(config: AgentComparisonConfig, reports: Sequence[MatchReport]) -> list[dict[str, Any]]:
    """Return a line for each agent; ``reports`` are of matches on the same walls."""
    entries = []
    by_agent = dict(zip(config.agents, reports, strict=True))
    for agent, report in by_agent.items():
        statistics = report.statistics
        figures = statistics.to_json()
        before = config.comparisons.get(agent)
        difference = None
        if before is not None:
            walls = np.repeat(np.arange(report.deals), 4)
            difference = paired_difference(report.placements, by_agent[before].placements, walls)
        entries.append(
            {
                "agent": agent,
                "placements": figures["placements"],
                "average_placement": figures["average_placement"],
                "interval": _bounds(statistics.intervals["average_placement"]),
                **{rate: figures[rate] for rate in _RATES},
                **{f"{rate}_interval": _bounds(statistics.intervals[rate]) for rate in _RATES},
                "compared_with": before,
                "difference": None if difference is None else difference.mean,
                "difference_interval": None if difference is None else _bounds(difference.interval),
                "difference_is_widened": difference is not None and difference.interval.is_widened,
            }
        )
    return entries


def _bounds(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


def _stage_name(agent: AgentName) -> str:
    return oracle.DECAY if agent == "rl_2" else f"{STAGE_PREFIX}{agent}"


def _check_settings(recipe: Recipe) -> None:
    """Raise ValueError for settings with which the agents of the recipe cannot be compared."""
    agents, play = recipe.agent_comparison.agents, recipe.reinforcement
    has_rl_2, learner = "rl_2" in agents, play.learner
    has_blind_critics = learner.gradient.use_critic and not learner.oracle_critic
    faults = {
        "names agents of self-play: set reinforcement.max_updates": (
            not play.is_wanted and any(agent in _REWARDS for agent in agents)
        ),
        "begin with supervised nets: set reinforcement.start to supervised": play.start == "random",
        "begin with supervised nets, not with those that learned from playouts: set playouts.num_decisions to 0": (
            recipe.playouts.num_decisions > 0
        ),
        "names rl_2: set oracle.max_updates and oracle_decay.steps": (
            has_rl_2 and not (recipe.oracle.max_updates and recipe.oracle_decay.steps)
        ),
        "names rl_2: set reinforcement.reward to global_prediction": has_rl_2 and play.reward != "global_prediction",
        "compares rl_2, whose critics see hidden tiles, with rl_1: set reinforcement.learner.oracle_critic to true, so "
        "that they differ in oracle guiding only": has_rl_2 and "rl_1" in agents and has_blind_critics,
    }
    for fault, is_there in faults.items():
        if is_there:
            raise ValueError(f"agent_comparison.agents {fault}")


def with_agent(recipe: Recipe, agent: AgentName) -> Recipe:
    """Return the recipe with the settings of self-play that make the agent."""
    if agent not in _REWARDS:
        return recipe
    config = replace(recipe.reinforcement, reward=_REWARDS[agent])
    if agent == CONTROL_AGENT:
        config = replace(config, learner=replace(config.learner, permute_rewards=True))
    return replace(recipe, reinforcement=config)
