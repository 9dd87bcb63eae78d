"""Agents as Python sees them: one of a policy that was trained in the environments, and matches."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from suphx.evaluation import match
from suphx.evaluation.game_runner import GameRunner, LoadAgent
from suphx.evaluation.match import MatchSetup
from suphx.evaluation.match_config import PHOENIX_POINTS, Seating
from suphx.games.game import Agent
from suphx.games.riichi.bots import EVERY_SEAT, observe_seats
from suphx.games.riichi.features.encoder import decision_layout, find_encoder
from suphx.games.riichi.records.mjlog import refuse_rules_of_records
from suphx.games.riichi.rules import Rules, tenhou
from suphx.games.riichi.table import NUM_ACTIONS, action_name
from suphx.kernel.record import I8, I16, I64, U8, Records, as_integers
from suphx.selfplay.agents.agent import AgentLike, as_agent, load_agent

Policy = Callable[[U8, I8], ArrayLike]
"""Gets observations and action masks of n decisions; returns n legal actions."""


class PolicyAgent:
    """An agent that sees what the environments show, and nothing hidden: for matches, games, reviews, and as opponent.

    ``policy(observations, action_masks)`` gets observations, uint8 [n, planes, 34] (packed: [n, observation_bytes]),
    and masks, int8 [n, 120], and returns n legal actions, as for ``RiichiVectorEnv.step``. ``layout``: the names and
    places of the planes.

    >>> from suphx import PolicyAgent, play_match
    >>> def lowest_legal(observations, action_masks):  # a trained net goes here
    ...     return action_masks.argmax(axis=1)
    >>> report = play_match(PolicyAgent("lowest", lowest_legal), "random", num_hanchans=8, seed=1)
    >>> report.candidate, report.games
    ('lowest', 8)
    """

    def __init__(self, name: str, policy: Policy, *, encoder: str = "mini", packed: bool = False) -> None:
        """``encoder`` and ``packed`` as in the environment of the training. ValueError for an unknown encoder.

        A match is the same again if equal observations get equal actions, however many come at a time. Matches in
        several processes send the policy with pickle: use a function or an object of a module, not a lambda.
        """
        self.name = name
        self.layout = decision_layout(find_encoder(encoder).public)
        self._policy, self._encoder, self._is_packed = policy, find_encoder(encoder), packed

    def observe(self, tables: Records, indices: I64) -> tuple[U8, I8]:
        """Return the observations and action masks of the seats that decide at the tables ``indices``, int64 (n,)."""
        seats = np.full(len(indices), EVERY_SEAT, np.int64)
        return observe_seats(self._encoder, self.layout, tables[indices], seats, packed=self._is_packed)

    def act(self, tables: Records, indices: I64) -> I16:
        """Return the action of the policy, int16 (n,), for each of the tables ``indices``.

        ValueError if the policy returns another number of actions, what is not an integer, or what is not legal.
        """
        if not len(indices):
            return np.zeros(0, np.int16)
        observations, masks = self.observe(tables, indices)
        name = f"actions of the policy of {self.name}"
        actions = as_integers(self._policy(observations, masks), name, len(indices))
        is_legal = masks[np.arange(len(actions)), np.clip(actions, 0, NUM_ACTIONS - 1)] == 1
        is_legal &= (actions >= 0) & (actions < NUM_ACTIONS)
        if not is_legal.all():
            bad = int(np.flatnonzero(~is_legal)[0])
            legal = ", ".join(action_name(int(action)) for action in np.flatnonzero(masks[bad]))
            raise ValueError(
                f"the policy of {self.name}: {action_name(int(actions[bad]))} is not legal; legal: {legal} (those "
                "whose mask is 1)"
            )
        return actions.astype(np.int16)


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
    made = [as_agent(agent) for agent in (candidate, opponent) if not isinstance(agent, str | Path)]
    names = [str(agent) if isinstance(agent, str | Path) else agent.name for agent in (candidate, opponent)]
    if made and candidate is not opponent and names[0] == names[1]:
        raise ValueError(f"both agents are called {names[0]!r}: give each a name of its own")
    for agent in made if workers > 1 else ():
        try:
            pickle.dumps(agent)
        except Exception as error:
            raise ValueError(
                f"the agent {agent.name!r} cannot be sent to other processes ({error}): use workers=1, or make it of "
                "functions and classes of a module"
            ) from error
    given = partial(_find_agent, {agent.name: agent for agent in made}, load)
    setup = MatchSetup(
        names[0], names[1], seed=seed, rules=rules or tenhou(), options={"has_draw_lanes": has_draw_lanes}
    )
    folder = None if records is None else Path(records)
    if folder is not None:
        refuse_rules_of_records(setup.rules)
    runner = GameRunner(workers=workers, load=given, records=folder, progress=progress)
    return match.play_match(setup, num_hanchans, seating=seating, points=points, runner=runner)


def _find_agent(made: Mapping[str, Agent], load: LoadAgent, address: str) -> Agent:
    """Return an agent that the caller has made by its name, another one from ``load``."""
    return made[address] if address in made else load(address)
