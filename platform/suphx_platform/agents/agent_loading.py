"""Agents by address: those of ``load_agent``, those that adapt at run time, and outside programs (agent_forms.py).

>>> load_any_agent("adapt:runs/a/supervised")
>>> load_any_agent("adapt-256+0.5s:runs/a/supervised:weak")
"""

from __future__ import annotations

from suphx.selfplay.agents.agent import Agent, NetAgent, load_agent
from suphx.selfplay.agents.choice import SCRIPTED_AGENTS
from suphx.training.adapter import Adapter, AdaptiveAgent, MoveConfig
from suphx_platform.agents.agent_forms import (
    ADAPT,
    adaptation_config,
    check_net_agent,
    check_nets,
    is_program,
    split_program,
)
from suphx_platform.agents.mjai.mjai_agent import MjaiAgent
from suphx_platform.agents.mjai.program_seats import MOVE_SECONDS


def load_any_agent(address: str) -> Agent:
    """Return the agent that ``address`` names: a program, one that adapts, or any of ``load_agent``.

    ValueError if there is none of that name.
    """
    if is_program(address):
        program, seconds = split_program(address)
        return MjaiAgent(address, program, MOVE_SECONDS if seconds is None else seconds)
    match = ADAPT.fullmatch(address)
    if match is None:
        return _load_checked(address)
    config = adaptation_config(address)
    move = MoveConfig(seconds=float(match["seconds"] or 0))
    return AdaptiveAgent(address, Adapter(load_net_agent(match["agent"]), config), move)


def load_net_agent(address: str) -> NetAgent:
    """Return an agent of nets, that can be adapted; ValueError for another one, and for nets that see hidden tiles."""
    check_net_agent(address)
    agent = load_agent(address)
    assert isinstance(agent, NetAgent)
    if agent.sees_hidden_tiles:
        raise ValueError(f"{address!r} sees hidden tiles and cannot be adapted: use nets of another stage")
    return agent


def _load_checked(address: str) -> Agent:
    """Return the agent of ``load_agent``; ValueError names what exists instead, all forms or the folders inside."""
    if address not in SCRIPTED_AGENTS:
        check_nets(address)
    return load_agent(address)
