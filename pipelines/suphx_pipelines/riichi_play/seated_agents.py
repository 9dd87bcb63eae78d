"""The agents at the other seats of a table, and what one of them would do in the person's place."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from suphx.games.riichi import GameSession, move_hint
from suphx.kernel.record import I16, I64, Records
from suphx.selfplay.agents.agent import Agent, NetAgent, ScriptedAgent
from suphx.selfplay.agents.opinion import opinions_at
from suphx.selfplay.rollouts.rollout import GameFollower

LoadAgent = Callable[[str], Agent]
AGENT_ERRORS = (ValueError, OSError, RuntimeError, MemoryError)
"""What an agent that fails may raise: programs end, memory and GPUs run out."""


def reason_of(error: BaseException) -> str:
    """Return why something failed: never an empty text."""
    return str(error) or type(error).__name__


class AgentLoader:
    """Gives each table its agents. Nets are loaded once; an agent that remembers a game is loaded for every table."""

    def __init__(self, address: str, load: LoadAgent) -> None:
        """``load`` returns the agent of ``address``; its errors are raised here, before the first game.

        People see the agent under its address.
        """
        self._address = address
        self._load = load
        self._first: Agent | None = load(address)
        self._shared = self._first if isinstance(self._first, ScriptedAgent | NetAgent) else None
        self._lock = threading.Lock()

    def seat(self) -> SeatedAgents:
        """Return the agents of a new table."""
        if self._shared is not None:
            return SeatedAgents(self._shared, self._lock, self._address)
        agent, self._first = self._first, None
        return SeatedAgents(agent or self._load(self._address), threading.Lock(), self._address)


class SeatedAgents:
    """One agent that answers for three seats of one table; any thread may ask it."""

    def __init__(self, agent: Agent, lock: threading.Lock, name: str) -> None:
        """``lock`` is held while the agent decides."""
        self.agent = agent
        self.name = name
        self._lock = lock
        self._last_hint: tuple[int, dict[str, Any]] | None = None

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each of the tables ``indices``."""
        with self._lock:
            return self.agent.act(tables, indices)

    def follow(self, session: GameSession) -> None:
        """Let an agent that follows whole games follow this one."""
        if isinstance(self.agent, GameFollower):
            self.agent.follow(session.recorder)

    def leave(self) -> None:
        """End what the agent has started for the game, such as programs."""
        if isinstance(self.agent, GameFollower):
            self.agent.leave()

    @property
    def follows_game(self) -> bool:
        """Tell whether the agent decides by what has happened in the game, not by the table alone."""
        return isinstance(self.agent, GameFollower)

    @property
    def has_hints(self) -> bool:
        """Tell whether the agent can be asked about the person's moves: those of hidden tiles would reveal them."""
        return not (isinstance(self.agent, NetAgent) and self.agent.sees_hidden_tiles)

    @property
    def judges_records(self) -> bool:
        """Tell whether the agent can be asked about a finished game; one that follows or adapts to games cannot."""
        return self.has_hints and isinstance(self.agent, ScriptedAgent | NetAgent)

    def hint(self, number: int, tables: Records) -> dict[str, Any]:
        """Return what the agent would do at the only table (1,), as ``move_hint`` does.

        ``number``: of the person's move (``GameSession.number``); the agent is asked about each once. Raises one of
        AGENT_ERRORS if the agent fails.
        """
        with self._lock:
            if self._last_hint is None or self._last_hint[0] != number:
                self._last_hint = number, self._ask(tables)
            return self._last_hint[1]

    def _ask(self, tables: Records) -> dict[str, Any]:
        opinions = opinions_at(self.agent, tables)
        if isinstance(self.agent, GameFollower):
            reason = self.agent.forfeits(0).get(int(tables["actor"][0]))
            if reason is not None:
                raise ValueError(f"the agent gives no hints in this game: {reason}")
        return move_hint(tables[0], int(opinions.actions[0]), opinions.probabilities[0])
