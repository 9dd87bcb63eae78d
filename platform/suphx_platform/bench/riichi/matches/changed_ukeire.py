"""Scripted agents for measuring: ``ukeire`` with one habit changed, such as ``ukeire-no-calls``."""

from __future__ import annotations

import numpy as np

from suphx.games.riichi import HABITS, Habit
from suphx.kernel.record import I16, I64, Records
from suphx.selfplay.agents.agent import Agent, ScriptedAgent
from suphx_platform.agents.agent_loading import load_any_agent

UKEIRE = "ukeire"
CHANGED = {f"{UKEIRE}-{word}": habit for word, habit in HABITS.items()}
"""Habits by the name of the agent."""


class ChangedUkeire:
    """``ukeire`` with a habit."""

    def __init__(self, name: str, habit: Habit) -> None:
        self.name = name
        self._habit = habit
        self._ukeire = ScriptedAgent(UKEIRE)

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each table."""
        actions = self._ukeire.act(self._habit.seen(tables[indices]), np.arange(len(indices)))
        self._habit.overrule(tables[indices], actions)
        return actions


def load_measured_agent(address: str) -> Agent:
    """Return one of ``CHANGED``, or any other agent; ValueError if there is none of that name."""
    habit = CHANGED.get(address)
    return load_any_agent(address) if habit is None else ChangedUkeire(address, habit)
