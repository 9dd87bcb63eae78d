"""Agents by address: those of ``load_agent``, those that adapt at run time, and outside programs.

``mjai:COMMAND LINE``, or ``mjai-S:COMMAND LINE`` with S seconds for each move. ``adapt[-K][+Ts]:AGENT``:
K is the number of rollouts at the start of a kyoku; with T, each later discard of a table has as many seconds to adapt
further.

>>> load_any_agent("adapt:runs/a/supervised")
>>> load_any_agent("adapt-256+0.5s:runs/a/supervised:weak")
"""

from __future__ import annotations

import re
from pathlib import Path

from suphx.features.head import HEAD_NAMES
from suphx.selfplay.agent import Agent, NetAgent, load_agent, split_address
from suphx.selfplay.choice import BASELINES
from suphx.selfplay.player import find_checkpoint
from suphx.training.adaptation import AdaptationConfig
from suphx.training.adapter import Adapter
from suphx.training.adaptive_agent import AdaptiveAgent, MoveConfig
from suphx_platform.agent_forms import AGENT_FORMS
from suphx_platform.mjai_agent import MOVE_SECONDS, MjaiAgent

_SHOWN = 8
_MJAI = re.compile(r"mjai(?:-(?P<seconds>\d+(?:\.\d+)?))?:(?P<command>.*)", re.DOTALL)
_ADAPT = re.compile(r"adapt(?:-(?P<rollouts>\d+))?(?:\+(?P<seconds>\d+(?:\.\d+)?)s)?:(?P<agent>.+)")


def load_any_agent(address: str) -> Agent:
    """Return the agent that ``address`` names: a program, one that adapts, or any of ``load_agent``.

    ValueError if there is none of that name.
    """
    program = _MJAI.fullmatch(address)
    if program is not None:
        return MjaiAgent(address, program["command"], float(program["seconds"] or MOVE_SECONDS))
    match = _ADAPT.fullmatch(address)
    if match is None:
        return _load_known(address)
    config = AdaptationConfig(num_rollouts=int(match["rollouts"])) if match["rollouts"] else AdaptationConfig()
    move = MoveConfig(seconds=float(match["seconds"] or 0))
    return AdaptiveAgent(address, Adapter(load_net_agent(match["agent"]), config), move)


def has_nets(folder: Path) -> bool:
    """Tell whether a folder has a checkpoint for each head."""
    try:
        for head in HEAD_NAMES:
            find_checkpoint(folder, head, is_weak=False)
    except ValueError:
        return False
    return True


def _load_known(address: str) -> Agent:
    """Return the agent of ``load_agent``; ValueError says what there is instead, all forms or the folders inside."""
    folder = Path(split_address(address)[0])
    if address not in BASELINES and not folder.is_dir():
        raise ValueError(f"{address!r} is no agent: use {AGENT_FORMS}")
    if address not in BASELINES and not has_nets(folder):
        inside = sorted(str(each) for pattern in ("*", "*/*") for each in folder.glob(pattern) if has_nets(each))
        if inside:
            told = ", ".join(inside[:_SHOWN]) + (", …" if len(inside) > _SHOWN else "")
            raise ValueError(f"{address!r} is not itself a folder of checkpoints: name one of those in it, {told}")
    return load_agent(address)


def is_program(address: str) -> bool:
    """Tell whether the agent is an outside program."""
    return _MJAI.fullmatch(address) is not None


def split_wrapper(address: str) -> tuple[str, str]:
    """Return what stands before the nets, such as ``adapt-256:``, perhaps nothing, and the address of the nets."""
    match = _ADAPT.fullmatch(address)
    nets = address if match is None else match["agent"]
    return address.removesuffix(nets), nets


def load_net_agent(address: str) -> NetAgent:
    """Return an agent of nets, that can be adapted; ValueError for another one."""
    agent = _load_known(address)
    if not isinstance(agent, NetAgent):
        raise ValueError(f"{address!r} has no nets that could be adapted: name a folder of checkpoints")
    return agent
