"""Agents, which choose moves at waiting tables: scripted ones, and the nets of a game. Only nets import torch.

>>> agents = [load_agent("ukeire"), load_agent("runs/laptop-1/supervised"), load_agent("runs/laptop-1/supervised:weak")]
>>> actions = agents[0].act(simulator.tables, simulator.waiting())
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

from suphx.experience.observation import F32
from suphx.extras import need
from suphx.games.game import Agent
from suphx.games.registry import DEFAULT_GAME, agent_names, load_game
from suphx.games.riichi.table import NUM_ACTIONS
from suphx.kernel.record import I64, Records, as_integers
from suphx.models.net_config import Precision
from suphx.selfplay.agents.checkpoint_folder import find_folder

AgentLike: TypeAlias = Agent | str | Path
"""An agent, or its address for ``load_agent``."""


@runtime_checkable
class JudgingAgent(Agent, Protocol):
    """An agent of nets: it has a probability for every legal move of riichi."""

    @property
    def sees_hidden_tiles(self) -> bool:
        """Tell whether one of the nets has oracle planes."""

    def move_probabilities(self, tables: Records, indices: I64) -> F32:
        """Return float32 [n, NUM_ACTIONS]; NaN for a move that is not legal."""


def ask(agent: Agent, tables: Any, indices: I64, num_moves: int = NUM_ACTIONS) -> I64:
    """Return the moves of an agent of any game as an array of their own, int64 (n,); their legality is not checked.

    ValueError, with the name of the agent, for anything but one number of a move for each table.
    """
    actions = as_integers(agent.act(tables, indices), f"actions of {agent.name}", len(indices)).copy()
    is_outside = (actions < 0) | (actions >= num_moves)
    if is_outside.any():
        raise ValueError(f"actions of {agent.name}: {actions[is_outside][0]} is not one of 0 to {num_moves - 1}")
    return actions


def load_agent(
    address: str | Path, *, device: str = "cpu", game: str = DEFAULT_GAME, precision: Precision = "auto"
) -> Agent:
    """Return the agent that ``address`` names: a scripted one, or a folder with a checkpoint for each kind of decision.

    Options follow the folder after a colon (``runs/a/supervised:weak,sampled``): ``weak``, the weights of an early
    step; how actions are selected: ``probable``, ``matched``, or ``sampled`` (of nets from self-play, those that
    learned). ValueError when it is none of these, or a checkpoint is missing or does not fit;
    ModuleNotFoundError for a folder where torch is not installed.
    """
    address = str(address)
    if address in agent_names(game):
        return load_game(game).scripted_agent(address)
    find_folder(address, game)
    need("torch")
    from suphx.selfplay.agents.net_agent import load_nets

    return load_nets(address, device=device, game=game, precision=precision)


def as_agent(agent: AgentLike) -> Agent:
    """Return the agent itself, or load it by its address. ValueError for an unknown address, and for an object that is
    no agent."""
    if isinstance(agent, str | Path):
        return load_agent(agent)
    if not (hasattr(agent, "name") and callable(getattr(agent, "act", None))):
        raise ValueError(
            f"{agent!r} is not an agent: give a name such as {agent_names(DEFAULT_GAME)[-1]}, a folder of checkpoints, "
            "or an object with name and act(tables, indices)"
        )
    return agent
