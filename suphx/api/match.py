"""A match of two agents, as ``suphx evaluate`` plays it."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from suphx.evaluation import match
from suphx.evaluation.game_runner import GameRunner, LoadAgent
from suphx.evaluation.match import MatchSetup
from suphx.evaluation.match_config import PHOENIX_POINTS, Seating
from suphx.games.game import Agent
from suphx.games.riichi.records.mjlog_writer import refuse_rules_of_records
from suphx.games.riichi.rules import Rules, tenhou
from suphx.selfplay.agents.agent import AgentLike, as_agent, load_agent


def play_match(
    candidate: AgentLike,
    opponent: AgentLike,
    *,
    num_hanchans: int,
    seed: int,
    seating: Seating = "1v3",
    points: tuple[int, ...] = PHOENIX_POINTS,
    workers: int = 1,
    rules: Rules | None = None,
    has_draw_lanes: bool = True,
    progress: Callable[[float], None] = lambda games: None,
    load: LoadAgent = load_agent,
    records: str | Path | None = None,
) -> match.MatchReport:
    """Play ``num_hanchans`` games (a multiple of 4, at least 8) of ``candidate`` against ``opponent``.

    Both are agents, such as a ``PolicyAgent``, or addresses for ``load``. ``seed`` (0 to 2**20 - 1): of the walls.
    ``seating``: how many of each are at a table. ``points``: those of first to fourth place, for the difference in
    points. ``workers``: processes; agents that are objects are sent to them with pickle. ``rules``: those of Tenhou if
    None. ``has_draw_lanes``: every seat draws from its own positions of the wall (docs/evaluation.md). ``progress`` is
    called with parts of games while they are played. ``records``: folder for the games. ValueError for an unknown
    agent, two agents of one name, an agent that pickle refuses, a wrong number or seating, records of rules that mjlog
    cannot say; ChildProcessError if a process dies.

    >>> from suphx import play_match
    >>> report = play_match("ukeire", "tsumogiri", num_hanchans=24, seed=1)
    >>> report.difference.mean < 0  # of the average placement: lower is better
    True
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}: use 1 or more")
    if seating not in get_args(Seating):
        raise ValueError(f"seating is {seating!r}: use one of {', '.join(get_args(Seating))}")
    given = _GivenAgents.of(candidate, opponent, load)
    if workers > 1:
        given.check_pickle()
    setup = MatchSetup(
        _address(candidate),
        _address(opponent),
        seed=seed,
        rules=rules or tenhou(),
        options={"has_draw_lanes": has_draw_lanes},
    )
    folder = None if records is None else Path(records)
    if folder is not None:
        refuse_rules_of_records(setup.rules)
    runner = GameRunner(workers=workers, load=given, records=folder, progress=progress)
    return match.play_match(setup, num_hanchans, seating=seating, points=points, runner=runner)


def _address(agent: AgentLike) -> str:
    return str(agent) if isinstance(agent, str | Path) else agent.name


@dataclass(frozen=True, slots=True)
class _GivenAgents:
    """Returns agents by their addresses: those that the caller has made by their names, the others from ``load``."""

    agents: Mapping[str, Agent]
    load: LoadAgent

    @classmethod
    def of(cls, candidate: AgentLike, opponent: AgentLike, load: LoadAgent) -> _GivenAgents:
        """Take the agents of a match; ValueError for what is no agent, and for two agents of one name."""
        made = [as_agent(agent) for agent in (candidate, opponent) if not isinstance(agent, str | Path)]
        if made and candidate is not opponent and _address(candidate) == _address(opponent):
            raise ValueError(f"both agents are called {_address(candidate)!r}: give each a name of its own")
        return cls({agent.name: agent for agent in made}, load)

    def __call__(self, address: str) -> Agent:
        return self.agents[address] if address in self.agents else self.load(address)

    def check_pickle(self) -> None:
        """Raise ValueError if an agent cannot be sent to another process."""
        for name, agent in self.agents.items():
            try:
                pickle.dumps(agent)
            except Exception as error:
                raise ValueError(
                    f"the agent {name!r} cannot be sent to other processes ({error}): use workers=1, or make it of "
                    "functions and classes of a module"
                ) from error
