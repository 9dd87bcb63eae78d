"""The agents of the paper's Figure 8 that a recipe trains and compares, their names, and the words of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from suphx.evaluation.match_config import MatchConfig, few_games_note

AgentName = Literal["sl", "sl_weak", "rl_basic", "rl_1", "rl_2", "rl_permuted"]
CONTROL_AGENT: AgentName = "rl_permuted"
"""RL-basic whose rewards are permuted: it cannot become stronger."""
AGENT_TITLES: Mapping[str, str] = {
    "sl": "SL",
    "sl_weak": "SL-weak",
    "rl_basic": "RL-basic",
    "rl_1": "RL-1",
    "rl_2": "RL-2",
    CONTROL_AGENT: "RL-basic with permuted rewards",
}
"""What the paper calls the agents of its Figure 8, and the control run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentComparisonConfig:
    """Comparison of the agents in the paper's Figure 8, all from the same supervised nets and with the same amount of
    self-play."""

    agents: tuple[AgentName, ...] = ()
    """Agents to train and compare, each with the one named before it. Empty = none. rl_permuted is a control run:
    RL-basic with permuted rewards, which cannot become stronger; it is compared with sl, and no other agent with it."""
    hanchans: int = 1000
    """Games of each agent against three SL-weak, a multiple of 4, all on the same walls."""
    workers: int = 2
    """Processes that play these games; the result does not depend on it."""

    def __post_init__(self) -> None:
        if len(set(self.agents)) < len(self.agents):
            raise ValueError(f"agents is {list(self.agents)}: name each once")
        MatchConfig(hanchans=self.hanchans, workers=self.workers)

    @property
    def comparisons(self) -> dict[AgentName, AgentName]:
        """Return for each agent but the first the one that it is compared with: the last before it.

        The control run is compared with the supervised nets, and nothing with it.
        """
        others = [agent for agent in self.agents if agent != CONTROL_AGENT]
        found: dict[AgentName, AgentName] = {agent: before for before, agent in pairwise(others)}
        if CONTROL_AGENT in self.agents and "sl" in others:
            found[CONTROL_AGENT] = "sl"
        return found


def relation(agent: str, before: str, low: float, high: float, hanchans: int) -> str:
    """Return such as "RL-basic is better than SL": ``low`` and ``high`` bound the difference in placement.

    >>> relation("rl_basic", "sl", -0.05, -0.01, hanchans=1000)
    'RL-basic is better than SL'
    """
    how = "better than" if high < 0 else "worse than" if low > 0 else "not clearly different from"
    if few_games_note(hanchans):
        how = "not yet comparable with"
    return f"{AGENT_TITLES[agent]} is {how} {AGENT_TITLES[before]}"
