"""Agents by address, those that adapt at run time included: ``adapt:FOLDER``, or ``adapt-K:FOLDER`` for K rollouts.

>>> load_any_agent("adapt-256:runs/a/supervised:weak").name
'adapt-256:runs/a/supervised:weak'
"""

from __future__ import annotations

import re

from suphx.selfplay.agent import Agent, NetAgent, load_agent
from suphx.training.adaptation import AdaptationConfig
from suphx.training.adapter import Adapter
from suphx.training.adaptive_agent import AdaptiveAgent

_ADAPT = re.compile(r"adapt(?:-(?P<rollouts>\d+))?:(?P<address>.+)")


def load_any_agent(address: str) -> Agent:
    """Return the agent that ``address`` names: one that adapts, or any of ``load_agent``. ValueError as there."""
    match = _ADAPT.fullmatch(address)
    if match is None:
        return load_agent(address)
    rollouts = match["rollouts"]
    config = AdaptationConfig(num_rollouts=int(rollouts)) if rollouts else AdaptationConfig()
    return AdaptiveAgent(address, Adapter(load_net_agent(match["address"]), config))


def split_wrapper(address: str) -> tuple[str, str]:
    """Return ``adapt:`` or ``adapt-K:``, empty where there is none, and the address of the nets."""
    match = _ADAPT.fullmatch(address)
    nets = address if match is None else match["address"]
    return address.removesuffix(nets), nets


def load_net_agent(address: str) -> NetAgent:
    """Return an agent of nets, that can be adapted; ValueError for another one."""
    agent = load_agent(address)
    if not isinstance(agent, NetAgent):
        raise ValueError(f"{address!r} has no nets that could be adapted: name a folder of checkpoints")
    return agent
